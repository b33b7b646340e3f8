// base.tsx - the small parts of every view. SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiError } from '../lib/api';
import { absolute, ago, duration, now } from '../lib/format';
import { href } from '../lib/router';

export function Time({ at, empty = '–' }: { at: string | null | undefined; empty?: string }) {
  return at ? <time dateTime={at} title={absolute(at)}>{ago(at, now.value)}</time> : <span class="faint">{empty}</span>;
}

/** From a time to another one, or to now. */
export function Span({ from, to }: { from: string | null | undefined; to?: string | null }) {
  if (!from) return <span class="faint">–</span>;
  const end = to ? new Date(to).getTime() : now.value;
  return <time title={`from ${absolute(from)}${to ? ` to ${absolute(to)}` : ''}`}>{duration(end - new Date(from).getTime())}</time>;
}

const GLYPH: Record<string, string> = {
  running: '▶', starting: '▷', stopping: '◁', pending: '◷', staged: '▢', paused: '‖', completed: '✓', failed: '✕', killed: '■', unavailable: '⊘', unknown: '?',
  up: '✓', silent: '◷', lost: '✕', removed: '■', degraded: '!', 'fully-executing': '✓', closed: '■', closing: '◁',
};

/** A state in a word, a colour and a sign: colour is never the only sign. */
export function StateChip({ state, tone }: { state: string; tone?: string }) {
  return <span class={`chip s-${tone ?? state}`}><span aria-hidden="true" class="glyph">{GLYPH[tone ?? state] ?? GLYPH[state] ?? '●'}</span>{state}</span>;
}

export function Chip({ children, title }: { children: ComponentChildren; title?: string }) {
  return <span class="chip" title={title}>{children}</span>;
}

type ButtonProps = { kind?: 'main' | 'danger' | 'quiet'; busy?: boolean; small?: boolean } & JSX.HTMLAttributes<HTMLButtonElement> & { disabled?: boolean; type?: 'button' | 'submit' };
export function Button({ kind, busy, small, children, ...rest }: ButtonProps) {
  return <button type="button" {...rest} class={`btn ${kind ?? ''} ${small ? 'small' : ''}`} disabled={busy || rest.disabled} aria-busy={busy}>{children}</button>;
}

export function ErrorBox({ error, retry }: { error: ApiError | null; retry?: () => void }) {
  if (!error) return null;
  return (
    <div class="note bad" role="alert">
      <p>{error.message}{error.path && <> <span class="faint">(at <code>{error.path}</code>)</span></>}</p>
      {retry && <Button small onClick={retry}>Try again</Button>}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return <div class="empty"><h3>{title}</h3>{children}</div>;
}

export function Card({ title, side, children, id, wide }: { title?: ComponentChildren; side?: ComponentChildren; children: ComponentChildren; id?: string; wide?: boolean }) {
  return (
    <section class={`card ${wide ? 'span' : ''}`} id={id}>
      {(title || side) && <header class="card-head">{title && <h2>{title}</h2>}{side && <div class="side">{side}</div>}</header>}
      {children}
    </section>
  );
}

export function Head({ title, sub, crumbs, children }: { title: ComponentChildren; sub?: ComponentChildren; crumbs?: [string, string][]; children?: ComponentChildren }) {
  return (
    <header class="page-head">
      <div class="page-title">
        {crumbs && <nav class="crumbs" aria-label="Above this page">{crumbs.map(([text, path]) => <a key={path} href={href(path)}>{text}</a>)}</nav>}
        <h1 tabIndex={-1}>{title}</h1>
        {sub && <p class="sub">{sub}</p>}
      </div>
      {children && <div class="actions">{children}</div>}
    </header>
  );
}

/** Pairs of a word and a value. */
export function Facts({ rows }: { rows: ([string, ComponentChildren] | null | false | '')[] }) {
  return <dl class="facts">{rows.map((row) => row && <div key={row[0]}><dt>{row[0]}</dt><dd>{row[1]}</dd></div>)}</dl>;
}

/** A sentence of the server: what stands between backticks is a command or a name. */
export function Words({ text }: { text: string }) {
  return <>{text.split('`').map((piece, i) => (i % 2 ? <code key={i}>{piece}</code> : piece))}</>;
}

/** The command that does the same, with a button that copies it. A flag is not broken at its hyphens. */
export function Command({ text, label = 'The same at a prompt' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    void navigator.clipboard?.writeText(text).then(() => { setCopied(true); setTimeout(() => setCopied(false), 1500); });
  };
  return (
    <div class={`command ${text.length > 90 ? 'long' : ''}`}>
      <span class="command-label">{label}</span>
      <pre tabIndex={0} aria-label={label}><code>{text.split(/(?<=\s)(--?[a-z][a-z-]*)(?=\s)/).map((piece, i) => (i % 2 ? <span key={i} class="nowrap">{piece}</span> : piece))}</code></pre>
      {navigator.clipboard && <Button small kind="quiet" onClick={copy} aria-label="Copy the command">{copied ? 'Copied' : 'Copy'}</Button>}
    </div>
  );
}

let fieldNumber = 0;
/** A labelled field; `children` gets the id that the label names. */
export function Field({ label, hint, error, children }: { label: string; hint?: ComponentChildren; error?: string; children: (id: string) => ComponentChildren }) {
  const [id] = useState(() => `f${++fieldNumber}`);
  return (
    <div class={`field ${error ? 'has-error' : ''}`}>
      <label for={id}>{label}</label>
      {children(id)}
      {error ? <p class="hint error" role="alert">{error}</p> : hint && <p class="hint">{hint}</p>}
    </div>
  );
}

export function TaskLink({ id, children }: { id: number; children?: ComponentChildren }) {
  return <a href={href(`/tasks/${id}`)}>{children ?? `task ${id}`}</a>;
}
export function PoolLink({ name }: { name: string }) { return <a href={href(`/pools/${encodeURIComponent(name)}`)}>{name}</a>; }
export function NodeLink({ name }: { name: string }) { return <a href={href(`/nodes/${encodeURIComponent(name)}`)}>{name}</a>; }

/** Filters as a row of switches; each is a link in the address. */
export function Tabs({ items, now: at, pick, label }: { items: [string, string, ComponentChildren?][]; now: string; pick: (key: string) => void; label: string }) {
  return (
    <div class="tabs" role="group" aria-label={label}>
      {items.map(([key, text, extra]) => (
        <button key={key} type="button" class={key === at ? 'on' : ''} aria-pressed={key === at} onClick={() => pick(key)}>{text}{extra !== undefined && <span class="count">{extra}</span>}</button>
      ))}
    </div>
  );
}
