// bar.tsx - amounts as pictures, each with its numbers in words. SPDX-License-Identifier: Apache-2.0
import { num } from '../lib/format';

export interface Part { label: string; value: number; tone: 'used' | 'kept' | 'free' | 'coming' | 'broken' | 'waiting' | 'over' }

/** Parts of a whole in one bar, and a legend below. */
export function Bar({ parts, unit = '', legend = true }: { parts: Part[]; unit?: string; legend?: boolean }) {
  const shown = parts.filter((p) => p.value > 0);
  const total = shown.reduce((sum, p) => sum + p.value, 0);
  const words = shown.map((p) => `${num(p.value)} ${p.label}`).join(', ') || 'nothing';
  return (
    <div class="bar-box">
      <div class="bar" role="img" aria-label={`${words} ${unit}`}>
        {shown.map((p) => <span key={p.label} class={`seg t-${p.tone}`} style={{ width: `${(100 * p.value) / (total || 1)}%` }} title={`${num(p.value)} ${p.label}`} />)}
      </div>
      {legend && <ul class="legend">{parts.filter((p) => p.value > 0 || p.tone === 'used' || p.tone === 'free').map((p) => <li key={p.label}><span class={`dot t-${p.tone}`} aria-hidden="true" /><b>{num(p.value)}</b> {p.label}</li>)}</ul>}
    </div>
  );
}

/** One amount of a whole: requested against used, and the like. */
export function Meter({ value, of, label, tone = 'used' }: { value: number; of: number; label: string; tone?: Part['tone'] }) {
  const part = of > 0 ? Math.min(1, value / of) : 0;
  return <div class="bar thin" role="img" aria-label={label} title={label}>{part > 0 && <span class={`seg t-${tone}`} style={{ width: `${100 * part}%` }} />}</div>;
}
