// home.tsx - is all well, and what of mine runs? SPDX-License-Identifier: Apache-2.0
import { plural, num } from '../lib/format';
import { href } from '../lib/router';
import { anything, useLive } from '../lib/live';
import { me, mayWrite } from '../lib/me';
import type { Page, Pool, Task, Time } from '../lib/types';
import { Card, Command, Empty, ErrorBox, Head, PoolLink, Span, StateChip, TaskLink, Words } from '../ui/base';
import { Bar, type Part } from '../ui/bar';
import { taskColumns } from './task_columns';
import { Table } from '../ui/table';

interface Slots { total: number; used: number; reserved: number; free: number; draining: number; broken: number; coming: number }
interface HomePool {
  name: string; title: string; provider: string; paused: boolean; state: string; health: string; reason: string; slots: Slots; nodes: { total: number; up: number; coming: number; lost: number };
  waiting: number; running: number; oldest_wait: Time; oldest_task: number | null;
}
interface Home {
  name: string; pools: HomePool[]; mine: { whole: boolean; waiting: number; running: number; staged: number; paused: number; items: Task[] };
  attention: { level: string; kind: string; pool: string; message: string }[]; attention_more: number;
}

/** The slots of a pool by condition; the parts but the coming ones add up to its size. */
function conditions(s: Slots): Part[] {
  return [
    { label: 'used', value: s.used, tone: 'used' }, { label: 'reserved', value: s.reserved, tone: 'kept' }, { label: 'free', value: s.free, tone: 'free' },
    { label: 'draining', value: s.draining, tone: 'waiting' }, { label: 'coming', value: s.coming, tone: 'coming' }, { label: 'broken', value: s.broken, tone: 'broken' },
  ];
}

/** The same for the page of a pool, which knows its nodes. */
export function capacity(p: Pool): Part[] {
  return [
    { label: 'used', value: p.slots.used, tone: 'used' },
    { label: 'free', value: p.slots.free, tone: 'free' },
    { label: p.launches.starting === 1 ? 'node coming' : 'nodes coming', value: p.launches.starting, tone: 'coming' },
    { label: p.nodes.lost === 1 ? 'node lost' : 'nodes lost', value: p.nodes.lost, tone: 'broken' },
  ];
}

/** Nothing is there and nothing wants to be: such a pool comes last. */
function idle(p: HomePool): boolean { return p.nodes.total + p.nodes.coming + p.waiting + p.running === 0; }

function PoolCard({ p }: { p: HomePool }) {
  return (
    <section class="card pool-card" data-pool={p.name} aria-label={`Pool ${p.name}`}>
      <header class="card-head">
        <h2><PoolLink name={p.name} /></h2>
        <div class="side">{p.paused && <StateChip state="paused" />}{p.provider === 'static' && idle(p) ? <StateChip state="no nodes" tone="empty" /> : <StateChip state={p.health} tone={p.health === 'running' ? 'up' : p.health} />}</div>
      </header>
      {p.title && <p class="faint">{p.title}</p>}
      {p.slots.total + p.slots.coming > 0 ? <Bar parts={conditions(p.slots)} unit="slots" /> : <p class="faint">{p.nodes.total > 0 ? 'no slots' : 'no nodes'}</p>}
      <ul class="tally">
        <li><a href={href('/nodes', { pool: p.name })}><b>{num(p.nodes.up)}</b> of {plural(p.nodes.total, 'node')}</a></li>
        <li><a href={href('/tasks', { pool: p.name, state: 'starting,running,stopping' })}><b>{num(p.running)}</b> running</a></li>
        <li><a href={href('/queue', { pool: p.name })}><b>{num(p.waiting)}</b> waiting</a></li>
        {p.oldest_wait && <li>longest: {p.oldest_task !== null ? <TaskLink id={p.oldest_task}><b><Span from={p.oldest_wait} /></b></TaskLink> : <b><Span from={p.oldest_wait} /></b>}</li>}
      </ul>
      {p.health !== 'running' && <p class="reason"><Words text={p.reason} /></p>}
    </section>
  );
}

const BUTTONS: [string, string, Record<string, string>][] = [
  ['Notebook', 'Jupyter with one slot', { kind: 'notebook', slots: '1' }], ['CPU-only notebook', 'Jupyter without slots', { kind: 'notebook', slots: '0' }],
  ['TensorBoard', 'shows the runs of a directory', { kind: 'tensorboard', slots: '0' }], ['Shell', 'a terminal on a node', { kind: 'shell', slots: '1' }],
];

function Launch() {
  return (
    <div class="launch">
      <a class="btn main" href={href('/submit')}>Submit a task</a>
      {BUTTONS.map(([text, note, query]) => <a key={text} class="btn" href={href('/submit', query)} title={note}>{text}</a>)}
    </div>
  );
}

function First({ pools }: { pools: HomePool[] }) {
  return (
    <Card title="No task yet">
      <Empty title="Submit the first one">
        <p>Type this on a machine that is logged in to this server. The output follows in your terminal, and the task shows up here.</p>
        <Command text="weir run -- echo hello" label="The first task" />
        {pools.every((p) => p.nodes.total === 0) && <><p>No machine has joined yet. On the machine that is to run tasks:</p><Command text={`weir agent --server ${location.origin} --pool ${pools[0]?.name ?? 'default'} --join-token TOKEN`} label="The first machine" /></>}
      </Empty>
    </Card>
  );
}

const ENDED = 8;

export function HomeView() {
  const home = useLive<Home>('/home', anything);
  const user = encodeURIComponent(me.value?.name ?? '');
  const ended = useLive<Page<Task>>(`/tasks?limit=${ENDED}&ended=true&user=${user}`, (e) => e.type === 'task-ended');
  const h = home.data;
  const live = h?.mine.items ?? [];
  const tasks = [...live, ...(ended.data?.items ?? []).filter((t) => !live.some((l) => l.id === t.id))];
  const nodes = h?.pools.reduce((sum, p) => sum + p.nodes.up, 0) ?? 0;
  const sum = (key: 'running' | 'waiting') => h?.pools.reduce((all, p) => all + p[key], 0) ?? 0;
  return (
    <>
      <Head title="Home" sub={h && <>{plural(h.pools.length, 'pool')}, {plural(nodes, 'node')} up, <a href={href('/tasks', { state: 'starting,running,stopping' })}>{num(sum('running'))} running</a>, <a href={href('/queue')}>{num(sum('waiting'))} waiting</a></>}>
        {mayWrite.value && <Launch />}
      </Head>
      <ErrorBox error={home.error} retry={home.reload} />
      {h && h.attention.length > 0 && (
        <section class="alerts" aria-label="What needs attention">
          {h.attention.map((a) => <a key={a.kind + a.pool + a.message} class={`note ${a.level === 'error' ? 'bad' : 'warn'}`} href={a.pool ? href(`/pools/${encodeURIComponent(a.pool)}`) : href('/admin/health')}>{a.message}</a>)}
          {h.attention_more > 0 && <p class="faint">and {num(h.attention_more)} more</p>}
        </section>
      )}
      {h && <div class="grid pools">{[...h.pools].sort((a, b) => Number(idle(a)) - Number(idle(b))).map((p) => <PoolCard key={p.name} p={p} />)}</div>}
      {h && ended.data && tasks.length === 0 && sum('running') + sum('waiting') === 0 ? <First pools={h.pools} /> : (
        <Card title="My tasks" side={<><span class="faint">{h && `${num(h.mine.running)} running, ${num(h.mine.waiting)} waiting`}</span><a href={href('/tasks', { user: me.value?.name })}>All of mine</a></>}>
          {h && ended.data && <Table label="My tasks" rows={tasks} id={(t) => t.id} columns={taskColumns({ user: false, ran: false })}
            empty={<Empty title="None of yours"><Command text="weir run -- echo hello" label="Submit one" /></Empty>} />}
        </Card>
      )}
    </>
  );
}
