// search.tsx - `/`: a word leads to a task, a pool, a node or a view. SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { api } from './lib/api';
import { titleOf } from './lib/format';
import { href } from './lib/router';
import type { Node, Page, Pool, Task } from './lib/types';
import { mayAdmin } from './lib/me';
import { routes } from './routes';
import { StateChip } from './ui/base';
import { Dialog } from './ui/dialog';

export const searching = signal(false);

let early = ''; // letters of a fast person, typed while the field is on its way

/** Keeps a letter that a person types after `/` before the field is on the screen. True: the key
 * was such a letter. */
export function searchEarly(e: KeyboardEvent): boolean {
  const letter = searching.value && e.key.length === 1 && !e.ctrlKey && !e.metaKey && !e.altKey && document.querySelector('dialog[open]') === null;
  if (letter) { e.preventDefault(); early += e.key; }
  return letter;
}

interface Hit { key: string; kind: string; text: string; to: string; state?: string; score: number }

const SHOWN = 12;

/** How well `word` fits: the letters in order; a beginning counts most. -1: not at all. */
function fit(word: string, text: string): number {
  const a = word.toLowerCase();
  const b = text.toLowerCase();
  const at = b.indexOf(a);
  if (at >= 0) return 100 - Math.min(50, at) + (at === 0 ? 50 : 0) + (a === b ? 40 : 0);
  let i = 0;
  for (const c of b) if (c === a[i]) i++;
  return i === a.length ? 10 : -1;
}

function useThings(): Hit[] {
  const [things, set] = useState<Hit[]>([]);
  useEffect(() => {
    const add = (hits: Hit[]) => set((had) => [...had, ...hits]);
    api.get<Page<Pool>>('/pools?limit=1000').then((p) => add(p.items.map((x) => ({ key: 'p' + x.name, kind: 'pool', text: x.title ? `${x.name} – ${x.title}` : x.name, to: `/pools/${encodeURIComponent(x.name)}`, state: x.health, score: 0 })))).catch(() => {});
    api.get<Page<Node>>('/nodes?limit=1000').then((p) => add(p.items.map((x) => ({ key: 'n' + x.name, kind: 'node', text: x.name, to: `/nodes/${encodeURIComponent(x.name)}`, state: x.state, score: 0 })))).catch(() => {});
    api.get<Page<Task>>('/tasks?limit=200').then((p) => add(p.items.map((x) => ({ key: 't' + x.id, kind: 'task', text: `${x.id} ${titleOf(x)}`, to: `/tasks/${x.id}`, state: x.state, score: 0 })))).catch(() => {});
  }, []);
  return things;
}

function hitsOf(word: string, things: Hit[]): Hit[] {
  const views = routes.filter((r) => !r.path.includes(':') && (!r.admin || mayAdmin.value)).map((r) => ({ key: 'v' + r.path, kind: 'view', text: r.title, to: r.path, score: 0 }));
  const all: Hit[] = [...views, ...things].map((hit) => ({ ...hit, score: fit(word, hit.text) + (hit.kind === 'view' ? 20 : 0) })).filter((hit) => hit.score >= (hit.kind === 'view' ? 20 : 0));
  all.sort((a, b) => b.score - a.score);
  const top = all.slice(0, SHOWN);
  if (/^[0-9]+$/.test(word) && !top.some((hit) => hit.to === `/tasks/${word}`)) top.unshift({ key: 'id', kind: 'task', text: `task ${word}`, to: `/tasks/${word}`, score: 0 });
  return top;
}

export function Search() {
  const [word, setWord] = useState('');
  const [at, setAt] = useState(0);
  useEffect(() => { setWord((had) => early + had); early = ''; }, []); // runs when the dialog has opened
  const hits = hitsOf(word.trim(), useThings());
  const close = () => { searching.value = false; };
  const open = (hit: Hit) => { close(); location.hash = href(hit.to); };
  const key = (e: KeyboardEvent) => {
    if (e.key === 'Escape') { e.preventDefault(); close(); } // a search field would only empty itself
    if (e.key === 'ArrowDown') { e.preventDefault(); setAt(Math.min(hits.length - 1, at + 1)); }
    if (e.key === 'ArrowUp') { e.preventDefault(); setAt(Math.max(0, at - 1)); }
    if (e.key === 'Enter' && hits[at]) { e.preventDefault(); open(hits[at]); }
  };
  return (
    <Dialog title="Search" close={close}>
      <input class="search-in" type="search" autofocus role="combobox" aria-expanded="true" aria-controls="hits" aria-activedescendant={hits[at] ? `hit-${at}` : undefined} aria-label="A task, a pool, a node or a view"
        placeholder="A task’s number or name, a pool, a node" value={word} onInput={(e) => { setWord(e.currentTarget.value); setAt(0); }} onKeyDown={key} />
      <ul class="hits" id="hits" role="listbox" aria-label="Found">
        {hits.map((hit, i) => (
          <li key={hit.key} id={`hit-${i}`} role="option" aria-selected={i === at} class={i === at ? 'on' : ''} onClick={() => open(hit)} onMouseMove={() => setAt(i)}>
            <span class="hit-kind">{hit.kind}</span><span class="hit-text">{hit.text}</span>{hit.state && <StateChip state={hit.state} />}
          </li>
        ))}
        {hits.length === 0 && <li class="faint" role="option" aria-selected="false">Nothing fits “{word}”.</li>}
      </ul>
    </Dialog>
  );
}
