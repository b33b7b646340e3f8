// pool_form.tsx - a new pool, or the change of one: every setting that `weir pool create` has. SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { api, ApiError } from '../lib/api';
import { quote } from '../lib/format';
import { useLive } from '../lib/live';
import { go, useParams } from '../lib/router';
import type { Page, Pool } from '../lib/types';
import { Button, Card, Command, ErrorBox, Field, Head } from '../ui/base';
import { ask } from '../ui/dialog';
import { definition, fields, pathOf, providerOf, valuesOf, type PoolField, type Values } from './pool_fields';

const KINDS = ['experiment', 'command', 'shell', 'notebook', 'tensorboard', 'service'];
const PROVIDERS: Record<string, string> = { static: 'agents are started by hand', local: 'agents on the server’s machine', exec: 'a program of yours', slurm: 'jobs of Slurm', ec2: 'machines of Amazon EC2' };
/** Words of the form where the flag alone says too little. */
const LABELS: Record<string, string> = {
  min: 'Fewest nodes', max: 'Most nodes', idle: 'A free node goes after', headroom: 'Free slots kept ready', 'node-slots': 'Slots of a node', 'node-gpus': 'GPUs of a node', 'node-cpu': 'Cores of a node', 'node-memory': 'Memory of a node',
  for: 'Projects and departments', policy: 'Which project is next', preemption: 'Running tasks may be stopped for others', order: 'Which task of a project is next', selector: 'Labels of its nodes', 'slots-per-node': 'Most slots of a node', 'aux-tasks': 'Tasks without slots on a node',
  history: 'Past use counts half after', 'user-slots': 'Most slots of one user', uneven: 'Uneven parts of nodes', turn: 'Borrowed places are safe for', spare: 'Spare nodes', command: 'Program', 'sbatch-flag': 'Further flags of sbatch', tag: 'Tags', 'user-data': 'Lines for the shell of a machine', period: 'Least time between growths', 'max-starting': 'Most time to join',
};
const EXAMPLES: Record<string, string> = { DURATION: '30m', SIZE: '64Gi', PERCENT: '2%' };
const SIZES = ['min', 'max', 'idle', 'headroom'];
const WHO = ['access', 'for', 'accepts'];
const HEAD = ['title', 'contact', 'description'];

const of = (flag: string) => fields.find((f) => f.flag === flag) as PoolField;
const listed = new Set(['provider', 'nodes', 'flavor', ...SIZES, ...WHO, ...HEAD]);
const provided = fields.filter((f) => f.group === 'PROVIDER' && !listed.has(f.flag));
const sharing = fields.filter((f) => (f.group === 'SCHEDULER' || f.group === 'HISTORY' || f.flag === 'patience') && !listed.has(f.flag));
const more = fields.filter((f) => !listed.has(f.flag) && !provided.includes(f) && !sharing.includes(f));

const labelOf = (f: PoolField) => LABELS[f.flag] ?? f.flag[0].toUpperCase() + f.flag.slice(1).replace(/-/g, ' ');
const hintOf = (f: PoolField) => f.help.replace(/^of \w+( with spot)?: /, '');

interface Form { values: Values; before: Values; put: (flag: string, text: string) => void; fault: (path: string) => string | undefined }

/** One setting: a choice where it has words, else a line; what is not set has its default. */
function Setting({ f, form }: { f: PoolField; form: Form }) {
  const value = form.values[f.flag] ?? '';
  const change = (e: { currentTarget: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement }) => form.put(f.flag, e.currentTarget.value);
  return (
    <Field label={labelOf(f)} hint={hintOf(f)} error={form.fault(pathOf(f))}>{(id) => (f.words.length
      ? <select id={id} name={f.flag} value={value} onChange={change}>{!form.before[f.flag] && <option value="">as it is unless set</option>}{f.words.map((w) => <option key={w} value={w}>{w}</option>)}</select>
      : f.kind === 'LINES' ? <textarea id={id} name={f.flag} rows={3} value={value} onInput={change} spellcheck={false} />
        : <input id={id} name={f.flag} value={value} placeholder={EXAMPLES[f.kind] ?? (/[=,]/.test(f.arg) ? f.arg : '')} onInput={change} />)}
    </Field>
  );
}

function Settings({ list, form }: { list: PoolField[]; form: Form }) { return <div class="form-row">{list.map((f) => <Setting key={f.flag} f={f} form={form} />)}</div>; }

/** What brings nodes up, how many, and what they are. */
function Provider({ form }: { form: Form }) {
  const { values, put, fault } = form;
  const [fixed, setFixed] = useState(Boolean(form.before.nodes));
  const flavors = useLive<Page<{ name: string; description: string; price: number; currency: string }>>('/flavors?limit=1000', (e) => e.type.startsWith('flavor'));
  const provider = values.provider || 'static';
  const size = (how: string) => { setFixed(how === 'fixed'); for (const flag of how === 'fixed' ? SIZES : ['nodes']) put(flag, form.before[flag] ?? ''); };
  return (
    <fieldset>
      <legend>What brings nodes up and down</legend>
      <Field label="Provider" error={fault('provider.type')}>{(id) => <select id={id} name="provider" value={provider} onChange={(e) => put('provider', e.currentTarget.value === 'static' && !form.before.provider ? '' : e.currentTarget.value)}>{of('provider').words.map((k) => <option key={k} value={k}>{k}{PROVIDERS[k] && `: ${PROVIDERS[k]}`}</option>)}</select>}</Field>
      {provider !== 'static' && (
        <>
          <div class="form-row">
            <Field label="Size">{(id) => <select id={id} name="sizing" value={fixed ? 'fixed' : 'elastic'} onChange={(e) => size(e.currentTarget.value)}><option value="elastic">grows and shrinks</option><option value="fixed">a fixed number of nodes</option></select>}</Field>
            {(fixed ? ['nodes'] : ['min', 'max']).map((flag) => <Setting key={flag} f={of(flag)} form={form} />)}
          </div>
          {!fixed && <Settings list={[of('idle'), of('headroom')]} form={form} />}
          <Field label="Flavor" hint="what the nodes are" error={fault('flavor')}>{(id) => <select id={id} name="flavor" value={values.flavor ?? ''} onChange={(e) => put('flavor', e.currentTarget.value)}><option value="">none: as set below</option>{flavors.data?.items.map((x) => <option key={x.name} value={x.name}>{x.name}{x.price ? ` (${x.price} ${x.currency}/h)` : ''}</option>)}</select>}</Field>
          <Settings list={provided.filter((f) => ['', provider].includes(providerOf(f)) && !(values.flavor && /^node-/.test(f.flag)))} form={form} />
        </>
      )}
    </fieldset>
  );
}

function Who({ form }: { form: Form }) {
  const accepts = (form.values.accepts ?? '').split(/[\s,]+/).filter(Boolean);
  const toggle = (k: string) => form.put('accepts', KINDS.filter((x) => (x === k) !== accepts.includes(x)).join(', '));
  return (
    <fieldset>
      <legend>Who may use it</legend>
      <Field label="Access" error={form.fault('access')}>{(id) => <select id={id} name="access" value={form.values.access || 'public'} onChange={(e) => { form.put('access', e.currentTarget.value); if (e.currentTarget.value === 'public') form.put('for', ''); }}><option value="public">everybody</option><option value="dedicated">only these projects and departments</option></select>}</Field>
      {form.values.access === 'dedicated' && <Setting f={of('for')} form={form} />}
      <div role="group" aria-label="Kinds of tasks that it takes" class="kinds"><span class="label">Takes</span>{KINDS.map((k) => <label key={k} class="check"><input type="checkbox" checked={accepts.includes(k)} onChange={() => toggle(k)} />{k}</label>)}<span class="hint">none chosen: all kinds</span></div>
    </fieldset>
  );
}

/** The settings of a pool; `pool` is the one that is changed, null a new one. */
function PoolForm({ pool }: { pool: Pool | null }) {
  const [before] = useState<Values>(() => (pool ? valuesOf(pool.spec) : {}));
  const [values, setValues] = useState<Values>(before);
  const [name, setName] = useState('');
  const [error, setError] = useState<ApiError | null>(null);
  const fault = (path: string) => (error?.path === path || error?.path.startsWith(path + '[') ? error.message : undefined);
  const form: Form = { values, before, fault, put: (flag, text) => setValues((now) => ({ ...now, [flag]: text })) };
  const { body, flags } = definition(values, before);
  const target = pool?.name ?? name;
  const path = pool ? `/pools/${encodeURIComponent(pool.name)}` : '/pools';
  const command = ['weir pool', pool ? 'edit' : 'create', ...[target, ...flags].map(quote)].join(' ');
  const call = { method: pool ? 'PATCH' as const : 'POST' as const, path, body: pool ? body : { name, ...body } };
  const submit = (e: Event) => {
    e.preventDefault();
    setError(null);
    api.send(call.method, `${path}?dry_run=true`, call.body).then(() => ask({ title: pool ? `Change the pool ${target}?` : `Create the pool ${target}?`, verb: pool ? 'Change' : 'Create', command, calls: [call], done: () => go(`/pools/${encodeURIComponent(target)}`) }), setError);
  };
  const ready = pool ? flags.length > 0 : name !== '';
  return (
    <div class="cols">
      <Card>
        <form class="form" onSubmit={submit}>
          {!pool && <Field label="Name" hint="letters, digits, - _ .; at most 63; it cannot be changed" error={fault('name')}>{(id) => <input id={id} name="name" required maxLength={63} pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" value={name} onInput={(e) => setName(e.currentTarget.value.trim())} />}</Field>}
          <Settings list={HEAD.map(of)} form={form} />
          <Provider form={form} />
          <Who form={form} />
          <details><summary>Order and sharing</summary><div class="form"><Settings list={sharing} form={form} /></div></details>
          <details><summary>More: labels, slots of a node</summary><div class="form"><Settings list={more} form={form} /></div></details>
          <ErrorBox error={error} />
          <div class="actions"><Button kind="main" type="submit" disabled={!ready}>{pool ? 'Look at it, then change' : 'Look at it, then create'}</Button></div>
        </form>
      </Card>
      <Card title="The same at a prompt">{ready ? <Command text={command} label="" /> : <p class="faint">{pool ? 'Change a setting' : 'Write a name'}, and the command stands here.</p>}</Card>
    </div>
  );
}

export function NewPoolView() { return <><Head title="Create a pool" crumbs={[['Pools', '/pools']]} /><PoolForm pool={null} /></>; }

/** Shows the pool as it was when the page was opened: what is written meanwhile stays. */
export function EditPoolView() {
  const { name } = useParams();
  const pool = useLive<Pool>(`/pools/${encodeURIComponent(name)}`, () => false);
  const [was, set] = useState<Pool | null>(null);
  useEffect(() => { if (pool.data) set((now) => now ?? pool.data ?? null); }, [pool.data]);
  return (
    <>
      <Head title={`Change ${name}`} crumbs={[['Pools', '/pools'], [name, `/pools/${encodeURIComponent(name)}`]]} />
      <ErrorBox error={pool.error} />
      {was && <PoolForm pool={was} />}
    </>
  );
}
