// router.ts - the address of a view: '#/tasks/12?tab=log'. The part behind '#' never reaches the server, which so
// serves one page. SPDX-License-Identifier: Apache-2.0
import { computed, signal } from '@preact/signals';

function parse(): { path: string; query: string } {
  const text = location.hash.replace(/^#/, '') || '/';
  const at = text.indexOf('?');
  return at < 0 ? { path: text, query: '' } : { path: text.slice(0, at), query: text.slice(at + 1) };
}

export const place = signal(parse());
export const params = signal<Record<string, string>>({});
window.addEventListener('hashchange', () => { place.value = parse(); });

const queryOf = computed(() => new URLSearchParams(place.value.query));

export type Patch = Record<string, string | number | null | undefined>;

export function href(path: string, query: Patch = {}): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) if (v !== null && v !== undefined && v !== '') q.set(k, String(v));
  const text = q.toString();
  return '#' + path + (text ? '?' + text : '');
}

export function go(path: string, query: Patch = {}) { location.hash = href(path, query); }

/** The filters in the address, and a way to change some of them; `replace` leaves no step in the history. */
export function useQuery(): [URLSearchParams, (patch: Patch, replace?: boolean) => void] {
  const set = (patch: Patch, replace = true) => {
    const q = new URLSearchParams(place.peek().query);
    for (const [k, v] of Object.entries(patch)) {
      if (v === null || v === undefined || v === '') q.delete(k);
      else q.set(k, String(v));
    }
    const to = '#' + place.peek().path + (q.toString() ? '?' + q.toString() : '');
    if (replace) { history.replaceState(null, '', to); place.value = parse(); } else location.hash = to;
  };
  return [queryOf.value, set];
}

export function useParams(): Record<string, string> { return params.value; }

/** The names in `pattern` ('/tasks/:id') as they stand in `path`; null: no match. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const a = pattern.split('/');
  const b = path.split('/');
  if (a.length !== b.length) return null;
  const found: Record<string, string> = {};
  for (let i = 0; i < a.length; i++) {
    if (a[i].startsWith(':')) {
      try { found[a[i].slice(1)] = decodeURIComponent(b[i]); } catch { return null; }
    } else if (a[i] !== b[i]) return null;
  }
  return found;
}
