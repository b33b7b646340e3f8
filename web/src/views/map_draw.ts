// map_draw.ts - the fleet on a canvas: where each tile lies, which colour each cell has, what lies under the pointer.
// SPDX-License-Identifier: Apache-2.0
import { DRAINING, devicesOf, KEPT, LOST, SILENT, TROUBLED, type Fleet, type Ghost, type MapNode, type Occupant } from './map_model';

export type By = 'project' | 'user' | 'pool' | 'task' | 'use' | 'health';
export interface Tile { x: number; y: number; w: number; h: number; cols: number; cells: number; node: MapNode | null; ghost: Ghost | null }
export interface Label { text: string; x: number; y: number }
export interface Layout { tiles: Tile[]; labels: Label[]; w: number; h: number }
export interface View { x: number; y: number; scale: number }
export interface Hit { tile: Tile; cell: number; held: Occupant[] }

const CELL = 10, PAD = 3, GAP = 4, HEAD = 26, CELLS_MAX = 64;

function cellsOf(node: MapNode): number { return Math.max(1, Math.min(CELLS_MAX, node.devices || Math.ceil(node.slots) || 1)); }

function shape(cells: number): [number, number] {
  const cols = cells <= 4 ? cells : Math.ceil(cells / (cells <= 16 ? 2 : Math.floor(Math.sqrt(cells))));
  return [cols, Math.ceil(cells / cols)];
}

/** Pools one below the other, each a block of tiles in order of name; as wide as fits the picture's form. */
export function layout(fleet: Fleet, aspect: number): Layout {
  const pools = new Map<string, { nodes: MapNode[]; ghosts: Ghost[] }>();
  const of = (pool: string) => { let p = pools.get(pool); if (!p) { p = { nodes: [], ghosts: [] }; pools.set(pool, p); } return p; };
  for (const node of fleet.nodes.values()) of(node.pool).nodes.push(node);
  for (const ghost of fleet.ghosts) of(ghost.pool).ghosts.push(ghost);
  let area = 0;
  let widest = 60;
  for (const p of pools.values()) {
    p.nodes.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
    for (const node of p.nodes) {
      const [cols, rows] = shape(cellsOf(node));
      area += (cols * CELL + 2 * PAD + GAP) * (rows * CELL + 2 * PAD + GAP);
      widest = Math.max(widest, cols * CELL + 2 * PAD + GAP);
    }
    area += p.ghosts.length * 600 + 2000;
  }
  const width = Math.max(widest, Math.sqrt(area * aspect));
  const tiles: Tile[] = [];
  const labels: Label[] = [];
  let y = 0;
  for (const [pool, p] of [...pools].sort((a, b) => a[0].localeCompare(b[0]))) {
    labels.push({ text: `${pool}: ${p.nodes.length} ${p.nodes.length === 1 ? 'node' : 'nodes'}${p.ghosts.length ? `, ${p.ghosts.length} coming` : ''}`, x: 0, y });
    y += HEAD;
    let x = 0;
    let row = 0;
    const usual = p.nodes.length ? shape(cellsOf(p.nodes[0])) : [2, 2];
    const put = (cols: number, rows: number, cells: number, node: MapNode | null, ghost: Ghost | null) => {
      const w = cols * CELL + 2 * PAD;
      const h = rows * CELL + 2 * PAD;
      if (x > 0 && x + w > width) { x = 0; y += row + GAP + 2; row = 0; }
      tiles.push({ x, y, w, h, cols, cells, node, ghost });
      x += w + GAP;
      row = Math.max(row, h);
    };
    for (const node of p.nodes) { const [cols, rows] = shape(cellsOf(node)); put(cols, rows, cellsOf(node), node, null); }
    for (const ghost of p.ghosts) put(usual[0], usual[1], 0, null, ghost);
    y += row + GAP * 3;
  }
  return { tiles, labels, w: width, h: Math.max(1, y) };
}

/** Which occupants each cell of a node has. Without devices the cells are filled in order. */
export function cellHeld(node: MapNode): Occupant[][] {
  const count = cellsOf(node);
  const cells: Occupant[][] = Array.from({ length: count }, () => []);
  let next = 0;
  const each = node.slots / count;
  for (const o of node.held) {
    if (node.devices) { for (const d of devicesOf(o)) cells[d]?.push(o); continue; }
    for (let left = o.slots / (each || 1); left > 0.001 && next < count; left--) cells[next++].push(o);
  }
  return cells;
}

export function hash(text: string): number {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return h >>> 0;
}

export interface Colours { free: string; line: string; fg: string; muted: string; card: string; broken: string; kept: string; coming: string; used: string; warn: string; dark: boolean }

export function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const v = (name: string) => style.getPropertyValue(name).trim();
  return { free: v('--free'), line: v('--line-2'), fg: v('--fg'), muted: v('--muted'), card: v('--card'), broken: v('--broken'), kept: v('--kept'), coming: v('--coming'), used: v('--used'), warn: v('--waiting'), dark: style.colorScheme === 'dark' };
}

// Hues far apart, in two depths; the names of a fleet choose by their hash, and a taken one leads to the next.
const HUES = [205, 28, 275, 140, 340, 50, 240, 95, 310, 178];
const DEPTHS = 2;
export type Paint = Map<string, string>;

export function paint(keys: string[], c: Colours): Paint {
  const taken = new Set<number>();
  const result: Paint = new Map();
  const most = HUES.length * DEPTHS;
  for (const key of [...keys].sort()) {
    let at = hash(key) % HUES.length;
    for (let i = 0; i < most && taken.has(at); i++) at = (at + 1) % most;
    if (taken.size < most) taken.add(at);
    const deep = at >= HUES.length;
    result.set(key, `hsl(${HUES[at % HUES.length]} ${deep ? 38 : 58}% ${c.dark ? (deep ? 38 : 54) : (deep ? 60 : 44)}%)`);
  }
  return result;
}

export function keyOf(by: By, node: MapNode, held: Occupant[]): string {
  if (by === 'health') return node.flags & LOST ? 'lost' : node.flags & SILENT ? 'silent' : node.flags & TROUBLED ? 'out of service' : node.flags & DRAINING ? 'draining' : node.flags & KEPT && !held.length ? 'kept' : held.length ? 'used' : 'free';
  if (!held.length) return '';
  if (by === 'use') { const sum = held.reduce((s, o) => s + (node.devices && devicesOf(o).length === 1 && o.slots < 1 ? o.slots : 1), 0); return sum >= 0.999 ? 'whole' : sum >= 0.5 ? 'half or more' : 'less than half'; }
  if (by === 'pool') return node.pool;
  if (by === 'user') return held[0].task.user;
  if (by === 'task') return `task ${held[0].task.id}`;
  return held[0].task.project;
}

export function colourOf(by: By, key: string, c: Colours, paints: Paint): string {
  if (key === '') return c.free;
  if (by === 'health') return ({ lost: c.broken, silent: c.warn, 'out of service': c.broken, draining: c.coming, kept: c.kept, used: c.used } as Record<string, string>)[key] ?? c.free;
  if (by === 'use') return ({ whole: c.used, 'half or more': c.kept, 'less than half': c.warn } as Record<string, string>)[key];
  return paints.get(key) ?? c.used;
}

/** How many cells each key has, the largest first. */
export function tally(fleet: Fleet, by: By): [string, number][] {
  const count = new Map<string, number>();
  for (const node of fleet.nodes.values()) for (const held of cellHeld(node)) { const key = keyOf(by, node, held); count.set(key, (count.get(key) ?? 0) + 1); }
  return [...count].sort((a, b) => b[1] - a[1]);
}

export interface Look { by: By; find: (node: MapNode, held: Occupant[]) => boolean; seeking: boolean; hot: number; focus: Tile | null }

export function draw(ctx: CanvasRenderingContext2D, l: Layout, v: View, size: { w: number; h: number; ratio: number }, look: Look, c: Colours, paints: Paint) {
  ctx.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
  ctx.clearRect(0, 0, size.w, size.h);
  const px = CELL * v.scale;
  const inset = px >= 6 ? 0.5 : 0;
  const fills = new Map<string, number[]>();
  const fill = (colour: string, x: number, y: number, w: number, h: number) => { let list = fills.get(colour); if (!list) { list = []; fills.set(colour, list); } list.push(x, y, w, h); };
  const crosses: number[] = [];
  const gangs: number[] = [];
  const frames: number[] = [];
  const hot: number[] = [];
  const ghosts: number[] = [];
  for (const t of l.tiles) {
    const x = t.x * v.scale + v.x, y = t.y * v.scale + v.y, w = t.w * v.scale, h = t.h * v.scale;
    if (x > size.w || y > size.h || x + w < 0 || y + h < 0) continue;
    if (t.ghost) { ghosts.push(x, y, w, h); continue; }
    const node = t.node as MapNode;
    if (px >= 4) frames.push(x, y, w, h);
    const cells = cellHeld(node);
    for (let i = 0; i < cells.length; i++) {
      const cx = x + (PAD + (i % t.cols) * CELL) * v.scale, cy = y + (PAD + Math.floor(i / t.cols) * CELL) * v.scale;
      const held = cells[i];
      const pale = look.seeking && !look.find(node, held);
      fill(pale ? c.line : colourOf(look.by, keyOf(look.by, node, held), c, paints), cx + inset, cy + inset, px - 2 * inset, px - 2 * inset);
      if (px >= 6 && held.some((o) => o.task.gang || o.task.instances > 1)) gangs.push(cx + 1.5, cy + 1.5, px - 3, px - 3);
      if (look.hot && held.some((o) => o.task.id === look.hot)) hot.push(cx, cy, px, px);
    }
    if (node.flags & (LOST | SILENT | TROUBLED)) crosses.push(x, y, w, h);
  }
  for (const [colour, list] of fills) { ctx.fillStyle = colour; for (let i = 0; i < list.length; i += 4) ctx.fillRect(list[i], list[i + 1], list[i + 2], list[i + 3]); }
  const strokes = (list: number[], colour: string, width: number, dash: number[] = []) => {
    if (!list.length) return;
    ctx.strokeStyle = colour; ctx.lineWidth = width; ctx.setLineDash(dash); ctx.beginPath();
    for (let i = 0; i < list.length; i += 4) ctx.rect(list[i], list[i + 1], list[i + 2], list[i + 3]);
    ctx.stroke(); ctx.setLineDash([]);
  };
  strokes(frames, c.line, 1);
  strokes(ghosts, c.coming, 1.5, [4, 3]);
  strokes(gangs, c.card, 1.5);
  if (crosses.length) {
    ctx.strokeStyle = c.broken; ctx.lineWidth = Math.max(1, Math.min(3, px / 5)); ctx.beginPath();
    for (let i = 0; i < crosses.length; i += 4) { ctx.moveTo(crosses[i], crosses[i + 1]); ctx.lineTo(crosses[i] + crosses[i + 2], crosses[i + 1] + crosses[i + 3]); ctx.moveTo(crosses[i] + crosses[i + 2], crosses[i + 1]); ctx.lineTo(crosses[i], crosses[i + 1] + crosses[i + 3]); }
    ctx.stroke();
  }
  strokes(hot, c.fg, 2);
  if (look.focus) { const t = look.focus; strokes([t.x * v.scale + v.x - 1, t.y * v.scale + v.y - 1, t.w * v.scale + 2, t.h * v.scale + 2], c.fg, 2.5); }
  ctx.fillStyle = c.fg;
  ctx.font = '600 13px system-ui, "DejaVu Sans", sans-serif';
  for (const label of l.labels) ctx.fillText(label.text, Math.max(4, label.x * v.scale + v.x), (label.y + HEAD) * v.scale + v.y - Math.max(5, 6 * v.scale), size.w - 8);
  if (px >= 22) {
    ctx.font = '11px ui-monospace, "DejaVu Sans Mono", monospace';
    for (const t of l.tiles) {
      const x = t.x * v.scale + v.x, y = t.y * v.scale + v.y;
      if (!t.node || x > size.w || y > size.h || x + t.w * v.scale < 0 || y + t.h * v.scale < 0) continue;
      ctx.fillStyle = c.fg;
      ctx.fillText(t.node.name, x + 2, y + t.h * v.scale + 11, t.w * v.scale);
      const cells = cellHeld(t.node);
      for (let i = 0; i < cells.length && px >= 30; i++) if (cells[i].length) { ctx.fillStyle = '#fff'; ctx.fillText(String(cells[i][0].task.id), x + (PAD + (i % t.cols) * CELL) * v.scale + 4, y + (PAD + Math.floor(i / t.cols) * CELL) * v.scale + 15, px - 6); }
    }
  }
}

export function fit(l: Layout, w: number, h: number): View {
  const scale = Math.max(0.05, Math.min(3, w / l.w, h / (l.h + 4)));
  return { scale, x: Math.max(0, (w - l.w * scale) / 2), y: 2 };
}

export function hit(l: Layout, v: View, px: number, py: number): Hit | null {
  const x = (px - v.x) / v.scale, y = (py - v.y) / v.scale;
  const tile = l.tiles.find((t) => x >= t.x && x < t.x + t.w + GAP / 2 && y >= t.y && y < t.y + t.h + GAP / 2);
  if (!tile) return null;
  const col = Math.floor((x - tile.x - PAD) / CELL), row = Math.floor((y - tile.y - PAD) / CELL);
  const cell = col >= 0 && col < tile.cols && row >= 0 ? row * tile.cols + col : -1;
  const held = tile.node ? cellHeld(tile.node) : [];
  return { tile, cell: cell < held.length ? cell : -1, held: held[cell] ?? [] };
}
