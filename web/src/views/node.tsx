// node.tsx - a node: what it has, what runs there, and taking it out. SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from 'preact/hooks';
import { weir } from '../lib/cli';
import { amount, num, plural, times } from '../lib/format';
import { useLive, type Ev } from '../lib/live';
import { mayAdmin } from '../lib/me';
import { go, href, useParams } from '../lib/router';
import type { Node } from '../lib/types';
import { Button, Card, Chip, Command, ErrorBox, Facts, Field, Head, PoolLink, TaskLink, Time } from '../ui/base';
import { Meter } from '../ui/bar';
import { ask, Dialog } from '../ui/dialog';
import { EventList, useEvents } from '../ui/events';
import { devicesOf, nodesOf, type Answer, type MapNode } from './map_model';
import { NodeState } from './pools';
import './pool.css';

const BUSY: [string, string][] = [['wait', 'run to their end'], ['requeue', 'run elsewhere'], ['kill', 'are killed'], ['refuse', 'stay: refuse the drain']];

function Drain({ n, close }: { n: Node; close: () => void }) {
  const [busy, setBusy] = useState('wait');
  const [within, setWithin] = useState('');
  const next = (e: Event) => {
    e.preventDefault();
    close();
    const timed = busy === 'requeue' || busy === 'kill';
    ask({ title: `Drain the node ${n.name}?`, verb: 'Drain', danger: busy === 'kill', command: weir('node', 'drain', n.name, busy !== 'wait' && '--busy', busy !== 'wait' && busy, timed && within && '--within', timed && within), calls: [{ method: 'PATCH', path: `/nodes/${encodeURIComponent(n.name)}`, body: { draining: true, busy, ...(timed && within ? { within } : {}) } }] });
  };
  return (
    <Dialog title={`Drain ${n.name}`} close={close}>
      <form class="form" onSubmit={next}>
        <p>Nothing more starts on a draining node.</p>
        <Field label="Tasks on it">{(id) => <select id={id} name="busy" value={busy} onChange={(e) => setBusy(e.currentTarget.value)}>{BUSY.map(([k, what]) => <option key={k} value={k}>{what}</option>)}</select>}</Field>
        {(busy === 'requeue' || busy === 'kill') && <Field label="They may run on for" hint="30m; empty: not at all">{(id) => <input id={id} name="within" value={within} onInput={(e) => setWithin(e.currentTarget.value.trim())} />}</Field>}
        <footer class="dialog-foot"><Button onClick={close}>Leave it</Button><Button kind="main" type="submit">Look at it</Button></footer>
      </form>
    </Dialog>
  );
}

function Label({ n, close }: { n: Node; close: () => void }) {
  const [text, setText] = useState('');
  const words = text.split(/[\s,]+/).filter(Boolean);
  const labels: Record<string, string | null> = {};
  for (const word of words) { const at = word.indexOf('='); if (at > 0) labels[word.slice(0, at)] = word.slice(at + 1); else if (word.endsWith('-')) labels[word.slice(0, -1)] = null; }
  const next = (e: Event) => {
    e.preventDefault();
    close();
    ask({ title: `Label the node ${n.name}?`, verb: 'Label', command: weir('node', 'label', n.name, ...words), calls: [{ method: 'PATCH', path: `/nodes/${encodeURIComponent(n.name)}`, body: { labels } }] });
  };
  return (
    <Dialog title={`Label ${n.name}`} close={close}>
      <form class="form" onSubmit={next}>
        <Field label="Labels" hint="zone=a rack=r7; rack- takes a label away">{(id) => <input id={id} name="labels" value={text} onInput={(e) => setText(e.currentTarget.value)} autofocus />}</Field>
        <p class="faint">Labels may say that the node belongs to another pool: then it moves there once nothing runs on it.</p>
        <footer class="dialog-foot"><Button onClick={close}>Leave it</Button><Button kind="main" type="submit" disabled={Object.keys(labels).length === 0}>Look at it</Button></footer>
      </form>
    </Dialog>
  );
}

/** The devices of a node and what holds each; without devices, the tasks with their slots. */
function Held({ n, on }: { n: Node; on: MapNode | undefined }) {
  if (!on) return null;
  const holder = (d: number) => on.held.filter((o) => devicesOf(o).includes(d));
  return (
    <>
      {n.devices.length > 0 && (
        <ul class="pool-devices" aria-label="Devices">{n.devices.map((d) => <li key={d.index} class={`pool-device ${d.free < 1 ? 'taken' : ''}`}><span class="faint">GPU {d.index}</span> {holder(d.index).length ? holder(d.index).map((o, i) => <>{i > 0 && ', '}<TaskLink id={o.task.id}>{o.task.id}</TaskLink> {o.task.user}</>) : d.out ? 'out of service' : d.free > 0 ? 'free' : 'taken'}{d.out && holder(d.index).length > 0 && ', out of service'}{d.free > 0 && d.free < 1 && `, ${num(d.free)} free`}</li>)}</ul>
      )}
      {on.held.length === 0 ? <p class="faint">Nothing runs on this node.</p> : (
        <ul class="stack-small">{on.held.slice(0, 200).map((o) => <li key={`${o.task.id}.${o.instance}`}><TaskLink id={o.task.id}>task {o.task.id}{o.task.instances > 1 && `, instance ${o.instance}`}</TaskLink> <span class="faint">{o.task.user} of {o.task.project}, {o.task.kind}, {o.slots > 0 ? plural(o.slots, 'slot') : 'without slots'}{o.task.gang && `, gang of ${o.task.instances}`}</span></li>)}</ul>
      )}
    </>
  );
}

function Actions({ n }: { n: Node }) {
  const [open, setOpen] = useState<'' | 'drain' | 'label'>('');
  const path = `/nodes/${encodeURIComponent(n.name)}`;
  const patch = (title: string, verb: string, word: string, body: unknown) => ask({ title, verb, command: weir('node', word, n.name), calls: [{ method: 'PATCH', path, body }] });
  return (
    <>
      {n.draining ? <Button kind="main" onClick={() => patch(`Use ${n.name} again?`, 'Resume', 'resume', { draining: false })}>Resume</Button> : <Button onClick={() => setOpen('drain')}>Drain</Button>}
      {n.locked ? <Button onClick={() => patch(`Let ${n.name} go again?`, 'Unlock', 'unlock', { locked: false })}>Unlock</Button> : <Button onClick={() => patch(`Keep ${n.name} for good?`, 'Lock', 'lock', { locked: true })}>Lock</Button>}
      <Button onClick={() => setOpen('label')}>Label</Button>
      <Button kind="danger" disabled={n.tasks.length > 0} title={n.tasks.length > 0 ? 'Tasks run there: drain it first' : ''} onClick={() => ask({ title: `Remove the node ${n.name}?`, verb: 'Remove', danger: true, text: <p>Its credential is no longer accepted. End its agent first, or it joins again.</p>, command: weir('node', 'remove', n.name), calls: [{ method: 'DELETE', path }], done: () => go('/nodes') })}>Remove</Button>
      {open === 'drain' && <Drain n={n} close={() => setOpen('')} />}
      {open === 'label' && <Label n={n} close={() => setOpen('')} />}
    </>
  );
}

export function NodeView() {
  const { name } = useParams();
  const mine = (e: Ev) => e.node === name || e.actor === `node:${name}`;
  const node = useLive<Node>(`/nodes/${encodeURIComponent(name)}`, mine);
  const n = node.data;
  const map = useLive<Answer>(`/map?nodes=${encodeURIComponent(name)}`, mine);
  const on = useMemo(() => (map.data ? nodesOf(map.data)[0] : undefined), [map.data]);
  const past = useEvents(n ? `pool=${encodeURIComponent(n.pool)}` : 'pool=', (e) => e.node === name || e.actor === `node:${name}`);
  if (!n) return <><Head title={name} crumbs={[['Nodes', '/nodes']]} /><ErrorBox error={node.error} retry={node.reload} />{!node.error && <p class="faint">Asking the server …</p>}</>;
  return (
    <>
      <Head title={n.name} crumbs={[['Nodes', '/nodes']]} sub={<><NodeState n={n} /> in pool <PoolLink name={n.pool} /></>}>{mayAdmin.value && <Actions n={n} />}</Head>
      {n.device_trouble && <p class="note bad">Out of service, given to no task: {n.device_trouble}</p>}
      {n.trouble && <p class="note bad">It takes no work: {n.trouble}</p>}
      {n.leaving && <p class="note warn">It leaves its pool once it has no work: {n.leaving}</p>}
      {n.drain_by && <p class="note warn">What still runs here stops <Time at={n.drain_by} />.</p>}
      <div class="cols">
        <Card title="Resources">
          <div class="stack">{Object.entries(n.resources).filter(([, v]) => v.total > 0).map(([r, v]) => <div key={r}><b>{amount(r, v.total - v.free)}</b> of {amount(r, v.total)} {r === 'cpu' ? 'cores' : r === 'memory' ? 'of memory' : r} used<Meter value={v.total - v.free} of={v.total} label={`${amount(r, v.total - v.free)} of ${amount(r, v.total)} ${r}`} /></div>)}</div>
          <Facts rows={[['Labels', <span class="pool-labels">{Object.entries(n.labels).map(([k, v]) => <Chip key={k}>{k}={v}</Chip>)}</span>], ['Address', n.address], ['Version', n.version], ['Came up', times(n.incarnation)], n.unprevented && ['Not prevented', n.unprevented]]} />
        </Card>
        <Card title="Here now">
          <Held n={n} on={on} />
          <Command text={weir('node', 'show', n.name)} />
        </Card>
      </div>
      <Card title="What happened here" side={<a href={href('/timeline', { node: n.name })}>Timeline</a>}><EventList {...past} show={['task']} empty="Nothing has happened on this node yet." /></Card>
    </>
  );
}
