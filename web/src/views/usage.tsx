// usage.tsx - who used what: sums of slot-hours by user, project, pool, node, kind or day over a chosen time, a bar for
// each day, and the same rows as a file. Days are days of UTC, as the server counts them. SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { withQuery } from '../lib/api';
import { now, num, plural, quote } from '../lib/format';
import { useLive, type Affects } from '../lib/live';
import { href, useQuery } from '../lib/router';
import { Button, Card, Command, Empty, ErrorBox, Head, NodeLink, Span, Tabs, TaskLink } from '../ui/base';
import { Table, type Column } from '../ui/table';
import './usage.css';

interface Cost { currency: string; amount: number }
interface Sums {
  costs: Cost[];
  slot_seconds: { asked?: number; used: number; lost: number; waited?: number };
  tasks?: { ended: number; completed: number; failed: number; killed: number; unavailable: number; unknown: number };
  attempts: { ended: number; failed: number; evicted: number; node_lost: number };
}
interface Row extends Sums { key: string }
interface Usage { by: string; since: string; until: string; items: Row[]; more: boolean; total: Sums; recorded_from: string | null; exact_from: string | null }

const DAY_MS = 86_400_000;
const BYS: [string, string][] = [['user', 'Users'], ['project', 'Projects'], ['pool', 'Pools'], ['node', 'Nodes'], ['kind', 'Kinds'], ['day', 'Days']];
const SPANS: [string, string][] = [['1', 'Today'], ['7', '7 days'], ['30', '30 days'], ['90', '90 days'], ['365', 'A year']];
const FILTERS = ['user', 'project', 'pool'] as const;
const DAYS_MAX = 3660;
const SHOWN_MAX = 500;
const CHART_W = 1000, CHART_H = 200;

/** Sums change when an attempt or a task ends. */
const ended: Affects = (e) => e.task !== undefined && e.type.endsWith('ended');

const dayText = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);
const dayOf = (text: string | null) => { const ms = text && /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN; return Number.isFinite(ms) ? ms / DAY_MS : null; };
const hours = (seconds: number | undefined) => (seconds === undefined ? '–' : seconds > 0 && seconds < 18 ? '<0.01' : num(Math.round(seconds / 36) / 100));

const costText = (c: Cost) => `${c.amount.toFixed(2)}${c.currency ? ` ${c.currency}` : ''}`;

/** The first and the last day of the question, both counted. */
function useDays(query: URLSearchParams): [number, number] {
  const today = Math.floor(now.value / DAY_MS);
  const until = dayOf(query.get('until')) ?? today;
  const span = Math.min(DAYS_MAX, Math.max(1, Math.floor(Number(query.get('days'))) || 30));
  const since = Math.min(until, dayOf(query.get('since')) ?? until - span + 1);
  return [Math.max(since, until - DAYS_MAX + 1, 0), until];
}

interface Idle { time: string; attempts: number; slots: number; slot_seconds: number; items: { task: number; instance: number; name: string; kind: string; user: string; project: string; node: string | null; slots: number; idle_since: string; slot_seconds: number }[] }
type IdleRow = Idle['items'][number];
const IDLE_COLUMNS: Column<IdleRow>[] = [
  { key: 'task', title: 'Task', num: true, cell: (r) => <TaskLink id={r.task}>{r.task}{r.instance > 0 && `.${r.instance}`}</TaskLink> },
  { key: 'name', title: 'Name', grow: true, cell: (r) => <span class="clip">{r.name || r.kind}</span> },
  { key: 'user', title: 'User', cell: (r) => <a href={href('/tasks', { user: r.user })}>{r.user}</a> },
  { key: 'project', title: 'Project', hide: 's', cell: (r) => r.project },
  { key: 'node', title: 'Node', hide: 'm', cell: (r) => (r.node ? <NodeLink name={r.node} /> : '–') },
  { key: 'slots', title: 'Slots', num: true, cell: (r) => num(r.slots) },
  { key: 'idle', title: 'Idle for', num: true, cell: (r) => <Span from={r.idle_since} /> },
  { key: 'hours', title: 'Slot-hours', num: true, hide: 's', cell: (r) => hours(r.slot_seconds) },
];

/** Who holds places now and does nothing with them. */
function IdleHeld() {
  const idle = useLive<Idle>('/usage/idle', (e) => e.type === 'attempt-ended');
  const i = idle.data;
  return (
    <Card title="Held and idle" side={i && i.attempts > 0 && <span class="faint">{plural(i.slots, 'slot')}, {hours(i.slot_seconds)} slot-hours</span>}>
      <ErrorBox error={idle.error} retry={idle.reload} />
      {i && <Table label="Held and idle" rows={i.items} id={(r) => `${r.task}.${r.instance}`} columns={IDLE_COLUMNS} order={i.time} empty={<p class="faint">Nobody holds slots without using them.</p>} />}
      <p class="faint">Now: attempts that for five minutes or more used less than a hundredth of a core and of a GPU.</p>
    </Card>
  );
}

function Sum({ name, title, children }: { name: string; title: string; children: ComponentChildren }) {
  return <div title={title}><dt>{name}</dt><dd>{children}</dd></div>;
}

/** A bar for each day: what was kept, what was lost, and dashed what was asked for. */
function Days({ rows, since, until, pick }: { rows: Row[]; since: number; until: number; pick: (day: string) => void }) {
  const byDay = new Map(rows.map((r) => [r.key, r]));
  const days = Array.from({ length: until - since + 1 }, (_, i) => dayText(since + i));
  const top = Math.max(1, ...rows.map((r) => Math.max(r.slot_seconds.used, r.slot_seconds.asked ?? 0)));
  const wide = CHART_W / days.length;
  const gap = Math.min(4, wide / 5);
  const px = (seconds: number) => (seconds / top) * (CHART_H - 8);
  return (
    <>
      <div class="usage-axis"><span>{hours(top)} slot-hours</span></div>
      <svg class="usage-days" viewBox={`0 0 ${CHART_W} ${CHART_H}`} preserveAspectRatio="none" role="group" aria-label={`Slot-hours of each day from ${days[0]} to ${days[days.length - 1]}`}>
        {[0.25, 0.5, 0.75].map((at) => <line key={at} class="usage-grid" x1="0" x2={CHART_W} y1={CHART_H * at} y2={CHART_H * at} />)}
        {days.map((day, i) => {
          const s = byDay.get(day)?.slot_seconds;
          const text = s ? `${day}: used ${hours(s.used)}, of it lost ${hours(s.lost)}, asked ${hours(s.asked)}, waited ${hours(s.waited)} slot-hours` : `${day}: nothing used`;
          const x = i * wide + gap / 2;
          const lost = s ? px(Math.min(s.lost, s.used)) : 0;
          const kept = s ? px(s.used) - lost : 0;
          return (
            <g key={day} class="usage-day" data-day={day} role="button" tabindex={s ? 0 : -1} aria-label={text} onClick={() => pick(day)} onKeyDown={(e) => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); pick(day); } }}>
              <title>{text}</title>
              <rect class="usage-ground" x={i * wide} y="0" width={wide} height={CHART_H} vector-effect="non-scaling-stroke" />
              {kept > 0 && <rect class="usage-kept" x={x} y={CHART_H - kept} width={wide - gap} height={kept} />}
              {lost > 0 && <rect class="usage-lost" x={x} y={CHART_H - kept - lost} width={wide - gap} height={lost} />}
              {s?.asked ? <rect class="usage-asked" x={x} y={CHART_H - px(s.asked)} width={wide - gap} height={px(s.asked)} vector-effect="non-scaling-stroke" /> : null}
            </g>
          );
        })}
      </svg>
      <div class="usage-axis"><span>{days[0]}</span>{days.length > 1 && <span>{days[days.length - 1]}</span>}</div>
      <ul class="legend" aria-label="How to read a bar">
        <li><span class="dot t-used" aria-hidden="true" />used and kept</li><li><span class="dot t-broken" aria-hidden="true" />used and lost</li><li><span class="dot usage-key-asked" aria-hidden="true" />asked for by what ended that day</li>
      </ul>
    </>
  );
}

/** The rows as a file, as `weir usage --csv` writes it. */
function csvOf(by: string, rows: Row[], costs: Cost[]): string {
  const cell = (v: string | number) => (/[",\n\r]/.test(String(v)) ? `"${String(v).replace(/"/g, '""')}"` : String(v));
  const hour = (seconds: number | undefined) => (Math.floor(Math.round((seconds ?? 0) * 1000) / 3600) / 1000).toFixed(3);
  const line = (cells: (string | number)[]) => cells.map(cell).join(',');
  const paid = costs.map((c) => (c.currency ? `cost_${c.currency}` : 'cost'));
  const head = by === 'node' ? [by, 'used_slot_hours', 'lost_slot_hours', ...paid, 'attempts', 'failed', 'evicted', 'node_lost']
    : [by, 'used_slot_hours', 'asked_slot_hours', 'lost_slot_hours', 'waited_slot_hours', ...paid, 'tasks', 'completed', 'failed', 'killed', 'other', 'evicted', 'node_lost'];
  const body = rows.map((r) => {
    const s = r.slot_seconds;
    const cost = r.costs.map((c) => c.amount.toFixed(3));
    if (!r.tasks) return line([r.key, hour(s.used), hour(s.lost), ...cost, r.attempts.ended, r.attempts.failed, r.attempts.evicted, r.attempts.node_lost]);
    return line([r.key, hour(s.used), hour(s.asked), hour(s.lost), hour(s.waited), ...cost, r.tasks.ended, r.tasks.completed, r.tasks.failed, r.tasks.killed, r.tasks.unavailable + r.tasks.unknown, r.attempts.evicted, r.attempts.node_lost]);
  });
  return [line(head), ...body].join('\n') + '\n';
}

function download(name: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const a = document.createElement('a');
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function columnsOf(by: string, total: Sums, narrow: (key: string) => ComponentChildren): Column<Row>[] {
  const all = total.slot_seconds.used || 1;
  const columns: Column<Row>[] = [
    { key: 'key', title: by[0].toUpperCase() + by.slice(1), grow: true, cell: (r) => narrow(r.key) },
    { key: 'used', title: 'Used', num: true, cell: (r) => <b>{hours(r.slot_seconds.used)}</b> },
    { key: 'share', title: 'Of all', num: true, hide: 's', cell: (r) => `${num(Math.round((1000 * r.slot_seconds.used) / all) / 10)} %` },
  ];
  if (by !== 'node') columns.push({ key: 'asked', title: 'Asked', num: true, cell: (r) => hours(r.slot_seconds.asked) });
  columns.push({ key: 'lost', title: 'Lost', num: true, cell: (r) => <span class={r.slot_seconds.lost > 0 ? 'bad-text' : ''}>{hours(r.slot_seconds.lost)}</span> });
  if (by !== 'node') {
    columns.push({ key: 'waited', title: 'Waited', num: true, hide: 's', cell: (r) => hours(r.slot_seconds.waited) });
    columns.push({ key: 'tasks', title: 'Tasks', num: true, hide: 'm', cell: (r) => num(r.tasks?.ended ?? 0) });
    columns.push({ key: 'failed', title: 'Failed', num: true, hide: 'm', cell: (r) => num(r.tasks?.failed ?? 0) });
  }
  total.costs.forEach((c, i) => columns.push({ key: `cost-${i}`, title: c.currency ? `Cost, ${c.currency}` : 'Cost', num: true, cell: (r) => (r.costs[i]?.amount ?? 0).toFixed(2) }));
  columns.push({ key: 'evicted', title: 'Evicted', num: true, hide: 'm', cell: (r) => num(r.attempts.evicted) });
  return columns;
}

export function UsageView() {
  const [query, set] = useQuery();
  const by = BYS.some(([k]) => k === query.get('by')) ? (query.get('by') as string) : 'user';
  const [since, until] = useDays(query);
  const today = Math.floor(now.value / DAY_MS);
  const filter = Object.fromEntries(FILTERS.map((f) => [f, query.get(f)])) as Record<(typeof FILTERS)[number], string | null>;
  const time = { since: `${dayText(since)}T00:00:00Z`, until: until < today ? `${dayText(until + 1)}T00:00:00Z` : undefined };
  const named = by === 'node' ? { pool: filter.pool } : filter;
  const sums = useLive<Usage>(withQuery('/usage', { by, ...time, ...named }), ended);
  const days = useLive<Usage>(withQuery('/usage', { by: 'day', ...time, ...filter }), ended);
  const items = sums.data?.by === by ? sums.data.items : [];
  const total = sums.data?.total;
  const empty = sums.data && items.length === 0;
  const narrow = (key: string) => (by === 'node' ? <NodeLink name={key} />
    : by === 'day' ? <a href={href('/usage', { by: 'user', since: key, until: key, ...filter })}>{key}</a>
      : by === 'kind' ? key
        : <a href={href('/usage', { ...Object.fromEntries(query), by: 'day', [by]: key })} title={`Only ${by} ${key}, by day`}>{key}</a>);
  const words = Object.entries(named).filter(([, v]) => v).map(([k, v]) => ` --${k} ${quote(v as string)}`).join('');
  const command = `weir usage --by ${by} --since ${dayText(since)}${until < today ? ` --until ${dayText(until + 1)}` : ''}${words}`;
  return (
    <>
      <Head title="Usage" sub="What tasks used, asked for, lost and waited, in slot-hours">
        <a class="btn" href={href('/report')}>Simulation</a>
        <Button onClick={() => download(`weir-usage-${by}-${dayText(since)}-${dayText(until)}.csv`, csvOf(by, items, total?.costs ?? []))} disabled={items.length === 0} data-act="csv">Download CSV</Button>
      </Head>
      <div class="usage-when">
        <Tabs label="Time" items={SPANS} now={query.get('since') || query.get('until') ? '' : query.get('days') ?? '30'} pick={(d) => set({ days: d, since: null, until: null })} />
        <label>from <input type="date" aria-label="First day" value={dayText(since)} max={dayText(until)} onChange={(e) => dayOf(e.currentTarget.value) !== null && set({ since: e.currentTarget.value, until: dayText(until), days: null })} /></label>
        <label>to <input type="date" aria-label="Last day" value={dayText(until)} max={dayText(today)} onChange={(e) => dayOf(e.currentTarget.value) !== null && set({ since: dayText(since), until: e.currentTarget.value, days: null })} /></label>
        {FILTERS.filter((f) => filter[f]).map((f) => <Button key={f} small onClick={() => set({ [f]: null })} aria-label={`Every ${f} again, not ${filter[f]} alone`}>{f} {filter[f]} ✕</Button>)}
      </div>
      <ErrorBox error={sums.error ?? days.error} retry={() => { sums.reload(); days.reload(); }} />
      {empty && <Card><Empty title="No task used anything in this time"><p>An attempt is counted when it ends. {sums.data?.recorded_from ? `The first day with a sum is ${sums.data.recorded_from.slice(0, 10)}.` : 'No attempt has ended on this server yet.'}</p></Empty></Card>}
      {total && !empty && (
        <Card>
          <dl class="usage-sums">
            <Sum name="Used" title="Slots times the time from allocation to end of each attempt">{hours(total.slot_seconds.used)}</Sum>
            {total.slot_seconds.asked !== undefined && <Sum name="Asked" title="Slots times the time limit of the tasks that ended; without a limit, what they used">{hours(total.slot_seconds.asked)}</Sum>}
            <Sum name="Lost" title="The part of Used that an eviction or a lost node threw away">{hours(total.slot_seconds.lost)}</Sum>
            {total.slot_seconds.waited !== undefined && <Sum name="Waited" title="Slots times the time without a place">{hours(total.slot_seconds.waited)}</Sum>}
            {total.tasks && <Sum name="Tasks ended" title={`${plural(total.tasks.completed, 'task')} completed, ${num(total.tasks.failed)} failed, ${num(total.tasks.killed)} killed`}>{num(total.tasks.ended)}</Sum>}
            {total.costs.map((c) => <Sum key={c.currency} name="Cost" title="Slot-hours used, by the prices that the flavors of the pools have now">{costText(c)}</Sum>)}
            <Sum name="Evicted" title="Attempts that were evicted">{num(total.attempts.evicted)}</Sum>
          </dl>
        </Card>
      )}
      {days.data && days.data.items.length > 0 && <Card title="By day" side={<span class="faint">slot-hours, days of UTC</span>}><Days rows={days.data.items} since={since} until={until} pick={(day) => set({ since: day, until: day, days: null, by: by === 'day' ? 'user' : by }, false)} /></Card>}
      <Card side={<Tabs label="One row for each" items={BYS} now={by} pick={(b) => set({ by: b })} />} title="Slot-hours">
        {by === 'node' && (filter.user || filter.project) && <p class="note">The sums of nodes are kept by pool alone: these are of every user and project.</p>}
        {items.length > 0 && total && <Table label="Usage" columns={columnsOf(by, total, narrow)} rows={items.slice(0, SHOWN_MAX)} id={(r) => r.key} order={`${by} ${since} ${until} ${words}`} />}
        {items.length > SHOWN_MAX && <p class="note">The first {num(SHOWN_MAX)} of {num(items.length)} rows are shown; the CSV has {sums.data?.more ? 'the first 10,000' : 'all of them'}.</p>}
        <p class="faint">An attempt that still runs is counted when it ends.{sums.data?.exact_from && since * DAY_MS < Date.parse(sums.data.exact_from) ? ` Before ${sums.data.exact_from.slice(0, 10)} only whole days are kept.` : ''}</p>
      </Card>
      <IdleHeld />
      <Command text={command} />
    </>
  );
}
