// keys.ts - what single keys do. Nothing happens while a person types. SPDX-License-Identifier: Apache-2.0
import { go } from './lib/router';
import type { Route } from './routes';

export interface Doings { search: () => void; help: () => void; submit: () => void }

let first = 0; // when `g` was pressed

function typing(e: KeyboardEvent): boolean {
  const on = e.target as HTMLElement;
  return on.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(on.tagName) && (on as HTMLInputElement).type !== 'checkbox' || document.querySelector('dialog[open]') !== null;
}

function rows(): HTMLElement[] { return [...document.querySelectorAll<HTMLElement>('main [data-row]')]; }

function step(by: number) {
  const all = rows();
  if (all.length === 0) return;
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  (next.querySelector<HTMLElement>('a') ?? next).focus();
  next.scrollIntoView({ block: 'nearest' });
}

export function onKey(e: KeyboardEvent, routes: Route[], doings: Doings) {
  if (e.ctrlKey || e.metaKey || e.altKey || typing(e)) return;
  const second = Date.now() - first < 1200;
  first = 0;
  if (second) {
    const to = routes.find((r) => r.key === e.key);
    if (to) { e.preventDefault(); go(to.path); }
    return;
  }
  const acts: Record<string, () => void> = {
    '/': doings.search, '?': doings.help, c: doings.submit, j: () => step(1), k: () => step(-1), g: () => { first = Date.now(); },
    x: () => rows().find((row) => row.contains(document.activeElement))?.querySelector<HTMLElement>('input[type=checkbox]')?.click(),
  };
  if (acts[e.key]) { e.preventDefault(); acts[e.key](); }
}
