// report.ts - a report of the simulator as elements of this page.
//
// A report is a file from anywhere: its text is parsed into a document that runs nothing, and only elements and
// attributes of the list are made anew from it. Its look and its charts are the program's own: the style and the
// script that stand in each report stand in this page, too. SPDX-License-Identifier: Apache-2.0
import style from '../../../src/sim/report.css?raw';
import { chart } from '../../../src/sim/report.js';

const HTML = new Set(['main', 'section', 'header', 'footer', 'h1', 'h2', 'h3', 'p', 'div', 'span', 'b', 'i', 'em', 'small', 'code', 'figure', 'data', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'br', 'ul', 'li']);
const SVG = new Set(['svg', 'g', 'line', 'polyline', 'polygon', 'rect', 'path', 'title', 'text']);
const ATTRIBUTES = new Set(['class', 'title', 'aria-label', 'role', 'colspan', 'value', 'points', 'x', 'y', 'x1', 'x2', 'y1', 'y2', 'width', 'height', 'd', 'viewBox', 'viewbox', 'preserveAspectRatio', 'preserveaspectratio', 'tabindex']);
const LENGTHS = new Set(['left', 'width', 'top', 'bottom', 'height']);
const ELEMENTS_MAX = 200_000;
const COLOURS = 8;
const SVG_NS = 'http://www.w3.org/2000/svg';

function copy(from: Node, to: Node, budget: { left: number }) {
  for (const child of from.childNodes) {
    if (budget.left-- <= 0) return;
    if (child.nodeType === Node.TEXT_NODE) { to.appendChild(document.createTextNode(child.nodeValue ?? '')); continue; }
    if (!(child instanceof Element)) continue;
    const name = child.localName;
    const drawn = child.namespaceURI === SVG_NS;
    if (!(drawn ? SVG : HTML).has(name)) continue;
    const made = drawn ? document.createElementNS(SVG_NS, name) : document.createElement(name);
    for (const { name: key, value } of child.attributes) {
      if (ATTRIBUTES.has(key)) made.setAttribute(key, value);
      if (key !== 'data-style') continue;
      for (const rule of value.split(';')) {
        const [property, length] = rule.split(':').map((s) => s.trim());
        if (LENGTHS.has(property) && /^-?[0-9.]+(%|px)$/.test(length ?? '')) (made as HTMLElement).style.setProperty(property, length);
      }
    }
    to.appendChild(made);
    copy(child, made, budget);
  }
}

/** The report's style with the page's ground, letters and cards; the colours of series are those of the report, light or dark. */
function look(dark: boolean): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  const roots = [...style.matchAll(/:root \{([^}]*)\}/g)].map((m) => m[1]);
  const series = (roots[dark ? 1 : 0].match(/--(grid|track|c\d):[^;]+;/g) ?? []).join('');
  const numbers = Array.from({ length: COLOURS }, (_, i) => `.line.c${i}{stroke:var(--c${i})}.area.c${i},.bar.c${i}{fill:var(--c${i})}.k${i}{background:var(--c${i})}`).join('');
  const rules = style.replace(/@media \(prefers-color-scheme: dark\) \{\s*:root \{[^}]*\}\s*\}/, '').replace(/:root \{[^}]*\}/, '').replace(/\nbody \{[^}]*\}/, '');
  sheet.replaceSync(`:host{${series}}${rules}${numbers}main{padding:0;max-width:none}`);
  return sheet;
}

/** The part of a report that is shown. The page's policy also speaks of markup that is only parsed: lengths go by another name, and nothing else that it forbids stands there. */
function markup(text: string): string {
  const part = text.slice(Math.max(0, text.indexOf('<main')), text.lastIndexOf('</main>') + 7);
  return part.replace(/<(\/?)(script|style|iframe|object|embed|link|base|meta|form|frame)/gi, '<$1template').replace(/([\s"'/])(on[a-z]+|style)(\s*=)/gi, '$1data-$2$3');
}

/** Shows the report in `host`. False: the text is no report of the simulator. */
export function showReport(text: string, host: HTMLElement, dark: boolean): boolean {
  const main = new DOMParser().parseFromString(markup(text), 'text/html').querySelector('main');
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  root.replaceChildren();
  if (!main || !/weir sim/.test(text)) return false;
  root.adoptedStyleSheets = [look(dark)];
  const made = document.createElement('main');
  copy(main, made, { left: ELEMENTS_MAX });
  root.appendChild(made);
  for (const figure of root.querySelectorAll('figure.live')) {
    try { chart(figure); } catch { figure.classList.remove('live'); } // its numbers are not those of a report
  }
  return true;
}
