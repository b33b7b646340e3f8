// pools.tsx - all pools, and nodes of all pools. SPDX-License-Identifier: Apache-2.0
import { byName, num, plural, resources } from '../lib/format';
import { withQuery } from '../lib/api';
import { weir } from '../lib/cli';
import { useLive, type Ev } from '../lib/live';
import { mayAdmin } from '../lib/me';
import { href, useQuery } from '../lib/router';
import type { Node, Page, Pool } from '../lib/types';
import { Button, Card, Chip, Command, Empty, ErrorBox, Head, PoolLink, StateChip, Tabs, Words } from '../ui/base';
import { Bar, Meter } from '../ui/bar';
import { Table, type Column } from '../ui/table';
import { capacity } from './home';

export function sizeOf(p: Pool): string {
  const v = p.provider;
  if (v.type === 'static') return 'agents by hand';
  return v.nodes > 0 ? `${v.type}, ${plural(v.nodes, 'node')}` : `${v.type}, ${v.min} to ${v.max} nodes`;
}

export function PoolsView() {
  const pools = useLive<Page<Pool>>('/pools?limit=1000');
  const columns: Column<Pool>[] = [
    { key: 'name', title: 'Pool', grow: true, cell: (p) => <div class="two"><a class="row-link clip" href={href(`/pools/${encodeURIComponent(p.name)}`)}>{p.name}</a>{(p.title || p.health !== 'running') && <span class="faint">{p.title || <Words text={p.reason} />}</span>}</div> },
    { key: 'state', title: 'State', cell: (p) => <span class="side"><StateChip state={p.health} tone={p.health === 'running' ? 'up' : p.health} />{p.paused && <StateChip state="paused" />}{!/executing|dispatched|submitted/.test(p.state) && <StateChip state={p.state} />}</span> },
    { key: 'use', title: 'Slots', hide: 's', cell: (p) => <div class="pool-bar"><Bar parts={capacity(p)} legend={false} /><span class="faint">{num(p.slots.used)} of {num(p.slots.total)} used</span></div> },
    { key: 'nodes', title: 'Nodes', num: true, hide: 's', cell: (p) => <a href={href('/nodes', { pool: p.name })}>{p.nodes.up} of {p.nodes.total}</a> },
    { key: 'run', title: 'Running', num: true, hide: 'm', cell: (p) => <a href={href('/tasks', { pool: p.name, state: 'running' })}>{num(p.tasks.running)}</a> },
    { key: 'wait', title: 'Waiting', num: true, hide: 'm', cell: (p) => <a href={href('/queue', { pool: p.name })}>{num(p.tasks.pending)}</a> },
    { key: 'by', title: 'Nodes by', hide: 'm', cell: (p) => <span class="nowrap">{sizeOf(p)}</span> },
  ];
  return (
    <>
      <Head title="Pools" sub={pools.data && plural(pools.data.items.length, 'pool')}>{mayAdmin.value && <a class="btn main" href={href('/new/pool')}>Create a pool</a>}</Head>
      <ErrorBox error={pools.error} retry={pools.reload} />
      <Card>{pools.data && <Table label="Pools" rows={pools.data.items} id={(p) => p.name} columns={columns} empty={<Empty title="No pool"><Command text="weir pool create gpu" /></Empty>} />}</Card>
    </>
  );
}

export function NodeState({ n }: { n: Node }) {
  return (
    <span class="side">
      <StateChip state={n.state} />{n.draining && <StateChip state="draining" />}{n.locked && <StateChip state="locked" />}
      {n.leaving && <Chip title={n.leaving}>leaving</Chip>}{n.pool_next && <Chip>to {n.pool_next}</Chip>}{n.trouble && <StateChip state="out of service" tone="bad" />}
    </span>
  );
}

const TOLD = new Set(['node-set', 'node-state', 'node-edited', 'node-moved', 'node-leaving', 'node-locked', 'node-forgotten', 'allocated', 'attempt-ended', 'attempt-started']);
export const aboutNodes = (e: Ev) => TOLD.has(e.type);

export function NodesView() {
  const [query, set] = useQuery();
  const pool = query.get('pool') ?? '';
  const path = withQuery('/nodes?limit=200', { pool, cursor: query.get('cursor') });
  const nodes = useLive<Page<Node>>(path, aboutNodes);
  const pools = useLive<Page<Pool>>('/pools?limit=1000');
  const whole = nodes.data !== undefined && !nodes.data.next && !query.get('cursor'); // else the order is the server's
  const sum = (of: (p: Pool) => number) => (pools.data?.items ?? []).filter((p) => !pool || p.name === pool).reduce((all, p) => all + of(p), 0);
  const columns: Column<Node>[] = [
    { key: 'name', title: 'Node', grow: true, cell: (n) => <div class="two"><a class="row-link clip" href={href(`/nodes/${encodeURIComponent(n.name)}`)}>{n.name}</a>{n.trouble && <span class="bad-text">{n.trouble}</span>}</div> },
    { key: 'pool', title: 'Pool', hide: 's', cell: (n) => <PoolLink name={n.pool} /> },
    { key: 'state', title: 'State', cell: (n) => <NodeState n={n} /> },
    { key: 'use', title: 'Slots', hide: 's', cell: (n) => { const s = n.resources.slots ?? { total: 0, free: 0 }; return <div class="pool-bar"><Meter value={s.total - s.free} of={s.total} label={`${num(s.total - s.free)} of ${num(s.total)} slots used`} /><span class="faint">{num(s.total - s.free)} of {num(s.total)} used</span></div>; } },
    { key: 'tasks', title: 'Attempts', num: true, hide: 'm', cell: (n) => num(n.tasks.length) },
    { key: 'has', title: 'Has', hide: 'm', cell: (n) => <span class="clip">{resources(Object.fromEntries(Object.entries(n.resources).filter(([k]) => k !== 'slots').map(([k, v]) => [k, v.total])))}</span> },
    { key: 'version', title: 'Version', hide: 'm', cell: (n) => n.version },
  ];
  return (
    <>
      <Head title="Nodes" sub={pools.data && `${plural(sum((p) => p.nodes.total), 'node')}, ${num(sum((p) => p.nodes.up))} up${sum((p) => p.nodes.draining) ? `, ${num(sum((p) => p.nodes.draining))} draining` : ''}${sum((p) => p.nodes.lost) ? `, ${num(sum((p) => p.nodes.lost))} lost` : ''}`} />
      <Card>
        <Tabs label="Pool" now={pool} pick={(name) => set({ pool: name, cursor: null })} items={[['', 'All pools'], ...(pools.data?.items.map((p): [string, string, number] => [p.name, p.name, p.nodes.total]) ?? [])]} />
        <ErrorBox error={nodes.error} retry={nodes.reload} />
        {nodes.data && <Table label="Nodes" rows={whole ? [...nodes.data.items].sort((a, b) => byName(a.name, b.name)) : nodes.data.items} id={(n) => n.name} columns={columns} order={path}
          empty={<Empty title="No node has joined"><p>On the machine that is to run tasks, with a join token of the pool:</p><Command text={`weir agent --server ${location.origin} --pool ${pool || 'default'} --join-token TOKEN`} label="Join a machine" /><Command text={weir('token', 'create', '--scope', 'join', '--name', pool || 'default')} label="Make a join token" /></Empty>} />}
        <div class="actions">
          {query.get('cursor') && <Button small onClick={() => set({ cursor: null }, false)}>First</Button>}
          {nodes.data?.next && <Button small onClick={() => set({ cursor: nodes.data?.next }, false)}>More</Button>}
        </div>
      </Card>
    </>
  );
}

