// pool_form.tsx - a new pool, or the change of one. SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { api, ApiError } from '../lib/api';
import { weir } from '../lib/cli';
import { useLive } from '../lib/live';
import { go, useParams } from '../lib/router';
import type { Page, Pool } from '../lib/types';
import { Button, Card, Command, ErrorBox, Field, Head } from '../ui/base';
import { ask } from '../ui/dialog';

const KINDS = ['experiment', 'command', 'shell', 'notebook', 'tensorboard', 'service'];
const PROVIDERS: [string, string][] = [['static', 'agents are started by hand'], ['local', 'agents on the server’s machine'], ['exec', 'a program of yours'], ['slurm', 'jobs of Slurm'], ['ec2', 'machines of Amazon EC2']];
/** Fields of a provider: name in the API, flag, label, what it is, for which providers. */
const OWN: [string, string, string, string, string][] = [
  ['slots', '--node-slots', 'Slots of a node', 'one unless set', 'local exec slurm ec2'], ['gpus', '--node-gpus', 'GPUs of a node', 'in place of slots', 'local exec slurm ec2'], ['cpu', '--node-cpu', 'Cores of a node', '', 'local exec slurm ec2'], ['memory', '--node-memory', 'Memory of a node', '64Gi', 'local exec slurm ec2'],
  ['command', '--command', 'Program', 'its whole path', 'exec'], ['partition', '--partition', 'Partition', 'that of Slurm unless set', 'slurm'], ['account', '--account', 'Account', '', 'slurm'], ['time_limit', '--time-limit', 'Time limit of a job', '4h', 'slurm'],
  ['region', '--region', 'Region', 'eu-west-1', 'ec2'], ['image', '--image', 'Image', 'with weir installed', 'ec2'], ['instance_type', '--instance-type', 'Type of the machines', 'g5.xlarge', 'ec2'], ['availability_zones', '--availability-zones', 'Zones', 'a,b, tried in this order', 'ec2'], ['endpoint', '--endpoint', 'Address of the API', 'that of the region unless set', 'ec2'],
];
const LISTS = new Set(['availability_zones']);
const NUMBERS = new Set(['slots', 'gpus', 'min', 'max', 'nodes', 'headroom']);

interface Form { [k: string]: string; name: string; title: string; description: string; contact: string; access: string; for: string; provider: string; sizing: string; nodes: string; min: string; max: string; idle: string; headroom: string; flavor: string; slots_per_node: string; selector: string; policy: string; preemption: string }
const EMPTY: Form = { name: '', title: '', description: '', contact: '', access: 'public', for: '', provider: 'static', sizing: 'elastic', nodes: '', min: '', max: '', idle: '', headroom: '', flavor: '', slots_per_node: '', selector: '', policy: '', preemption: '' };

const list = (text: string) => text.split(/[\s,]+/).filter(Boolean);
const value = (key: string, text: string): unknown => (LISTS.has(key) ? list(text) : NUMBERS.has(key) ? Number(text) : text);

/** The body of POST /pools and the command of the same meaning. */
function definition(f: Form, accepts: string[]): { body: Record<string, unknown>; command: string } {
  const body: Record<string, unknown> = { name: f.name };
  const flags: string[] = [];
  const put = (key: string, flag: string, text: string, as: unknown = text) => { if (text !== '') { body[key] = as; flags.push(flag, text); } };
  put('title', '--title', f.title); put('description', '--description', f.description); put('contact', '--contact', f.contact);
  if (accepts.length) put('accepts', '--accepts', accepts.join(','), accepts);
  if (f.access === 'dedicated') { put('access', '--access', 'dedicated'); put('for', '--for', f.for, list(f.for)); }
  put('flavor', '--flavor', f.flavor); put('slots_per_node', '--slots-per-node', f.slots_per_node, f.slots_per_node === 'all' ? 'all' : Number(f.slots_per_node)); put('selector', '--selector', f.selector, list(f.selector));
  const scheduler: Record<string, string> = {};
  for (const [key, flag] of [['policy', '--policy'], ['preemption', '--preemption']]) if (f[key]) { scheduler[key] = f[key]; flags.push(flag, f[key]); }
  if (Object.keys(scheduler).length) body.scheduler = scheduler;
  if (f.provider !== 'static') {
    const provider: Record<string, unknown> = { type: f.provider };
    flags.push('--provider', f.provider);
    const own = (key: string, flag: string) => { if (f[key]) { provider[key] = value(key, f[key]); flags.push(flag, f[key]); } };
    for (const key of f.sizing === 'fixed' ? ['nodes'] : ['min', 'max', 'idle', 'headroom']) own(key, `--${key}`);
    for (const [key, flag, , , where] of OWN) if (where.split(' ').includes(f.provider)) own(key, flag);
    body.provider = provider;
  }
  return { body, command: weir('pool', 'create', f.name, ...flags) };
}

type Update = (key: string) => (e: { currentTarget: HTMLInputElement | HTMLSelectElement }) => void;

function Provider({ f, set, fault }: { f: Form; set: Update; fault: (path: string) => string | undefined }) {
  const flavors = useLive<Page<{ name: string; description: string; price: number; currency: string }>>('/flavors?limit=1000', (e) => e.type.startsWith('flavor'));
  const one = (key: string, label: string, hint: string) => <Field key={key} label={label} hint={hint} error={fault(`provider.${key}`)}>{(id) => <input id={id} name={key} value={f[key] ?? ''} onInput={set(key)} />}</Field>;
  return (
    <fieldset>
      <legend>What brings nodes up and down</legend>
      <Field label="Provider" error={fault('provider.type')}>{(id) => <select id={id} name="provider" value={f.provider} onChange={set('provider')}>{PROVIDERS.map(([k, what]) => <option key={k} value={k}>{k}: {what}</option>)}</select>}</Field>
      {f.provider !== 'static' && (
        <>
          <div class="form-row">
            <Field label="Size">{(id) => <select id={id} name="sizing" value={f.sizing} onChange={set('sizing')}><option value="elastic">grows and shrinks</option><option value="fixed">a fixed number of nodes</option></select>}</Field>
            {f.sizing === 'fixed' ? one('nodes', 'Nodes', '') : <>{one('min', 'Fewest nodes', '0 unless set')}{one('max', 'Most nodes', '')}</>}
          </div>
          {f.sizing === 'elastic' && <div class="form-row">{one('idle', 'A free node goes after', '20m unless set')}{one('headroom', 'Free slots kept ready', '0 unless set')}</div>}
          <Field label="Flavor" hint="what the nodes are" error={fault('flavor')}>{(id) => <select id={id} name="flavor" value={f.flavor} onChange={set('flavor')}><option value="">none: as set below</option>{flavors.data?.items.map((x) => <option key={x.name} value={x.name}>{x.name}{x.price ? ` (${x.price} ${x.currency}/h)` : ''}</option>)}</select>}</Field>
          {!f.flavor && <div class="form-row">{OWN.filter((o) => o[4].split(' ').includes(f.provider)).map(([key, , label, hint]) => one(key, label, hint))}</div>}
        </>
      )}
    </fieldset>
  );
}

export function NewPoolView() {
  const [f, setForm] = useState<Form>(EMPTY);
  const [accepts, setAccepts] = useState<string[]>([]);
  const [error, setError] = useState<ApiError | null>(null);
  const set: Update = (key) => (e) => { const text = e.currentTarget.value; setForm((now) => ({ ...now, [key]: text.trimStart() })); };
  const { body, command } = definition(f, accepts);
  const fault = (path: string) => (error?.path === path || error?.path.startsWith(path + '[') ? error.message : undefined);
  const submit = (e: Event) => {
    e.preventDefault();
    setError(null);
    api.post('/pools?dry_run=true', body).then(() => ask({ title: `Create the pool ${f.name}?`, verb: 'Create', command, calls: [{ method: 'POST', path: '/pools', body }], done: () => go(`/pools/${encodeURIComponent(f.name)}`) }), setError);
  };
  const text = (key: string, label: string, hint = '') => <Field label={label} hint={hint} error={fault(key)}>{(id) => <input id={id} name={key} value={f[key]} onInput={set(key)} />}</Field>;
  return (
    <>
      <Head title="Create a pool" crumbs={[['Pools', '/pools']]} />
      <div class="cols">
        <Card>
          <form class="form" onSubmit={submit}>
            <Field label="Name" hint="letters, digits, - _ .; at most 63; it cannot be changed" error={fault('name')}>{(id) => <input id={id} name="name" required maxLength={63} pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" value={f.name} onInput={set('name')} />}</Field>
            <div class="form-row">{text('title', 'Title', 'free text')}{text('contact', 'Contact', 'whom to ask')}</div>
            <Provider f={f} set={set} fault={fault} />
            <fieldset>
              <legend>Who may use it</legend>
              <Field label="Access">{(id) => <select id={id} name="access" value={f.access} onChange={set('access')}><option value="public">everybody</option><option value="dedicated">only these projects and departments</option></select>}</Field>
              {f.access === 'dedicated' && text('for', 'Projects and departments', 'vision, department/research')}
              <div role="group" aria-label="Kinds of tasks that it takes" class="kinds"><span class="label">Takes</span>{KINDS.map((k) => <label key={k} class="check"><input type="checkbox" checked={accepts.includes(k)} onChange={() => setAccepts(accepts.includes(k) ? accepts.filter((x) => x !== k) : [...accepts, k])} />{k}</label>)}<span class="hint">none chosen: all kinds</span></div>
            </fieldset>
            <details><summary>More: labels, slots of a node, order</summary><div class="form">
              <div class="form-row">{text('slots_per_node', 'Most slots of a node', 'a number, or all')}{text('selector', 'Labels of its nodes', 'zone=a, gpu.model=A100')}</div>
              <div class="form-row">
                <Field label="Which project is next">{(id) => <select id={id} value={f.policy} onChange={set('policy')}><option value="">fair share</option>{['priority', 'fifo', 'round-robin'].map((k) => <option key={k}>{k}</option>)}</select>}</Field>
                <Field label="Running tasks">{(id) => <select id={id} value={f.preemption} onChange={set('preemption')}><option value="">may be stopped for others</option><option value="off">are not stopped for others</option></select>}</Field>
              </div></div></details>
            <ErrorBox error={error} />
            <div class="actions"><Button kind="main" type="submit" disabled={!f.name}>Look at it, then create</Button></div>
          </form>
        </Card>
        <Card title="The same at a prompt">{f.name ? <Command text={command} label="" /> : <p class="faint">Write a name, and the command stands here.</p>}</Card>
      </div>
    </>
  );
}

/** A few fields of a pool, changed with a look at what the change would do. */
export function EditPoolView() {
  const { name } = useParams();
  const pool = useLive<Pool>(`/pools/${encodeURIComponent(name)}`, () => false);
  const [f, setForm] = useState<Record<string, string> | null>(null);
  const [accepts, setAccepts] = useState<string[]>([]);
  const p = pool.data;
  useEffect(() => {
    if (!p || f) return;
    setForm({ title: p.title, description: p.description, contact: p.contact, access: p.access, for: p.for.join(', '), policy: String(p.scheduler.policy), preemption: String(p.scheduler.preemption) });
    setAccepts(p.accepts);
  }, [p]);
  if (!p || !f) return <><Head title={`Change ${name}`} crumbs={[['Pools', '/pools']]} /><ErrorBox error={pool.error} /></>;
  const set: Update = (key) => (e) => { const text = e.currentTarget.value; setForm((now) => ({ ...now, [key]: text })); };
  const body: Record<string, unknown> = {};
  const flags: string[] = [];
  for (const key of ['title', 'description', 'contact'] as const) if (f[key] !== p[key]) { body[key] = f[key]; flags.push(`--${key}`, f[key] || "''"); }
  if (f.access !== p.access || f.for !== p.for.join(', ')) { body.access = f.access; body.for = f.access === 'dedicated' ? list(f.for) : []; flags.push('--access', f.access); if (f.access === 'dedicated') flags.push('--for', list(f.for).join(',')); }
  if (accepts.join() !== p.accepts.join()) { body.accepts = accepts; flags.push('--accepts', accepts.join(',')); }
  const scheduler: Record<string, string> = {};
  for (const key of ['policy', 'preemption']) if (f[key] !== String(p.scheduler[key])) { scheduler[key] = f[key]; flags.push(`--${key}`, f[key]); }
  if (Object.keys(scheduler).length) body.scheduler = scheduler;
  const submit = (e: Event) => { e.preventDefault(); ask({ title: `Change the pool ${name}?`, verb: 'Change', command: weir('pool', 'edit', name, ...flags), calls: [{ method: 'PATCH', path: `/pools/${encodeURIComponent(name)}`, body }], done: () => go(`/pools/${encodeURIComponent(name)}`) }); };
  const text = (key: string, label: string) => <Field label={label}>{(id) => <input id={id} name={key} value={f[key]} onInput={set(key)} />}</Field>;
  return (
    <>
      <Head title={`Change ${name}`} crumbs={[['Pools', '/pools'], [name, `/pools/${encodeURIComponent(name)}`]]} />
      <Card>
        <form class="form" onSubmit={submit}>
          <div class="form-row">{text('title', 'Title')}{text('contact', 'Contact')}</div>{text('description', 'Description')}
          <Field label="Access">{(id) => <select id={id} name="access" value={f.access} onChange={set('access')}><option value="public">everybody</option><option value="dedicated">only these projects and departments</option></select>}</Field>
          {f.access === 'dedicated' && text('for', 'Projects and departments')}
          <div role="group" aria-label="Kinds of tasks that it takes" class="kinds"><span class="label">Takes</span>{KINDS.map((k) => <label key={k} class="check"><input type="checkbox" checked={accepts.includes(k)} onChange={() => setAccepts(accepts.includes(k) ? accepts.filter((x) => x !== k) : [...accepts, k])} />{k}</label>)}<span class="hint">none chosen: all kinds</span></div>
          <div class="form-row">
            <Field label="Which project is next">{(id) => <select id={id} name="policy" value={f.policy} onChange={set('policy')}>{['fair-share', 'priority', 'fifo', 'round-robin'].map((k) => <option key={k}>{k}</option>)}</select>}</Field>
            <Field label="Running tasks may be stopped for others">{(id) => <select id={id} name="preemption" value={f.preemption} onChange={set('preemption')}><option>on</option><option>off</option></select>}</Field>
          </div>
          <div class="actions"><Button kind="main" type="submit" disabled={flags.length === 0}>Look at it, then change</Button></div>
        </form>
      </Card>
    </>
  );
}
