// levels.tsx - water levels: each department and project a vessel. The line is its guarantee, the level what it holds,
// hatched what it borrows beyond the guarantee, the rim its limit. SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { amount, num, plural, quote } from '../lib/format';
import { anything, useLive } from '../lib/live';
import { mayAdmin } from '../lib/me';
import { href, useQuery } from '../lib/router';
import type { Page, Pool } from '../lib/types';
import { Button, Card, Empty, ErrorBox, Field, Head } from '../ui/base';
import { ask, Dialog } from '../ui/dialog';
import { flowsOf, Flows } from './levels_flow';
import './levels.css';

interface Line {
  kind: 'department' | 'project'; account: string; department?: string; parent?: string | null; pool: string; resource: string; guaranteed: number | null; computed: boolean;
  limit: number | null; weight: number; share: number | null; allocated: number; fixed: number; leaving: number; borrowed: number; demand: number; above_limit: number; overhang: number; pending: number; running: number;
}

const VESSEL_PX = 132;

/** The top of the picture: everything of the tallest vessel fits below it. */
function top(lines: Line[]): number {
  return Math.max(1, ...lines.map((l) => Math.max(l.allocated, l.guaranteed ?? 0, l.limit ?? 0, Math.min(l.demand, 2 * Math.max(l.allocated, l.guaranteed ?? 0)))));
}

/** What of the guarantee its owner does not hold now. */
function unusedOf(l: Line): number { return Math.max(0, (l.guaranteed ?? 0) - l.allocated); }

/** Of the unused guarantee, the least and the most that others hold: what is free in the pool may be anybody's. */
function lentOf(l: Line, free: number, borrowed: number): [number, number] {
  const unused = unusedOf(l);
  return [Math.min(unused, borrowed, Math.max(0, unused - free)), Math.min(unused, borrowed)];
}

interface Pond { free: number; borrowed: number }

function lentText(l: Line, pond: Pond): string {
  const [least, most] = lentOf(l, pond.free, pond.borrowed);
  if (unusedOf(l) === 0) return '';
  if (most === 0) return `${amount(l.resource, unusedOf(l))} unused, nothing lent`;
  return `${least === most ? '' : least === 0 ? 'up to ' : `${amount(l.resource, least)} to `}${amount(l.resource, most)} lent${unusedOf(l) > most ? ` of ${amount(l.resource, unusedOf(l))} unused` : ''}`;
}

function sentence(l: Line, pond: Pond): string {
  const parts = [`${l.account} holds ${amount(l.resource, l.allocated)} ${l.resource}, guaranteed ${amount(l.resource, l.guaranteed)}${l.computed ? ' (what other guarantees leave)' : ''}`];
  if (l.borrowed > 0) parts.push(`${amount(l.resource, l.borrowed)} of them borrowed`);
  if (unusedOf(l) > 0) parts.push(`${lentText(l, pond)}`);
  parts.push(l.limit === null ? 'no limit' : `limit ${amount(l.resource, l.limit)}`);
  if (l.demand > l.allocated) parts.push(`asks for ${amount(l.resource, l.demand)}`);
  if (l.above_limit > 0) parts.push(`tasks ask for ${amount(l.resource, l.above_limit)} more, above a limit`);
  return parts.join(', ');
}

function Vessel({ l, scale, pond, edit }: { l: Line; scale: number; pond: Pond; edit: () => void }) {
  const px = (n: number) => Math.round((Math.min(n, scale) / scale) * VESSEL_PX);
  const own = Math.min(l.allocated, l.guaranteed ?? l.allocated);
  const borrowed = Math.max(0, l.allocated - own);
  const [, lent] = lentOf(l, pond.free, pond.borrowed);
  const text = sentence(l, pond);
  return (
    <div class={`vessel ${l.kind}`} data-account={l.account}>
      <div class="vessel-pic" role="img" aria-label={text} title={text} style={{ height: `${VESSEL_PX + 8}px` }}>
        {l.demand > l.allocated && <span class="vessel-demand" style={{ height: `${px(l.demand)}px` }} />}
        {lent > 0 && <span class="vessel-lent" style={{ bottom: `${px((l.guaranteed ?? 0) - lent)}px`, height: `${Math.max(2, px(l.guaranteed ?? 0) - px((l.guaranteed ?? 0) - lent))}px` }} />}
        <span class="vessel-own" style={{ height: `${px(own)}px` }} />
        {borrowed > 0 && <span class="vessel-borrowed" style={{ bottom: `${px(own)}px`, height: `${Math.max(2, px(l.allocated) - px(own))}px` }} />}
        {l.guaranteed !== null && l.guaranteed > 0 && <span class="vessel-line" style={{ bottom: `${px(l.guaranteed)}px` }} />}
        {l.limit !== null && <span class="vessel-rim" style={{ bottom: `${px(l.limit)}px` }} />}
      </div>
      <h3 title={l.account}><a href={href('/tasks', l.kind === 'project' ? { project: l.account, pool: l.pool, state: 'starting,running,stopping' } : { pool: l.pool, state: 'starting,running,stopping' })}>{l.account}</a></h3>
      <p class="vessel-sum"><b>{amount(l.resource, l.allocated)}</b> <span class="faint" title={l.computed ? 'What the guarantees of others leave' : undefined}>of {amount(l.resource, l.guaranteed)}{l.computed && ' (the rest)'}</span></p>
      <ul class="vessel-more">
        {l.borrowed > 0 && <li class="warn-text">{amount(l.resource, l.borrowed)} borrowed</li>}
        {unusedOf(l) > 0 && <li>{lentText(l, pond)}</li>}
        {l.limit !== null && <li>limit {amount(l.resource, l.limit)}</li>}
        {l.pending > 0 && <li><a href={href('/tasks', { ...(l.kind === 'project' ? { project: l.account } : {}), pool: l.pool, state: 'pending' })}>{plural(l.pending, 'task waits', 'tasks wait')}</a></li>}
        {l.overhang > 0 && <li class="bad-text">{amount(l.resource, l.overhang)} over its limit</li>}
      </ul>
      {mayAdmin.value && <Button small onClick={edit} aria-label={`Edit the quota of ${l.account}`}>Edit</Button>}
    </div>
  );
}

/** Which resource a body names, and how the command line does. */
function bodyOf(l: Line, guaranteed: string, limit: string, weight: string) {
  const value = (text: string, none: string) => (text.trim() === '' ? none : /^\d+(\.\d+)?$/.test(text.trim()) && l.resource !== 'memory' ? Number(text) : text.trim());
  return { [l.kind]: l.account, pool: l.pool, resources: { [l.resource]: { guaranteed: value(guaranteed, 'default'), limit: value(limit, 'unlimited'), weight: Number(weight) || 0 } } };
}

function Edit({ l, pond, close }: { l: Line; pond: Pond; close: () => void }) {
  const [guaranteed, setGuaranteed] = useState(l.computed || l.guaranteed === null ? '' : String(l.guaranteed));
  const [limit, setLimit] = useState(l.limit === null ? '' : String(l.limit));
  const [weight, setWeight] = useState(String(l.weight));
  const submit = (e: Event) => {
    e.preventDefault();
    close();
    ask({
      title: `Quota of ${l.account} in pool ${l.pool}`, verb: 'Set the quota',
      command: `weir quota set ${quote(l.account)}${l.kind === 'department' ? ' --department' : ''} --pool ${quote(l.pool)} ${l.resource}=${guaranteed.trim() || 'default'} --limit ${l.resource}=${limit.trim() || 'unlimited'} --weight ${weight}`,
      text: <p>{l.resource}: guaranteed {guaranteed.trim() || 'by default'}, limit {limit.trim() || 'none'}, weight {weight}. Now: {sentence(l, pond)}.</p>,
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

const quiet = (l: Line) => l.allocated + l.demand + l.pending + l.overhang === 0 && (l.computed || !l.guaranteed) && l.limit === null;

/** One pool and resource: departments side by side, each with its projects; who has and wants nothing there is only named. */
function Basin({ lines, pool, resource, pond, edit }: { lines: Line[]; pool: string; resource: string; pond: Pond; edit: (l: Line) => void }) {
  const scale = top(lines);
  const projects = lines.filter((l) => l.kind === 'project');
  const silent = (l: Line) => quiet(l) && lentOf(l, pond.free, pond.borrowed)[1] === 0;
  const departments = lines.filter((l) => l.kind === 'department' && (!silent(l) || projects.some((p) => p.department === l.account && !silent(p))));
  const still = lines.filter((l) => silent(l) && !departments.includes(l));
  const sum = (f: (l: Line) => number) => projects.reduce((total, l) => total + f(l), 0);
  const takers = projects.filter((l) => l.borrowed > 0).sort((a, b) => b.borrowed - a.borrowed);
  const givers = projects.filter((l) => lentOf(l, pond.free, pond.borrowed)[1] > 0);
  const flows = flowsOf(new Map(givers.map((l) => [l.account, lentOf(l, pond.free, pond.borrowed)[1]])), new Map(takers.map((l) => [l.account, l.borrowed])));
  return (
    <Card title={<><a href={href(`/pools/${encodeURIComponent(pool)}`)}>{pool}</a>{resource !== 'slots' && <> · {resource}</>}</>}
      side={<span class="faint">{amount(resource, sum((l) => l.allocated))} held, {amount(resource, pond.free)} free</span>}>
      {takers.length > 0 && <p class="levels-flow">{givers.length > 0 && <>{givers.map((l, i) => <span key={l.account}>{i > 0 && ', '}<b>{l.account}</b> ({lentText(l, pond)})</span>)} <span aria-hidden="true">→</span><span class="sr"> to </span> </>}{takers.map((l, i) => <span key={l.account}>{i > 0 && ', '}<b>{l.account}</b> borrows {amount(resource, l.borrowed)}</span>)}</p>}
      <div class={`levels-row ${flows.length > 0 ? 'flowing' : ''}`}>
        {flows.length > 0 && <Flows flows={flows} resource={resource} />}
        {departments.map((d) => (
          <section key={d.account} class="basin" aria-label={`Department ${d.account}`}>
            <Vessel l={d} scale={scale} pond={pond} edit={() => edit(d)} />
            {projects.filter((p) => p.department === d.account && !still.includes(p)).map((p) => <Vessel key={p.account} l={p} scale={scale} pond={pond} edit={() => edit(p)} />)}
          </section>
        ))}
      </div>
      {still.length > 0 && <details><summary>{plural(still.length, 'account')} without a quota, a task or a wish here</summary><ul class="levels-still">{still.map((l) => <li key={l.kind + l.account}>{l.account} <span class="faint">{l.kind}</span>{mayAdmin.value && <Button small kind="quiet" onClick={() => edit(l)} aria-label={`Edit the quota of ${l.account}, ${l.kind}, in ${pool}`}>Edit</Button>}</li>)}</ul></details>}
    </Card>
  );
}

/** Slots of each pool without a task. */
function freeOf(pools: Pool[] | undefined): Map<string, number> { return new Map((pools ?? []).map((p) => [p.name, p.slots.free])); }

export function LevelsView() {
  const [query, set] = useQuery();
  const pool = query.get('pool') ?? '';
  const lines = useLive<Page<Line>>(`/quotas?limit=300${pool ? `&pool=${encodeURIComponent(pool)}` : ''}`, anything);
  const pools = useLive<Page<Pool>>('/pools?limit=200', anything);
  const [editing, setEditing] = useState<Line | null>(null);
  const items = lines.data?.items ?? [];
  const free = freeOf(pools.data?.items);
  const pondOf = (l: Line): Pond => ({ free: l.resource === 'slots' ? free.get(l.pool) ?? 0 : Infinity, borrowed: items.filter((o) => o.kind === 'project' && o.pool === l.pool && o.resource === l.resource).reduce((sum, o) => sum + o.borrowed, 0) });
  const groups = new Map<string, Line[]>();
  for (const l of items) { const key = `${l.pool}\n${l.resource}`; groups.set(key, [...(groups.get(key) ?? []), l]); }
  return (
    <>
      <Head title="Water levels" sub="What each team is guaranteed, what it holds, and what flows to others until its owner wants it back">
        <select aria-label="Pool" value={pool} onChange={(e) => set({ pool: e.currentTarget.value })}><option value="">all pools</option>{[...new Set([...(pools.data?.items.map((p) => p.name) ?? []), ...(pool ? [pool] : [])])].map((p) => <option key={p} value={p}>{p}</option>)}</select>
      </Head>
      <ErrorBox error={lines.error} retry={lines.reload} />
      <ul class="legend levels-legend" aria-label="How to read a vessel">
        <li><span class="dot vessel-key-own" aria-hidden="true" />held within the guarantee</li><li><span class="dot vessel-key-borrowed" aria-hidden="true" />borrowed</li><li><span class="dot vessel-key-lent" aria-hidden="true" />lent</li>
        <li><span class="vessel-key-line" aria-hidden="true" />guarantee</li><li><span class="vessel-key-rim" aria-hidden="true" />limit</li><li><span class="dot vessel-key-demand" aria-hidden="true" />asked for and not held</li>
      </ul>
      {lines.data && pools.data && items.length === 0 && <Card><Empty title="No pool has quotas yet"><p>Vessels show up once a pool has nodes, tasks or quotas.</p></Empty></Card>}
      {pools.data && [...groups].filter(([, group]) => pool !== '' || group.some((l) => l.allocated + l.demand + (l.computed ? 0 : l.guaranteed ?? 1) > 0)).map(([key, group]) => <Basin key={key} lines={group} pool={group[0].pool} resource={group[0].resource} pond={pondOf(group[0])} edit={setEditing} />)}
      {lines.data?.next && <p class="note warn">The first {num(items.length)} lines are shown. Choose a pool.</p>}
      {editing && <Edit l={editing} pond={pondOf(editing)} close={() => setEditing(null)} />}
    </>
  );
}
