// levels.tsx - water levels: each department and project a vessel. The line is its guarantee, the level what it holds,
// hatched what it borrows beyond the guarantee, the rim its limit. SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { amount, num, plural, quote } from '../lib/format';
import { anything, useLive } from '../lib/live';
import { mayAdmin } from '../lib/me';
import { href, useQuery } from '../lib/router';
import type { Page } from '../lib/types';
import { Button, Card, Empty, ErrorBox, Field, Head } from '../ui/base';
import { ask, Dialog } from '../ui/dialog';
import './levels.css';

interface Line {
  kind: 'department' | 'project'; account: string; department?: string; parent?: string | null; pool: string; resource: string; guaranteed: number | null; computed: boolean;
  limit: number | null; weight: number; share: number | null; allocated: number; fixed: number; leaving: number; borrowed: number; demand: number; overhang: number; pending: number; running: number;
}

const VESSEL_PX = 132;

/** The top of the picture: everything of the tallest vessel fits below it. */
function top(lines: Line[]): number {
  return Math.max(1, ...lines.map((l) => Math.max(l.allocated, l.guaranteed ?? 0, l.limit ?? 0, Math.min(l.demand, 2 * Math.max(l.allocated, l.guaranteed ?? 0)))));
}

function sentence(l: Line): string {
  const held = amount(l.resource, l.allocated);
  const parts = [`${l.account} holds ${held} of its guaranteed ${amount(l.resource, l.guaranteed)} ${l.resource}`];
  if (l.borrowed > 0) parts.push(`${amount(l.resource, l.borrowed)} of them borrowed`);
  const lent = lentOf(l);
  if (lent > 0) parts.push(`${amount(l.resource, lent)} of the guarantee not used`);
  parts.push(l.limit === null ? 'no limit' : `limit ${amount(l.resource, l.limit)}`);
  if (l.demand > l.allocated) parts.push(`asks for ${amount(l.resource, l.demand)}`);
  return parts.join(', ');
}

/** What of the guarantee others may use now. */
export function lentOf(l: Line): number { return Math.max(0, (l.guaranteed ?? 0) - l.allocated); }

function Vessel({ l, scale, edit }: { l: Line; scale: number; edit: () => void }) {
  const px = (n: number) => Math.round((Math.min(n, scale) / scale) * VESSEL_PX);
  const own = Math.min(l.allocated, l.guaranteed ?? l.allocated);
  const borrowed = Math.max(0, l.allocated - own);
  return (
    <div class={`vessel ${l.kind}`} data-account={l.account}>
      <div class="vessel-pic" role="img" aria-label={sentence(l)} title={sentence(l)} style={{ height: `${VESSEL_PX + 8}px` }}>
        {l.demand > l.allocated && <span class="vessel-demand" style={{ height: `${px(l.demand)}px` }} />}
        <span class="vessel-own" style={{ height: `${px(own)}px` }} />
        {borrowed > 0 && <span class="vessel-borrowed" style={{ bottom: `${px(own)}px`, height: `${Math.max(2, px(l.allocated) - px(own))}px` }} />}
        {l.guaranteed !== null && <span class="vessel-line" style={{ bottom: `${px(l.guaranteed)}px` }} />}
        {l.limit !== null && <span class="vessel-rim" style={{ bottom: `${px(l.limit)}px` }} />}
      </div>
      <h3 title={l.account}><a href={href('/tasks', l.kind === 'project' ? { project: l.account, pool: l.pool } : { pool: l.pool })}>{l.account}</a></h3>
      <p class="vessel-sum"><b>{amount(l.resource, l.allocated)}</b> <span class="faint">of {amount(l.resource, l.guaranteed)}{l.computed && ' (rest)'}</span></p>
      <p class="vessel-more">
        {l.borrowed > 0 ? <span class="warn-text">+{amount(l.resource, l.borrowed)} borrowed</span> : lentOf(l) > 0 ? <span>{amount(l.resource, lentOf(l))} unused</span> : <span>level</span>}
        {l.limit !== null && <span> · rim {amount(l.resource, l.limit)}</span>}
        {l.pending > 0 && <span> · {plural(l.pending, 'waits', 'wait')}</span>}
        {l.overhang > 0 && <span class="bad-text"> · {amount(l.resource, l.overhang)} over</span>}
      </p>
      {mayAdmin.value && <Button small onClick={edit} aria-label={`Edit the quota of ${l.account}`}>Edit</Button>}
    </div>
  );
}

/** Which resource a body names, and how the command line does. */
function bodyOf(l: Line, guaranteed: string, limit: string, weight: string) {
  const value = (text: string, none: string) => (text.trim() === '' ? none : /^\d+(\.\d+)?$/.test(text.trim()) && l.resource !== 'memory' ? Number(text) : text.trim());
  return { [l.kind]: l.account, pool: l.pool, resources: { [l.resource]: { guaranteed: value(guaranteed, 'default'), limit: value(limit, 'unlimited'), weight: Number(weight) || 0 } } };
}

function Edit({ l, close }: { l: Line; close: () => void }) {
  const [guaranteed, setGuaranteed] = useState(l.computed || l.guaranteed === null ? '' : String(l.guaranteed));
  const [limit, setLimit] = useState(l.limit === null ? '' : String(l.limit));
  const [weight, setWeight] = useState(String(l.weight));
  const submit = (e: Event) => {
    e.preventDefault();
    close();
    ask({
      title: `Quota of ${l.account} in pool ${l.pool}`, verb: 'Set the quota',
      command: `weir quota set ${quote(l.account)}${l.kind === 'department' ? ' --department' : ''} --pool ${quote(l.pool)} ${l.resource}=${guaranteed.trim() || 'default'} --limit ${l.resource}=${limit.trim() || 'unlimited'} --weight ${weight}`,
      text: <p>{l.resource}: guaranteed {guaranteed.trim() || 'by default'}, limit {limit.trim() || 'none'}, weight {weight}. Now: {sentence(l)}.</p>,
      calls: [{ method: 'PATCH', path: '/quotas', body: bodyOf(l, guaranteed, limit, weight) }],
    });
  };
  return (
    <Dialog title={`Quota of ${l.account}`} close={close}>
      <form class="form" onSubmit={submit}>
        <p class="faint">{l.kind} · pool {l.pool} · {l.resource}. What the change does is shown before it is made.</p>
        <div class="form-row">
          <Field label="Guaranteed" hint="empty: the default">{(id) => <input id={id} value={guaranteed} inputMode="decimal" onInput={(e) => setGuaranteed(e.currentTarget.value)} />}</Field>
          <Field label="Limit" hint="empty: none">{(id) => <input id={id} value={limit} inputMode="decimal" onInput={(e) => setLimit(e.currentTarget.value)} />}</Field>
          <Field label="Weight" hint="of the surplus">{(id) => <input id={id} value={weight} inputMode="decimal" onInput={(e) => setWeight(e.currentTarget.value)} />}</Field>
        </div>
        <footer class="dialog-foot"><Button onClick={close}>Leave it</Button><Button kind="main" type="submit">Show what would change</Button></footer>
      </form>
    </Dialog>
  );
}

/** One pool and resource: departments, each with its projects. */
function Basin({ lines, pool, resource, edit }: { lines: Line[]; pool: string; resource: string; edit: (l: Line) => void }) {
  const scale = top(lines);
  const projects = lines.filter((l) => l.kind === 'project');
  const departments = lines.filter((l) => l.kind === 'department');
  const sum = (f: (l: Line) => number) => projects.reduce((total, l) => total + f(l), 0);
  const borrowed = sum((l) => l.borrowed);
  const unused = sum(lentOf);
  return (
    <Card title={<><a href={href(`/pools/${encodeURIComponent(pool)}`)}>{pool}</a>{resource !== 'slots' && <> · {resource}</>}</>}
      side={<span class="faint">{amount(resource, sum((l) => l.allocated))} held, {amount(resource, borrowed)} borrowed, {amount(resource, unused)} of guarantees unused</span>}>
      {departments.map((d) => (
        <section key={d.account} class="basin" aria-label={`Department ${d.account}`}>
          <Vessel l={d} scale={scale} edit={() => edit(d)} />
          <div class="basin-in">{projects.filter((p) => p.department === d.account).map((p) => <Vessel key={p.account} l={p} scale={scale} edit={() => edit(p)} />)}</div>
        </section>
      ))}
    </Card>
  );
}

export function LevelsView() {
  const [query, set] = useQuery();
  const pool = query.get('pool') ?? '';
  const lines = useLive<Page<Line>>(`/quotas?limit=1000${pool ? `&pool=${encodeURIComponent(pool)}` : ''}`, anything);
  const [editing, setEditing] = useState<Line | null>(null);
  const [known, setKnown] = useState<string[]>([]);
  const items = lines.data?.items ?? [];
  const pools = [...new Set(items.map((l) => l.pool))];
  if (!pool && pools.join() !== known.join() && pools.length) setKnown(pools);
  const choices = known.length ? known : pools;
  const groups = new Map<string, Line[]>();
  for (const l of items) { const key = `${l.pool}\n${l.resource}`; groups.set(key, [...(groups.get(key) ?? []), l]); }
  return (
    <>
      <Head title="Water levels" sub="What each team is guaranteed, what it holds, and what flows to others until its owner wants it back">
        <select aria-label="Pool" value={pool} onChange={(e) => set({ pool: e.currentTarget.value })}><option value="">all pools</option>{[...new Set([...choices, ...(pool ? [pool] : [])])].map((p) => <option key={p} value={p}>{p}</option>)}</select>
      </Head>
      <ErrorBox error={lines.error} retry={lines.reload} />
      <ul class="legend levels-legend" aria-label="How to read a vessel">
        <li><span class="dot vessel-key-own" aria-hidden="true" />held within the guarantee</li><li><span class="dot vessel-key-borrowed" aria-hidden="true" />borrowed</li>
        <li><span class="vessel-key-line" aria-hidden="true" />guarantee</li><li><span class="vessel-key-rim" aria-hidden="true" />limit</li><li><span class="dot vessel-key-demand" aria-hidden="true" />asked for and not held</li>
      </ul>
      {lines.data && items.length === 0 && <Card><Empty title="No pool has quotas yet"><p>Vessels show up once a pool has nodes, tasks or quotas.</p></Empty></Card>}
      {[...groups].filter(([, group]) => pool !== '' || group.some((l) => l.allocated + l.demand + (l.guaranteed ?? 1) > 0)).map(([key, group]) => <Basin key={key} lines={group} pool={group[0].pool} resource={group[0].resource} edit={setEditing} />)}
      {lines.data?.next && <p class="note warn">The first {num(items.length)} lines are shown. Choose a pool.</p>}
      {editing && <Edit l={editing} close={() => setEditing(null)} />}
    </>
  );
}
