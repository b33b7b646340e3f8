// map_draw.ts - the fleet on a canvas: where each tile lies, which colour each cell has, what lies under the pointer.
// SPDX-License-Identifier: Apache-2.0
import { byName } from '../lib/format';
import { DRAINING, devicesOf, KEPT, LOST, SILENT, TROUBLED, type Fleet, type Ghost, type MapNode, type Occupant } from './map_model';

export type By = 'project' | 'user' | 'pool' | 'task' | 'use' | 'health';
export interface Tile { x: number; y: number; w: number; h: number; cols: number; cells: number; node: MapNode | null; ghost: Ghost | null }
export interface Label { text: string; x: number; y: number; w: number }
export interface Layout { tiles: Tile[]; labels: Label[]; w: number; h: number }
export interface View { x: number; y: number; scale: number }
export interface Hit { tile: Tile; cell: number; held: Occupant[] }

const CELL = 10, PAD = 3, GAP = 4, HEAD = 26, CELLS_MAX = 64;

function cellsOf(node: MapNode): number { return Math.max(1, Math.min(CELLS_MAX, node.devices || Math.ceil(node.slots) || 1)); }

function shape(cells: number): [number, number] {
  const cols = cells <= 4 ? cells : Math.ceil(cells / (cells <= 16 ? 2 : Math.floor(Math.sqrt(cells))));
  return [cols, Math.ceil(cells / cols)];
}

interface Block { pool: string; nodes: MapNode[]; ghosts: Ghost[]; usual: [number, number]; sizes: [number, number][] }

const BLOCK_GAP = 14, BLOCK_LEAST = 40;
/** Nearer than this a fleet is not drawn of itself. */
export const NEAREST = 3;
const WIDTHS = [0.5, 0.65, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.8, 2.2, 3];

function blocksOf(fleet: Fleet): Block[] {
  const pools = new Map<string, Block>();
  const of = (pool: string) => { let p = pools.get(pool); if (!p) { p = { pool, nodes: [], ghosts: [], usual: [2, 2], sizes: [] }; pools.set(pool, p); } return p; };
  for (const node of fleet.nodes.values()) of(node.pool).nodes.push(node);
  for (const ghost of fleet.ghosts) of(ghost.pool).ghosts.push(ghost);
  for (const block of pools.values()) {
    block.nodes.sort((a, b) => byName(a.name, b.name));
    if (block.nodes.length) block.usual = shape(cellsOf(block.nodes[0]));
    block.sizes = [...block.nodes.map((n) => shape(cellsOf(n))), ...block.ghosts.map(() => block.usual)];
  }
  return [...pools.values()].sort((a, b) => byName(a.pool, b.pool));
}

/** Pools beside each other as far as `width` goes, then below; in each its tiles, row by row. */
function packed(blocks: Block[], width: number, tiles: boolean): Layout {
  const l: Layout = { tiles: [], labels: [], w: 0, h: 1 };
  let left = 0, top = 0, shelf = 0;
  for (const block of blocks) {
    const wide = Math.max(BLOCK_LEAST, Math.min(width, block.sizes.reduce((sum, [cols]) => sum + cols * CELL + 2 * PAD + GAP, -GAP)));
    if (left > 0 && left + wide > width) { left = 0; top += shelf + BLOCK_GAP; shelf = 0; }
    l.labels.push({ text: `${block.pool}: ${block.nodes.length} ${block.nodes.length === 1 ? 'node' : 'nodes'}${block.ghosts.length ? `, ${block.ghosts.length} coming` : ''}`, x: left, y: top, w: wide });
    let x = 0, y = top + HEAD, row = 0;
    block.sizes.forEach(([cols, rows], i) => {
      const w = cols * CELL + 2 * PAD, h = rows * CELL + 2 * PAD;
      if (x > 0 && x + w > wide) { x = 0; y += row + GAP + 2; row = 0; }
      if (tiles) {
        const node = block.nodes[i] ?? null;
        l.tiles.push({ x: left + x, y, w, h, cols, cells: node ? cellsOf(node) : 0, node, ghost: node ? null : block.ghosts[i - block.nodes.length] });
      }
      x += w + GAP;
      row = Math.max(row, h);
    });
    shelf = Math.max(shelf, y + row - top);
    l.w = Math.max(l.w, left + wide);
    l.h = Math.max(l.h, top + shelf + GAP * 3);
    left += wide + BLOCK_GAP;
  }
  return l;
}

/** Of several widths the one at which the picture is largest in this frame; of those alike, the lowest picture. */
export function layout(fleet: Fleet, width: number, height: number): Layout {
  const aspect = width / height;
  const blocks = blocksOf(fleet);
  let area = 1;
  for (const block of blocks) {
    area += 2000;
    for (const [cols, rows] of block.sizes) area += (cols * CELL + 2 * PAD + GAP) * (rows * CELL + 2 * PAD + GAP);
  }
  let best = 1, most = 0, low = Infinity;
  for (const factor of WIDTHS) {
    const l = packed(blocks, Math.sqrt(area * aspect) * factor, false);
    const scale = Math.min(NEAREST, width / l.w, height / l.h);
    if (scale > most * 1.01 || (scale > most * 0.99 && l.h < low)) { most = Math.max(most, scale); low = l.h; best = factor; }
  }
  return packed(blocks, Math.sqrt(area * aspect) * best, true);
}

/** Which occupants each cell of a node has. Without devices the cells are filled in order. */
export function cellHeld(node: MapNode): Occupant[][] {
  if (node.cells) return node.cells;
  const count = cellsOf(node);
  const cells: Occupant[][] = Array.from({ length: count }, () => []);
  let next = 0;
  const each = node.slots / count;
  for (const o of node.held) {
    if (node.devices) { for (const d of devicesOf(o)) cells[d]?.push(o); continue; }
    for (let left = o.slots / (each || 1); left > 0.001 && next < count; left--) cells[next++].push(o);
  }
  node.cells = cells;
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

// Colours far apart, calm beside each other; names choose by their hash, and a taken one leads to the next.
const LIGHT = ['#2f7fb8', '#d9822b', '#3f9e6b', '#8d63b5', '#cf5577', '#1f9aa0', '#b08a1e', '#5b6fd0', '#9c6138', '#7a9a2c', '#be4f46', '#557f94', '#a3539b', '#2e8f86', '#8a7a55', '#6f8fce'];
const DARK = ['#4a9fd8', '#e59a4c', '#58b884', '#a682d0', '#e0708f', '#3fb6bb', '#c8a53c', '#7d90ea', '#bb8055', '#98b84a', '#d96b62', '#7aa2b6', '#c071b8', '#4fb0a6', '#aa9a74', '#8fabe4'];
export type Paint = Map<string, string>;

/** Black or white, whichever is read better on this colour: the contrast is 4.5 or more on any. */
export function inkOn(colour: string): string {
  const part = (at: number) => { const v = parseInt(colour.slice(at, at + 2), 16) / 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
  return (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) ? '#000000' : '#ffffff';
}

export function paint(keys: string[], c: Colours): Paint {
  const palette = c.dark ? DARK : LIGHT;
  const taken = new Set<number>();
  const result: Paint = new Map();
  for (const key of [...keys].sort()) {
    let at = hash(key) % palette.length;
    for (let i = 0; i < palette.length && taken.has(at); i++) at = (at + 1) % palette.length;
    if (taken.size < palette.length) taken.add(at);
    result.set(key, palette[at]);
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

/** The sides of a cell at which its gang ends: together they are the outline of the gang on the node. */
function gangSides(cells: Occupant[][], i: number, cols: number, x: number, y: number, px: number, out: number[]) {
  const gang = cells[i].find((o) => o.task.gang)?.task;
  if (!gang) return;
  const same = (at: number) => cells[at]?.some((o) => o.task === gang) ?? false;
  const col = i % cols;
  if (i < cols || !same(i - cols)) out.push(x, y, x + px, y);
  if (!same(i + cols)) out.push(x, y + px, x + px, y + px);
  if (col === 0 || !same(i - 1)) out.push(x, y, x, y + px);
  if (col === cols - 1 || !same(i + 1)) out.push(x + px, y, x + px, y + px);
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
  const drains: number[] = [];
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
      if (px >= 4) gangSides(cells, i, t.cols, cx, cy, px, gangs);
      if (look.hot && held.some((o) => o.task.id === look.hot)) hot.push(cx, cy, px, px);
    }
    if (node.flags & (LOST | SILENT | TROUBLED)) crosses.push(x, y, w, h);
    else if (node.flags & DRAINING) drains.push(x, y, w, h);
    for (const d of node.out) crosses.push(x + (PAD + (d % t.cols) * CELL) * v.scale, y + (PAD + Math.floor(d / t.cols) * CELL) * v.scale, px, px);
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
  strokes(drains, c.warn, Math.max(1.5, Math.min(3, px / 6)), [6, 3]);
  if (gangs.length) {
    ctx.strokeStyle = c.fg; ctx.lineWidth = Math.max(1, Math.min(2.5, px / 7)); ctx.lineCap = 'square'; ctx.beginPath();
    for (let i = 0; i < gangs.length; i += 4) { ctx.moveTo(gangs[i], gangs[i + 1]); ctx.lineTo(gangs[i + 2], gangs[i + 3]); }
    ctx.stroke();
  }
  if (crosses.length) {
    ctx.strokeStyle = c.broken; ctx.lineWidth = Math.max(1, Math.min(3, px / 5)); ctx.beginPath();
    for (let i = 0; i < crosses.length; i += 4) { ctx.moveTo(crosses[i], crosses[i + 1]); ctx.lineTo(crosses[i] + crosses[i + 2], crosses[i + 1] + crosses[i + 3]); ctx.moveTo(crosses[i] + crosses[i + 2], crosses[i + 1]); ctx.lineTo(crosses[i], crosses[i + 1] + crosses[i + 3]); }
    ctx.stroke();
  }
  strokes(hot, c.fg, 2);
  if (look.focus) { const t = look.focus; strokes([t.x * v.scale + v.x - 1, t.y * v.scale + v.y - 1, t.w * v.scale + 2, t.h * v.scale + 2], c.fg, 2.5); }
  ctx.fillStyle = c.fg;
  ctx.font = '600 13px system-ui, "DejaVu Sans", sans-serif';
  for (const label of l.labels) ctx.fillText(label.text, Math.max(4, label.x * v.scale + v.x), (label.y + HEAD) * v.scale + v.y - Math.max(5, 6 * v.scale), Math.max(60, label.w * v.scale));
  if (px >= 22) {
    ctx.font = '11px ui-monospace, "DejaVu Sans Mono", monospace';
    for (const t of l.tiles) {
      const x = t.x * v.scale + v.x, y = t.y * v.scale + v.y;
      if (!t.node || x > size.w || y > size.h || x + t.w * v.scale < 0 || y + t.h * v.scale < 0) continue;
      ctx.fillStyle = c.fg;
      ctx.fillText(t.node.name, x + 2, y + t.h * v.scale + 11, t.w * v.scale);
      const cells = cellHeld(t.node);
      for (let i = 0; i < cells.length && px >= 26; i++) if (cells[i].length && (i % t.cols === 0 || cells[i][0].task !== cells[i - 1][0]?.task)) { ctx.fillStyle = inkOn(colourOf(look.by, keyOf(look.by, t.node, cells[i]), c, paints)); ctx.fillText(String(cells[i][0].task.id), x + (PAD + (i % t.cols) * CELL) * v.scale + 4, y + (PAD + Math.floor(i / t.cols) * CELL) * v.scale + 15, px - 6); }
    }
  }
}

export function fit(l: Layout, w: number, h: number): View {
  const scale = Math.max(0.05, Math.min(NEAREST, w / l.w, h / (l.h + 4)));
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
