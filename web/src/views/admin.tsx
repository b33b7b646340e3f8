// admin.tsx - tokens, changes by people, the server file, and how the server is. Users and roles will stand here.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, ApiError, call } from '../lib/api';
import { weir } from '../lib/cli';
import { absolute, duration, now, num, plural } from '../lib/format';
import { link, pastEvents, seq, useLive, type Ev } from '../lib/live';
import { me } from '../lib/me';
import { go, useParams } from '../lib/router';
import type { DryRun, Page, Status, Token } from '../lib/types';
import { Button, Card, Chip, Command, Empty, ErrorBox, Facts, Field, Head, StateChip, Tabs, Time } from '../ui/base';
import { ask, Dialog } from '../ui/dialog';
import { DryRunView } from '../ui/dryrun';
import { EventList } from '../ui/events';
import { Table, type Column } from '../ui/table';

const TABS: [string, string][] = [['tokens', 'Tokens'], ['changes', 'Changes by people'], ['config', 'Configuration'], ['health', 'Health']];

function Frame({ at, children }: { at: string; children: preact.ComponentChildren }) {
  return <><Head title="Administration" /><Tabs label="Administration" items={TABS} now={at} pick={(key) => go(`/admin/${key}`)} />{children}</>;
}

const SCOPES: [string, string][] = [['read', 'looks, changes nothing'], ['admin', 'everything'], ['join', 'lets new nodes join the pool of this name']];

function NewToken({ close, made }: { close: () => void; made: (t: Token) => void }) {
  const [scope, setScope] = useState('read');
  const [name, setName] = useState('');
  const [expires, setExpires] = useState('90d');
  const [uses, setUses] = useState('1');
  const [error, setError] = useState<ApiError | null>(null);
  const body = { scope, name: name || undefined, expires_in: expires || undefined, ...(scope === 'join' ? { uses: Number(uses) } : {}) };
  const submit = (e: Event) => { e.preventDefault(); api.post<Token>('/tokens', body).then((t) => { close(); made(t); }, setError); };
  return (
    <Dialog title="Make a token" close={close}>
      <form class="form" onSubmit={submit}>
        <Field label="What it may do">{(id) => <select id={id} name="scope" value={scope} onChange={(e) => setScope(e.currentTarget.value)}>{SCOPES.map(([k, what]) => <option key={k} value={k}>{k}: {what}</option>)}</select>}</Field>
        <Field label={scope === 'join' ? 'Pool' : 'Name'} hint={scope === 'join' ? '' : 'who or what uses it'}>{(id) => <input id={id} name="name" required value={name} onInput={(e) => setName(e.currentTarget.value.trim())} />}</Field>
        <div class="form-row">
          <Field label="Valid for" hint="90d, 12h; empty: without end">{(id) => <input id={id} name="expires" value={expires} onInput={(e) => setExpires(e.currentTarget.value.trim())} />}</Field>
          {scope === 'join' && <Field label="Nodes that may join">{(id) => <input id={id} type="number" min="1" value={uses} onInput={(e) => setUses(e.currentTarget.value)} />}</Field>}
        </div>
        <ErrorBox error={error} />
        <Command text={weir('token', 'create', '--scope', scope, name && '--name', name, expires && '--expires', expires, scope === 'join' && '--reusable', scope === 'join' && uses)} />
        <footer class="dialog-foot"><Button onClick={close}>Leave it</Button><Button kind="main" type="submit" data-act="confirm">Make it</Button></footer>
      </form>
    </Dialog>
  );
}

const GROUPS: [string, string, (t: Token) => boolean][] = [['people', 'People and programs', (t) => t.scope === 'admin' || t.scope === 'read'], ['session', 'Browsers signed in', (t) => t.scope === 'session'], ['join', 'Join tokens', (t) => t.scope === 'join'], ['node', 'Nodes', (t) => t.scope === 'node']];

export function TokensView() {
  const [cursor, setCursor] = useState('');
  const tokens = useLive<Page<Token>>(`/tokens?limit=1000${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`, (e) => e.type === 'node-set' || e.type === 'node-forgotten');
  const [group, setGroup] = useState('people');
  const [making, setMaking] = useState(false);
  const [secret, setSecret] = useState<Token | null>(null);
  const all = tokens.data?.items ?? [];
  const rows = all.filter(GROUPS.find((g) => g[0] === group)?.[2] ?? (() => true));
  const columns: Column<Token>[] = [
    { key: 'name', title: 'Name', grow: true, cell: (t) => <div class="two"><span class="clip">{t.name || '–'}{t.node && ` (node ${t.node})`}</span><span class="faint mono clip">{t.id}</span></div> },
    { key: 'scope', title: 'Scope', cell: (t) => <Chip>{t.scope}</Chip> },
    { key: 'made', title: 'Made', hide: 's', num: true, cell: (t) => <Time at={t.created_at} /> },
    { key: 'ends', title: 'Ends', hide: 's', num: true, cell: (t) => <Time at={t.expires_at} empty="never" /> },
    ...(group === 'join' ? [{ key: 'uses', title: 'Joins left', hide: 'm', num: true, cell: (t: Token) => (t.uses === undefined ? '' : num(t.uses)) } as Column<Token>] : []),
    { key: 'act', title: '', num: true, cell: (t) => <Button small kind="danger" aria-label={`Revoke ${t.name} ${t.id}`} onClick={() => ask({ title: `Revoke the token of ${t.name}?`, verb: 'Revoke', danger: true, dry: false, text: <p>Whoever uses it is refused from now on, and its streams are cut.</p>, command: weir('token', 'delete', t.id), calls: [{ method: 'DELETE', path: `/tokens/${encodeURIComponent(t.id)}` }], done: tokens.reload })}>Revoke</Button> },
  ];
  return (
    <Frame at="tokens">
      {secret && <div class="note good" role="status"><div class="stack"><b>The token of {secret.name}. It is shown this once.</b><Command text={secret.token ?? ''} label="Secret" /></div><Button small onClick={() => setSecret(null)}>I have it</Button></div>}
      <Card title="Tokens" side={<Button kind="main" onClick={() => setMaking(true)}>Make a token</Button>}>
        <Tabs label="Whose" now={group} pick={setGroup} items={GROUPS.map(([k, text, fits]) => [k, text, all.filter(fits).length])} />
        <ErrorBox error={tokens.error} retry={tokens.reload} />
        {tokens.data && <Table label="Tokens" rows={rows} id={(t) => t.id} columns={columns} order={group + all.length} empty={<Empty title="None"><Command text="weir token create --name dashboard --scope read --expires 90d" /></Empty>} />}
        {tokens.data?.next && <Button small onClick={() => setCursor(tokens.data?.next ?? '')}>More</Button>}
      </Card>
      <Card title="Users and roles"><p>You are {me.value?.name}, with the scope <code>{me.value?.scope}</code>. {me.value?.note && me.value.note[0].toUpperCase() + me.value.note.slice(1) + '.'}</p></Card>
      {making && <NewToken close={() => setMaking(false)} made={(t) => { setSecret(t); tokens.reload(); }} />}
    </Frame>
  );
}

const BACK = 20_000; // facts that are looked through

/** What people did, from the log of facts. */
export function ChangesView() {
  const [state, set] = useState<{ events: Ev[]; cut: boolean; ready: boolean }>({ events: [], cut: false, ready: false });
  const [who, setWho] = useState('');
  useEffect(() => {
    let here = true;
    api.get<Status>('/status').then((s) => pastEvents('', 2000, Math.max(0, Math.max(s.seq, seq()) - BACK), (e) => e.actor.startsWith('user:') && e.type !== 'submit-key')).then((past) => here && set({ events: past.events, cut: past.cut, ready: true })).catch(() => here && set({ events: [], cut: false, ready: true }));
    return () => { here = false; };
  }, []);
  const people = [...new Set(state.events.map((e) => e.actor))].sort();
  return (
    <Frame at="changes">
      <Card title="What people changed" side={<select aria-label="Who" value={who} onChange={(e) => setWho(e.currentTarget.value)}><option value="">Everybody</option>{people.map((p) => <option key={p} value={p}>{p.replace('user:', '')}</option>)}</select>}>
        <p class="faint">From the last {num(BACK)} facts of the log. Each fact is stored before it takes effect, and none is ever changed.</p>
        <EventList {...state} events={state.events.filter((e) => !who || e.actor === who)} show={['task', 'pool', 'node']} />
        <Command text="weir events -f" />
      </Card>
    </Frame>
  );
}

interface Change { do: string; kind: string; name: string; pool: string | null; before: unknown; after: unknown; tasks: number; refusal: string | null }
interface Plan { applied: boolean; changes: Change[]; refused: number; extras: { kind: string; name: string; pool: string | null; tasks: number }[]; effects: DryRun | null }
interface Config { path: string | null; problem: string | null; text: string | null; items: { kind: string; name: string; value: string | null; origin: string }[]; more: number }
type Item = Config['items'][number];
const SAMPLE = `# pools, departments, projects and quotas, as in server.yaml\npools:\n  - name: default\n`;

/** Names of what differs between two objects. */
function different(a: unknown, b: unknown): string[] {
  const x = (a ?? {}) as Record<string, unknown>;
  const y = (b ?? {}) as Record<string, unknown>;
  return [...new Set([...Object.keys(x), ...Object.keys(y)])].filter((k) => JSON.stringify(x[k]) !== JSON.stringify(y[k])).map((k) => `${k}: ${k in x ? JSON.stringify(x[k]) : '–'} → ${k in y ? JSON.stringify(y[k]) : '–'}`);
}

const SETTINGS: Column<Item>[] = [
  { key: 'name', title: 'Setting', grow: true, cell: (i) => <div class="two"><span>{i.name}</span>{i.value ? <code>{i.value}</code> : <span class="faint">none</span>}</div> },
  { key: 'origin', title: 'From', cell: (i) => <Chip>{i.origin}</Chip> },
];
const KIND_OF: Record<string, string> = { pool: 'Pools', flavor: 'Flavors', department: 'Departments', project: 'Projects' };

/** What the server runs with: each setting and object, and where it comes from. */
function Origins({ config }: { config: Config }) {
  const objects = config.items.filter((i) => i.kind !== 'setting');
  return (
    <div class="cols">
      <Card title="Settings" side={<span class="faint">{config.path ? <>file <code>{config.path}</code></> : 'the server has no file'}</span>}>
        {config.problem && <p class="note bad">The server would not take its file now: {config.problem}</p>}
        <Table label="Settings" columns={SETTINGS} rows={config.items.filter((i) => i.kind === 'setting')} id={(i) => i.name} />
      </Card>
      <Card title="Objects">
        {Object.entries(KIND_OF).map(([kind, title]) => {
          const of = objects.filter((i) => i.kind === kind);
          return of.length > 0 && <div key={kind} class="two"><h3>{title}</h3><ul class="side">{of.map((i) => <li key={i.name} class="chip" title={`${i.name}: ${i.origin}`}>{i.name} <span class="faint">{i.origin}</span></li>)}</ul></div>;
        })}
        {config.more > 0 && <p class="faint">and {num(config.more)} more</p>}
        <p class="faint">file: named in the server’s file, which has the last word at each start. API: made by a person or a program.</p>
        <Command text="weir config show" />
      </Card>
    </div>
  );
}

export function ConfigView() {
  const config = useLive<Config>('/config', (e) => /^(pool-set|pool-deleted|account-|flavor-)/.test(e.type));
  const [text, setText] = useState('');
  const begun = useRef(false);
  useEffect(() => {
    if (!config.data || begun.current) return;
    begun.current = true;
    setText(config.data.text ?? SAMPLE);
  }, [config.data]);
  const [prune, setPrune] = useState(false);
  const [plan, setPlan] = useState<Plan | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const send = (dry: boolean) => {
    setBusy(true);
    setError(null);
    call('POST', `/config?dry_run=${dry}&prune=${prune}`, text, undefined, { 'Content-Type': 'application/yaml' }).then((a) => a.json()).then((p: Plan) => { setPlan(p); setBusy(false); }, (e: ApiError) => { setPlan(null); setError(e); setBusy(false); });
  };
  return (
    <Frame at="config">
      <ErrorBox error={config.error} retry={config.reload} />
      {config.data && <Origins config={config.data} />}
      <div class="cols">
        <Card title="Server file">
          <Field label="The file" hint="Nothing is changed until you say so: look first. All changes are made, or none.">{(id) => <textarea id={id} name="config" rows={16} value={text} spellcheck={false} onInput={(e) => { setText(e.currentTarget.value); setPlan(null); }} />}</Field>
          <label class="check"><input type="checkbox" checked={prune} onChange={() => { setPrune(!prune); setPlan(null); }} />Delete what the file does not name</label>
          <div class="actions"><Button kind="main" busy={busy} onClick={() => send(true)}>Look</Button><Button kind="danger" busy={busy} disabled={!plan || plan.applied || plan.changes.length === 0 || plan.refused > 0} onClick={() => send(false)}>Apply</Button></div>
          <ErrorBox error={error} />
        </Card>
        <Card title="What it changes">
          {!plan && <p class="faint">Look at a file, and the differences between the file and the server stand here.</p>}
          {plan && plan.changes.length === 0 && <p class="note good" role="status">The server is as the file says.</p>}
          {plan?.applied && <p class="note good" role="status">Applied: {plural(plan.changes.length, 'change')}.</p>}
          {plan && <ul class="stack">{plan.changes.map((c) => <li key={c.kind + c.name + c.pool}><b>{c.do}</b> {c.kind} <code>{c.name}</code>{c.pool && ` in pool ${c.pool}`}{c.tasks > 0 && <span class="faint">, {plural(c.tasks, 'task')}</span>}{c.do === 'change' && <ul class="faint">{different(c.before, c.after).map((d) => <li key={d}><code>{d}</code></li>)}</ul>}{c.refusal && <p class="bad-text">{c.refusal}</p>}</li>)}</ul>}
          {plan && plan.extras.length > 0 && <p class="faint">Not in the file: {plan.extras.map((x) => `${x.kind} ${x.name}`).join(', ')}.</p>}
          {plan?.effects && <DryRunView dry={plan.effects} />}
          <Command text={`weir config ${plan ? 'apply' : 'diff'} server.yaml${prune ? ' --prune' : ''}`} />
        </Card>
      </div>
    </Frame>
  );
}

/** One value of the metrics, summed over its labels. */
function metric(text: string, name: string, label = ''): number {
  return text.split('\n').filter((line) => (line.startsWith(name + ' ') || line.startsWith(name + '{')) && line.includes(label)).reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

export function HealthView() {
  const status = useLive<Status>('/status');
  const [text, setText] = useState('');
  useEffect(() => {
    const read = () => fetch('/metrics', { credentials: 'same-origin', cache: 'no-store' }).then((a) => (a.ok ? a.text() : '')).then(setText, () => {});
    void read();
    return undefined;
  }, [status.data?.seq]);
  const s = status.data;
  const m = (name: string, label = '') => metric(text, name, label);
  const commits = m('weir_store_commits_total');
  return (
    <Frame at="health">
      <ErrorBox error={status.error} retry={status.reload} />
      {s && (
        <div class="cols four">
          <Card title="Server" side={<StateChip state={s.writable ? 'stores changes' : 'cannot store changes'} tone={s.writable ? 'up' : 'bad'} />}>
            {s.problem && <p class="note bad">{s.problem}</p>}
            <Facts rows={[['Version', s.version], ['Id', <code>{s.server}</code>], ['Runs for', <>{duration(now.value - new Date(s.started_at).getTime())}, since {absolute(s.started_at)}</>], ['Start number', num(s.epoch)], ['Facts', num(s.seq)], ['Clock', `${duration(Math.abs(status.at - new Date(s.time).getTime()))} from that of this page`], ['Certificate', s.certificate_until ? <Time at={s.certificate_until} /> : 'none: plain HTTP']]} />
          </Card>
          <Card title="Agents and nodes"><Facts rows={[['Agents connected', num(s.agents_connected)], ...Object.entries(s.nodes).map(([k, v]): [string, preact.ComponentChildren] => [`Nodes ${k}`, num(v)]), s.nodes_contested > 0 && ['In two pools by labels', num(s.nodes_contested)], ['This page', link.value.state]]} /></Card>
          {text && <Card title="Store"><Facts rows={[['Commits', num(commits)], ['A commit takes', commits > 0 ? duration((1000 * m('weir_store_commit_seconds_total')) / commits) : '–'], ['Failed commits', num(m('weir_store_commit_failures_total'))], ['Facts that wait for the disk', num(m('weir_store_facts_waiting'))], ['Output refused', num(m('weir_store_output_refused_total'))]]} /></Card>}
          {text && <Card title="Requests and scheduler"><Facts rows={[['Connections', num(m('weir_http_connections'))], ['Event streams', num(m('weir_event_streams'))], ['Requests that wait', num(m('weir_http_requests_waiting'))], ['Answers 2xx', num(m('weir_http_answers_total', '2xx'))], ['Answers 4xx', num(m('weir_http_answers_total', '4xx'))], ['Answers 5xx', num(m('weir_http_answers_total', '5xx'))], ['Scheduler passes', num(m('weir_scheduler_passes_total'))], ['Reports of agents', num(m('weir_agent_reports_total'))]]} /></Card>}
        </div>
      )}
      <Command text="weir status" />
    </Frame>
  );
}

export function AdminView() {
  const { tab } = useParams();
  switch (tab) {
    case 'changes': return <ChangesView />;
    case 'config': return <ConfigView />;
    case 'health': return <HealthView />;
    default: return <TokensView />;
  }
}
