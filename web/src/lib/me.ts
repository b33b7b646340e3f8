// me.ts - who is signed in. The page offers what the scope allows; the server refuses the rest all the same.
// SPDX-License-Identifier: Apache-2.0
import { computed, signal } from '@preact/signals';
import { api, ApiError, setBearer } from './api';
import { start, stop } from './live';
import { place } from './router';
import type { Whoami } from './types';

export const me = signal<Whoami | null>(null);
export const asking = signal(true);
export const linkFailed = signal('');
/** May this person change the server: pools, nodes, quotas, tokens? */
export const mayAdmin = computed(() => me.value?.scope === 'admin');
/** May this person submit tasks and change tasks? */
export const mayWrite = computed(() => me.value !== null && me.value.scope !== 'read');

export async function whoAmI(): Promise<void> {
  await signInByLink();
  try {
    me.value = await api.get<Whoami>('/whoami');
    start();
  } catch (e) {
    const error = e as ApiError;
    if (error.status === 0 || error.status >= 500) { setTimeout(() => void whoAmI(), 1500); return; }
    me.value = null;
  }
  asking.value = false;
}

/** With a token or a one-time link: the server answers with the session's cookie. A browser that keeps no cookie goes on with the token in memory. */
export async function signIn(secret: string): Promise<void> {
  await api.post('/session', undefined, { Authorization: `Bearer ${secret}` });
  try {
    me.value = await api.get<Whoami>('/whoami');
  } catch (e) {
    if ((e as ApiError).status !== 401) throw e;
    setBearer(secret);
    me.value = await api.get<Whoami>('/whoami');
  }
  start();
}

/** `weir ui` opens '/#link=SECRET'. The secret leaves the address and the history at once; it is good for one time. */
export async function signInByLink(): Promise<void> {
  const secret = /^#link=([!-~]+)$/.exec(location.hash)?.[1];
  if (!secret) return;
  history.replaceState(null, '', '#/');
  place.value = { path: '/', query: '' };
  await signIn(secret).catch((e: ApiError) => { linkFailed.value = e.status === 401 ? 'This link has been used, or is older than two minutes. `weir ui` makes another one.' : e.message; });
}

export async function signOut(): Promise<void> {
  await api.del('/session').catch(() => {});
  setBearer('');
  stop();
  me.value = null;
}
