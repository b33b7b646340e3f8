// api.ts - requests to this server's /api/v1, and nothing else.
//
// Signed in means: the browser holds the session cookie (HttpOnly, so no script sees it). Where the browser keeps no
// cookie, the token stays in this module's memory until the page is closed. SPDX-License-Identifier: Apache-2.0

export interface Reason { code: string; message: string; [k: string]: unknown }

export class ApiError extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly path = '', readonly reason: Reason | null = null) {
    super(message);
  }
}

let bearer = '';
export function setBearer(token: string) { bearer = token; }

export function headers(extra: Record<string, string> = {}): Record<string, string> {
  // X-Weir-Request: a change by cookie comes from a script of this page, never from a form of another site.
  const all = { 'X-Weir-Request': '1', ...extra };
  return bearer && !extra.Authorization ? { ...all, Authorization: `Bearer ${bearer}` } : all;
}

const REQUEST_S = 30;

async function failure(answer: Response): Promise<ApiError> {
  const text = await answer.text();
  try {
    const e = JSON.parse(text).error;
    return new ApiError(answer.status, e.code, e.message, e.path, e.reason ?? null);
  } catch {
    return new ApiError(answer.status, 'unknown', text.slice(0, 200) || `the server answered ${answer.status}`);
  }
}

/** A request whose answer is a body; throws ApiError, with status 0 where the server was not reached. */
export async function call(method: string, path: string, body?: unknown, signal?: AbortSignal, extra: Record<string, string> = {}): Promise<Response> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), REQUEST_S * 1000);
  signal?.addEventListener('abort', () => abort.abort());
  let answer: Response;
  try {
    answer = await fetch('/api/v1' + path, {
      method, signal: abort.signal, credentials: 'same-origin', cache: 'no-store',
      headers: headers(body === undefined ? extra : { 'Content-Type': 'application/json', ...extra }),
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    });
  } catch {
    throw new ApiError(0, 'unreachable', `the server does not answer (${method} ${path.split('?')[0]})`);
  } finally {
    clearTimeout(timer);
  }
  if (!answer.ok) throw await failure(answer);
  return answer;
}

async function json<T>(method: string, path: string, body?: unknown, signal?: AbortSignal, extra?: Record<string, string>): Promise<T> {
  const answer = await call(method, path, body, signal, extra);
  const text = await answer.text();
  return (text ? JSON.parse(text) : null) as T;
}

export const api = {
  get: <T>(path: string, signal?: AbortSignal) => json<T>('GET', path, undefined, signal),
  post: <T>(path: string, body?: unknown, extra?: Record<string, string>) => json<T>('POST', path, body, undefined, extra),
  put: <T>(path: string, body?: unknown) => json<T>('PUT', path, body),
  patch: <T>(path: string, body?: unknown) => json<T>('PATCH', path, body),
  del: <T>(path: string) => json<T>('DELETE', path),
  send: json,
};

/** `path` with these parameters; empty and undefined ones are left out. */
export function withQuery(path: string, query: Record<string, string | number | boolean | null | undefined>): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) if (v !== undefined && v !== null && v !== '') q.set(k, String(v));
  const text = q.toString();
  return text ? path + (path.includes('?') ? '&' : '?') + text : path;
}
