// pool.tsx - a pool: capacity, size, what its provider said, and why it has the nodes that it has. SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { weir } from '../lib/cli';
import { absolute, duration, num, plural, resources, titleOf } from '../lib/format';
import { aboutPool, useLive, type Ev } from '../lib/live';
import { mayAdmin } from '../lib/me';
import { go, href, useParams } from '../lib/router';
import type { Node, Page, Pool, QueueItem, Task } from '../lib/types';
import { Button, Card, Command, ErrorBox, Facts, Field, Head, StateChip, TaskLink, Time } from '../ui/base';
import { Bar } from '../ui/bar';
import { ask, Dialog } from '../ui/dialog';
import { EventList, useEvents } from '../ui/events';
import { capacity } from './home';
import { aboutNodes, sizeOf } from './pools';
import { taskColumns } from './task_columns';
import { Table } from '../ui/table';
import './pool.css';

const BUSY: [string, string][] = [['wait', 'run to their end'], ['requeue', 'run elsewhere'], ['kill', 'are killed'], ['refuse', 'stay: refuse the change']];

/** How many nodes, which of them leave, and what becomes of the tasks there. */
function Scale({ p, close }: { p: Pool; close: () => void }) {
  const elastic = p.provider.nodes === 0;
  const nodes = useLive<Page<Node>>(`/nodes?limit=1000&pool=${encodeURIComponent(p.name)}`, aboutNodes);
  const [count, setCount] = useState(String(p.provider.nodes || p.nodes.total));
  const [min, setMin] = useState(String(p.provider.min));
  const [max, setMax] = useState(String(p.provider.max));
  const [kind, setKind] = useState(elastic ? 'elastic' : 'fixed');
  const [remove, setRemove] = useState<string[]>([]);
  const [busy, setBusy] = useState('wait');
  const body: Record<string, unknown> = { busy };
  const flags: (string | number)[] = [];
  if (kind === 'fixed') { body.nodes = Number(count); flags.push('--nodes', count); }
  if (kind === 'elastic') { body.min = Number(min); body.max = Number(max); flags.push('--min', min, '--max', max); }
  if (remove.length) { body.remove = remove; flags.push('--remove', remove.join(',')); }
  if (busy !== 'wait') flags.push('--busy', busy);
  const next = (e: Event) => {
    e.preventDefault();
    close();
    ask({ title: `Scale the pool ${p.name}?`, verb: 'Scale', danger: busy === 'kill', command: weir('pool', 'scale', p.name, ...flags), calls: [{ method: 'POST', path: `/pools/${encodeURIComponent(p.name)}/scale`, body }] });
  };
  return (
    <Dialog title={`Scale ${p.name}`} close={close}>
      <form class="form" onSubmit={next}>
        <Field label="Size">{(id) => <select id={id} value={kind} onChange={(e) => setKind(e.currentTarget.value)}><option value="elastic">grows and shrinks</option><option value="fixed">a fixed number of nodes</option><option value="named">as it is; only the nodes below leave</option></select>}</Field>
        {kind === 'fixed' && <Field label="Nodes">{(id) => <input id={id} name="nodes" type="number" min="0" max="10000" required value={count} onInput={(e) => setCount(e.currentTarget.value)} />}</Field>}
        {kind === 'elastic' && <div class="form-row"><Field label="Fewest nodes">{(id) => <input id={id} name="min" type="number" min="0" required value={min} onInput={(e) => setMin(e.currentTarget.value)} />}</Field><Field label="Most nodes">{(id) => <input id={id} name="max" type="number" min="0" required value={max} onInput={(e) => setMax(e.currentTarget.value)} />}</Field></div>}
        {nodes.data && nodes.data.items.length > 0 && (
          <fieldset><legend>Nodes that leave</legend><div class="pool-choose">{nodes.data.items.map((n) => <label key={n.name} class="check"><input type="checkbox" name="remove" value={n.name} disabled={n.locked} checked={remove.includes(n.name)} onChange={() => setRemove(remove.includes(n.name) ? remove.filter((x) => x !== n.name) : [...remove, n.name])} />{n.name}<span class="faint">{n.locked ? 'locked' : n.tasks.length ? plural(n.tasks.length, 'attempt') : 'idle'}</span></label>)}</div><p class="hint">None chosen: nodes on their way go first, then idle nodes, then those whose tasks lose least.</p></fieldset>
        )}
        <Field label="Tasks on nodes that leave">{(id) => <select id={id} name="busy" value={busy} onChange={(e) => setBusy(e.currentTarget.value)}>{BUSY.map(([k, what]) => <option key={k} value={k}>{what}</option>)}</select>}</Field>
        <footer class="dialog-foot"><Button onClick={close}>Leave it</Button><Button kind="main" type="submit">Look at it</Button></footer>
      </form>
    </Dialog>
  );
}

function Actions({ p }: { p: Pool }) {
  const [scaling, setScaling] = useState(false);
  const path = `/pools/${encodeURIComponent(p.name)}`;
  const gone = p.state === 'pending-delete';
  const shut = gone || p.state === 'closed' || p.state === 'closing';
  const deleted = () => go('/pools');
  return (
    <>
      {shut && <Button kind="main" onClick={() => ask({ title: `Restore the pool ${p.name}?`, verb: 'Restore', command: weir('pool', 'restore', p.name), calls: [{ method: 'POST', path: `${path}/restore` }] })}>Restore</Button>}
      {!shut && p.provider.type !== 'static' && <Button kind="main" onClick={() => setScaling(true)}>Scale</Button>}
      {!shut && <a class="btn" href={href(`/pools/${encodeURIComponent(p.name)}/edit`)}>Change</a>}
      {!shut && <Button onClick={() => ask({ title: p.paused ? `Let the pool ${p.name} start tasks again?` : `Pause the pool ${p.name}?`, verb: p.paused ? 'Resume' : 'Pause', command: weir('pool', p.paused ? 'resume' : 'pause', p.name), calls: [{ method: 'PATCH', path, body: { paused: !p.paused } }] })}>{p.paused ? 'Resume' : 'Pause'}</Button>}
      {!shut && <Button onClick={() => ask({ title: `Close the pool ${p.name}?`, verb: 'Close', danger: true, text: <p>It takes no more tasks; those that run go on to their end, then the nodes go. It can be restored.</p>, command: weir('pool', 'close', p.name), calls: [{ method: 'POST', path: `${path}/close` }] })}>Close</Button>}
      {!gone && <Button kind="danger" onClick={() => ask({ title: `Delete the pool ${p.name}?`, verb: 'Delete', danger: true, text: <p>Its nodes go at once, and its tasks become unavailable. For 24 hours the pool can be restored.</p>, command: weir('pool', 'delete', p.name, '--force'), calls: [{ method: 'DELETE', path: `${path}?force=true` }] })}>Delete</Button>}
      {gone && <Button kind="danger" onClick={() => ask({ title: `Delete ${p.name} for good?`, verb: 'Delete for good', danger: true, text: <p>The pool cannot be restored afterwards.</p>, command: weir('pool', 'delete', p.name, '--now'), calls: [{ method: 'DELETE', path: `${path}?force=true&now=true` }], done: deleted })}>Delete for good</Button>}
      {scaling && <Scale p={p} close={() => setScaling(false)} />}
    </>
  );
}

const STEPS = new Set(['launch-asked', 'launch-changed', 'launch-ended', 'node-leaving', 'node-forgotten', 'pool-set', 'pool-closing', 'pool-restored', 'pool-pending-delete', 'pool-replacing', 'flavor-waits', 'node-moved']);
const CAUSES = new Set(['task-submitted', 'task-queued', 'task-edited', 'head-blocked', 'reserved', 'pool-set', 'pool-restored', 'pool-replacing', 'node-state', 'evicted', 'attempt-ended', 'quota-set', 'node-forgotten', 'server-started']);
const CAUSE_MS = 2000; // a decision of the scheduler follows its cause at once

/** What made the scheduler take this step: the last event of the pool before it that can. */
function causeOf(step: Ev, events: Ev[]): Ev | null {
  for (let i = events.length - 1; i >= 0; i--) {
    const e = events[i];
    if (e.seq >= step.seq || !CAUSES.has(e.type)) continue;
    return new Date(step.time).getTime() - new Date(e.time).getTime() <= CAUSE_MS ? e : null;
  }
  return null;
}

function said(e: Ev): string {
  const message = String(e.message ?? '');
  switch (e.type) {
    case 'launch-asked': return `asked the provider for node ${e.launch}${e.zone ? ` in ${e.zone}` : ''}`;
    case 'launch-changed': return `node ${e.launch} is ${e.state}${message ? `: ${message}` : ''}`;
    case 'launch-ended': return `node ${e.launch} has ended${e.why ? `, ${e.why}` : ''}${message ? `: ${message}` : ''}`;
    case 'node-leaving': return `node ${e.node} leaves`;
    case 'pool-set': return 'the pool was set';
    default: return `${e.type.replace(/-/g, ' ')}${message ? `: ${message}` : ''}`;
  }
}

function Cause({ e }: { e: Ev | null }) {
  if (!e) return null;
  if (e.task !== undefined) return <span class="faint">, because <TaskLink id={e.task} /> {e.type === 'task-submitted' ? `was submitted by ${e.actor.replace('user:', '')}` : e.type === 'reserved' || e.type === 'head-blocked' ? 'found no place' : e.type.replace(/-/g, ' ')}</span>;
  return <span class="faint">, because {e.type === 'pool-set' ? 'the pool was set' : e.type === 'node-state' ? `node ${e.node} became ${e.state}` : e.type === 'server-started' ? 'the server started' : e.type.replace(/-/g, ' ')} ({e.actor})</span>;
}

function Scaling({ events, ready, cut }: { events: Ev[]; ready: boolean; cut: boolean }) {
  const steps = events.filter((e) => STEPS.has(e.type)).reverse().slice(0, 60);
  if (!ready) return <p class="faint">Reading the log of facts …</p>;
  if (steps.length === 0) return <p class="faint">The pool has not changed its size.</p>;
  return (
    <>
      <ol class="pool-steps" aria-label="Scaling history">{steps.map((e) => <li key={e.seq} data-step={e.type}><Time at={e.time} /><span>{said(e)}<Cause e={e.actor === 'scheduler' ? causeOf(e, events) : null} />{e.actor !== 'scheduler' && <span class="faint"> ({e.actor})</span>}</span></li>)}</ol>
      {cut && <p class="faint">The log of facts no longer has what happened before.</p>}
    </>
  );
}

function Market({ p }: { p: Pool }) {
  const m = p.market;
  if (!m && !p.launches.refusal && p.launches.starting + p.launches.ending + p.launches.leaving === 0 && !p.replacement) return null;
  return (
    <Card title="Provider">
      <Facts rows={[
        p.launches.starting > 0 && ['Coming', plural(p.launches.starting, 'node')], p.launches.leaving + p.launches.ending > 0 && ['Leaving', plural(p.launches.leaving + p.launches.ending, 'node')],
        p.launches.refusal && ['It said', <span class="warn-text">{p.launches.refusal}</span>], p.launches.retry_at && ['Asked again', <Time at={p.launches.retry_at} />],
        m && m.price > 0 && ['Price', `${num(m.price)} ${m.currency} a node and hour${m.spot ? ', spot' : ''}`], m && m.line && ['In line', `place ${m.line.place} of ${m.line.of}, for ${plural(m.line.nodes, 'node')}`],
        ...(m?.sold_out ?? []).map((s): [string, preact.ComponentChildren] => [`${s.zone || 'All zones'} sold out`, <>since <Time at={s.since} />, asked again <Time at={s.retry_at} /></>]),
        p.replacement && ['Replacement', `${p.replacement.begun} of ${p.replacement.total} nodes${p.replacement.ended ? `, ended: ${p.replacement.ended}` : ''}`],
      ]} />
    </Card>
  );
}

export function PoolView() {
  const { name } = useParams();
  const key = encodeURIComponent(name);
  const pool = useLive<Pool>(`/pools/${key}`, aboutPool(name));
  const tasks = useLive<Page<Task>>(`/tasks?limit=50&state=starting,running,stopping&pool=${key}`, aboutPool(name));
  const queue = useLive<Page<QueueItem>>(`/queue?limit=8&pool=${key}`, aboutPool(name));
  const past = useEvents(`pool=${key}`, (e) => e.pool === name && e.type !== 'pass' && e.type !== 'budgets' && e.type !== 'credit');
  const p = pool.data;
  if (!p) return <><Head title={name} crumbs={[['Pools', '/pools']]} /><ErrorBox error={pool.error} retry={pool.reload} />{!pool.error && <p class="faint">Asking the server …</p>}</>;
  return (
    <>
      <Head title={p.name} crumbs={[['Pools', '/pools']]} sub={<><StateChip state={p.health} /> {p.paused && <StateChip state="paused" />} {p.state}: {p.reason}</>}>{mayAdmin.value && <Actions p={p} />}</Head>
      {p.restore_until && <p class="note warn">It is deleted, and can be restored until {absolute(p.restore_until)}.</p>}
      <div class="cols">
        <Card title="Capacity">
          <Bar parts={capacity(p)} unit={p.slot_type === 'gpu' ? 'GPUs' : 'slots'} />
          <ul class="tally">
            <li><a href={href('/nodes', { pool: p.name })}><b>{p.nodes.up}</b> of {plural(p.nodes.total, 'node')} up</a></li>{p.nodes.draining > 0 && <li><b>{p.nodes.draining}</b> draining</li>}
            <li><b>{num(p.tasks.running)}</b> running</li><li><a href={href('/queue', { pool: p.name })}><b>{num(p.tasks.pending)}</b> waiting</a></li>
            <li><b>{num(p.aux.used)}</b> of {num(p.aux.total)} places without slots</li>
          </ul>
          {p.reservations.length > 0 && <p>Places are kept for {p.reservations.map((r, i) => <>{i > 0 && ', '}<TaskLink id={r.task} />{r.until && <> (until <Time at={r.until} />)</>}</>)}.</p>}
          <p class="faint">Idle budget {num(p.budgets.idle.level)} of {num(p.budgets.idle.most)} slot-hours, loss budget {num(p.budgets.loss.level)} of {num(p.budgets.loss.most)}.</p>
        </Card>
        <Card title="Definition">
          <Facts rows={[p.title && ['Title', p.title], p.description && ['Description', p.description], p.contact && ['Contact', p.contact], ['Nodes by', sizeOf(p)], p.flavor && ['Flavor', p.flavor], p.provider.type !== 'static' && p.provider.nodes === 0 && ['A free node goes after', duration(p.provider.idle_ms)],
            ['Access', p.access === 'public' ? 'everybody' : p.for.join(', ')], ['Takes', p.accepts.length ? p.accepts.join(', ') : 'all kinds'], ['Order', String(p.scheduler.policy)], ['Preemption', String(p.scheduler.preemption)],
            Object.keys(p.selector).length > 0 && ['Labels of its nodes', Object.entries(p.selector).map(([k, v]) => `${k}=${v}`).join(', ')], p.slots_per_node !== null && ['Slots of a node', num(p.slots_per_node)]]} />
          <Command text={weir('pool', 'show', p.name)} />
        </Card>
        <Market p={p} />
      </div>
      <div class="cols">
        <Card title="Running" side={<a href={href('/tasks', { pool: p.name, state: 'starting,running,stopping' })}>All</a>}>{tasks.data && <Table label="Running tasks" rows={tasks.data.items.slice(0, 12)} id={(t) => t.id} columns={taskColumns({ pool: false }).filter((c) => ['id', 'name', 'user', 'ran'].includes(c.key))} empty={<p class="faint">Nothing runs.</p>} />}</Card>
        <Card title="Waiting" side={<a href={href('/queue', { pool: p.name })}>All</a>}>{queue.data && (queue.data.items.length === 0 ? <p class="faint">Nothing waits.</p> : <ul class="stack">{queue.data.items.map((q) => <li key={q.id}><TaskLink id={q.id}>{q.id} {titleOf(q)}</TaskLink> <span class="faint">{resources(q.resources)}: {q.reason?.message}</span></li>)}</ul>)}</Card>
      </div>
      <Card title="Scaling history"><Scaling {...past} /></Card>
      <details class="card"><summary>Everything that happened in this pool</summary><EventList {...past} show={['task', 'node']} /></details>
    </>
  );
}

