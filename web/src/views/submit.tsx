// submit.tsx - a form that says at once what would happen, and which command does the same. SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, ApiError } from '../lib/api';
import { submitCommand } from '../lib/cli';
import { quote } from '../lib/format';
import { seq, useLive } from '../lib/live';
import { me } from '../lib/me';
import { go, useQuery } from '../lib/router';
import type { DryRun, Page, Pool, Task } from '../lib/types';
import { Button, Card, Command, ErrorBox, Field, Head } from '../ui/base';
import { formOf } from './pages';
import { DryRunView } from '../ui/dryrun';

interface Form { command: string; name: string; kind: string; pool: string; project: string; slots: string; gpu: string; cpu: string; memory: string; more: string; instances: string; gang: boolean; priority: string; preemptible: string; time: string; retries: string; env: string; workdir: string; tags: string; after: string; description: string; stage: boolean }
const EMPTY: Form = { command: '', name: '', kind: 'command', pool: '', project: '', slots: '', gpu: '', cpu: '', memory: '', more: '', instances: '', gang: false, priority: '', preemptible: '', time: '', retries: '', env: '', workdir: '', tags: '', after: '', description: '', stage: false };
const KINDS = ['command', 'experiment', 'shell', 'notebook', 'tensorboard', 'service'];

const words = (text: string, by: RegExp) => text.split(by).map((w) => w.trim()).filter(Boolean);

/** The body of POST /tasks: only what the person wrote. */
export function bodyOf(f: Form): Record<string, unknown> {
  const body: Record<string, unknown> = { entrypoint: f.command };
  const put = (key: string, text: string, value: unknown = text) => { if (text !== '') body[key] = value; };
  if (f.kind !== 'command') body.kind = f.kind;
  put('name', f.name); put('project', f.project); put('workdir', f.workdir); put('description', f.description);
  put('pools', f.pool, words(f.pool, /,/)); put('instances', f.instances, Number(f.instances)); put('priority', f.priority, Number(f.priority)); put('time_limit', f.time); put('max_retries', f.retries, Number(f.retries));
  const r: Record<string, unknown> = {};
  for (const key of ['slots', 'gpu', 'cpu'] as const) if (f[key] !== '') r[key] = Number(f[key]);
  if (f.memory !== '') r.memory = f.memory;
  for (const pair of words(f.more, /[\s,]+/)) { const [k, ...v] = pair.split('='); r[k] = v.join('='); }
  if (Object.keys(r).length) body.resources = r;
  if (f.gang) body.gang = true;
  if (f.preemptible) body.preemptible = f.preemptible === 'yes';
  const env: Record<string, string> = {};
  for (const one of words(f.env, /\n/)) { const at = one.indexOf('='); if (at > 0) env[one.slice(0, at)] = one.slice(at + 1); }
  if (Object.keys(env).length) body.env = env;
  put('tags', f.tags, words(f.tags, /,/));
  put('depends_on', f.after, words(f.after, /[\s,]+/).map((w) => (/^\d+$/.test(w) ? Number(w) : w)));
  if (f.stage) body.stage = true;
  return body;
}

function fromTask(t: Task): Form {
  const r = { ...t.resources } as Record<string, number>;
  const take = (key: string) => { const v = r[key]; delete r[key]; return v === undefined ? '' : String(v); };
  const spec = t.spec as { entrypoint?: string };
  return { ...EMPTY, command: spec.entrypoint && typeof spec.entrypoint === 'string' ? spec.entrypoint : t.command.map(quote).join(' '), name: t.name, kind: t.kind, pool: t.pools.join(','), project: t.project === 'default' ? '' : t.project,
    slots: take('slots'), gpu: take('gpu'), cpu: take('cpu'), memory: take('memory'), more: Object.entries(r).map(([k, v]) => `${k}=${v}`).join(' '), instances: t.instances > 1 ? String(t.instances) : '', gang: t.gang, priority: t.priority === 50 ? '' : String(t.priority),
    time: t.time_limit_ms ? `${Math.round(t.time_limit_ms / 1000)}s` : '', retries: t.max_retries ? String(t.max_retries) : '', env: Object.entries(t.env).map(([k, v]) => `${k}=${v}`).join('\n'), workdir: t.workdir, tags: t.tags.join(', '), description: t.description };
}

const TRY_MS = 350;

/** What would happen, asked again whenever the form rests. */
function useTrial(body: Record<string, unknown>): { dry: DryRun | null; error: ApiError | null; asking: boolean } {
  const [state, set] = useState<{ dry: DryRun | null; error: ApiError | null; asking: boolean }>({ dry: null, error: null, asking: false });
  const text = JSON.stringify(body);
  const number = useRef(0);
  useEffect(() => {
    if (!body.entrypoint) { set({ dry: null, error: null, asking: false }); return undefined; }
    const mine = ++number.current;
    set((s) => ({ ...s, asking: true }));
    const timer = setTimeout(() => {
      api.post<DryRun>('/tasks?dry_run=true', body).then((dry) => mine === number.current && set({ dry, error: null, asking: false }), (error) => mine === number.current && set({ dry: null, error, asking: false }));
    }, TRY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return state;
}

type Set = <K extends keyof Form>(key: K) => (e: { currentTarget: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement }) => void;

function Trial({ body, trial }: { body: Record<string, unknown>; trial: ReturnType<typeof useTrial> }) {
  const { dry, error } = trial;
  const mine = (t: { task: number }) => dry?.submitted && t.task >= dry.submitted.first && t.task < dry.submitted.first + dry.submitted.count;
  const start = dry?.starts.find(mine);
  const wait = dry?.waits.find(mine);
  return (
    <Card title="What would happen" id="trial">
      {!body.entrypoint && <p class="faint">Write a command, and this side says where the task would start, or why it would wait.</p>}
      {error && error.status === 422 ? <div class="note bad" role="alert" data-trial="never"><p><b>This can never run.</b> {error.message}</p></div> : <ErrorBox error={error} />}
      {dry && start && <p class="note good" data-trial="start">Would start {start.now ? 'now' : 'once others have left'} on {start.places.map((p) => p.node + (p.devices.length ? ` (devices ${p.devices.join(', ')})` : '')).join(', ')}.</p>}
      {dry && !start && wait && <p class="note warn" data-trial="wait">Would wait: {wait.reason?.message}.</p>}
      {dry && !start && !wait && <p class="note" data-trial="accepted">Would be accepted{body.stage ? ' and held back until it is started' : ''}.</p>}
      {dry && (dry.stops_total > 0 || dry.launches_total > 0 || dry.warnings.length > 0) && <DryRunView dry={dry} />}
      {Boolean(body.entrypoint) && <Command text={submitCommand(body)} />}
    </Card>
  );
}

function More({ f, set, fault }: { f: Form; set: Set; fault: (...paths: string[]) => string | undefined }) {
  const text = (key: keyof Form, label: string, hint: string, paths: string[], type = 'text') => <Field label={label} hint={hint} error={fault(...paths)}>{(id) => <input id={id} type={type} value={f[key] as string} onInput={set(key)} />}</Field>;
  return (
    <details open={['cpu', 'memory', 'more', 'instances', 'env', 'workdir', 'tags', 'after', 'time', 'retries', 'priority', 'description'].some((k) => f[k as keyof Form] !== '')}>
      <summary>More: memory, instances, time, environment …</summary>
      <div class="form">
        <div class="form-row">{text('cpu', 'Cores', 'of each instance', ['resources.cpu'])}{text('memory', 'Memory', '64Gi, 500M', ['resources.memory'])}{text('more', 'Other resources', 'foo=5 bar=1', ['resources'])}</div>
        <div class="form-row">{text('instances', 'Instances', '1 to 10,000', ['instances'], 'number')}{text('priority', 'Priority', '1 to 100, 50 unless set', ['priority'], 'number')}{text('time', 'Time limit', '2h, 90s', ['time_limit'])}{text('retries', 'Retries', 'of a failed instance', ['max_retries'], 'number')}</div>
        <div class="form-row">
          <Field label="Preemptible">{(id) => <select id={id} value={f.preemptible} onChange={set('preemptible')}><option value="">as its kind has it</option><option value="yes">may be stopped for others</option><option value="no">may not be stopped</option></select>}</Field>
          {text('after', 'After tasks', '7, or 7:any for any end', ['depends_on'])}{text('tags', 'Tags', 'separated by commas', ['tags'])}
        </div>
        {text('workdir', 'Directory', 'on the node', ['workdir'])}{text('description', 'Description', 'free text', ['description'])}
        <Field label="Environment" hint="one NAME=VALUE on each line" error={fault('env')}>{(id) => <textarea id={id} rows={3} value={f.env} onInput={set('env')} spellcheck={false} />}</Field>
        <label class="check"><input type="checkbox" checked={f.gang} onChange={set('gang')} />All instances start together or not at all</label>
        <label class="check"><input type="checkbox" checked={f.stage} onChange={set('stage')} />Do not queue it yet</label>
      </div>
    </details>
  );
}

/** A number of a text: another body has another key, the same body sent again has the same. */
function sum(text: string): string {
  let h = 0;
  for (let i = 0; i < text.length; i++) h = (Math.imul(h, 31) + text.charCodeAt(i)) | 0;
  return (h >>> 0).toString(36);
}

function initial(query: URLSearchParams): Form {
  const f = { ...EMPTY, ...formOf(query.get('kind') ?? '') };
  for (const key of Object.keys(EMPTY) as (keyof Form)[]) { const v = query.get(key); if (v !== null && typeof EMPTY[key] === 'string') (f as Record<string, unknown>)[key] = v; }
  return f;
}

export function SubmitView() {
  const [query] = useQuery();
  const [f, setForm] = useState<Form>(() => initial(query));
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const [key] = useState(() => `web-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}-${seq()}`);
  const pools = useLive<Page<Pool>>('/pools?limit=1000', (e) => e.type === 'pool-set');
  const projects = useLive<Page<{ name: string }>>('/projects?limit=1000', (e) => e.type === 'account-set');
  const from = query.get('from');
  useEffect(() => { if (from) api.get<Task>(`/tasks/${encodeURIComponent(from)}`).then((t) => setForm(fromTask(t)), setError); }, [from]);
  const set: Set = (k) => (e) => { const el = e.currentTarget; setForm((now) => ({ ...now, [k]: el.type === 'checkbox' ? (el as HTMLInputElement).checked : el.value })); };
  const body = bodyOf(f);
  const trial = useTrial(body);
  const fault = (...paths: string[]) => { const e = error ?? trial.error; return e && e.path && paths.some((p) => e.path === p || e.path.startsWith(p + '.') || e.path.startsWith(p + '[')) ? e.message : undefined; };
  const submit = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const answer = await api.post<{ tasks: { id: number }[] }>('/tasks', body, { 'Idempotency-Key': `${key}-${sum(JSON.stringify(body))}` });
      go(`/tasks/${answer.tasks[0].id}`);
    } catch (x) { setError(x as ApiError); setBusy(false); }
  };
  return (
    <>
      <Head title="Submit a task" crumbs={[['Tasks', '/tasks']]} sub={`as ${me.value?.name ?? ''}`} />
      <div class="cols">
        <Card>
          <form class="form" onSubmit={submit}>
            <Field label="Command" hint="run by sh -c on the node" error={fault('entrypoint', 'command')}>{(id) => <textarea id={id} name="command" rows={Math.min(10, 3 + Math.floor(f.command.length / 90))} required value={f.command} onInput={set('command')} spellcheck={false} placeholder="python train.py --epochs 10" />}</Field>
            <div class="form-row">
              <Field label="Name" error={fault('name')}>{(id) => <input id={id} name="name" value={f.name} onInput={set('name')} />}</Field>
              <Field label="Kind" error={fault('kind')}>{(id) => <select id={id} value={f.kind} onChange={set('kind')}>{KINDS.map((k) => <option key={k}>{k}</option>)}</select>}</Field>
            </div>
            <div class="form-row">
              <Field label="GPUs" hint="whole, or a part of one (0.5)" error={fault('resources.gpu')}>{(id) => <input id={id} name="gpu" inputMode="decimal" value={f.gpu} onInput={set('gpu')} />}</Field>
              <Field label="Slots" hint="one, where nothing is named" error={fault('resources.slots')}>{(id) => <input id={id} name="slots" inputMode="numeric" value={f.slots} onInput={set('slots')} />}</Field>
            </div>
            <div class="form-row">
              <Field label="Pool" error={fault('pool', 'pools')}>{(id) => <select id={id} name="pool" value={f.pool} onChange={set('pool')}><option value="">the server’s default</option>{pools.data?.items.map((p) => <option key={p.name} value={p.name}>{p.name} ({p.slots.free} of {p.slots.total} free)</option>)}{f.pool.includes(',') && <option value={f.pool}>{f.pool}</option>}</select>}</Field>
              <Field label="Project" error={fault('project')}>{(id) => <select id={id} name="project" value={f.project} onChange={set('project')}><option value="">default</option>{projects.data?.items.filter((p) => p.name !== 'default').map((p) => <option key={p.name}>{p.name}</option>)}</select>}</Field>
            </div>
            <More f={f} set={set} fault={fault} />
            <ErrorBox error={error} />
            <div class="actions"><Button kind="main" type="submit" busy={busy} disabled={!f.command}>Submit</Button></div>
          </form>
        </Card>
        <Trial body={body} trial={trial} />
      </div>
    </>
  );
}
