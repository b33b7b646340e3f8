// log.tsx - the output of a task as it comes. Lines have one height and only those in sight are drawn, so that 10,000
// lines a second do no harm. Escape sequences colour or vanish; they never act. SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { headers } from '../lib/api';
import { num } from '../lib/format';
import { linesOf } from '../lib/lines';
import type { Task } from '../lib/types';
import { Button } from '../ui/base';
import './log.css';

const LINE_PX = 19;
const KEPT = 50_000; // lines; older ones are left out, and the page says so
const LINE_CHARS = 4000;
const FIRST = 2000;

interface Line { n: number; instance: number; err: boolean; text: string }
interface Piece { text: string; tone: string }

// CSI, OSC and other sequences, and control characters but the tab.
const ESCAPES = /\x1b\[([0-9;:?]*)[ -/]*([@-~])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** A line without escape sequences; colours become classes. */
export function pieces(line: string): Piece[] {
  const out: Piece[] = [];
  let tone = '';
  let at = 0;
  for (const m of line.matchAll(ESCAPES)) {
    if (m.index > at) out.push({ text: line.slice(at, m.index), tone });
    at = m.index + m[0].length;
    if (m[2] === 'm') {
      for (const code of (m[1] || '0').split(/[;:]/).map(Number)) {
        if (code === 0 || code === 39) tone = '';
        else if (code === 1) tone = tone || 'log-1';
        else if ((code >= 31 && code <= 36) || code === 90) tone = `log-${code}`;
        else if (code >= 91 && code <= 96) tone = `log-${code - 60}`;
        else if (code === 38 || code === 48) break;
      }
    }
  }
  if (at < line.length) out.push({ text: line.slice(at), tone });
  return out;
}

/** What a terminal would show of a line with carriage returns: the last part. */
function shown(text: string): string {
  const parts = text.replace(/\r+$/, '').split('\r');
  return parts[parts.length - 1].slice(0, LINE_CHARS);
}

class Log {
  lines: Line[] = [];
  dropped = 0;
  ended = false;
  failed = '';
  last = 0;
  private rest = new Map<string, string>();
  private n = 0;

  take(record: { n?: number; instance: number; attempt: number; stream: string; data?: string; base64?: string; end?: boolean; error?: { message: string } }) {
    if (record.end) { this.ended = true; return; }
    if (record.error) { this.failed = record.error.message; return; }
    if (record.n) this.last = record.n;
    const text = record.data ?? new TextDecoder('utf-8').decode(Uint8Array.from(atob(record.base64 ?? ''), (c) => c.charCodeAt(0)));
    const key = `${record.instance}/${record.attempt}/${record.stream}`;
    const parts = ((this.rest.get(key) ?? '') + text).split('\n');
    this.rest.set(key, (parts.pop() as string).slice(-LINE_CHARS * 4));
    for (const part of parts) this.lines.push({ n: ++this.n, instance: record.instance, err: record.stream === 'stderr', text: shown(part) });
    if (this.lines.length > KEPT * 1.2) { this.dropped += this.lines.length - KEPT; this.lines.splice(0, this.lines.length - KEPT); }
  }

  /** The lines, and the ends that have no line feed yet. */
  all(): Line[] {
    const open = [...this.rest].filter(([, text]) => text !== '').map(([key, text], i) => ({ n: this.n + 1 + i, instance: Number(key.split('/')[0]), err: key.endsWith('stderr'), text: shown(text) }));
    return open.length ? [...this.lines, ...open] : this.lines;
  }
}

function useLog(id: number, instance: string, tail: number): { log: Log; tick: number } {
  const log = useRef(new Log());
  const [tick, setTick] = useState(0);
  useEffect(() => {
    const control = new AbortController();
    log.current = new Log();
    let frame = 0;
    const draw = () => { if (!frame) frame = requestAnimationFrame(() => { frame = 0; setTick((t) => t + 1); }); };
    const read = async () => {
      while (!control.signal.aborted && !log.current.ended) {
        const mine = log.current;
        const q = new URLSearchParams({ follow: 'true', ...(mine.last ? { after: String(mine.last) } : { tail: String(tail) }), ...(instance ? { instance } : {}) });
        try {
          const answer = await fetch(`/api/v1/tasks/${id}/logs?${q}`, { headers: headers(), signal: control.signal, credentials: 'same-origin', cache: 'no-store' });
          if (answer.status === 404 || answer.status === 401 || answer.status === 403) { mine.failed = 'The server has no output of this task.'; draw(); return; }
          if (answer.ok && answer.body) for await (const line of linesOf(answer.body)) if (line) { mine.take(JSON.parse(line)); draw(); }
        } catch { /* the server is away: again below, from the last piece seen */ }
        if (mine.ended || mine.failed) break;
        await new Promise((done) => setTimeout(done, 1500));
      }
      draw();
    };
    void read();
    return () => { control.abort(); cancelAnimationFrame(frame); };
  }, [id, instance, tail]);
  return { log: log.current, tick };
}

const ERROR = /\b(error|exception|traceback|fatal|panic|failed|segmentation fault|out of memory|cuda error)\b/i;

function LineView({ line, top, prefix, tone }: { line: Line; top: number; prefix: boolean; tone: string }) {
  return (
    <div class={`log-line ${line.err ? 'log-err' : ''} ${tone}`} style={{ top: `${top}px` }}>
      <span class="log-n" aria-hidden="true">{line.n}</span>{prefix && <span class="log-who">{line.instance}</span>}
      {pieces(line.text).map((p, i) => (p.tone ? <span key={i} class={p.tone}>{p.text}</span> : p.text))}
    </div>
  );
}

export function LogView({ task }: { task: Task }) {
  const [instance, setInstance] = useState(task.instances > 1 ? '' : '0');
  const [word, setWord] = useState('');
  const [only, setOnly] = useState(false);
  const [tail, setTail] = useState(FIRST);
  const [follow, setFollow] = useState(true);
  const [hitAt, setHitAt] = useState(-1);
  const [view, setView] = useState({ top: 0, height: 420 });
  const box = useRef<HTMLDivElement>(null);
  const { log, tick } = useLog(task.id, instance, tail);
  const all = log.all();
  const needle = word.toLowerCase();
  const hits = needle ? all.reduce<number[]>((found, line, i) => { if (line.text.toLowerCase().includes(needle)) found.push(i); return found; }, []) : [];
  const lines = only && needle ? hits.map((i) => all[i]) : all;
  useEffect(() => { if (follow && box.current) box.current.scrollTop = box.current.scrollHeight; }, [tick, follow, lines.length]);
  const scrolled = () => {
    const el = box.current;
    if (!el) return;
    setView({ top: el.scrollTop, height: el.clientHeight });
    setFollow(el.scrollTop + el.clientHeight >= el.scrollHeight - LINE_PX);
  };
  const show = (index: number) => { setFollow(false); if (box.current) box.current.scrollTop = Math.max(0, index * LINE_PX - view.height / 2); };
  const next = (by: number) => {
    if (hits.length === 0) return;
    const to = (hitAt + by + hits.length) % hits.length;
    setHitAt(to);
    show(only ? to : hits[to]);
  };
  const firstError = () => { const i = lines.findIndex((line) => ERROR.test(line.text)); if (i >= 0) show(i); };
  const from = Math.max(0, Math.floor(view.top / LINE_PX) - 10);
  const to = Math.min(lines.length, Math.ceil((view.top + view.height) / LINE_PX) + 10);
  const isHit = (line: Line) => needle !== '' && line.text.toLowerCase().includes(needle);
  const current = hitAt >= 0 ? all[hits[hitAt]] : undefined;
  return (
    <div class="log" data-lines={lines.length}>
      <div class="log-bar">
        <input type="search" aria-label="Search in the output" placeholder="Search in the output" value={word} onInput={(e) => { setWord(e.currentTarget.value); setHitAt(-1); }} onKeyDown={(e) => { if (e.key === 'Enter') next(e.shiftKey ? -1 : 1); }} />
        {needle && <><span class="faint" role="status">{num(hits.length)} found</span><Button small onClick={() => next(-1)} aria-label="Previous">↑</Button><Button small onClick={() => next(1)} aria-label="Next">↓</Button>
          <label class="check"><input type="checkbox" checked={only} onChange={() => setOnly(!only)} />only these lines</label></>}
        <Button small onClick={firstError} disabled={!lines.some((line) => ERROR.test(line.text))}>First error</Button>
        {task.instances > 1 && (
          <select aria-label="Instance" value={instance} onChange={(e) => setInstance(e.currentTarget.value)}>
            <option value="">All instances</option>{Array.from({ length: Math.min(task.instances, 1000) }, (_, i) => <option key={i} value={String(i)}>Instance {i + task.array_first}</option>)}
          </select>
        )}
        {tail > 0 && lines.length >= FIRST && <Button small onClick={() => setTail(1_000_000)}>From the beginning</Button>}
        <a class="btn small" href={`/api/v1/tasks/${task.id}/logs?format=raw${instance ? `&instance=${instance}` : ''}`} download={`task-${task.id}.log`}>Download</a>
        {!follow && task.ended_at === null && <Button small kind="main" onClick={() => setFollow(true)}>Follow</Button>}
      </div>
      {log.failed && <p class="bad-text" role="alert">{log.failed}</p>}
      {log.dropped > 0 && <p class="faint">The first {num(log.dropped)} lines are not kept here; the download has them.</p>}
      <div class={`log-box ${lines.length === 0 ? 'log-none' : ''}`} ref={box} style={task.ended_at !== null && lines.length > 0 && lines.length * LINE_PX < 400 ? { height: `${lines.length * LINE_PX + 12}px` } : {}} onScroll={scrolled} tabIndex={0} role="log" aria-label={`Output of task ${task.id}`}>
        <div class="log-all" style={{ height: `${Math.max(lines.length * LINE_PX, 1)}px` }}>
          {lines.slice(from, to).map((line, i) => <LineView key={line.n} line={line} top={(from + i) * LINE_PX} prefix={instance === '' && task.instances > 1} tone={line === current ? 'log-at' : isHit(line) ? 'log-hit' : ''} />)}
        </div>
        {lines.length === 0 && <p class="faint pad">{task.started_at === null ? 'The task has not started; its output will stand here.' : log.ended ? 'The task wrote nothing.' : 'No output yet.'}</p>}
      </div>
    </div>
  );
}
