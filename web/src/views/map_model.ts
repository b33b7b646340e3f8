// map_model.ts - every node and device, kept up to date: one answer at first, then only the nodes that events name.
// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import { api, type ApiError } from '../lib/api';
import { on, onReset, type Ev } from '../lib/live';

export interface MapTask { id: number; user: string; project: string; kind: string; instances: number; gang: boolean }
export interface Occupant { task: MapTask; instance: number; state: number; slots: number; low: number; high: number }
export interface MapNode { id: number; name: string; pool: string; flags: number; slots: number; free: number; devices: number; held: Occupant[]; out: number[]; cells?: Occupant[][] }
export interface Ghost { launch: number; pool: string; state: string; zone: string; asked: string }

type Row = (string | number | number[][])[];
export interface Answer {
  seq: number; time: string; nodes: Row[]; ghosts: (string | number)[][]; gone: string[]; tasks: (string | number)[][];
  pools: string[]; users: string[]; projects: string[]; next: number | null;
}

export const SILENT = 1, LOST = 2, DRAINING = 4, TROUBLED = 8, OVERHANG = 16, LOCKED = 32, KEPT = 64, DEVICES_OUT = 128;
const WORDS: [number, string][] = [[SILENT, 'silent'], [LOST, 'lost'], [DRAINING, 'draining'], [TROUBLED, 'out of service'], [OVERHANG, 'more runs than it has'], [LOCKED, 'locked'], [KEPT, 'a place is kept'], [DEVICES_OUT, 'some GPUs out of service']];

export function words(node: MapNode): string {
  const found = WORDS.filter(([flag]) => node.flags & flag).map(([, word]) => word);
  return (node.flags & (SILENT | LOST) ? found : ['up', ...found]).join(', ');
}

/** The numbers of the devices in a set of 64 bits that comes as two halves. */
export function devicesOf(o: { low: number; high: number }): number[] {
  const found: number[] = [];
  for (let i = 0; i < 32; i++) {
    if ((o.low >>> i) & 1) found.push(i);
    if ((o.high >>> i) & 1) found.push(i + 32);
  }
  return found.sort((a, b) => a - b);
}

/** The nodes of an answer, each with who is on it. */
export function nodesOf(answer: Answer): MapNode[] {
  const tasks = answer.tasks.map((t): MapTask => ({ id: t[0] as number, user: answer.users[t[1] as number], project: answer.projects[t[2] as number], kind: t[3] as string, instances: t[4] as number, gang: t[5] !== 0 }));
  return answer.nodes.map((row) => {
    const [id, name, pool, flags, slots, free, devices, held, low = 0, high = 0] = row as [number, string, number, number, number, number, number, number[][], number?, number?];
    return { id, name, pool: answer.pools[pool], flags, slots, free, devices, out: devicesOf({ low, high }),
      held: held.map(([t, instance, state, amount, low = 0, high = 0]) => ({ task: tasks[t], instance, state, slots: amount, low, high })) };
  });
}

const FLUSH_MS = 250;
const NAMES_MAX = 200; // of one request
const WHOLE_FROM = 1500; // so many changed nodes: all are fetched again
const WHOLE_MS = 3000; // and no more often

const QUIET = new Set(['pass', 'budgets', 'credit', 'history-ticked', 'submit-key', 'submit-keys-expired', 'pool-wake', 'task-archived', 'task-submitted']);

/** The fleet, or one pool of it. */
export class Fleet {
  nodes = new Map<string, MapNode>();
  ghosts: Ghost[] = [];
  at = signal(0); // grows with each change
  form = signal(0); // grows when nodes come, go or have another size: the others stay where they are
  error = signal<ApiError | null>(null);
  loaded = signal(false);
  private where = new Map<number, Set<string>>();
  private dirty = new Set<string>();
  private launches = false;
  private timer = 0;
  private busy = false;
  private off: (() => void)[] = [];
  private wholeAt = 0;
  private closed = false;

  constructor(readonly pool: string) {
    this.off = [on((e) => this.event(e)), onReset(() => { void this.whole(); })];
    void this.whole();
  }

  close() { this.closed = true; clearTimeout(this.timer); for (const f of this.off) f(); }

  private event(e: Ev) {
    if (QUIET.has(e.type)) return;
    if (e.node) this.dirty.add(e.node);
    else if (e.task !== undefined) for (const name of this.where.get(e.task) ?? []) this.dirty.add(name);
    if (e.type.startsWith('launch') || e.type.startsWith('pool')) this.launches = true;
    if ((this.dirty.size > 0 || this.launches) && !this.timer && !this.busy) this.soon();
  }

  private soon() { this.timer = window.setTimeout(() => { this.timer = 0; void this.flush(); }, FLUSH_MS); }

  private async flush() {
    if (this.busy || this.closed) return;
    if (this.dirty.size > WHOLE_FROM) {
      const wait = this.wholeAt + WHOLE_MS - Date.now();
      if (wait > 0) { this.timer = window.setTimeout(() => { this.timer = 0; void this.flush(); }, wait); return; }
      await this.whole();
      return;
    }
    this.busy = true;
    const all = [...this.dirty];
    this.dirty.clear();
    this.launches = false;
    try {
      for (let i = 0; i === 0 || i < all.length; i += NAMES_MAX) {
        this.take(await api.get<Answer>(this.path({ nodes: all.slice(i, i + NAMES_MAX).join(',') })), false);
      }
      this.error.value = null;
    } catch (e) {
      for (const name of all) this.dirty.add(name);
      this.error.value = (e as ApiError).status === 0 ? null : (e as ApiError);
    }
    this.busy = false;
    if (!this.closed && (this.dirty.size > 0 || this.launches)) this.soon();
  }

  private path(query: Record<string, string>) {
    const q = new URLSearchParams(query);
    if (this.pool) q.set('pool', this.pool);
    return `/map?${q.toString()}`;
  }

  async whole() {
    if (this.busy || this.closed) return;
    this.busy = true;
    this.wholeAt = Date.now();
    this.dirty.clear();
    try {
      let after = 0;
      let first = true;
      do {
        const answer: Answer = await api.get<Answer>(this.path(after ? { after: String(after) } : {}));
        this.take(answer, first);
        first = false;
        after = answer.next ?? 0;
      } while (after && !this.closed);
      this.loaded.value = true;
      this.error.value = null;
    } catch (e) {
      if ((e as ApiError).status !== 0 || !this.loaded.peek()) this.error.value = e as ApiError;
    }
    this.busy = false;
    if (!this.closed && this.dirty.size > 0) this.soon();
  }

  private forget(name: string) {
    for (const o of this.nodes.get(name)?.held ?? []) this.where.get(o.task.id)?.delete(name);
    if (this.nodes.delete(name)) this.form.value++;
  }

  private take(answer: Answer, fresh: boolean) {
    if (fresh) { this.nodes = new Map(); this.where = new Map(); }
    let formed = fresh;
    for (const node of nodesOf(answer)) {
      const old = this.nodes.get(node.name);
      const name = node.name;
      for (const o of old?.held ?? []) this.where.get(o.task.id)?.delete(name);
      if (this.pool && node.pool !== this.pool) { this.forget(name); continue; }
      if (old && old.pool === node.pool && old.slots === node.slots && old.devices === node.devices) Object.assign(old, node, { cells: undefined });
      else { this.nodes.set(name, node); formed = true; }
      for (const o of node.held) {
        let names = this.where.get(o.task.id);
        if (!names) { names = new Set(); this.where.set(o.task.id, names); }
        names.add(name);
      }
    }
    for (const name of answer.gone) this.forget(name);
    const ghosts = this.ghosts.map((g) => g.launch).join();
    this.ghosts = answer.ghosts.map(([launch, pool, state, zone, asked]) => ({ launch: launch as number, pool: answer.pools[pool as number], state: state as string, zone: zone as string, asked: asked as string }));
    if (formed || this.ghosts.map((g) => g.launch).join() !== ghosts) this.form.value++;
    this.at.value++;
  }
}
