// dryrun.tsx - what a change would do, in sentences. SPDX-License-Identifier: Apache-2.0
import { absolute, duration, num, plural, slotTime } from '../lib/format';
import type { DryRun, DryTask } from '../lib/types';
import { TaskLink } from './base';

const CAUSE: Record<string, string> = { preempted: 'waits again', killed: 'ends', paused: 'waits for its user', moved: 'waits in another pool' };

function Who({ t }: { t: DryTask }) {
  return <><TaskLink id={t.task} />{t.name && <> “{t.name}”</>} of {t.user}</>;
}

function more(total: number, shown: number) { return total > shown ? <li class="faint">and {num(total - shown)} more</li> : null; }

function machine(n: DryRun['node_ends'][number]) {
  return (n.node ?? (n.now ? 'one that has not joined' : 'one')) + (n.now ? '' : ' (once it has no work)');
}

export function DryRunView({ dry }: { dry: DryRun }) {
  const lost = dry.stops.reduce((sum, s) => sum + s.work_lost.slot_seconds, 0);
  const quiet = dry.stops_total + dry.ends_total + dry.starts_total + dry.waits_total + dry.launches_total + dry.node_ends_total + dry.warnings.length === 0;
  return (
    <div class="dry" data-dry="">
      {!dry.changes && <p>Nothing would change.</p>}
      {dry.changes && quiet && <p>No task stops, and nothing is lost.</p>}
      {dry.stops_total > 0 && (
        <div class="dry-part bad">
          <h3>{plural(dry.stops_total, 'task')} would stop; {lost > 0 ? `${slotTime(lost)} of work since a start or a checkpoint would be lost` : 'no work would be lost'}</h3>
          <ul>{dry.stops.slice(0, 8).map((s) => <li key={s.task}><Who t={s} />: {CAUSE[s.cause] ?? s.cause}{s.at ? `, at ${absolute(s.at)}` : s.later && ', when its node is replaced'}{s.lost_ms > 0 && `, loses ${duration(s.lost_ms)}`}</li>)}{more(dry.stops_total, Math.min(8, dry.stops.length))}</ul>
        </div>
      )}
      {dry.ends_total > 0 && (
        <div class="dry-part bad"><h3>{plural(dry.ends_total, 'waiting task')} would end</h3>
          <ul>{dry.ends.slice(0, 8).map((t) => <li key={t.task}><Who t={t} />: {t.state}</li>)}{more(dry.ends_total, Math.min(8, dry.ends.length))}</ul></div>
      )}
      {dry.starts_total > 0 && (
        <div class="dry-part good"><h3>{plural(dry.starts_total, 'task')} would start</h3>
          <ul>{dry.starts.slice(0, 8).map((s) => (
            <li key={s.task}><Who t={s} />: {s.now ? 'now' : 'once the stopped tasks have left'} on {s.places.map((p) => p.node + (p.devices.length ? ` (${p.devices.join(', ')})` : '')).join(', ')}</li>
          ))}{more(dry.starts_total, Math.min(8, dry.starts.length))}</ul></div>
      )}
      {dry.waits_total > 0 && (
        <div class="dry-part wait"><h3>{plural(dry.waits_total, 'task')} would wait</h3>
          <ul>{dry.waits.map((w) => (
            <li key={w.task}><Who t={w} />: {w.reason?.message ?? 'waits'}{w.first && <>; starts when <TaskLink id={w.first.task} /> ends{w.first.at && `, at the latest ${absolute(w.first.at)}`}</>}</li>
          ))}{more(dry.waits_total, dry.waits.length)}</ul></div>
      )}
      {dry.launches_total > 0 && <p>{dry.launches.map((l) => `Pool ${l.pool} would ask its provider for ${plural(l.nodes, 'node')}.`).join(' ')}</p>}
      {dry.node_ends_total > 0 && <p>{plural(dry.node_ends_total, 'node')} would be ended: {dry.node_ends.slice(0, 8).map(machine).join(', ')}{dry.node_ends_total > 8 && ' …'}</p>}
      {dry.refused > 0 && <p class="warn-text">{plural(dry.refused, 'task')} would be refused.</p>}
      {dry.warnings.map((w) => <p key={w} class="warn-text">{w}</p>)}
      {dry.cut && <p class="faint">The server stopped looking here; there may be more.</p>}
    </div>
  );
}
