// table.tsx - a list whose rows stand still. SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { plural } from '../lib/format';
import { Button } from './base';

export interface Column<T> {
  key: string; title: string; cell: (row: T) => ComponentChildren;
  /** Left out when the page is narrow: 'm' below 1000 px, 's' below 640 px. */
  hide?: 'm' | 's'; num?: boolean; grow?: boolean;
}

export interface TableProps<T> {
  columns: Column<T>[]; rows: T[]; id: (row: T) => string | number; label: string;
  chosen?: Set<string | number>; choose?: (chosen: Set<string | number>) => void; empty?: ComponentChildren;
  /** Another value: the rows may be put in order again (a filter was changed). */
  order?: string;
}

/** New rows wait behind a chip, so that what a person points at stays under the pointer; rows that are gone stay, pale, until asked. */
function useStill<T>(rows: T[], id: (row: T) => string | number, order: string): [{ row: T; gone: boolean }[], number, () => void] {
  const shown = useRef<{ ids: (string | number)[]; last: Map<string | number, T>; order: string } | null>(null);
  const [, redraw] = useState(0);
  const byId = new Map(rows.map((row) => [id(row), row]));
  if (!shown.current || shown.current.order !== order || shown.current.ids.length === 0) {
    shown.current = { ids: [...byId.keys()], last: byId, order };
  }
  const now = shown.current;
  const known = new Set(now.ids);
  const fresh = rows.filter((row) => !known.has(id(row))).length;
  for (const [key, row] of byId) if (known.has(key)) now.last.set(key, row);
  const lines = now.ids.filter((key) => now.last.has(key)).map((key) => ({ row: byId.get(key) ?? (now.last.get(key) as T), gone: !byId.has(key) }));
  const again = () => { shown.current = null; redraw((n) => n + 1); };
  return [lines, fresh, again];
}

export function Table<T>({ columns, rows, id, label, chosen, choose, empty, order = '' }: TableProps<T>) {
  const [lines, fresh, again] = useStill(rows, id, order);
  const anchor = useRef<string | number | null>(null);
  const gone = lines.filter((line) => line.gone).length;
  useEffect(() => {
    // Nobody is reading the list: it may follow.
    if (fresh + gone > 0 && document.hidden) again();
  });
  if (lines.length === 0) return <>{empty ?? <p class="faint pad">Nothing here.</p>}</>;
  const toggle = (key: string | number, shift: boolean) => {
    const next = new Set(chosen);
    const keys = lines.map((line) => id(line.row));
    const from = anchor.current === null ? -1 : keys.indexOf(anchor.current);
    if (shift && from >= 0) {
      const to = keys.indexOf(key);
      for (const k of keys.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(k);
    } else if (next.has(key)) next.delete(key); else next.add(key);
    anchor.current = key;
    choose?.(next);
  };
  const all = lines.every((line) => chosen?.has(id(line.row)));
  return (
    <div class="table-box">
      {fresh + gone > 0 && (
        <div class="fresh" role="status">
          <Button small kind="main" onClick={again}>{[fresh > 0 && `${fresh} new`, gone > 0 && `${gone} gone`].filter(Boolean).join(', ')}</Button>
        </div>
      )}
      <div class="table-wrap">
        <table>
          <caption class="sr">{label}: {plural(lines.length, 'row')}</caption>
          <thead>
            <tr>
              {choose && <th class="pick"><input type="checkbox" aria-label="All rows" checked={all} onChange={() => choose(all ? new Set() : new Set(lines.map((line) => id(line.row))))} /></th>}
              {columns.map((c) => <th key={c.key} scope="col" class={`${c.hide ? `hide-${c.hide}` : ''} ${c.num ? 'num' : ''} ${c.grow ? 'grow' : ''}`}>{c.title}</th>)}
            </tr>
          </thead>
          <tbody>
            {lines.map(({ row, gone: left }) => {
              const key = id(row);
              return (
                <tr key={key} data-row={key} class={`${left ? 'gone' : ''} ${chosen?.has(key) ? 'picked' : ''}`}>
                  {choose && <td class="pick"><input type="checkbox" aria-label={`Choose ${key}`} checked={chosen?.has(key) ?? false} onClick={(e) => toggle(key, (e as MouseEvent).shiftKey)} /></td>}
                  {columns.map((c) => <td key={c.key} class={`${c.hide ? `hide-${c.hide}` : ''} ${c.num ? 'num' : ''} ${c.grow ? 'grow' : ''}`}>{c.cell(row)}</td>)}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}
