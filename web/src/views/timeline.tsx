// timeline.tsx - what ran where: a row for each node, user, project or pool, a bar for each attempt, coloured by project.
// Dragging over a row zooms; a bar leads to its task. SPDX-License-Identifier: Apache-2.0
import { Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { withQuery } from '../lib/api';
import { absolute, byName, duration, now, num, plural } from '../lib/format';
import { useLive, type Affects } from '../lib/live';
import { href, useQuery } from '../lib/router';
import { theme } from '../theme';
import { Button, Card, Empty, ErrorBox, Head, Tabs, TaskLink, Time } from '../ui/base';
import { Table, type Column } from '../ui/table';
import { colours, inkOn, paint } from './map_draw';
import './timeline.css';

/** [row, project, task, instance, attempt, begin, end or null, state, slots, lost, waited, start or null, devices]; begin and end count from `since`. */
type Bar = [number, number, number, number, number, number, number | null, string, number, number, number, number | null, number[]];
interface Answer { by: string; since: string; until: string; time: string; bars: Bar[]; rows: string[]; projects: string[]; more: boolean }

const HOUR_MS = 3_600_000;
const BYS: [string, string][] = [['node', 'Nodes'], ['device', 'Devices'], ['user', 'Users'], ['project', 'Projects'], ['pool', 'Pools']];
const SPANS: [string, string][] = [['', 'Fit'], ['1', '1 h'], ['6', '6 h'], ['24', '1 day'], ['168', '7 days'], ['744', '31 days']];
const LONGEST_MS = 31 * 24 * HOUR_MS, SHORTEST_MS = 1000;
const ROWS_MAX = 200, LANES_MAX = 40, LISTED = 15, LEGEND_MAX = 20;
const DRAG_PX = 5;
const NAMED_PX = 14, NAMED_PART = 6; // a bar of this height and part of the row has room for its task's number
const LAST_TICK = 94; // per cent of the row: what stands behind has no room for its text
const SHORTEST_FIT_MS = 120_000;

const attempts: Affects = (e) => e.type.startsWith('attempt-') && e.type !== 'attempt-checkpoint';
const iso = (ms: number) => new Date(ms).toISOString();
const moment = (text: string | null) => { const ms = text ? Date.parse(text) : NaN; return Number.isFinite(ms) ? ms : null; };

/** Bars that overlap lie in lanes, one below the other. */
function lanesOf(bars: Bar[], end: number): [Bar, number][] {
  const ends: number[] = [];
  return [...bars].sort((a, b) => a[5] - b[5]).map((bar) => {
    let lane = ends.findIndex((at) => at <= bar[5]);
    if (lane < 0) lane = Math.min(ends.length, LANES_MAX - 1);
    ends[lane] = Math.max(ends[lane] ?? -Infinity, bar[6] ?? end);
    return [bar, lane];
  });
}

function ticks(since: number, span: number): [number, string][] {
  const steps = [1000, 5000, 15_000, 60_000, 300_000, 900_000, HOUR_MS, 3 * HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS];
  const step = steps.find((s) => span / s <= 6) ?? steps[steps.length - 1];
  const shift = new Date(since).getTimezoneOffset() * 60_000;
  const list: [number, string][] = [];
  for (let at = Math.ceil((since - shift) / step) * step + shift; at < since + span; at += step) {
    const d = new Date(at);
    list.push([at, step >= 24 * HOUR_MS ? d.toLocaleDateString('en', { month: 'short', day: 'numeric' }) : d.toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', second: step < 60_000 ? '2-digit' : undefined, hour12: false })]);
  }
  return list;
}

/** What a bar says under the pointer. */
function barText(b: Bar, project: string, until: number): string {
  const [, , task, index, attempt, begin, end, state, slots, lost, waited, start, devices] = b;
  const stop = end ?? until;
  return [`task ${task}${index ? `.${index}` : ''}, attempt ${attempt}, ${project}: ${plural(slots, 'slot')}${devices.length ? ` (GPU ${devices.join(', ')})` : ''}`, waited >= 1000 && `waited ${duration(waited)}`,
    start !== null && start >= 1000 && `got ready for ${duration(start)}`, `${state === 'ended' ? 'ran' : state} ${duration(stop - begin - (start ?? 0))}`, lost > 0 && `${duration(lost)} lost`].filter(Boolean).join(', ');
}

interface Frame { since: number; span: number; time: number; live: boolean }

function Row({ name, link, bars, frame, paints, projects }: { name: string; link: string; bars: Bar[]; frame: Frame; paints: Map<string, string>; projects: string[] }) {
  const until = frame.time - frame.since;
  const laid = lanesOf(bars, until);
  const lanes = 1 + laid.reduce((most, [, lane]) => Math.max(most, lane), 0);
  const high = lanes > 12 ? 6 : lanes > 4 ? 9 : 14;
  const part = (ms: number) => (100 * Math.max(0, Math.min(frame.span, ms))) / frame.span;
  return (
    <>
      <a class="timeline-name" href={link} title={name}>{name}</a>
      <div class="timeline-track" data-row={name} style={{ height: `${lanes * (high + 1) + 3}px` }}>
        {laid.map(([b, lane]) => {
          const [, project, task, index, attempt, begin, end, state, , lost, waited, start] = b;
          const stop = end ?? until;
          const text = barText(b, projects[project], until);
          const top = 2 + lane * (high + 1);
          const long = stop - begin || 1;
          return (
            <Fragment key={`${task}.${index}:${attempt}`}>
              {waited > frame.span / 2000 && <span class="timeline-wait" style={{ left: `${part(begin - waited)}%`, width: `${part(begin) - part(begin - waited)}%`, top: `${top + (high >> 1)}px` }} />}
              <a class={`timeline-bar ${state} ${end === null ? 'open' : ''}`} href={href(`/tasks/${task}`)} data-task={task} tabIndex={-1} draggable={false} aria-label={text} title={text}
                style={{ left: `${part(begin)}%`, width: `${part(stop) - part(begin)}%`, top: `${top}px`, height: `${high}px`, background: paints.get(projects[project]) }}>
                {start !== null && start > 0 && <span class="timeline-start" style={{ width: `${Math.min(100, (100 * start) / long)}%` }} />}
                {lost > 0 && <span class="timeline-lost" style={{ width: `${Math.min(100, (100 * lost) / long)}%` }} />}
                {high >= NAMED_PX && part(stop) - part(begin) >= NAMED_PART && !(start !== null && start > long / 4) && !(lost > 0) && <span class="timeline-task" style={{ color: inkOn(paints.get(projects[project]) ?? '#000000') }}>{task}{index > 0 && `.${index}`}</span>}
              </a>
            </Fragment>
          );
        })}
        {frame.time >= frame.since && frame.time < frame.since + frame.span && <span class="timeline-now" style={{ left: `${part(until)}%` }} />}
      </div>
    </>
  );
}

/** Follows the pointer from a press on a row to its release; a short way is a click. */
function useDrag(frame: Frame, zoom: (from: number, to: number) => void) {
  const [drag, setDrag] = useState<{ box: DOMRect; from: number; to: number } | null>(null);
  const at = (box: DOMRect, x: number) => Math.max(0, Math.min(1, (x - box.left) / box.width));
  const moved = useRef(false);
  const down = (e: PointerEvent) => {
    const track = (e.target as HTMLElement).closest('.timeline-track');
    if (!track || e.button !== 0) return;
    moved.current = false;
    setDrag({ box: track.getBoundingClientRect(), from: e.clientX, to: e.clientX });
  };
  useEffect(() => {
    if (!drag) return undefined;
    const move = (e: PointerEvent) => {
      if (Math.abs(e.clientX - drag.from) >= DRAG_PX) moved.current = true;
      setDrag({ ...drag, to: e.clientX });
    };
    const up = (e: PointerEvent) => {
      setDrag(null);
      if (!moved.current || e.type === 'pointercancel') return;
      const [a, b] = [at(drag.box, drag.from), at(drag.box, e.clientX)].sort((x, y) => x - y);
      if (b > a) zoom(frame.since + a * frame.span, frame.since + b * frame.span);
    };
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', up);
    window.addEventListener('pointercancel', up);
    return () => { window.removeEventListener('pointermove', move); window.removeEventListener('pointerup', up); window.removeEventListener('pointercancel', up); };
  }, [drag]);
  /** The end of a drag over a bar is no click on the bar. */
  const click = (e: MouseEvent) => { if (moved.current) { e.preventDefault(); moved.current = false; } };
  return { drag: drag && { from: at(drag.box, Math.min(drag.from, drag.to)), to: at(drag.box, Math.max(drag.from, drag.to)) }, down, click };
}

/** The page of what a row stands for. */
function rowHref(by: string, name: string): string {
  return by === 'node' || by === 'device' ? href(`/nodes/${encodeURIComponent(name)}`) : by === 'pool' ? href(`/pools/${encodeURIComponent(name)}`) : href('/tasks', { [by]: name });
}

const COLUMNS = (answer: Answer, since: number): Column<Bar>[] => [
  { key: 'task', title: 'Task', cell: (b) => <TaskLink id={b[2]} /> },
  { key: 'row', title: answer.by[0].toUpperCase() + answer.by.slice(1), grow: true, cell: (b) => <a href={rowHref(answer.by, answer.rows[b[0]])}>{answer.rows[b[0]]}</a> },
  { key: 'project', title: 'Project', hide: 's', cell: (b) => answer.projects[b[1]] },
  { key: 'begin', title: 'Begin', hide: 's', cell: (b) => <Time at={iso(since + b[5])} /> },
  { key: 'state', title: 'State', cell: (b) => b[7] },
  { key: 'slots', title: 'Slots', num: true, hide: 'm', cell: (b) => num(b[8]) },
];

export function TimelineView() {
  const [query, set] = useQuery();
  const by = BYS.some(([k]) => k === query.get('by')) ? (query.get('by') as string) : 'node';
  const pool = query.get('pool');
  const node = query.get('node');
  const fixed = { since: moment(query.get('since')), until: moment(query.get('until')) };
  const live = fixed.since === null || fixed.until === null || fixed.until <= fixed.since;
  const hours = Math.min(744, Math.max(1, Number(query.get('hours')) || 24));
  const minute = Math.floor(now.value / 60_000) * 60_000;
  const asked = live ? { since: iso(minute - hours * HOUR_MS + 60_000) } : { since: iso(fixed.since as number), until: iso(fixed.until as number) };
  const answer = useLive<Answer>(withQuery('/timeline', { by: by === 'device' ? 'node' : by, pool, node, ...asked }), attempts);
  const last = useRef<Answer | undefined>();
  if (answer.data) last.current = answer.data;
  const data = last.current?.by === (by === 'device' ? 'node' : by) ? last.current : undefined;
  const asked0 = data ? Date.parse(data.since) : 0;
  const whole = live && !query.get('hours');
  const first = data && whole ? Math.min(...data.bars.map((b) => b[5] - b[10])) : 0;
  const until = data ? Date.parse(data.until) : 1;
  // A little of what is to come, so that the now-line and what runs at it are seen.
  const time = data ? Date.parse(data.time) + (live && answer.data ? Math.max(0, now.value - answer.at) : 0) : 0;
  const end = live ? Math.max(until, time) : until;
  // "Fit" leaves out the part of the day in which nothing ran.
  const cut = Number.isFinite(first) && first > 0 ? Math.min(first - 0.04 * (end - asked0 - first), end - asked0 - SHORTEST_FIT_MS) : 0;
  const since = asked0 + Math.max(0, cut);
  const frame: Frame = { since, span: Math.max(1, (end - since) * (live ? 1.03 : 1)), time, live };
  const look = (from: number, to: number) => {
    const span = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, to - from));
    set({ since: iso(Math.max(0, Math.round(from))), until: iso(Math.round(Math.max(0, from) + span)), hours: null }, false);
  };
  const middle = (factor: number, shift = 0) => { const half = ((end - since) * factor) / 2; const at = (since + end) / 2 + (end - since) * shift; look(at - half, at + half); };
  const { drag, down, click } = useDrag(frame, look);
  const keys = (e: KeyboardEvent) => {
    const act = { ArrowLeft: () => middle(1, -0.25), ArrowRight: () => middle(1, 0.25), '+': () => middle(0.5), '=': () => middle(0.5), '-': () => middle(2) }[e.key];
    if (act && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); act(); }
  };
  const paints = useMemo(() => paint(data?.projects ?? [], colours()), [data?.projects.join('\n'), theme.value]);
  const rows = useMemo(() => {
    const shift = since - asked0;
    const of = new Map<string, { name: string; node: string; bars: Bar[] }>();
    const add = (name: string, node: string, bar: Bar) => { const row = of.get(name) ?? { name, node, bars: [] }; row.bars.push(bar); of.set(name, row); };
    for (const found of data?.bars ?? []) {
      const bar = [...found] as Bar;
      bar[5] -= shift;
      if (bar[6] !== null) bar[6] -= shift;
      const name = data?.rows[bar[0]] ?? '';
      if (by !== 'device' || bar[12].length === 0) add(name, name, bar);
      else for (const device of bar[12]) add(`${name} GPU ${device}`, name, bar);
    }
    return [...of.values()].sort((a, b) => byName(a.name, b.name));
  }, [data, by, since]);
  return (
    <>
      <Head title="Timeline" sub={data ? `${absolute(since)} to ${live ? 'now' : absolute(until)}` : 'What ran where'}>
        <Tabs label="A row for each" items={BYS} now={by} pick={(b) => set({ by: b })} />
      </Head>
      <div class="timeline-when">
        <Tabs label="Time" items={SPANS} now={live ? query.get('hours') ?? '' : '–'} pick={(h) => set({ hours: h || null, since: null, until: null }, false)} />
        <span class="side">
          <Button small onClick={() => middle(1, -0.5)} aria-label="Earlier">◂</Button><Button small onClick={() => middle(1, 0.5)} disabled={live} aria-label="Later">▸</Button>
          <Button small onClick={() => middle(0.5)} aria-label="Zoom in">+</Button><Button small onClick={() => middle(2)} aria-label="Zoom out">−</Button>
          {!live && <Button small onClick={() => set({ since: null, until: null }, false)}>Now</Button>}
        </span>
        {pool && <Button small onClick={() => set({ pool: null })} aria-label={`Every pool again, not ${pool} alone`}>pool {pool} ✕</Button>}
        {node && <Button small onClick={() => set({ node: null })} aria-label={`Every node again, not ${node} alone`}>node {node} ✕</Button>}
      </div>
      <ErrorBox error={answer.error} retry={answer.reload} />
      {data && (data.bars.length === 0 ? <Card><Empty title="Nothing ran in this time"><p>Choose a longer time, or start a task.</p></Empty></Card> : (
        <Card>
          <div class="timeline" tabIndex={0} role="group" aria-label={`Timeline of ${plural(data.bars.length, 'attempt')} in ${plural(rows.length, 'row')}; arrows move, plus and minus zoom`} onPointerDown={down} onClickCapture={click} onKeyDown={keys}>
            <span />
            <div class="timeline-axis" aria-hidden="true">{ticks(frame.since, frame.span).map(([at, text]) => { const left = (100 * (at - frame.since)) / frame.span; return left < LAST_TICK && <span key={at} style={{ left: `${left}%` }}>{text}</span>; })}</div>
            {rows.slice(0, ROWS_MAX).map((r) => <Row key={r.name} name={r.name} link={rowHref(by, r.node)} bars={r.bars} frame={frame} paints={paints} projects={data.projects} />)}
            <div class="timeline-over">{drag && <span class="timeline-drag" style={{ left: `${100 * drag.from}%`, width: `${100 * (drag.to - drag.from)}%` }} />}</div>
          </div>
          <p class="faint">Drag over a row to zoom; the arrow keys move, + and − zoom.</p>
          <ul class="legend timeline-legend" aria-label="Colours">
            {data.projects.slice(0, LEGEND_MAX).map((p) => <li key={p}><span class="dot" aria-hidden="true" style={{ background: paints.get(p) }} />{p}</li>)}
            <li><span class="timeline-key-wait" aria-hidden="true" />waited</li><li><span class="dot timeline-key-start" aria-hidden="true" />got ready</li><li><span class="dot timeline-key-evicted" aria-hidden="true" />evicted</li><li><span class="dot timeline-key-lost" aria-hidden="true" />work lost</li><li><span class="dot timeline-key-failed" aria-hidden="true" />failed</li>
          </ul>
        </Card>
      ))}
      {rows.length > ROWS_MAX && <p class="note">The first {num(ROWS_MAX)} of {num(rows.length)} rows are shown. Choose a pool, or rows of users or projects.</p>}
      {data?.more && <p class="note warn">More ran than is shown: the shortest attempts are left out. Choose a shorter time.</p>}
      {data && data.bars.length > 0 && <Card title="The longest of this time"><Table label="Attempts" columns={COLUMNS(data, asked0)} rows={data.bars.slice(0, LISTED)} id={(b) => `${b[2]}.${b[3]}:${b[4]}`} order={`${by} ${data.since} ${data.until}`} /></Card>}
    </>
  );
}
