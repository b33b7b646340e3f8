// task.tsx - one task: state, reason and output on one screen, then attempts, use, events and definition. SPDX-License-Identifier: Apache-2.0
import { useEffect } from 'preact/hooks';
import { submitCommand, weir } from '../lib/cli';
import { absolute, amount, bytes, duration, num, plural, resources, slotTime, times, titleOf, now } from '../lib/format';
import { aboutPool, aboutTask, link, useLive } from '../lib/live';
import { mayWrite } from '../lib/me';
import { href, useParams } from '../lib/router';
import type { Attempt, Explanation, Task } from '../lib/types';
import { Card, Chip, Command, ErrorBox, Facts, Head, NodeLink, PoolLink, Span, StateChip, TaskLink, Time } from '../ui/base';
import { Meter } from '../ui/bar';
import { EventList, useEvents } from '../ui/events';
import { LogView } from './log';
import { TaskActions } from './task_actions';
import './task.css';

const LENGTH_FROM: Record<string, string> = { 'time-limit': 'its time limit', name: 'tasks of this name', 'user-size': 'tasks of this size of the same user', user: 'tasks of the same user', 'project-size': 'tasks of this size of the project', project: 'tasks of the project', site: 'all tasks' };

function Gate({ open, children }: { open: boolean | null; children: preact.ComponentChildren }) {
  return <li><span class={`task-gate ${open === null ? '' : open ? 'open' : 'shut'}`} role="img" aria-label={open === null ? 'to know' : open ? 'passed' : 'not passed'}>{open === null ? '·' : open ? '✓' : '✕'}</span><div>{children}</div></li>;
}

function Account({ a }: { a: NonNullable<Explanation['account']> }) {
  const within = a.limit === null || (a.allocated ?? 0) < a.limit;
  return (
    <Gate open={within}>
      {a.kind === 'project' ? 'Project' : 'Department'} <b>{a.name}</b> holds {amount(a.resource, a.allocated ?? 0)} {a.resource}: its share is {amount(a.resource, a.share)}, guaranteed {amount(a.resource, a.guaranteed)}, limit {amount(a.resource, a.limit)}.
    </Gate>
  );
}

/** Why the task waits: the sentence first, then what it passed and what not. */
function Why({ t }: { t: Task }) {
  const why = useLive<Explanation>(`/tasks/${t.id}/explain`, aboutPool(t.pool));
  const x = why.data;
  if (!x) return t.reason ? <Card title="Why it waits"><p class="task-sentence">{t.reason.message}</p></Card> : null;
  const reason = x.reason;
  const byReason = new Map<string, typeof x.nearest>();
  for (const n of x.nearest) byReason.set(n.code, [...(byReason.get(n.code) ?? []), n]);
  return (
    <section class="card task-why" aria-label="Why it waits" data-why={reason?.code}>
      <p class="task-sentence">{reason ? reason.message[0].toUpperCase() + reason.message.slice(1) : 'Nothing holds it back'}{reason && !/[.!?]$/.test(reason.message) && '.'}</p>
      <ul class="task-gates">
        {x.position !== null && <Gate open={x.position === 1}>Place <b>{num(x.position)}</b>{x.further && ' or further back'} in the order of <a href={href('/queue', { pool: x.pool })}>pool {x.pool}</a>.</Gate>}
        {x.account && <Account a={x.account} />}
        {x.nearest.length > 0 && (
          <Gate open={false}>
            No node has room ({plural(x.nodes_total, 'node')} in the pool). The nearest:
            <ul class="task-near">{x.nearest.slice(0, 6).map((n) => <li key={n.node}><NodeLink name={n.node} />: {n.message}</li>)}</ul>
          </Gate>
        )}
        {x.keeping && <Gate open={x.keeping.code === 'holds'}>{x.keeping.message[0].toUpperCase() + x.keeping.message.slice(1)}{x.keeping.until && `, from ${absolute(x.keeping.until)} on`}.</Gate>}
        {x.reserved_until && <Gate open={true}>It is to start by {absolute(x.reserved_until)}.</Gate>}
        {x.fallback?.open.map((p) => <Gate key={p.pool} open={null}>Considered in <PoolLink name={p.pool} />{p.reason && <>: {p.reason.message}</>}.</Gate>)}
        {x.fallback?.next && <Gate open={null}>Next pool: <PoolLink name={x.fallback.next.pool} />{x.fallback.next.at && `, at ${absolute(x.fallback.next.at)}`}.</Gate>}
        {x.blockers.length > 0 && <Gate open={null}>The places that it needs are held by {x.blockers.slice(0, 8).map((id, i) => <>{i > 0 && ', '}<TaskLink id={id} /></>)}{x.blockers.length > 8 && ` and ${x.blockers.length - 8} more`}.</Gate>}
        {x.expected.ms !== null && <Gate open={null}>Expected to run {duration(x.expected.ms)}, by {LENGTH_FROM[x.expected.from] ?? x.expected.from}.</Gate>}
      </ul>
      {x.suggestions.length > 0 && <div class="two"><h3>What would change this</h3>{x.suggestions.map((s) => s.trim()).map((s) => (s.startsWith('weir ') ? <Command key={s} text={s} label="" /> : <p key={s}>{s}</p>))}</div>}
      <Command text={weir('explain', t.id)} />
    </section>
  );
}

function ms(at: string | null | undefined): number | null { return at ? new Date(at).getTime() : null; }

/** One attempt as a bar: waiting, getting ready, running. */
function AttemptRow({ a, t, before }: { a: Attempt; t: Task; before: number }) {
  const got = ms(a.allocated_at) ?? before;
  const started = ms(a.started_at);
  const ended = ms(a.ended_at) ?? now.value;
  const phases: [string, string, number][] = [['waited', 't-waiting', Math.max(0, got - before)], ['got ready', 't-coming', Math.max(0, (started ?? ended) - got)], ['ran', a.state === 'failed' ? 't-broken' : 't-used', started ? Math.max(0, ended - started) : 0]];
  const total = phases.reduce((sum, p) => sum + p[2], 0) || 1;
  return (
    <li class="task-attempt">
      <div class="task-attempt-head">
        <b>{t.instances > 1 ? `Instance ${a.instance}, attempt ${a.attempt}` : `Attempt ${a.attempt}`}</b><StateChip state={a.state} />
        {a.node && <span>on <NodeLink name={a.node} />{a.devices.length > 0 && `, devices ${a.devices.join(', ')}`}</span>}
        {a.exit_code !== null && <span>exit code {a.exit_code}</span>}
        {a.cause !== 'none' && <Chip>{a.cause}</Chip>}
      </div>
      <div class="task-bar" role="img" aria-label={phases.map(([word, , d]) => `${word} ${duration(d)}`).join(', ')}>{phases.filter((p) => p[2] > 0).map(([word, tone, d]) => <span key={word} class={tone} style={{ width: `${(100 * d) / total}%` }} title={`${word} ${duration(d)}`} />)}</div>
      <p class="faint">{phases.filter((p) => p[2] > 0).map(([word, , d]) => `${word} ${duration(d)}`).join(', ')}{a.checkpoint_at && `, checkpoint ${absolute(a.checkpoint_at)}`}</p>
      {a.why && <p>{a.why}</p>}
      {a.message && <p class="bad-text">{a.message}</p>}
      {!a.workdir_used && <p class="faint">It ran in its job directory: the task’s user may not enter the requested one.</p>}
    </li>
  );
}

const ATTEMPTS = 20;

function Attempts({ t }: { t: Task }) {
  const attempts = t.attempts ?? [];
  if (attempts.length === 0) return null;
  const order = [...attempts].sort((a, b) => b.attempt - a.attempt || a.index - b.index);
  const before = (a: Attempt) => {
    const earlier = attempts.filter((o) => o.index === a.index && o.attempt === a.attempt - 1)[0];
    return ms(earlier?.ended_at) ?? ms(t.queued_at) ?? ms(t.submitted_at) ?? 0;
  };
  return (
    <Card title="Attempts" side={attempts.length > 1 && <span class="faint">{plural(attempts.length, 'attempt')}</span>}>
      <ul class="task-phases">{order.slice(0, ATTEMPTS).map((a) => <AttemptRow key={a.key} a={a} t={t} before={before(a)} />)}</ul>
      {order.length > ATTEMPTS && <p class="faint">and {order.length - ATTEMPTS} more: <code>{weir('task', 'show', t.id)}</code></p>}
    </Card>
  );
}

const USE_EACH_MS = 20_000; // no event tells what a running attempt uses

/** What the running attempts hold, and what they use of it now. */
function UsedNow({ t, reload }: { t: Task; reload: () => void }) {
  const running = (t.attempts ?? []).filter((a) => !a.ended_at && a.started_at && a.use && a.holds);
  const here = running.length > 0;
  useEffect(() => {
    if (t.running_since === null) return undefined;
    const timer = setInterval(() => { if (!document.hidden && link.value.state === 'live') reload(); }, USE_EACH_MS);
    return () => clearInterval(timer);
  }, [t.id, t.running_since === null]);
  if (!here) return null;
  const sum = (of: (a: Attempt) => number) => running.reduce((all, a) => all + of(a), 0);
  const cores = sum((a) => a.use?.cpu ?? 0), held = sum((a) => a.holds?.cpu ?? 0), memory = sum((a) => a.use?.memory ?? 0), room = sum((a) => a.holds?.memory ?? 0);
  const devices = sum((a) => a.devices.length);
  const known = running.some((a) => a.use?.gpu !== null);
  const busy = sum((a) => a.use?.gpu ?? 0);
  return (
    <Card title="Holds and uses now" side={<span class="faint">as of <Time at={running.map((a) => a.use?.at ?? '').sort()[0]} /></span>}>
      <div class="task-used" data-now="">
        {running.some((a) => a.use?.cpu !== null) && <div><b>{num(cores)}</b> {held > 0 ? `of ${plural(held, 'core')}` : 'cores'}{held > 0 && <Meter value={cores} of={held} label={`${num(cores)} of ${num(held)} cores`} />}</div>}
        <div><b>{bytes(memory)}</b> of memory{room > 0 && <> of {bytes(room)}<Meter value={memory} of={room} label={`${bytes(memory)} of ${bytes(room)}`} tone={memory > room * 0.9 ? 'over' : 'used'} /></>}</div>
        {devices > 0 && known && <div><b>{num(Math.round(busy * 100) / 100)}</b> of {plural(devices, 'GPU')} busy<Meter value={busy} of={devices} label={`${num(busy)} of ${num(devices)} GPUs busy`} /></div>}
      </div>
    </Card>
  );
}

/** Requested against used, as far as attempts have ended. */
function Used({ t }: { t: Task }) {
  const ended = (t.attempts ?? []).filter((a) => a.ended_at && a.started_at && a.cpu_ms !== null);
  if (ended.length === 0) return null;
  const ran = ended.reduce((sum, a) => sum + ((ms(a.ended_at) as number) - (ms(a.started_at) as number)), 0);
  const cores = ran > 0 ? ended.reduce((sum, a) => sum + (a.cpu_ms ?? 0), 0) / ran : 0;
  const peak = Math.max(...ended.map((a) => a.memory_peak ?? 0));
  const cpu = t.resources.cpu;
  const memory = t.resources.memory;
  const half = memory && peak > 0 && peak < memory / 2;
  return (
    <Card title="Asked for and used">
      <div class="task-used">
        <div><b>{num(Math.round(cores * 100) / 100)}</b> {cpu ? 'of ' : ''}{cpu ? `${num(cpu)} cores` : 'cores'} on average{cpu ? <Meter value={cores} of={cpu} label={`${num(cores)} of ${cpu} cores`} /> : null}</div>
        {peak > 0 && <div><b>{bytes(peak)}</b> of memory at most{memory ? <> of {bytes(memory)}<Meter value={peak} of={memory} label={`${bytes(peak)} of ${bytes(memory)}`} tone={peak > memory * 0.9 ? 'over' : 'used'} /></> : null}</div>}
        {t.time_limit_ms > 0 && <div><b>{duration(ran / ended.length)}</b> of a time limit of {duration(t.time_limit_ms)}<Meter value={ran / ended.length} of={t.time_limit_ms} label="time" /></div>}
        {half && <p class="note good">Half of the memory would do: {bytes(Math.ceil((peak * 1.5) / (1 << 20)) * (1 << 20))} leaves a third in reserve.</p>}
        {cpu && cores < cpu / 2 && ran > 10_000 ? <p class="note good">It used less than half of its cores; {num(Math.max(1, Math.ceil(cores * 1.3)))} would do.</p> : null}
      </div>
    </Card>
  );
}

function Definition({ t }: { t: Task }) {
  const env = Object.entries(t.env);
  return (
    <Card title="Definition">
      <Facts rows={[
        ['Kind', t.kind], ['User', <a href={href('/tasks', { user: t.user })}>{t.user}</a>], ['Project', <a href={href('/tasks', { project: t.project })}>{t.project}</a>],
        ['Pools', t.pools.map((p, i) => <>{i > 0 && ', then '}<PoolLink name={p} /></>)], ['Asks for', `${t.instances > 1 ? `${t.instances} × ` : ''}${resources(t.resources)}${t.gang ? ', together' : ''}`],
        ['Priority', num(t.priority)], ['Preemptible', t.preemptible ? 'yes' : 'no'], t.time_limit_ms > 0 && ['Time limit', duration(t.time_limit_ms)], t.max_retries > 0 && ['Retries', num(t.max_retries)],
        t.depends_on.length > 0 && ['After', t.depends_on.map((d, i) => <>{i > 0 && ', '}<TaskLink id={parseInt(String(d), 10)} />{String(d).endsWith(':any') && ' (any end)'}</>)],
        t.tags.length > 0 && ['Tags', <span class="side">{t.tags.map((tag) => <a key={tag} class="chip" href={href('/tasks', { tag })}>{tag}</a>)}</span>], t.description && ['Description', t.description], t.workdir && ['Directory', <code>{t.workdir}</code>], t.image && ['Image', <code>{t.image}</code>],
        env.length > 0 && ['Environment', <pre>{env.map(([k, v]) => `${k}=${v}`).join('\n')}</pre>],
        ['Submitted', <>{absolute(t.submitted_at)} (<Time at={t.submitted_at} />)</>], t.started_at && ['Started', absolute(t.started_at)], t.ended_at && ['Ended', absolute(t.ended_at)],
        t.counts.preempted + t.counts.lost > 0 && ['Interrupted', [t.counts.preempted > 0 && `preempted ${times(t.counts.preempted)}`, t.counts.lost > 0 && `lost ${times(t.counts.lost)}`].filter(Boolean).join(', ')],
      ]} />
      <Command text={submitCommand(t.spec)} label="Submit the same again" />
    </Card>
  );
}

function line(t: Task): preact.ComponentChildren {
  if (t.ended_at) return <>{t.state === 'failed' && t.exit_code !== null ? `exit code ${t.exit_code}, ` : ''}{t.started_at ? <>ran <Span from={t.started_at} to={t.ended_at} />, </> : ''}ended <Time at={t.ended_at} /></>;
  if (t.running_since) return <>running for <Span from={t.running_since} /> in pool <PoolLink name={t.pool} /></>;
  return <>waiting for <Span from={t.queued_at ?? t.submitted_at} /> in pool <PoolLink name={t.pool} /></>;
}

export function TaskView() {
  const { id } = useParams();
  const task = useLive<Task>(`/tasks/${encodeURIComponent(id)}`, aboutTask(id));
  const events = useEvents(`task=${encodeURIComponent(id)}`, (e) => e.task === Number(id) && e.type !== 'task-archived');
  const t = task.data;
  if (!t) return <><Head title={`Task ${id}`} crumbs={[['Tasks', '/tasks']]} /><ErrorBox error={task.error} retry={task.reload} />{!task.error && <p class="faint">Asking the server …</p>}</>;
  return (
    <>
      <Head crumbs={[['Tasks', '/tasks']]} title={<>{t.id} <span class="task-title">{titleOf(t)}</span></>} sub={<><StateChip state={t.state} /> {line(t)}</>}>
        {mayWrite.value && <TaskActions t={t} />}
      </Head>
      {t.ended_at === null && t.running_since === null && !['starting', 'running', 'stopping'].includes(t.state) && <Why t={t} />}
      {t.update && <div class={`note ${t.update.phase === 'stopped' ? 'warn' : 'good'}`} data-update=""><p><StateChip state={t.update.phase === 'stopped' ? 'stopped' : 'updating'} tone={t.update.phase === 'stopped' ? 'failed' : 'running'} /> Task <TaskLink id={t.update.to} /> takes the place of task <TaskLink id={t.update.from} />: {t.update.ready} of {t.update.instances} instances are ready{t.update.phase === 'stopped' && `; it has stopped: ${t.update.why}`}.</p>{t.update.phase === 'stopped' && mayWrite.value && <Command text={weir('task', 'update', t.id, '--back')} label="Go back to the old version" />}</div>}
      {t.evicted && <div class="note warn" data-evicted=""><p><b>Evicted <Time at={t.evicted.at} /></b>, by the rule <code>{t.evicted.rule}</code>: {t.evicted.message}{t.evicted.work_lost.slot_seconds >= 1 && `; ${slotTime(t.evicted.work_lost.slot_seconds)} of work are lost so far`}.</p></div>}
      {t.running_since !== null && mayWrite.value && <Command text={t.kind === 'shell' ? weir('shell', 'attach', t.id) : weir('task', 'exec', t.id, '--', 'bash')} label={t.kind === 'shell' ? 'Enter the shell' : 'A shell beside the task'} />}
      <Card title="Output"><LogView task={t} /></Card>
      <div class="cols"><div class="stack"><Attempts t={t} /><UsedNow t={t} reload={task.reload} /><Used t={t} /></div><Definition t={t} /></div>
      <Card title="Events"><EventList {...events} show={['node']} /></Card>
    </>
  );
}
