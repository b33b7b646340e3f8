// task_columns.tsx - how tasks stand in lists. SPDX-License-Identifier: Apache-2.0
import { resources, times, titleOf } from '../lib/format';
import { href } from '../lib/router';
import type { Task } from '../lib/types';
import { PoolLink, Span, StateChip, Time } from '../ui/base';
import type { Column } from '../ui/table';

/** One line about how a task stands: its reason while it waits, how it ended afterwards. */
export function standing(t: Task): string {
  if (t.reason) return t.reason.message;
  if (t.state === 'failed') return t.exit_code !== null ? `exit code ${t.exit_code}` : t.cause;
  if (t.instances > 1 && !t.ended_at) return `${t.counts.active} of ${t.instances} run, ${t.counts.ended} ended`;
  if (t.counts.preempted > 0 && !t.ended_at) return `preempted ${times(t.counts.preempted)}`;
  return '';
}

export function taskColumns({ user = true, pool = true, ran = true }: { user?: boolean; pool?: boolean; ran?: boolean } = {}): Column<Task>[] {
  const columns: (Column<Task> | false)[] = [
    { key: 'id', title: 'Task', num: true, cell: (t) => <a class="row-link" href={href(`/tasks/${t.id}`)}>{t.id}</a> },
    { key: 'name', title: 'Name or command', grow: true, cell: (t) => <div class="two"><a class="clip row-name" href={href(`/tasks/${t.id}`)} tabIndex={-1} title={titleOf(t)}>{titleOf(t)}</a>{standing(t) && <span class="clip faint" title={standing(t)}>{standing(t)}</span>}</div> },
    { key: 'state', title: 'State', cell: (t) => <StateChip state={t.state} /> },
    user && { key: 'user', title: 'User', hide: 's', cell: (t) => <a href={href('/tasks', { user: t.user })}>{t.user}</a> },
    pool && { key: 'pool', title: 'Pool', hide: 's', cell: (t) => <PoolLink name={t.pool} /> },
    { key: 'ask', title: 'Asks for', hide: 'm', cell: (t) => <span class="nowrap">{t.instances > 1 && `${t.instances} × `}{resources(t.resources)}</span> },
    ran && { key: 'ran', title: 'Ran', hide: 'm', num: true, cell: (t) => (t.ended_at || t.running_since ? <Span from={t.ended_at ? t.started_at : t.running_since} to={t.ended_at} /> : <span class="faint">–</span>) },
    { key: 'at', title: 'Submitted', hide: 's', num: true, cell: (t) => <Time at={t.submitted_at} /> },
  ];
  return columns.filter(Boolean) as Column<Task>[];
}
