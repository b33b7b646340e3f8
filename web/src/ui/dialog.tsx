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

export interface Ask {
  title: string; verb: string; danger?: boolean; command?: string; text?: ComponentChildren;
  /** The change; its dry run is shown where `dry` is not false. */
  call: { method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'; path: string; body?: unknown; dry?: boolean };
  done?: (answer: unknown) => void;
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
  const { call } = question;
  const [dry, setDry] = useState<DryRun | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const wanted = call.dry !== false;
  useEffect(() => {
    if (!wanted) return;
    api.send<DryRun>(call.method, withQuery(call.path, { dry_run: true }), call.body).then(setDry, setError);
  }, []);
  const close = () => { asked.value = null; };
  const act = async () => {
    setBusy(true);
    setError(null);
    try {
      const answer = await api.send<unknown>(call.method, call.path, call.body);
      close();
      touch();
      question.done?.(answer);
    } catch (e) { setError(e as ApiError); setBusy(false); }
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
