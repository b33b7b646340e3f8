// shell.tsx - the frame around the views: menu, search, state of the connection, sign-in, keys.
// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from './lib/api';
import { clock, now, short } from './lib/format';
import { heardAt, link, retryNow, signedOut, stop } from './lib/live';
import { asking, linkFailed, mayAdmin, mayWrite, me, signIn, signOut } from './lib/me';
import { go, href, match, params, place } from './lib/router';
import { onKey } from './keys';
import { routes, type Route } from './routes';
import { Search, searchEarly, searching } from './search';
import { applyTheme, nextTheme, theme } from './theme';
import { Button, Empty, ErrorBox, Field } from './ui/base';
import { Asked, Dialog } from './ui/dialog';
import { PriorityAsked } from './views/task_actions';

export const helping = signal(false);

function routeOf(path: string): Route | null {
  for (const route of routes) {
    const found = match(route.path, path);
    if (found) {
      if (JSON.stringify(found) !== JSON.stringify(params.peek())) params.value = found;
      return route;
    }
  }
  return null;
}

/** Where the data stands: nothing while all is well; amber with the age of the data once the stream is cut. */
function LinkBar() {
  const { state, why } = link.value;
  if (state !== 'lost') return null;
  return (
    <div class="link-bar" role="alert">
      <span><b>Connection lost.</b> What you see is {short(Math.max(0, now.value - heardAt.value))} old, as of {clock(heardAt.value)}: {why}. Trying again.</span>
      <Button small onClick={retryNow}>Try now</Button>
    </div>
  );
}

function Menu({ at }: { at: Route | null }) {
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [place.value.path]);
  return (
    <>
      <button type="button" class="btn quiet burger" aria-expanded={open} aria-controls="menu" onClick={() => setOpen(!open)}>☰<span class="sr"> Menu</span></button>
      <nav id="menu" class={`menu ${open ? 'open' : ''}`} aria-label="Views">
        {routes.filter((r) => r.nav && (!r.admin || mayAdmin.value)).map((r) => (
          <a key={r.path} href={href(r.path)} aria-current={at && (at === r || (r.path !== '/' && at.path.startsWith(r.path + '/'))) ? 'page' : undefined}>{r.nav}</a>
        ))}
      </nav>
    </>
  );
}

function SignIn() {
  const [token, setToken] = useState('');
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    setError(null);
    try { await signIn(token.trim()); } catch (x) {
      const failed = x as ApiError;
      setError(failed.status === 401 ? Object.assign(failed, { message: 'The server does not know this token, or the token has expired.' }) : failed);
    }
    setBusy(false);
  };
  return (
    <main class="sign-in" id="main">
      <form class="card" onSubmit={submit} autocomplete="on">
        <input type="text" name="username" autocomplete="username" value="weir" hidden readOnly />
        <h1><img src={logo()} alt="" width="36" height="36" />Weir</h1>
        <p>Sign in with a token. On the server’s machine, <code>weir ui</code> opens this page already signed in; an administrator makes tokens with <code>weir token create</code>.</p>
        <Field label="Token">{(id) => <input id={id} type="password" autocomplete="current-password" value={token} onInput={(e) => setToken(e.currentTarget.value)} required spellcheck={false} />}</Field>
        {linkFailed.value && !error && <p class="note warn" role="alert">{linkFailed.value}</p>}
        <ErrorBox error={error} />
        <Button kind="main" type="submit" busy={busy}>Sign in</Button>
      </form>
    </main>
  );
}

function logo() { return document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href; }

const KEYS: [string, string][] = [['/', 'search: a task, a pool, a node, a view'], ['j  k', 'next and previous row'], ['Enter', 'open the row'], ['x', 'choose the row'], ['c', 'submit a task'], ['?', 'this help'], ['Esc', 'close']];

function Help() {
  return (
    <Dialog title="Keys" close={() => { helping.value = false; }}>
      <dl class="keys">{KEYS.filter(([k]) => k !== 'c' || mayWrite.value).map(([k, what]) => <div key={k}><dt>{k.split('  ').map((one) => <kbd key={one}>{one}</kbd>)}</dt><dd>{what}</dd></div>)}</dl>
      <h3>Views</h3>
      <dl class="keys">{routes.filter((r) => r.key).map((r) => <div key={r.path}><dt><kbd>g</kbd><kbd>{r.key}</kbd></dt><dd>{r.nav ?? r.title}</dd></div>)}</dl>
    </Dialog>
  );
}

function Top({ at }: { at: Route | null }) {
  return (
    <header class="top">
      <Menu at={at} />
      <a class="brand" href="#/"><img src={logo()} alt="" width="24" height="24" /><span>Weir</span></a>
      <button type="button" class="search-open" onClick={() => { searching.value = true; }}>
        <span>Search</span><kbd>/</kbd>
      </button>
      <span class="grow" />
      <span class={`link-dot ${link.value.state}`} role="img" aria-label={link.value.state === 'live' ? 'Live' : 'Not live'} title={link.value.state === 'live' ? 'Live: changes show at once' : 'Not live'} />
      <button type="button" class="btn quiet" onClick={nextTheme} title={`Colours: ${theme.value}`}><span aria-hidden="true">{theme.value === 'dark' ? '☾' : theme.value === 'light' ? '☀' : '◐'}</span><span class="sr">Colours: {theme.value}</span></button>
      <button type="button" class="btn quiet" onClick={() => { helping.value = true; }} title="Keys">?<span class="sr"> Keys</span></button>
      <details class="who">
        <summary>{me.value?.name}</summary>
        <div class="who-box"><p><b>{me.value?.name}</b>, scope <code>{me.value?.scope}</code></p>{me.value?.note && <p class="faint">{me.value.note}</p>}<Button onClick={() => void signOut()}>Sign out</Button></div>
      </details>
    </header>
  );
}

export function Shell() {
  useEffect(() => {
    applyTheme();
    const keys = (e: KeyboardEvent) => searchEarly(e) || onKey(e, routes, { search: () => { searching.value = true; }, help: () => { helping.value = true; }, submit: () => { if (mayWrite.value) go('/submit'); } });
    document.addEventListener('keydown', keys);
    return () => document.removeEventListener('keydown', keys);
  }, []);
  useEffect(() => { if (signedOut.value > 0) { stop(); me.value = null; } }, [signedOut.value]);
  const at = routeOf(place.value.path);
  useEffect(() => {
    document.title = at ? `${at.title}${params.value.id ? ' ' + params.value.id : params.value.name ? ' ' + params.value.name : ''} · Weir` : 'Weir';
    window.scrollTo(0, 0);
  }, [place.value.path]);
  if (asking.value) return <main class="sign-in" id="main"><p class="faint" role="status">Asking the server …</p></main>;
  if (!me.value) return <SignIn />;
  const View = at?.view;
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById('main')?.focus(); }}>To the content</a>
      <Top at={at} />
      <LinkBar />
      <main id="main" tabIndex={-1} key={place.value.path}>
        {View && (!at.admin || mayAdmin.value) ? <View /> : <Empty title={View ? 'This page is for administrators' : 'There is no such page'}><p><a href="#/">Home</a></p></Empty>}
      </main>
      {searching.value && <Search />}
      {helping.value && <Help />}
      <PriorityAsked />
      <Asked />
    </>
  );
}
