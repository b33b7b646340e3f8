// tasks.tsx - the list of tasks: filters in the address, rows that stand still, actions on many. SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { withQuery } from '../lib/api';
import { weir } from '../lib/cli';
import { plural } from '../lib/format';
import { aboutTasks, useLive } from '../lib/live';
import { mayWrite } from '../lib/me';
import { href, useQuery } from '../lib/router';
import type { Page, Pool, Task } from '../lib/types';
import { Button, Card, Command, Empty, ErrorBox, Head, Tabs } from '../ui/base';
import { ask, type Call } from '../ui/dialog';
import { Table } from '../ui/table';
import { askPriority } from './task_actions';
import { taskColumns } from './task_columns';

const STATES: [string, string][] = [
  ['', 'All'], ['staged,pending,paused,starting,running,stopping', 'Not ended'], ['starting,running,stopping', 'Running'], ['pending', 'Waiting'], ['paused,staged', 'Held back'], ['completed', 'Completed'], ['failed,unknown,unavailable', 'Failed'], ['killed', 'Killed'],
];
const KINDS = ['experiment', 'command', 'shell', 'notebook', 'tensorboard', 'service'];
const WORDS: [string, string][] = [['user', 'User'], ['project', 'Project'], ['name', 'Name'], ['tag', 'Tag']];

/** A field of the filter: the address changes when the person stops typing. */
function Word({ name, label, value, set }: { name: string; label: string; value: string; set: (v: string) => void }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => set(text.trim()), 400);
    return () => clearTimeout(timer);
  }, [text]);
  return <input type="search" name={name} aria-label={label} placeholder={label} value={text} onInput={(e) => setText(e.currentTarget.value)} onKeyDown={(e) => { if (e.key === 'Enter') set(text.trim()); }} />;
}

function Bulk({ chosen, rows, clear }: { chosen: number[]; rows: Task[]; clear: () => void }) {
  const of = (states: string[]) => rows.filter((t) => chosen.includes(t.id) && states.includes(t.state)).map((t) => t.id);
  const live = of(['staged', 'pending', 'paused', 'starting', 'running', 'stopping']);
  const pausable = of(['pending', 'starting', 'running']);
  const paused = of(['paused']);
  const ended = of(['completed', 'failed', 'killed', 'unknown']);
  const each = (verb: string, ids: number[]): Call[] => ids.map((id) => ({ method: 'POST', path: `/tasks/${id}/${verb}` }));
  const act = (title: string, command: string, ids: number[], danger = false) => ask({ title: `${title} ${plural(ids.length, 'task')}?`, verb: title, danger, command: weir('task', command, ...ids), calls: each(command, ids), done: clear });
  return (
    <div class="note bulk" role="region" aria-label="Actions on the chosen tasks">
      <b>{plural(chosen.length, 'task')} chosen</b>
      <span class="actions">
        {live.length > 0 && <Button kind="danger" small onClick={() => ask({ title: `Kill ${plural(live.length, 'task')}?`, verb: 'Kill', danger: true, command: weir('kill', ...live), calls: [{ method: 'POST', path: '/tasks/kill', body: { ids: live } }], done: clear })}>Kill</Button>}
        {pausable.length > 0 && <Button small onClick={() => act('Pause', 'pause', pausable)}>Pause</Button>}
        {paused.length > 0 && <Button small onClick={() => act('Activate', 'activate', paused)}>Activate</Button>}
        {live.length > 0 && <Button small onClick={() => askPriority(live, clear)}>Priority</Button>}
        {ended.length > 0 && <Button small onClick={() => act('Retry', 'retry', ended)}>Retry</Button>}
        <Button small kind="quiet" onClick={clear}>Choose none</Button>
      </span>
    </div>
  );
}

export function TasksView() {
  const [query, set] = useQuery();
  const get = (name: string) => query.get(name) ?? '';
  const [chosen, choose] = useState<Set<string | number>>(new Set());
  const filter: Record<string, string> = {};
  for (const name of ['state', 'kind', 'pool', 'user', 'project', 'name', 'tag', 'cursor', 'since', 'until', 'ended', 'description']) if (get(name)) filter[name] = get(name);
  const path = withQuery('/tasks?limit=100', filter);
  const tasks = useLive<Page<Task>>(path, get('cursor') ? () => false : aboutTasks);
  const pools = useLive<Page<Pool>>('/pools?limit=1000', (e) => e.type === 'pool-set' || e.type === 'pool-deleted');
  const change = (patch: Record<string, string>) => { choose(new Set()); set({ ...patch, cursor: null }); };
  const filtered = Object.keys(filter).some((k) => k !== 'cursor');
  const flags = Object.entries(filter).filter(([k]) => k !== 'cursor').flatMap(([k, v]) => [`--${k}`, v]);
  return (
    <>
      <Head title="Tasks" sub={tasks.data?.total !== undefined ? plural(tasks.data.total, 'task') : undefined}>
        {mayWrite.value && <a class="btn main" href={href('/submit')}>Submit a task</a>}
      </Head>
      <Card>
        <Tabs label="State" items={STATES} now={get('state')} pick={(state) => change({ state })} />
        <div class="filters">
          <select aria-label="Pool" value={get('pool')} onChange={(e) => change({ pool: e.currentTarget.value })}>
            <option value="">All pools</option>{pools.data?.items.map((p) => <option key={p.name} value={p.name}>{p.name}</option>)}
          </select>
          <select aria-label="Kind" value={get('kind')} onChange={(e) => change({ kind: e.currentTarget.value })}>
            <option value="">All kinds</option>{KINDS.map((k) => <option key={k} value={k}>{k}</option>)}
          </select>
          {WORDS.map(([name, label]) => <Word key={name} name={name} label={label} value={get(name)} set={(v) => change({ [name]: v })} />)}
          {filtered && <Button kind="quiet" small onClick={() => change({ state: '', kind: '', pool: '', user: '', project: '', name: '', tag: '', since: '', until: '', ended: '', description: '' })}>Clear</Button>}
        </div>
        <ErrorBox error={tasks.error} retry={tasks.reload} />
        {chosen.size > 0 && <Bulk chosen={[...chosen].map(Number)} rows={tasks.data?.items ?? []} clear={() => choose(new Set())} />}
        {tasks.data ? (
          <Table label="Tasks" rows={tasks.data.items} id={(t) => t.id} columns={taskColumns()} order={path} chosen={chosen} choose={mayWrite.value ? choose : undefined}
            empty={filtered ? <Empty title="No task fits this filter"><p>Another filter may show more. The same at a prompt:</p><Command text={weir('task', 'list', ...flags)} /></Empty> : <Empty title="No task yet"><Command text="weir run -- echo hello" label="The first task" /></Empty>} />
        ) : !tasks.error && <p class="faint">Asking the server …</p>}
        <div class="actions">
          {get('cursor') && <Button small onClick={() => set({ cursor: null }, false)}>Newest</Button>}
          {tasks.data?.next && <Button small onClick={() => set({ cursor: tasks.data?.next }, false)}>Older</Button>}
        </div>
      </Card>
    </>
  );
}
