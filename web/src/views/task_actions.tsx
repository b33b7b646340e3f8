// task_actions.tsx - changes of tasks. SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { ApiError } from '../lib/api';
import { weir } from '../lib/cli';
import { plural } from '../lib/format';
import { go } from '../lib/router';
import type { Task } from '../lib/types';
import { Button, ErrorBox, Field } from '../ui/base';
import { openPage } from './pages';
import { ask, Dialog } from '../ui/dialog';

const wanted = signal<{ ids: number[]; done?: () => void } | null>(null);
export function askPriority(ids: number[], done?: () => void) { wanted.value = { ids, done }; }

/** The question for a priority; it is part of the frame. */
export function PriorityAsked() {
  const [value, set] = useState('50');
  const now = wanted.value;
  if (!now) return null;
  const close = () => { wanted.value = null; };
  const next = (e: Event) => {
    e.preventDefault();
    close();
    ask({ title: `Give ${plural(now.ids.length, 'task')} the priority ${value}?`, verb: 'Change', command: weir('task', 'edit', ...now.ids, '--priority', value), calls: now.ids.map((id) => ({ method: 'PATCH', path: `/tasks/${id}`, body: { priority: Number(value) } })), done: now.done });
  };
  return (
    <Dialog title="Priority" close={close}>
      <form class="form" onSubmit={next}>
        <Field label="Priority" hint="1 to 100; tasks with a higher priority come first in their project">{(id) => <input id={id} type="number" min="1" max="100" required value={value} onInput={(e) => set(e.currentTarget.value)} autofocus />}</Field>
        <footer class="dialog-foot"><Button kind="main" type="submit">Go on</Button></footer>
      </form>
    </Dialog>
  );
}

export function TaskActions({ t }: { t: Task }) {
  const [failed, setFailed] = useState<ApiError | null>(null);
  const act = (title: string, verb: string, text: string, danger = false) => ask({ title, verb: text, danger, command: weir(verb === 'kill' ? 'kill' : 'task', verb === 'kill' ? t.id : verb, verb !== 'kill' && t.id), calls: [{ method: 'POST', path: `/tasks/${t.id}/${verb}` }] });
  const ended = t.ended_at !== null;
  const again = () => ask({ title: `Submit task ${t.id} again?`, verb: 'Retry', command: weir('task', 'retry', t.id), calls: [{ method: 'POST', path: `/tasks/${t.id}/retry` }], done: ([answer]) => go(`/tasks/${(answer as { tasks: { id: number }[] }).tasks[0].id}`) });
  return (
    <>
      {t.state === 'staged' && <Button kind="main" onClick={() => act(`Queue task ${t.id}?`, 'start', 'Queue')}>Queue</Button>}
      {t.state === 'paused' && <Button kind="main" onClick={() => act(`Let task ${t.id} run again?`, 'activate', 'Activate')}>Activate</Button>}
      {t.running_since !== null && ['notebook', 'tensorboard', 'service'].includes(t.kind) && <Button kind="main" onClick={() => { setFailed(null); openPage(t).catch(setFailed); }}>Open</Button>}
      {failed && <ErrorBox error={failed} />}
      {ended && <Button kind="main" onClick={again}>Retry</Button>}
      <Button onClick={() => go('/submit', { from: t.id })}>Run with changes</Button>
      {!ended && <Button onClick={() => askPriority([t.id])}>Priority</Button>}
      {['pending', 'starting', 'running'].includes(t.state) && <Button onClick={() => act(`Pause task ${t.id}?`, 'pause', 'Pause')}>Pause</Button>}
      {!ended && <Button kind="danger" onClick={() => act(`Kill task ${t.id}?`, 'kill', 'Kill', true)}>Kill</Button>}
    </>
  );
}
