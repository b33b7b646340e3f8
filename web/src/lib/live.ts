// live.ts - what the page knows of the server: one event stream, and answers that are fetched again when an event
// concerns them.
//
// Numbers keep their order: the stream resumes behind the last event seen (`after`), so no change is missed; after a
// `reset`, and after each reconnection, everything shown is fetched again. Surprising: answers are first fetched when
// the stream is open, because a change between answer and stream would otherwise be lost.
// SPDX-License-Identifier: Apache-2.0
import { signal, type Signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { api, ApiError, headers } from './api';
import { linesOf } from './lines';

export interface Ev {
  seq: number; time: string; type: string; actor: string; cause: string;
  task?: number; pool?: string; node?: string; project?: string; [k: string]: unknown;
}

export const link = signal<{ state: 'off' | 'connecting' | 'live' | 'lost'; since: number; why: string }>({ state: 'off', since: Date.now(), why: '' });
/** The time of the last sign of life of the stream. */
export const heardAt = signal(Date.now());
/** Called when the server no longer takes the session. */
export const signedOut = signal(0);

const SILENCE_MS = 40_000; // the server sends a comment each 15 s
const RETRY_MS = [300, 700, 1500, 3000, 5000];
const HIDDEN_MS = 60_000; // a page that nobody sees gives its connection back
const KEEP_MS = 30_000; // an answer stays for the way back
const APART_MS = 400;
const GATE_MS = 1500;

let lastSeq = -1;
let running = false;
let abort: AbortController | null = null;
let openGate: () => void = () => {};
let gate = new Promise<void>((done) => { openGate = done; });
const listeners = new Set<(e: Ev) => void>();
const resets = new Set<() => void>();

export function on(listener: (e: Ev) => void): () => void { listeners.add(listener); return () => listeners.delete(listener); }
export function onReset(f: () => void): () => void { resets.add(f); return () => resets.delete(f); }
export function seq(): number { return lastSeq; }

function took(e: Ev) {
  if (e.seq <= lastSeq) return;
  lastSeq = e.seq;
  for (const listener of [...listeners]) listener(e);
  for (const entry of entries.values()) entry.event(e);
}

function everythingAgain() {
  for (const entry of entries.values()) entry.soon();
  for (const f of [...resets]) f();
}

async function read(body: ReadableStream<Uint8Array>, watch: () => void) {
  let type = '';
  for await (const line of linesOf(body, watch)) {
    if (line.startsWith('event:')) type = line.slice(6).trim();
    else if (line.startsWith('data:')) {
      if (type !== 'reset') took(JSON.parse(line.slice(5)) as Ev);
    } else if (line === '') {
      if (type === 'reset') { lastSeq = -1; return; }
      type = '';
    }
  }
}

async function session(): Promise<void> {
  abort = new AbortController();
  const mine = abort;
  const again = lastSeq >= 0 || link.peek().state === 'lost';
  let timer = 0;
  const watch = () => {
    heardAt.value = Date.now();
    clearTimeout(timer);
    timer = window.setTimeout(() => mine.abort(), SILENCE_MS);
  };
  try {
    watch();
    const answer = await fetch('/api/v1/events' + (lastSeq >= 0 ? `?after=${lastSeq}` : ''),
      { headers: headers(), signal: mine.signal, credentials: 'same-origin', cache: 'no-store' });
    if (answer.status === 401) { signedOut.value++; stop(); return; }
    if (!answer.ok || !answer.body) throw new ApiError(answer.status, 'stream', `the event stream answers ${answer.status}`);
    link.value = { state: 'live', since: Date.now(), why: '' };
    openGate();
    if (again) everythingAgain();
    await read(answer.body, watch);
  } finally {
    clearTimeout(timer);
  }
}

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
let wake: () => void = () => {};

async function loop() {
  for (let tries = 0; running; ) {
    const began = Date.now();
    let why = 'the server closed the stream';
    try { await session(); } catch (e) { why = e instanceof ApiError ? e.message : 'the server does not answer'; }
    if (!running) break;
    tries = Date.now() - began > 5000 ? 0 : tries + 1;
    if (document.hidden && hiddenOff) {
      await new Promise<void>((done) => { wake = done; });
      tries = 0;
      continue;
    }
    const now = link.peek();
    link.value = { state: 'lost', since: now.state === 'lost' ? now.since : Date.now(), why };
    await Promise.race([sleep(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] * (0.8 + Math.random() * 0.4)), new Promise<void>((done) => { wake = done; })]);
  }
}

let hiddenOff = false;
let hiddenTimer = 0;
document.addEventListener('visibilitychange', () => {
  clearTimeout(hiddenTimer);
  if (document.hidden) {
    hiddenTimer = window.setTimeout(() => { hiddenOff = true; abort?.abort(); }, HIDDEN_MS);
  } else {
    hiddenOff = false;
    wake();
  }
});
window.addEventListener('online', () => wake());

export function retryNow() { wake(); }

export function start() {
  if (running) return;
  running = true;
  lastSeq = -1;
  link.value = { state: 'connecting', since: Date.now(), why: '' };
  gate = new Promise<void>((done) => { openGate = done; });
  void loop();
}

export function stop() {
  running = false;
  abort?.abort();
  wake();
  link.value = { state: 'off', since: Date.now(), why: '' };
  entries.clear();
}

// ---- answers ----

export type Affects = (e: Ev) => boolean;

class Entry {
  data: Signal<unknown> = signal<unknown>(undefined);
  error: Signal<ApiError | null> = signal<ApiError | null>(null);
  at = 0;
  affects = new Map<object, Affects>();
  private text = '';
  private busy = false;
  private dirty = false;
  private timer = 0;
  private lastEnd = 0;
  private took = 0;

  constructor(readonly path: string) {}

  event(e: Ev) {
    if (this.affects.size === 0) return;
    for (const f of this.affects.values()) if (f(e)) { this.soon(); return; }
  }

  soon() {
    if (this.busy) { this.dirty = true; return; }
    if (this.timer || this.affects.size === 0) return;
    const wait = Math.max(0, this.lastEnd + Math.max(APART_MS, this.took * 2) - Date.now());
    this.timer = window.setTimeout(() => { this.timer = 0; void this.load(); }, wait);
  }

  async load() {
    if (this.busy) { this.dirty = true; return; }
    this.busy = true;
    this.dirty = false;
    await Promise.race([gate, sleep(GATE_MS)]);
    const began = Date.now();
    try {
      const data = await api.get<unknown>(this.path);
      const text = JSON.stringify(data);
      this.at = Date.now();
      if (text !== this.text) { this.text = text; this.data.value = data; }
      this.error.value = null;
    } catch (e) {
      const error = e as ApiError;
      if (error.status === 401) signedOut.value++;
      // A server that is away is told by the amber bar; what was shown stays.
      this.error.value = error.status === 0 && this.data.peek() !== undefined ? null : error;
    }
    this.busy = false;
    this.lastEnd = Date.now();
    this.took = this.lastEnd - began;
    if (this.dirty) this.soon();
  }
}

const entries = new Map<string, Entry>();

function entryOf(path: string): Entry {
  let entry = entries.get(path);
  if (!entry) { entry = new Entry(path); entries.set(path, entry); }
  return entry;
}

export interface Live<T> { data: T | undefined; error: ApiError | null; at: number; reload: () => void }

const none = new Entry('');

/** The answer to GET `path`, live. `affects`: does this event concern the answer? Default: every event but the noise. */
export function useLive<T>(path: string | null, affects: Affects = anything): Live<T> {
  const entry = useMemo(() => (path === null ? none : entryOf(path)), [path]);
  useEffect(() => {
    if (entry === none) return undefined;
    const me = {};
    entry.affects.set(me, affects);
    if (entries.get(entry.path) !== entry) entries.set(entry.path, entry);
    void entry.load();
    return () => {
      entry.affects.delete(me);
      setTimeout(() => { if (entry.affects.size === 0 && entries.get(entry.path) === entry) entries.delete(entry.path); }, KEEP_MS);
    };
  }, [entry]);
  return { data: entry.data.value as T | undefined, error: entry.error.value, at: entry.at, reload: () => void entry.load() };
}

/** After a change of one's own: fetches again at once what begins with this path (or everything). */
export function touch(prefix = '') {
  for (const entry of entries.values()) if (entry.path.startsWith(prefix) && entry.affects.size > 0) entry.soon();
}

// ---- which events concern what ----

const NOISE = new Set(['pass', 'budgets', 'credit', 'history-ticked', 'submit-key', 'submit-keys-expired', 'pool-wake', 'claimed', 'claim-dropped', 'task-archived']);
export const anything: Affects = (e) => !NOISE.has(e.type);
export const aboutTask = (id: number | string): Affects => (e) => e.task === Number(id);
export const aboutTasks: Affects = (e) => e.task !== undefined && !NOISE.has(e.type);
export const aboutPool = (name: string): Affects => (e) => !NOISE.has(e.type) && (e.pool === undefined || e.pool === name);
export const never: Affects = () => false;

// ---- the past ----

const IDLE_MS = 700;

/** The newest `max` events of the past that match these filters, oldest first; the log of facts may not reach back to the beginning. */
export async function pastEvents(query: string, max = 2000, after = 0, fits: Affects = () => true): Promise<{ events: Ev[]; cut: boolean }> {
  const control = new AbortController();
  const events: Ev[] = [];
  let cut = false;
  let timer = window.setTimeout(() => control.abort(), 10_000);
  try {
    const answer = await fetch(`/api/v1/events?after=${after}${query ? '&' + query : ''}`, { headers: headers(), signal: control.signal, credentials: 'same-origin', cache: 'no-store' });
    if (!answer.ok || !answer.body) return { events, cut };
    const watch = () => { clearTimeout(timer); timer = window.setTimeout(() => control.abort(), IDLE_MS); };
    for await (const line of linesOf(answer.body, watch)) {
      if (line.startsWith('event: reset')) cut = true;
      else if (line.startsWith('data:')) {
        const e = JSON.parse(line.slice(5)) as Ev;
        if (e.type && fits(e)) events.push(e);
      }
      if (events.length > max) { events.splice(0, events.length - max); cut = true; }
    }
  } catch { /* ended by the clock: the past is read */ } finally {
    clearTimeout(timer);
    control.abort();
  }
  return { events, cut };
}
