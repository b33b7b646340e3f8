// types.ts - the fields of the API's objects that the pages use (docs/api/objects.md). SPDX-License-Identifier: Apache-2.0
import type { Reason } from './api';

export type Time = string | null;
export interface Page<T> { items: T[]; next: string | null; total?: number }
export interface Whoami { name: string; scope: string; note: string }
export interface Status {
  server: string; version: string; epoch: number; seq: number; time: string; started_at: string; writable: boolean; problem: string; pools: number;
  nodes: Record<string, number>; nodes_contested: number; tasks: Record<string, number>; agents_connected: number; certificate_until: Time;
}
export type TaskState = 'staged' | 'pending' | 'paused' | 'starting' | 'running' | 'stopping' | 'completed' | 'failed' | 'killed' | 'unavailable' | 'unknown';
export interface Counts { waiting: number; active: number; ended: number; failed: number; lost: number; preempted: number }
export interface Eviction { at: string; index: number; rule: string; claimant?: number; message: string; work_lost: { slot_seconds: number; cpu_seconds: number } }
export interface Attempt {
  key: string; index: number; instance: number; attempt: number; state: string; node: string | null; devices: number[]; cause: string; exit_code: number | null;
  message: string | null; why: string | null; workdir_used: boolean; allocated_at: Time; started_at: Time; checkpoint_at: Time; ended_at: Time; cpu_ms: number | null; memory_peak: number | null; again: boolean;
  holds?: { slots: number; cpu: number; memory: number }; use?: { at: string; cpu_ms: number; memory: number; memory_peak: number; cpu: number | null; gpu: number | null; gpu_memory: number | null } | null;
}
export interface Task {
  id: number; name: string; kind: string; state: TaskState; user: string; project: string; pool: string; pools: string[]; command: string[]; env: Record<string, string>; workdir: string; image: string;
  resources: Record<string, number>; devices: number[]; avoid: string[]; node_labels: Record<string, string>; instances: number; array_first: number; gang: boolean; min_instances: number; priority: number;
  preemptible: boolean; repeatable: boolean; time_limit_ms: number; grace_ms: number; max_retries: number; depends_on: (number | string)[]; tags: string[]; description: string; stage: boolean;
  spec: Record<string, unknown>; submitted_at: string; queued_at: Time; started_at: Time; ended_at: Time; running_since: Time; ran_ms: number; cpu_ms: number; memory_peak: number; exit_code: number | null; cause: string;
  counts: Counts; origin: number | null; update: Update | null; evicted: Eviction | null; position: number | null; reason: Reason | null; attempts?: Attempt[];
}
export interface Update { from: number; to: number; phase: string; why: string; ready: number; instances: number; until: Time; since: string }
export interface QueueItem {
  id: number; name: string; command: string[]; pool: string; user: string; project: string; state: TaskState; priority: number; position: number | null; resources: Record<string, number>; instances: number;
  counts: Counts; submitted_at: string; cause: string; evicted: Eviction | null; reason: Reason | null;
}
export interface Explanation {
  task: number; state: TaskState; position: number | null; further: boolean; pool: string; reason: Reason | null; expected: { ms: number | null; from: string }; reserved_until: Time;
  fallback: { open: { pool: string; why: string; at: Time; reason?: Reason }[]; next: { pool: string; at: Time } | null } | null; keeping: { code: string; message: string; until: Time; level: number; cost: number } | null;
  evicted: Eviction | null; nodes_total: number; nearest: { node: string; code: string; resource?: string | null; wanted: number; available: number; message: string }[]; blockers: number[]; suggestions: string[];
  account: { kind: string; name: string; resource: string; guaranteed: number | null; share: number | null; allocated: number | null; limit: number | null } | null;
}
export interface Budget { level: number; most: number; gets: number; pays: number }
export interface Pool {
  name: string; title: string; description: string; contact: string; paused: boolean; accepts: string[]; access: string; for: string[]; slots_per_node: number | null; topology: string[]; selector: Record<string, string>;
  scheduler: Record<string, unknown>; provider: Record<string, unknown> & { type: string; min: number; max: number; nodes: number; idle_ms: number; headroom: number }; flavor: string;
  market: { price: number; currency: string; spot: boolean; zones: string[]; sold_out: { zone: string; since: Time; retry_at: Time; asking: boolean; why: string }[]; line: { place: number; of: number; nodes: number } | null } | null;
  spec: Record<string, unknown>; state: string; health: string; reason: string; state_since: Time; restore_until: Time; nodes: { total: number; up: number; draining: number; lost: number };
  slots: { total: number; free: number; used: number }; slot_type: 'gpu' | 'cpu' | null; aux: { total: number; free: number; used: number }; tasks: { pending: number; running: number };
  reserved_task: number | null; reservations: { task: number; until: Time; turn: boolean }[]; budgets: { idle: Budget; loss: Budget };
  launches: { live: number; starting: number; ending: number; leaving: number; failed: number; refusal: string; retry_at: Time };
  contested: { count: number; nodes: string[] }; replacement: { at_once: number; total: number; begun: number; busy: string; since: Time; ended: string } | null; created_at: Time;
}
export interface Node {
  name: string; pool: string; state: string; draining: boolean; drain_by: Time; leaving: string; locked: boolean; trouble: string; device_trouble: string; unprevented: string; labels: Record<string, string>; follows_labels: boolean; pool_next: string | null;
  selected_by: string[]; resources: Record<string, { total: number; free: number }>; devices: { index: number; free: number; out: boolean }[]; aux: { max: number; used: number }; incarnation: number; address: string; version: string; tasks: string[];
}
export interface Token { id: string; scope: string; name: string; created_at: Time; expires_at: Time; uses?: number; node?: string; token?: string }
export interface DryTask { task: number; name: string; user: string; project: string }
export interface DryRun {
  changes: boolean; cut: boolean; refused: number; submitted: { first: number; count: number } | null;
  stops_total: number; stops: (DryTask & { instances: number; cause: string; later: boolean; at: Time; lost_ms: number; work_lost: { slot_seconds: number } })[]; ends_total: number; ends: (DryTask & { state: string })[];
  starts_total: number; starts: (DryTask & { instances: number; now: boolean; places: { node: string; instances: number; devices: number[] }[] })[];
  waits_total: number; waits: (DryTask & { reason: Reason | null; first: { task: number; others: number; at: Time } | null })[];
  launches_total: number; launches: { pool: string; nodes: number }[]; node_ends_total: number; node_ends: { pool: string; node: string | null; now: boolean; replaced: boolean }[]; warnings: string[];
}
