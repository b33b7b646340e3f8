// map.tsx - the slot map: where everything runs, where the holes are, which nodes are in trouble.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ago, byName, num, plural } from '../lib/format';
import { go, useQuery } from '../lib/router';
import { Button, Card, Command, Empty, ErrorBox, Head, NodeLink, PoolLink, Tabs, TaskLink } from '../ui/base';
import { Table, type Column } from '../ui/table';
import { colourOf, colours, draw, fit, hit, layout, NEAREST, paint, tally, type By, type Hit, type Look, type Tile, type View } from './map_draw';
import { devicesOf, Fleet, words, type MapNode, type Occupant } from './map_model';
import './map.css';

const BYS: [By, string][] = [['project', 'Project'], ['user', 'User'], ['pool', 'Pool'], ['task', 'Task'], ['use', 'Use'], ['health', 'Health']];
const LEGEND_MAX = 14;
const STATES = ['', 'starting', 'running', 'stopping'];

function heldText(o: Occupant) {
  const devices = devicesOf(o);
  return `${o.task.project} / ${o.task.user}, ${devices.length ? `GPU ${devices.join(', ')}${o.slots < 1 ? ` (${num(o.slots)} of it)` : ''}` : plural(o.slots, 'slot')}, ${STATES[o.state] ?? ''}`;
}

function NodeCard({ tile, held }: { tile: Tile; held: Occupant[] }) {
  if (tile.ghost) return <div><b>A node on its way</b><p>Pool {tile.ghost.pool}, {tile.ghost.state} {ago(tile.ghost.asked)}{tile.ghost.zone && `, zone ${tile.ghost.zone}`}</p></div>;
  const node = tile.node as MapNode;
  const shown = held.length ? held : node.held;
  return (
    <div>
      <b>{node.name}</b> <span class="faint">{node.pool}</span>
      <p>{words(node)}; {num(Math.max(0, node.free))} of {plural(node.slots, node.devices ? 'GPU' : 'slot')} free</p>
      <ul>{shown.slice(0, 6).map((o) => <li key={`${o.task.id}.${o.instance}`}><b>task {o.task.id}{o.task.instances > 1 && `.${o.instance}`}</b> {heldText(o)}{o.task.gang && `, gang of ${o.task.instances}`}</li>)}{shown.length > 6 && <li>and {shown.length - 6} more</li>}</ul>
    </div>
  );
}

const columns: Column<MapNode>[] = [
  { key: 'name', title: 'Node', cell: (n) => <NodeLink name={n.name} /> },
  { key: 'pool', title: 'Pool', cell: (n) => <PoolLink name={n.pool} />, hide: 's' },
  { key: 'state', title: 'State', cell: (n) => words(n) },
  { key: 'free', title: 'Free', num: true, cell: (n) => `${num(n.free)} of ${num(n.slots)}` },
  { key: 'tasks', title: 'Tasks', grow: true, cell: (n) => <span class="clip">{n.held.map((o, i) => <span key={i}>{i > 0 && ', '}<TaskLink id={o.task.id}>{o.task.id}</TaskLink> <span class="faint">{o.task.project}</span></span>)}</span> },
];
const ROWS = 200;

function Twin({ nodes, asked }: { nodes: MapNode[]; asked: string }) {
  const [most, setMost] = useState(ROWS);
  return (
    <Card>
      <Table label="Nodes" columns={columns} rows={nodes.slice(0, most)} id={(n) => n.name} order={`${most} ${asked}`} />
      {nodes.length > most && <div><Button onClick={() => setMost(most + ROWS)}>Show {num(Math.min(ROWS, nodes.length - most))} more of {num(nodes.length)}</Button></div>}
    </Card>
  );
}

function Canvas({ fleet, by, find, seek }: { fleet: Fleet; by: By; find: Look['find']; seek: string }) {
  const ref = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ w: 0, h: 0 });
  const [view, setView] = useState<View | null>(null);
  const [over, setOver] = useState<{ hit: Hit; x: number; y: number } | null>(null);
  const [focus, setFocus] = useState(-1);
  const [theme, setTheme] = useState(0);
  const drag = useRef<{ x: number; y: number; moved: boolean; v: View } | null>(null);
  const at = fleet.at.value;
  const most = Math.min(720, innerHeight * 0.64);
  const width = size.w || 2 * most;
  const form = fleet.form.value;
  const l = useMemo(() => layout(fleet, width, most), [form, width, most, fleet]);
  const count = l.tiles.length;
  const keys = useMemo(() => tally(fleet, by).map(([key]) => key).filter(Boolean), [at, by, fleet]);
  const v = view ?? (size.w ? fit(l, size.w, size.h) : { x: 0, y: 0, scale: 1 });
  useEffect(() => {
    const canvas = ref.current as HTMLCanvasElement;
    const look = () => setSize({ w: canvas.clientWidth, h: canvas.clientHeight });
    look();
    const watch = new ResizeObserver(look);
    watch.observe(canvas);
    const repaint = new MutationObserver(() => setTheme((n) => n + 1));
    repaint.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    const media = matchMedia('(prefers-color-scheme: dark)');
    const other = () => setTheme((n) => n + 1);
    media.addEventListener('change', other);
    return () => { watch.disconnect(); repaint.disconnect(); media.removeEventListener('change', other); };
  }, []);
  useEffect(() => setView(null), [fleet]);
  const hot = over?.hit.held[0]?.task.id ?? 0;
  const frame = useRef(0);
  useEffect(() => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const canvas = ref.current;
      const ctx = canvas?.getContext('2d');
      if (!canvas || !ctx || !size.w) return;
      const c = colours();
      const ratio = Math.min(2, devicePixelRatio || 1);
      if (canvas.width !== Math.round(size.w * ratio) || canvas.height !== Math.round(size.h * ratio)) { canvas.width = Math.round(size.w * ratio); canvas.height = Math.round(size.h * ratio); }
      draw(ctx, l, v, { ...size, ratio }, { by, find, seeking: seek !== '', hot, focus: l.tiles[focus] ?? null }, c, paint(keys, c));
      const at = l.tiles[focus];
      if (at) canvas.dataset.focus = [at.x * v.scale + v.x, at.y * v.scale + v.y, at.w * v.scale, at.cols].join(' ');
      canvas.dataset.drawn = String(fleet.at.peek());
    });
  }, [at, l, v.x, v.y, v.scale, size.w, size.h, by, seek, hot, focus, theme]);
  const zoom = (factor: number, x = size.w / 2, y = size.h / 2) => {
    const scale = Math.max(0.05, Math.min(8, v.scale * factor));
    setView({ scale, x: x - ((x - v.x) * scale) / v.scale, y: y - ((y - v.y) * scale) / v.scale });
  };
  useEffect(() => {
    const canvas = ref.current as HTMLCanvasElement;
    const wheel = (e: WheelEvent) => { e.preventDefault(); zoom(Math.exp(-e.deltaY / 400), e.offsetX, e.offsetY); };
    canvas.addEventListener('wheel', wheel, { passive: false });
    return () => canvas.removeEventListener('wheel', wheel);
  });
  const open = (found: Hit) => {
    if (found.held.length) go(`/tasks/${found.held[0].task.id}`);
    else if (found.tile.node) go(`/nodes/${encodeURIComponent(found.tile.node.name)}`);
    else if (found.tile.ghost) go(`/pools/${encodeURIComponent(found.tile.ghost.pool)}`);
  };
  const key = (e: KeyboardEvent) => {
    const row = Math.max(1, l.tiles.findIndex((t) => t.y > l.tiles[0].y));
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: row, ArrowUp: -row };
    if (e.key in steps && count) {
      const next = Math.max(0, Math.min(count - 1, focus + (focus < 0 ? 1 : steps[e.key])));
      const t = l.tiles[next];
      setFocus(next);
      setOver({ hit: { tile: t, cell: -1, held: [] }, x: t.x * v.scale + v.x, y: (t.y + t.h) * v.scale + v.y });
      const x = t.x * v.scale + v.x, y = t.y * v.scale + v.y;
      if (x < 0 || y < 0 || x > size.w - 20 || y > size.h - 20) setView({ ...v, x: size.w / 2 - t.x * v.scale, y: size.h / 2 - t.y * v.scale });
    } else if (e.key === '+' || e.key === '=') zoom(1.4);
    else if (e.key === '-') zoom(1 / 1.4);
    else if (e.key === '0') setView(null);
    else if (e.key === 'Enter' && l.tiles[focus]) open({ tile: l.tiles[focus], cell: -1, held: [] });
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div class="map-box" style={{ height: `${Math.round(Math.max(180, Math.min(most, l.h * Math.min(NEAREST, size.w / l.w))))}px` }}>
      <div class="map-tools" role="group" aria-label="Zoom">
        <Button small onClick={() => zoom(1.4)} aria-label="Nearer">+</Button>
        <Button small onClick={() => zoom(1 / 1.4)} aria-label="Farther">−</Button>
        <Button small onClick={() => setView(null)}>Fit</Button>
      </div>
      <canvas ref={ref} class="map-canvas" tabIndex={0} role="application" aria-label={`Map of ${plural(fleet.nodes.size, 'node')}. Arrow keys go from node to node, Enter opens, plus and minus zoom, 0 shows all. The table has the same in words.`} aria-describedby="map-card"
        onKeyDown={key} onPointerLeave={() => setOver(null)}
        onPointerDown={(e) => { drag.current = { x: e.offsetX, y: e.offsetY, moved: false, v }; ref.current?.setPointerCapture(e.pointerId); }}
        onPointerMove={(e) => {
          const d = drag.current;
          if (d && (d.moved || Math.hypot(e.offsetX - d.x, e.offsetY - d.y) > 4)) { d.moved = true; setView({ ...d.v, x: d.v.x + e.offsetX - d.x, y: d.v.y + e.offsetY - d.y }); setOver(null); return; }
          const found = hit(l, v, e.offsetX, e.offsetY);
          setOver(found && { hit: found, x: e.offsetX, y: e.offsetY });
        }}
        onPointerUp={(e) => { const d = drag.current; drag.current = null; if (d && !d.moved) { const found = hit(l, v, e.offsetX, e.offsetY); if (found) open(found); } }} />
      <div id="map-card" class={`map-card ${over ? '' : 'off'}`} role="status"
        style={over ? { left: `${Math.max(0, Math.min(over.x + 14, size.w - 290))}px`, top: `${over.y + 14 > size.h - 150 ? Math.max(0, over.y - 150) : over.y + 14}px` } : {}}>
        {over && <NodeCard tile={over.hit.tile} held={over.hit.held} />}
      </div>
    </div>
  );
}

/** The marks that have no colour of their own. */
function Marks() {
  return (
    <ul class="map-legend" aria-label="Marks">
      <li><span class="map-mark map-mark-gang" aria-hidden="true" />a gang</li>
      <li><span class="map-mark map-mark-coming" aria-hidden="true" />a node on its way</li>
      <li><span class="map-mark map-mark-draining" aria-hidden="true" />draining</li>
      <li><span class="map-mark map-mark-broken" aria-hidden="true">✕</span>not in service</li>
    </ul>
  );
}

function Legend({ fleet, by, pick }: { fleet: Fleet; by: By; pick: (key: string) => void }) {
  const at = fleet.at.value;
  const rows = useMemo(() => tally(fleet, by), [at, by, fleet]);
  const c = colours();
  const named = rows.filter(([key]) => key !== '');
  const paints = paint(named.map(([key]) => key), c);
  const free = rows.find(([key]) => key === '')?.[1] ?? 0;
  return (
    <ul class="map-legend" aria-label="Colours">
      {named.slice(0, LEGEND_MAX).map(([key, n]) => <li key={key}><button type="button" onClick={() => pick(key)} title={`Show ${key} alone`}><span class="map-dot" style={{ background: colourOf(by, key, c, paints) }} aria-hidden="true" />{key} <b>{num(n)}</b></button></li>)}
      {named.length > LEGEND_MAX && <li class="faint">{num(named.length - LEGEND_MAX)} more: {num(named.slice(LEGEND_MAX).reduce((s, [, n]) => s + n, 0))}</li>}
      {free > 0 && <li><span class="map-dot" style={{ background: c.free }} aria-hidden="true" />free <b>{num(free)}</b></li>}
    </ul>
  );
}

export function MapView() {
  const [query, set] = useQuery();
  const pool = query.get('pool') ?? '';
  const by = (query.get('by') ?? 'project') as By;
  const seek = query.get('q') ?? '';
  const table = query.get('as') === 'table';
  const fleet = useMemo(() => new Fleet(pool), [pool]);
  useEffect(() => () => fleet.close(), [fleet]);
  const at = fleet.at.value;
  const word = seek.toLowerCase();
  const find = useMemo(() => (node: MapNode, held: Occupant[]) => node.name.toLowerCase().includes(word) || held.some((o) => o.task.user.toLowerCase() === word || o.task.project.toLowerCase() === word || `task ${o.task.id}` === word || String(o.task.id) === word) || (held.length > 0 && node.pool.toLowerCase() === word), [word]);
  const known = useRef(new Set<string>());
  for (const node of fleet.nodes.values()) known.current.add(node.pool);
  const nodes = useMemo(() => (table ? [...fleet.nodes.values()].filter((n) => !word || find(n, n.held)).sort((a, b) => byName(a.name, b.name)) : []), [at, word, fleet, table]);
  let total = 0, free = 0;
  for (const node of fleet.nodes.values()) { total += node.slots; free += Math.max(0, node.free); }
  return (
    <>
      <Head title="Slot map" sub={fleet.loaded.value && <>{plural(fleet.nodes.size, 'node')}{fleet.ghosts.length > 0 && `, ${fleet.ghosts.length} on their way`}; {num(total - free)} of {num(total)} slots held, {num(free)} free</>}>
        <div class="filters">
          <input class="map-find" type="search" aria-label="Find a node, user, project or task" placeholder="node, user, project, task" value={seek} onInput={(e) => set({ q: e.currentTarget.value })} />
          <select aria-label="Pool" value={pool} onChange={(e) => set({ pool: e.currentTarget.value })}><option value="">all pools</option>{[...known.current].sort().map((p) => <option key={p} value={p}>{p}</option>)}</select>
          <Tabs label="Form" items={[['map', 'Map'], ['table', 'Table']]} now={table ? 'table' : 'map'} pick={(k) => set({ as: k === 'table' ? 'table' : null })} />
        </div>
      </Head>
      <ErrorBox error={fleet.error.value} retry={() => void fleet.whole()} />
      {fleet.loaded.value && fleet.nodes.size === 0 && fleet.ghosts.length === 0 ? (
        <Card><Empty title="No node has joined yet"><p>On the machine that is to run tasks:</p><Command text={`weir agent --server ${location.origin} --pool ${pool || 'default'} --join-token TOKEN`} label="The first node" /></Empty></Card>
      ) : table ? <Twin nodes={nodes} asked={`${pool} ${word}`} /> : (
        <Card>
          <Tabs label="Colour by" items={BYS} now={by} pick={(k) => set({ by: k === 'project' ? null : k })} />
          <Canvas fleet={fleet} by={by} find={find} seek={seek} />
          <Legend fleet={fleet} by={by} pick={(k) => set({ q: seek === k ? null : k })} />
          <Marks />
        </Card>
      )}
    </>
  );
}

