// pages.ts - tasks that a person works in: what they run, and the way to their page. SPDX-License-Identifier: Apache-2.0
import jupyter from '../../../src/cli/jupyter.sh?raw';
import tensorboard from '../../../src/cli/tensorboard.sh?raw';
import { api } from '../lib/api';
import type { Task } from '../lib/types';

const IDLE_S = 3600;
const SECRET_BYTES = 24;

function secret(): string { return [...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))].map((b) => b.toString(16).padStart(2, '0')).join(''); }

/** What the form begins with for a kind of task: the same as `weir notebook start`, `weir tensorboard start` and `weir shell`. */
export function formOf(kind: string): { name: string; command: string; env: string } | null {
  switch (kind) {
    case 'notebook': return { name: 'notebook', command: jupyter.trim(), env: `JUPYTER_TOKEN=${secret()}\nWEIR_IDLE_S=${IDLE_S}` };
    case 'tensorboard': return { name: 'tensorboard', command: tensorboard.trim(), env: 'WEIR_LOGDIR=.' };
    case 'shell': return { name: 'shell', command: 'command -v bash >/dev/null && exec bash || exec sh', env: '' };
    default: return null;
  }
}

interface Link { port: number; path: string; parameter: string }

/** Opens the page of a task in a tab of its own. Pages of tasks have another port than this one: they are another origin. */
export async function openPage(t: Task) {
  const link = await api.post<Link>(`/tasks/${t.id}/open`);
  const token = t.env.JUPYTER_TOKEN;
  const a = document.createElement('a');
  a.href = `${location.protocol}//${location.hostname}:${link.port}${link.path}?${token ? `token=${encodeURIComponent(token)}&` : ''}${link.parameter}`;
  a.target = '_blank';
  a.rel = 'noopener noreferrer';
  a.click();
}
