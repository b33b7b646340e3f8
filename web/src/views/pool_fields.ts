// pool_fields.ts - the settings of a pool: those of the server’s own table, so that the form offers every one of them.
// SPDX-License-Identifier: Apache-2.0
import table from '../../../src/core/model/pool_fields.def';

/** One row of the table: `kind` is how the value is kept, `takes` what its flag takes, `words` what it may be. */
export interface PoolField { name: string; kind: string; group: string; takes: string; flag: string; arg: string; help: string; words: string[] }
/** The text of each field, by its flag; '' is not set. */
export type Values = Record<string, string>;

export const fields = table as PoolField[];

/** Where errors of the server say that the field stands. */
export function pathOf(f: PoolField): string {
  return ({ SCHEDULER: 'scheduler.', PROVIDER: 'provider.', HISTORY: 'scheduler.history.' }[f.group] ?? '') + f.name;
}

const LISTS = new Set(['TEXTS', 'LABELS']);
const FREE = new Set(['TEXT', 'NAME', 'LINES']);
const isList = (f: PoolField) => LISTS.has(f.kind) || f.name === 'accepts';

/** Of which provider a setting is; '' of each. */
export function providerOf(f: PoolField): string { return f.group === 'PROVIDER' ? /^of (\w+)/.exec(f.help)?.[1] ?? '' : ''; }

function sizeText(n: number): string {
  for (const [unit, power] of [['Ti', 40], ['Gi', 30], ['Mi', 20], ['Ki', 10]] as const) if (n >= 2 ** power && n % 2 ** power === 0) return `${n / 2 ** power}${unit}`;
  return String(n);
}

function textOf(f: PoolField, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'object') return Object.entries(value as Record<string, string>).map(([k, v]) => `${k}=${v}`).join(', ');
  return f.arg === 'SIZE' && typeof value === 'number' ? sizeText(value) : String(value);
}

type Group = Record<string, unknown> | undefined;

/** What a pool’s definition sets. */
export function valuesOf(spec: Record<string, unknown>): Values {
  const scheduler = spec.scheduler as Group;
  const groups: Record<string, Group> = { SCHEDULER: scheduler, PROVIDER: spec.provider as Group, HISTORY: scheduler?.history as Group };
  return Object.fromEntries(fields.map((f) => [f.flag, textOf(f, (f.group in groups ? groups[f.group] : spec)?.[f.name])]));
}

const words = (f: PoolField, text: string) => text.split(f.takes === 'LIST' ? /\s*,\s*/ : /[\s,]+/).filter(Boolean);
const number = (text: string): unknown => (/^\d+$/.test(text) ? Number(text) : text);

/** The body of a creation or a change and the flags of the same meaning: only what is otherwise than `before`. */
export function definition(values: Values, before: Values): { body: Record<string, unknown>; flags: string[] } {
  const body: Record<string, unknown> = {};
  const groups: Record<string, Record<string, unknown>> = { SCHEDULER: {}, PROVIDER: {}, HISTORY: {} };
  const flags: string[] = [];
  for (const f of fields) {
    const text = (values[f.flag] ?? '').trim();
    if (text === (before[f.flag] ?? '') || (text === '' && !FREE.has(f.kind) && !isList(f))) continue;
    const into = groups[f.group] ?? body;
    into[f.name] = isList(f) ? words(f, text) : f.takes === 'NUMBER' || f.name === 'slots_per_node' ? number(text) : text;
    flags.push(`--${f.flag}`, isList(f) ? words(f, text).join(',') || (f.name === 'accepts' ? 'all' : 'none') : text);
  }
  if (groups.HISTORY.half_life === 'off') groups.SCHEDULER.history = 'off';
  else if (Object.keys(groups.HISTORY).length) groups.SCHEDULER.history = groups.HISTORY;
  if (Object.keys(groups.SCHEDULER).length) body.scheduler = groups.SCHEDULER;
  if (Object.keys(groups.PROVIDER).length) body.provider = groups.PROVIDER;
  return { body, flags };
}
