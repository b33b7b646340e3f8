// levels_flow.tsx - lines from the vessels that lend to those that borrow. SPDX-License-Identifier: Apache-2.0
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { amount } from '../lib/format';

export interface Flow { from: string; to: string; amount: number }

const FLOWS_MAX = 12; // the largest are drawn
const HEAD_PX = 30; // how far a line rises above the vessels
const WIDEST_PX = 4;

/** What is borrowed comes from the lenders in proportion to what each lends. */
export function flowsOf(lent: Map<string, number>, borrowed: Map<string, number>): Flow[] {
  const all = [...lent.values()].reduce((sum, n) => sum + n, 0);
  const flows: Flow[] = [];
  if (all > 0) for (const [to, n] of borrowed) for (const [from, part] of lent) if (from !== to) flows.push({ from, to, amount: (n * part) / all });
  return flows.sort((a, b) => b.amount - a.amount).slice(0, FLOWS_MAX);
}

interface Line { key: string; d: string; x: number; y: number; wide: number; text: string }

/** The lines, over the vessels of the same element. Vessels below each other have none: the sentence above them says the same. */
export function Flows({ flows, resource }: { flows: Flow[]; resource: string }) {
  const head = useId();
  const ref = useRef<SVGSVGElement>(null);
  const [lines, setLines] = useState<Line[]>([]);
  const text = JSON.stringify(flows);
  useLayoutEffect(() => {
    const row = ref.current?.parentElement;
    if (!row) return undefined;
    const most = Math.max(...flows.map((f) => f.amount), 0);
    const part = (account: string, name: string) => [...row.querySelectorAll<HTMLElement>('.vessel.project')].find((v) => v.dataset.account === account)?.querySelector(name)?.getBoundingClientRect();
    const look = () => {
      const box = row.getBoundingClientRect();
      setLines(flows.flatMap((f) => {
        const from = part(f.from, '.vessel-lent');
        const to = part(f.to, '.vessel-borrowed');
        if (!from || !to || Math.abs(from.top - to.top) > box.height / 2 + from.height) return [];
        const [ax, ay, bx, by] = [from.left + from.width / 2 - box.left, from.top + from.height / 2 - box.top, to.left + to.width / 2 - box.left, to.top - box.top];
        return [{ key: `${f.from}\n${f.to}`, d: `M${ax},${ay} C${ax},${-HEAD_PX * 1.4} ${bx},${-HEAD_PX * 1.4} ${bx},${by - 3}`, x: (ax + bx) / 2, y: Math.max(-6, (ay + by - 3) / 8 - HEAD_PX * 1.05 - 2), wide: Math.max(1.5, (WIDEST_PX * f.amount) / most), text: amount(resource, Math.round(f.amount * 100) / 100) }];
      }));
    };
    look();
    const watch = new ResizeObserver(look);
    watch.observe(row);
    return () => watch.disconnect();
  }, [text, resource]);
  return (
    <svg ref={ref} class="levels-flows" aria-hidden="true" data-flows={lines.length}>
      <defs><marker id={head} viewBox="0 0 6 6" refX="4" refY="3" markerWidth="12" markerHeight="12" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0 L6,3 L0,6 z" class="levels-flow-head" /></marker></defs>
      {lines.map((l) => <g key={l.key}><path class="levels-flow-line" d={l.d} style={{ strokeWidth: l.wide }} marker-end={`url(#${head})`} /><text x={l.x} y={l.y}>{l.text}</text></g>)}
    </svg>
  );
}
