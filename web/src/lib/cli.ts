// cli.ts - the command that does the same. SPDX-License-Identifier: Apache-2.0
import { quote } from './format';

/** weir with these words; undefined, null and '' words are left out. */
export function weir(...words: (string | number | null | undefined | false)[]): string {
  return 'weir ' + words.filter((w) => w !== null && w !== undefined && w !== false && w !== '').map((w) => quote(String(w))).join(' ');
}

const FLAG: Record<string, string> = {
  name: '--name', kind: '--kind', project: '--project', workdir: '--workdir', image: '--image', priority: '--priority', time_limit: '--time', description: '--description', instances: '--instances', max_retries: '--retries', array: '--array',
};
const AMOUNT: Record<string, string> = { slots: '--slots', gpu: '--gpus', cpu: '--cpu', memory: '--memory', gpu_memory: '--gpu-memory' };

/** `weir submit …` for the body of POST /tasks. */
export function submitCommand(body: Record<string, unknown>, verb = 'submit'): string {
  const words: (string | number)[] = [verb];
  for (const [field, flag] of Object.entries(FLAG)) if (body[field] !== undefined && body[field] !== '') words.push(flag, String(body[field]));
  const pools = (body.pools as string[] | undefined) ?? (body.pool ? [String(body.pool)] : []);
  if (pools.length) words.push('--pool', pools.join(','));
  const own: string[] = [];
  for (const [name, value] of Object.entries((body.resources as Record<string, number | string>) ?? {})) {
    if (AMOUNT[name]) words.push(AMOUNT[name], String(value)); else own.push(`${name}=${value}`);
  }
  if (own.length) words.push('--resources', own.join(' '));
  for (const [k, v] of Object.entries((body.env as Record<string, string>) ?? {})) words.push('--env', `${k}=${v}`);
  for (const tag of (body.tags as string[]) ?? []) words.push('--tag', tag);
  for (const id of (body.depends_on as (string | number)[]) ?? []) words.push('--after', String(id));
  if (body.preemptible === false) words.push('--no-preempt');
  if (body.preemptible === true) words.push('--preemptible');
  if (body.gang) words.push('--gang');
  if (body.repeatable === false) words.push('--no-repeat');
  if (body.stage) words.push('--stage');
  const command = body.entrypoint ? ['sh', '-c', String(body.entrypoint)] : ((body.command as string[]) ?? []);
  return weir(...words, '--', ...command);
}
