// home.tsx - is all well, and what of mine runs? SPDX-License-Identifier: Apache-2.0
import { plural, num } from '../lib/format';
import { href } from '../lib/router';
import { aboutTasks, anything, useLive } from '../lib/live';
import { me, mayWrite } from '../lib/me';
import type { Page, Pool, QueueItem, Status, Task } from '../lib/types';
import { Card, Command, Empty, ErrorBox, Head, PoolLink, StateChip, TaskLink, Time } from '../ui/base';
import { Bar, type Part } from '../ui/bar';
import { taskColumns } from './task_columns';
import { Table } from '../ui/table';

/** The slots of a pool: used, free, on their way, out of service. */
export function capacity(p: Pool): Part[] {
  return [
    { label: 'used', value: p.slots.used, tone: 'used' },
    { label: 'free', value: p.slots.free, tone: 'free' },
    { label: p.launches.starting === 1 ? 'node coming' : 'nodes coming', value: p.launches.starting, tone: 'coming' },
    { label: p.nodes.lost === 1 ? 'node lost' : 'nodes lost', value: p.nodes.lost, tone: 'broken' },
  ];
}

function PoolCard({ p, oldest }: { p: Pool; oldest: string | undefined }) {
  const price = p.market?.price ? `${num(p.market.price * p.nodes.up)} ${p.market.currency}/h` : null;
  return (
    <section class="card pool-card" data-pool={p.name}>
      <header class="card-head">
        <h2><PoolLink name={p.name} /></h2>
        <div class="side">{p.paused && <StateChip state="paused" />}<StateChip state={p.health} /></div>
      </header>
      {p.title && <p class="faint">{p.title}</p>}
      <Bar parts={capacity(p)} unit={p.slot_type === 'gpu' ? 'GPUs' : 'slots'} />
      <ul class="tally">
        <li><a href={href('/nodes', { pool: p.name })}><b>{num(p.nodes.up)}</b> of {plural(p.nodes.total, 'node')}</a></li>
        <li><a href={href('/tasks', { pool: p.name, state: 'running' })}><b>{num(p.tasks.running)}</b> running</a></li>
        <li><a href={href('/queue', { pool: p.name })}><b>{num(p.tasks.pending)}</b> waiting</a></li>
        {oldest && <li>oldest <b><Time at={oldest} /></b></li>}
        {p.reservations.length > 0 && <li>kept for {p.reservations.slice(0, 2).map((r, i) => <>{i > 0 && ', '}<TaskLink id={r.task} /></>)}{p.reservations.length > 2 && ' …'}</li>}
        {price && <li><b>{price}</b></li>}
      </ul>
      {p.health !== 'running' && <p class="reason">{p.reason}</p>}
      {p.launches.refusal && <p class="reason">The provider: {p.launches.refusal}</p>}
    </section>
  );
}

interface Alert { key: string; tone: 'bad' | 'warn'; text: string; to: string }

function alertsOf(status: Status | undefined, pools: Pool[]): Alert[] {
  const found: Alert[] = [];
  if (status && !status.writable) found.push({ key: 'store', tone: 'bad', text: `The server cannot store changes: ${status.problem}`, to: '/admin/health' });
  for (const p of pools) {
    if (p.health === 'unavailable' && p.state !== 'submitted') found.push({ key: 'u' + p.name, tone: 'bad', text: `Pool ${p.name} is unavailable: ${p.reason}`, to: `/pools/${p.name}` });
    else if (p.health === 'degraded') found.push({ key: 'd' + p.name, tone: 'warn', text: `Pool ${p.name} is degraded: ${p.reason}`, to: `/pools/${p.name}` });
    if (p.launches.refusal && p.launches.failed > 0) found.push({ key: 'l' + p.name, tone: 'warn', text: `The provider of pool ${p.name} refuses nodes: ${p.launches.refusal}`, to: `/pools/${p.name}` });
    if (p.paused && p.tasks.pending > 0) found.push({ key: 'p' + p.name, tone: 'warn', text: `Pool ${p.name} is paused; ${plural(p.tasks.pending, 'task waits', 'tasks wait')}`, to: `/pools/${p.name}` });
  }
  return found;
}

const BUTTONS: [string, string, Record<string, string>][] = [
  ['Notebook', 'with one slot', { kind: 'notebook', command: 'jupyter lab --no-browser', name: 'notebook', slots: '1' }],
  ['CPU-only notebook', 'without slots', { kind: 'notebook', command: 'jupyter lab --no-browser', name: 'notebook', slots: '0' }],
  ['TensorBoard', 'without slots', { kind: 'tensorboard', command: 'tensorboard --logdir .', name: 'tensorboard', slots: '0' }],
  ['Shell', 'a task that waits for you', { kind: 'shell', command: 'sleep infinity', name: 'shell', slots: '0' }],
];

function Launch() {
  return (
    <div class="launch">
      <a class="btn main" href={href('/submit')}>Submit a task</a>
      {BUTTONS.map(([text, note, query]) => <a key={text} class="btn" href={href('/submit', query)} title={note}>{text}</a>)}
    </div>
  );
}

export function HomeView() {
  const pools = useLive<Page<Pool>>('/pools?limit=1000', anything);
  const status = useLive<Status>('/status', anything);
  const queue = useLive<Page<QueueItem>>('/queue?limit=1000', aboutTasks);
  const mine = useLive<Page<Task>>(`/tasks?limit=50&user=${encodeURIComponent(me.value?.name ?? '')}`, aboutTasks);
  const oldest = new Map<string, string>();
  for (const item of queue.data?.items ?? []) if (!oldest.has(item.pool) || item.submitted_at < (oldest.get(item.pool) as string)) oldest.set(item.pool, item.submitted_at);
  const alerts = alertsOf(status.data, pools.data?.items ?? []);
  const total = Object.values(status.data?.tasks ?? {}).reduce((a, b) => a + b, 0);
  const tasks = [...(mine.data?.items ?? [])].sort((a, b) => Number(a.ended_at !== null) - Number(b.ended_at !== null) || b.id - a.id).slice(0, 12);
  return (
    <>
      <Head title="Home" sub={status.data && <>{plural(status.data.pools, 'pool')}, {plural(status.data.nodes.up ?? 0, 'node')} up, <a href={href('/tasks', { state: 'running' })}>{num(status.data.tasks.running ?? 0)} running</a>, <a href={href('/queue')}>{num(status.data.tasks.pending ?? 0)} waiting</a></>}>
        {mayWrite.value && <Launch />}
      </Head>
      <ErrorBox error={pools.error} retry={pools.reload} />
      {alerts.length > 0 && (
        <section class="alerts" aria-label="What needs attention">
          {alerts.map((a) => <a key={a.key} class={`note ${a.tone}`} href={href(a.to)}>{a.text}</a>)}
        </section>
      )}
      <div class="grid pools">{pools.data?.items.map((p) => <PoolCard key={p.name} p={p} oldest={oldest.get(p.name)} />)}</div>
      {pools.data && status.data && total === 0 ? (
        <Card title="No task yet">
          <Empty title="Submit the first one">
            <p>Type this on a machine that is logged in to this server. The output follows in your terminal, and the task shows up here.</p>
            <Command text="weir run -- echo hello" label="The first task" />
            {pools.data.items.every((p) => p.nodes.total === 0) && <><p>No machine has joined yet. On the machine that is to run tasks:</p><Command text="weir agent --server URL --pool default --join-token TOKEN" label="The first machine" /></>}
          </Empty>
        </Card>
      ) : (
        <Card title="My tasks" side={<a href={href('/tasks', { user: me.value?.name })}>All of mine</a>}>
          <Table label="My tasks" rows={tasks} id={(t) => t.id} columns={taskColumns({ user: false })} order={String(mine.data === undefined)}
            empty={<Empty title="None of yours"><Command text="weir run -- echo hello" label="Submit one" /></Empty>} />
        </Card>
      )}
    </>
  );
}
