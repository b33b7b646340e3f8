// queue.tsx - who waits, in which order, and why. SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { withQuery } from '../lib/api';
import { weir } from '../lib/cli';
import { num, plural, resources, titleOf } from '../lib/format';
import { aboutTasks, useLive } from '../lib/live';
import { mayWrite } from '../lib/me';
import { href, useQuery } from '../lib/router';
import type { Page, Pool, QueueItem } from '../lib/types';
import { Button, Card, Command, Empty, ErrorBox, Head, PoolLink, Span, Tabs } from '../ui/base';
import { ask } from '../ui/dialog';
import { Table, type Column } from '../ui/table';
import { askPriority } from './task_actions';

/** The neighbour in the order of the same project and priority: a task moves inside these only. */
function neighbour(items: QueueItem[], item: QueueItem, by: -1 | 1): QueueItem | undefined {
  const same = items.filter((o) => o.pool === item.pool && o.project === item.project && o.priority === item.priority);
  return same[same.findIndex((o) => o.id === item.id) + by];
}

function Moves({ items, item }: { items: QueueItem[]; item: QueueItem }) {
  const up = neighbour(items, item, -1);
  const down = neighbour(items, item, 1);
  const move = (other: QueueItem, word: 'ahead_of' | 'behind') => ask({ title: `Move task ${item.id} ${word === 'behind' ? 'behind' : 'ahead of'} task ${other.id}?`, verb: 'Move', command: weir('task', 'move', item.id, word === 'behind' ? '--behind' : '--ahead-of', other.id), calls: [{ method: 'POST', path: `/tasks/${item.id}/move`, body: { [word]: other.id } }] });
  return (
    <span class="nowrap">
      <Button small kind="quiet" disabled={!up} aria-label={`Move task ${item.id} forward`} title="Forward, inside its project and priority" onClick={() => up && move(up, 'ahead_of')}>↑</Button>
      <Button small kind="quiet" disabled={!down} aria-label={`Move task ${item.id} back`} title="Back, inside its project and priority" onClick={() => down && move(down, 'behind')}>↓</Button>
    </span>
  );
}

export function QueueView() {
  const [query, set] = useQuery();
  const pool = query.get('pool') ?? '';
  const path = withQuery('/queue?limit=200', { pool, cursor: query.get('cursor') });
  const queue = useLive<Page<QueueItem>>(path, aboutTasks);
  const pools = useLive<Page<Pool>>('/pools?limit=1000');
  const [chosen, choose] = useState<Set<string | number>>(new Set());
  const items = queue.data?.items ?? [];
  const ids = [...chosen].map(Number);
  const columns: Column<QueueItem>[] = [
    { key: 'at', title: 'Place', num: true, cell: (q) => (q.position === null ? '–' : num(q.position)) },
    { key: 'id', title: 'Task', num: true, cell: (q) => <a class="row-link" href={href(`/tasks/${q.id}`)}>{q.id}</a> },
    { key: 'why', title: 'Name, and why it waits', grow: true, cell: (q) => <div class="two"><a class="clip row-name" href={href(`/tasks/${q.id}`)} tabIndex={-1} title={titleOf(q)}>{titleOf(q)}</a><span class="faint">{q.reason?.message ?? 'looked at next'}</span></div> },
    { key: 'pool', title: 'Pool', hide: 's', cell: (q) => <PoolLink name={q.pool} /> },
    { key: 'user', title: 'User', hide: 's', cell: (q) => <a href={href('/tasks', { user: q.user, state: 'pending' })}>{q.user}</a> },
    { key: 'project', title: 'Project', hide: 'm', cell: (q) => q.project },
    { key: 'prio', title: 'Priority', hide: 'm', num: true, cell: (q) => num(q.priority) },
    { key: 'ask', title: 'Asks for', hide: 'm', cell: (q) => <span class="nowrap">{q.instances > 1 && `${q.instances} × `}{resources(q.resources)}</span> },
    { key: 'waits', title: 'Waits', num: true, hide: 's', cell: (q) => <Span from={q.submitted_at} /> },
  ];
  if (mayWrite.value) columns.push({ key: 'move', title: 'Move', hide: 'm', cell: (q) => <Moves items={items} item={q} /> });
  return (
    <>
      <Head title="Queue" sub={queue.data && `${plural(queue.data.total ?? items.length, 'task waits', 'tasks wait')}`} />
      <Card>
        <Tabs label="Pool" now={pool} pick={(name) => { choose(new Set()); set({ pool: name, cursor: null }); }} items={[['', 'All pools'], ...(pools.data?.items.map((p): [string, string, number] => [p.name, p.name, p.tasks.pending]) ?? [])]} />
        <ErrorBox error={queue.error} retry={queue.reload} />
        {ids.length > 0 && (
          <div class="note bulk" role="region" aria-label="Actions on the chosen tasks"><b>{plural(ids.length, 'task')} chosen</b><span class="actions">
            <Button small kind="danger" onClick={() => ask({ title: `Kill ${plural(ids.length, 'task')}?`, verb: 'Kill', danger: true, command: weir('kill', ...ids), calls: [{ method: 'POST', path: '/tasks/kill', body: { ids } }], done: () => choose(new Set()) })}>Kill</Button>
            <Button small onClick={() => askPriority(ids, () => choose(new Set()))}>Priority</Button>
            <Button small kind="quiet" onClick={() => choose(new Set())}>Choose none</Button></span></div>
        )}
        {queue.data && <Table label="Waiting tasks" rows={items} id={(q) => q.id} columns={columns} order={path} chosen={chosen} choose={mayWrite.value ? choose : undefined}
          empty={<Empty title="Nothing waits"><p>Every task that may run has its place. A task that does not fit now would stand here, with its reason.</p><Command text="weir queue" /></Empty>} />}
        <div class="actions">
          {query.get('cursor') && <Button small onClick={() => set({ cursor: null }, false)}>First</Button>}
          {queue.data?.next && <Button small onClick={() => set({ cursor: queue.data?.next }, false)}>Further back</Button>}
        </div>
      </Card>
    </>
  );
}
