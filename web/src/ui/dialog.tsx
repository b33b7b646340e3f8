// dialog.tsx - questions before a change: what it would do, the command that does the same, and the change itself.
// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, withQuery, type ApiError } from '../lib/api';
import { touch } from '../lib/live';
import type { DryRun } from '../lib/types';
import { Button, Command, ErrorBox } from './base';
import { DryRunView } from './dryrun';

export interface Call { method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'; path: string; body?: unknown }
export interface Ask {
  title: string; verb: string; danger?: boolean; command?: string; text?: ComponentChildren;
  /** The changes, made one after the other; what they would do is shown first, where `dry` is not false. */
  calls: Call[]; dry?: boolean;
  done?: (answers: unknown[]) => void;
}

const TRIED = 20; // calls of a bulk action whose dry runs are shown

/** Several dry runs as one. Each is tried alone, on the present state. */
function merged(runs: DryRun[]): DryRun {
  const all = { ...runs[0] };
  for (const run of runs.slice(1)) {
    for (const list of ['stops', 'ends', 'starts', 'waits', 'launches', 'node_ends', 'warnings'] as const) {
      const known = new Set((all[list] as { task?: number }[]).map((x) => x.task));
      const fresh = (run[list] as { task?: number }[]).filter((x) => x.task === undefined || !known.has(x.task));
      (all[list] as unknown[]) = [...all[list], ...fresh];
      if (list !== 'warnings') all[`${list}_total`] += run[`${list}_total`] - (run[list].length - fresh.length);
    }
    all.changes ||= run.changes;
    all.cut ||= run.cut;
    all.refused += run.refused;
  }
  return all;
}

const asked = signal<Ask | null>(null);
export function ask(question: Ask) { asked.value = question; }

/** A dialog: the browser keeps the focus inside, Escape closes it, and the focus goes back to where it was. */
export function Dialog({ title, close, children, wide }: { title: string; close: () => void; children: ComponentChildren; wide?: boolean }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    ref.current?.showModal();
    return () => before?.focus?.();
  }, []);
  return (
    <dialog ref={ref} class={wide ? 'wide' : ''} aria-labelledby="dialog-title" onCancel={(e) => { e.preventDefault(); close(); }} onClick={(e) => { if (e.target === ref.current) close(); }}>
      <div class="dialog-in">
        <header><h2 id="dialog-title">{title}</h2><Button kind="quiet" small aria-label="Close" onClick={close}>✕</Button></header>
        {children}
      </div>
    </dialog>
  );
}

function Asking({ question }: { question: Ask }) {
  const { calls } = question;
  const [dry, setDry] = useState<DryRun | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const wanted = question.dry !== false;
  useEffect(() => {
    if (!wanted) return;
    Promise.all(calls.slice(0, TRIED).map((c) => api.send<DryRun>(c.method, withQuery(c.path, { dry_run: true }), c.body)))
      .then((runs) => setDry({ ...merged(runs), cut: calls.length > TRIED || runs.some((r) => r.cut) }), setError);
  }, []);
  const close = () => { asked.value = null; };
  const act = async () => {
    setBusy(true);
    setError(null);
    try {
      const answers = [];
      for (const c of calls) answers.push(await api.send<unknown>(c.method, c.path, c.body));
      close();
      question.done?.(answers);
    } catch (e) { setError(e as ApiError); setBusy(false); }
    touch();
  };
  return (
    <Dialog title={question.title} close={close}>
      {question.text && <div class="dialog-text">{question.text}</div>}
      {wanted && !error && (dry ? <DryRunView dry={dry} /> : <p class="faint">Asking what this would do …</p>)}
      <ErrorBox error={error} />
      {question.command && <Command text={question.command} />}
      <footer class="dialog-foot">
        <Button onClick={close}>Leave it</Button>
        <Button kind={question.danger ? 'danger' : 'main'} busy={busy} disabled={wanted && !dry} onClick={act} data-act="confirm">{question.verb}</Button>
      </footer>
    </Dialog>
  );
}

export function Asked() { return asked.value ? <Asking key={asked.value.title} question={asked.value} /> : null; }
