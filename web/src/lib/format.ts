// format.ts - numbers and times as people read them. SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';

/** The moment, for what is shown relative to it; moves each second while the page is seen. */
export const now = signal(Date.now());
setInterval(() => { if (!document.hidden) now.value = Date.now(); }, 1000);

export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 0) ms = 0;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s`;
  const m = Math.floor(s / 60);
  if (m < 60) return s % 60 && m < 10 ? `${m} min ${s % 60} s` : `${m} min`;
  const h = Math.floor(m / 60);
  if (h < 24) return m % 60 ? `${h} h ${m % 60} min` : `${h} h`;
  const d = Math.floor(h / 24);
  return h % 24 && d < 7 ? `${d} d ${h % 24} h` : `${d} d`;
}

/** '5 min ago', 'in 3 h'. */
export function ago(at: string | number | null | undefined, from = now.value): string {
  if (at === null || at === undefined || at === '') return '–';
  const ms = from - new Date(at).getTime();
  if (Math.abs(ms) < 2000) return 'now';
  return ms >= 0 ? `${short(ms)} ago` : `in ${short(-ms)}`;
}

/** One unit: '41 s', '5 min', '3 h', '12 d'. */
export function short(ms: number): string {
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

export function absolute(at: string | number): string {
  const d = new Date(at);
  return d.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

export function clock(at: string | number): string {
  return new Date(at).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
}

export function bytes(n: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let i = 0;
  while (n >= 1024 && i < units.length - 1) { n /= 1024; i++; }
  return `${n >= 100 || i === 0 ? Math.round(n) : n.toFixed(1).replace(/\.0$/, '')} ${units[i]}`;
}

export function num(n: number): string {
  return Number.isInteger(n) ? n.toLocaleString('en') : n.toLocaleString('en', { maximumFractionDigits: 2 });
}

export function amount(resource: string, n: number | null | undefined): string {
  if (n === null || n === undefined) return 'unlimited';
  return /memory/.test(resource) ? bytes(n) : num(n);
}

/** The order of names, n9 before n10. One collator for all: localeCompare() makes a new one each time. */
export const byName = new Intl.Collator('en', { numeric: true }).compare;

export function plural(n: number, one: string, many = one + 's'): string { return `${num(n)} ${n === 1 ? one : many}`; }

export function times(n: number): string { return n === 1 ? 'once' : n === 2 ? 'twice' : `${num(n)} times`; }

/** Slots times time, in a unit that leaves a figure to read. */
export function slotTime(seconds: number): string {
  if (seconds >= 3600) return plural(Math.round(seconds / 36) / 100, 'slot-hour');
  return seconds >= 60 ? plural(Math.round(seconds / 6) / 10, 'slot-minute') : plural(Math.round(seconds), 'slot-second');
}

/** A word as a shell takes it. Control characters become escapes: a terminal would obey them when the command is pasted. */
export function quote(word: string): string {
  const text = word.replace(/\r\n?/g, '\n');
  if (/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(text)) return `$'${text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t').replace(/[\x00-\x1f\x7f-\x9f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}'`;
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}

export function resources(r: Record<string, number> | undefined): string {
  const parts = Object.entries(r ?? {}).map(([k, v]) => (/memory/.test(k) ? `${bytes(v)} ${k === 'memory' ? 'memory' : k}` : `${num(v)} ${k === 'gpu' ? 'GPU' : k === 'slots' && v === 1 ? 'slot' : k}`));
  return parts.join(' · ') || 'nothing';
}

/** What a person calls the task: its name, else its command. */
export function titleOf(t: { name: string; command?: string[] }): string {
  return t.name || (t.command ?? []).map(quote).join(' ') || '(no command)';
}
