// events.tsx - what happened, who did it, and by which rule. SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { amount, bytes, duration, num, plural } from '../lib/format';
import { on, onReset, pastEvents, type Ev } from '../lib/live';
import { Button, NodeLink, PoolLink, TaskLink, Time } from './base';

const KEEP = 2000;

/** The events of the past and those that come; newest last. */
export function useEvents(query: string, fits: (e: Ev) => boolean): { events: Ev[]; cut: boolean; ready: boolean } {
  const [state, set] = useState<{ events: Ev[]; cut: boolean; ready: boolean }>({ events: [], cut: false, ready: false });
  useEffect(() => {
    let here = true;
    let fresh: Ev[] = [];
    const load = () => pastEvents(query, KEEP, 0, fits).then((past) => {
      if (!here) return;
      const last = past.events.length ? past.events[past.events.length - 1].seq : -1;
      set({ events: [...past.events, ...fresh.filter((e) => e.seq > last)], cut: past.cut, ready: true });
      fresh = [];
    });
    const off = on((e) => {
      if (!fits(e)) return;
      fresh.push(e);
      set((s) => (s.ready && !s.events.some((x) => x.seq === e.seq) ? { ...s, events: [...s.events, e].slice(-KEEP) } : s));
    });
    const offReset = onReset(() => void load());
    void load();
    return () => { here = false; off(); offReset(); };
  }, [query]);
  return state;
}

const WORDS: Record<string, string> = {
  'task-submitted': 'submitted', 'task-queued': 'queued', 'task-paused': 'paused', 'task-edited': 'changed', 'task-kill-asked': 'asked to end', allocated: 'got its place', 'head-blocked': 'first in the queue, and blocked', reserved: 'places are kept for it',
  'attempt-started': 'started', 'attempt-stopping': 'told to stop', 'attempt-ended': 'ended', 'task-ended': 'the task ended', 'task-moved': 'moved in the queue', evicted: 'evicted', 'dependents-released': 'dependents released', 'attempt-checkpoint': 'checkpoint', released: 'places are no longer kept', 'pool-opened': 'the next pool opened', claimed: 'has a place once others have left', 'claim-dropped': 'no longer has that place',
  'hold-ended': 'a hold ended', 'launch-asked': 'asked the provider for a node', 'launch-changed': 'a launch changed', 'launch-ended': 'a launch ended', 'node-set': 'joined', 'node-state': 'changed its state', 'node-edited': 'changed', 'node-moved': 'moved to another pool', 'node-leaving': 'leaves', 'node-locked': 'locked or unlocked', 'node-forgotten': 'forgotten',
  'pool-set': 'set', 'pool-state': 'changed its state', 'pool-closing': 'closing', 'pool-pending-delete': 'deleted; it can be restored', 'pool-restored': 'restored', 'pool-deleted': 'gone for good', 'pool-replacing': 'replaces its nodes', 'flavor-waits': 'waits for its flavor', 'quota-set': 'set a quota', 'account-set': 'set an account', 'account-deleted': 'deleted an account', 'flavor-set': 'set a flavor', 'flavor-deleted': 'deleted a flavor', 'defaults-set': 'set the default pools',
};

const HIDDEN = new Set(['seq', 'time', 'type', 'actor', 'cause', 'task', 'pool', 'node', 'message', 'incarnation', 'work_lost', 'resource', 'victim', 'taker', 'at', 'index', 'rule', 'claimant', 'epoch', 'key', 'workdir_used', 'again', 'user', 'project', 'kind']);

type Quota = Record<string, { guaranteed?: number | null; limit: number | null; weight: number }>;

/** What a quota says from then on. */
function quotaText(q: Quota): string {
  return Object.entries(q).map(([r, a]) => `${r}: guaranteed ${a.guaranteed === undefined ? 'by default' : amount(r, a.guaranteed)}, limit ${amount(r, a.limit)}, weight ${num(a.weight)}`).join('; ') || 'the defaults again';
}

/** A field of an event in words; '' where the words of the event say it already. */
function fieldText(e: Ev, k: string, v: unknown): string {
  if (k === 'resources') return e.type === 'quota-set' ? quotaText(v as Quota) : '';
  if (k === 'labels') return `labels ${Object.entries(v as Record<string, string>).map(([name, value]) => `${name}=${value}`).join(' ') || 'none'}`;
  if (k === 'draining' || k === 'locked') return v ? k : `no longer ${k}`;
  if (k === 'slots') return plural(Number(v), 'slot');
  if (k === 'cpu') return plural(Number(v), 'core');
  if (k === 'cpu_ms') return `${duration(Number(v))} on a core`;
  if (k === 'memory' || k === 'memory_peak') return Number(v) > 0 ? `${bytes(Number(v))} of memory${k === 'memory' ? '' : ' at most'}` : '';
  if (k === 'instances') return v === 1 ? '' : plural(Number(v), 'instance');
  if (k === 'end') return v === 'exit' || v === e.state ? '' : String(v);
  return `${k.replace(/_/g, ' ')} ${typeof v === 'number' ? num(v) : String(v)}`;
}

function detail(e: Ev): string {
  if (typeof e.message === 'string' && e.message) return e.message;
  return Object.entries(e).filter(([k, v]) => !HIDDEN.has(k) && !(k === 'department' && e.type === 'quota-set') && v !== '' && v !== null && v !== undefined && (typeof v !== 'object' || OBJECTS.has(k))).map(([k, v]) => fieldText(e, k, v)).filter(Boolean).join(', ')
    + (!e.type.startsWith('task-') && e.project && e.type !== 'quota-set' ? ` project ${e.project}` : '')
    + (Array.isArray(e.devices) && e.devices.length ? `, devices ${e.devices.join(', ')}` : '');
}

const OBJECTS = new Set(['resources', 'labels']); // fields with an object that has words of its own
const FIRST = 40;

/** Newest first. `cause` has the rule by which something happened. */
export function EventList({ events, ready, cut, show, empty = 'Nothing has happened here.' }: { events: Ev[]; ready: boolean; cut: boolean; show?: ('task' | 'pool' | 'node')[]; empty?: string }) {
  const [all, setAll] = useState(false);
  if (!ready) return <p class="faint">Reading the log of facts …</p>;
  if (events.length === 0) return <p class="faint">{empty}</p>;
  const lines = [...events].reverse();
  return (
    <>
      <ol class="events" aria-label="Events">
        {(all ? lines : lines.slice(0, FIRST)).map((e) => (
          <li key={e.seq} data-event={e.type}>
            <span class="faint"><Time at={e.time} /></span>
            <span>
              <b>{WORDS[e.type] ?? e.type}</b>
              {show?.includes('task') && e.task !== undefined && <> <TaskLink id={e.task} /></>}
              {show?.includes('pool') && e.pool && <> {e.type.startsWith('pool') ? 'pool' : 'in pool'} <PoolLink name={e.pool} /></>}
              {(show?.includes('node') || e.type === 'allocated') && e.node && <> on <NodeLink name={e.node} /></>}
              {e.type === 'quota-set' && (e.project || e.department) && <> of <b>{String(e.project ?? e.department)}</b></>}
              {typeof e.rule === 'string' && <> by rule <code>{e.rule}</code></>}{typeof e.claimant === 'number' && <> for <TaskLink id={e.claimant} /></>}
              {detail(e) && <span class="faint event-detail"> {detail(e)}</span>}
            </span>
            <span class="faint event-who">{e.actor}{e.cause && `: ${e.cause}`}</span>
          </li>
        ))}
      </ol>
      {lines.length > FIRST && !all && <Button small onClick={() => setAll(true)}>All {num(lines.length)}</Button>}
      {cut && <p class="faint">The log of facts no longer has what happened before.</p>}
    </>
  );
}
