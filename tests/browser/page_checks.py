"""What holds on every page, checked in the page by script. SPDX-License-Identifier: Apache-2.0"""

import pathlib

from playwright.sync_api import TimeoutError as NotSeen

PICTURES = pathlib.Path(__file__).resolve().parents[2] / "build-results" / "browser"


# Text on its ground: the nearest grounds below it are laid over each other. Disabled controls are exempt, as in WCAG.
CONTRAST = """() => {
  const parse = c => { const m = c.match(/[\\d.]+/g).map(Number); return c.startsWith('color(srgb') ? [m[0]*255, m[1]*255, m[2]*255, m[3] ?? 1] : [m[0], m[1], m[2], m[3] ?? 1]; };
  const over = (a, b) => { const k = a[3]; return [0,1,2].map(i => a[i]*k + b[i]*(1-k)).concat(1); };
  const lum = c => { const f = v => { v /= 255; return v <= 0.03928 ? v/12.92 : ((v+0.055)/1.055)**2.4; }; return 0.2126*f(c[0]) + 0.7152*f(c[1]) + 0.0722*f(c[2]); };
  const ground = el => { const stack = []; for (let e = el; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); stack.push(c); if (c[3] === 1) break; } let base = [255,255,255,1]; for (const c of stack.reverse()) base = over(c, base); return base; };
  const faint = el => { let o = 1; for (let e = el; e; e = e.parentElement) o *= Number(getComputedStyle(e).opacity); return o; };
  const bad = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim(), el = walk.currentNode.parentElement;
    if (!text || !el || el.closest('.sr, :disabled, option, [aria-hidden=true], noscript') || !el.checkVisibility()) continue;
    const box = el.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const back = ground(el), fore = parse(getComputedStyle(el).color);
    fore[3] *= faint(el);
    const a = lum(over(fore, back)), b = lum(back), ratio = (Math.max(a,b)+0.05)/(Math.min(a,b)+0.05);
    if (ratio < 4.5) bad.push(ratio.toFixed(2) + ' ' + el.className + ': ' + text.slice(0, 40));
  }
  return bad.slice(0, 10);
}"""

# Every control has a name, every picture a text; no control is taken out of the order of the page.
NAMES = """() => {
  const bad = [];
  const name = e => (e.getAttribute('aria-label') || e.innerText || e.title || (e.labels && [...e.labels].map(l => l.innerText).join('')) || (e.getAttribute('aria-labelledby') && document.getElementById(e.getAttribute('aria-labelledby'))?.innerText) || '').trim();
  for (const e of document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, dialog, [role=img], [role=log]')) if (e.checkVisibility() && !name(e)) bad.push('no name: ' + e.outerHTML.slice(0, 120));
  for (const e of document.querySelectorAll('img:not([alt])')) bad.push('no alt: ' + e.outerHTML.slice(0, 120));
  for (const e of document.querySelectorAll('[tabindex]')) if (Number(e.getAttribute('tabindex')) > 0) bad.push('tabindex: ' + e.outerHTML.slice(0, 120));
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  for (const id of new Set(ids)) if (ids.filter(x => x === id).length > 1) bad.push('twice: #' + id);
  if (document.querySelectorAll('h1').length !== 1) bad.push('headings of the first level: ' + document.querySelectorAll('h1').length);
  return bad;
}"""

OVERFLOW = """() => {
  const wide = document.documentElement.scrollWidth, room = document.documentElement.clientWidth;
  if (wide <= room) return [];
  return [wide + ' > ' + room, ...[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > room + 1 && !e.closest('.table-wrap, .log-box')).map(e => e.tagName + '.' + e.className).slice(0, 6)];
}"""

# A tab stop reaches every control in the order of the page.
FOCUS = "() => document.activeElement === document.body ? -1 : [...document.querySelectorAll('*')].indexOf(document.activeElement)"


def check_page(page):
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(NAMES) == []
    assert page.evaluate(OVERFLOW) == []


def check_focus(page, most=60):
    """Tab goes forward through the page, and the focus is seen."""
    page.evaluate("document.activeElement?.blur?.()")
    seen = []
    for _ in range(most):
        page.keyboard.press("Tab")
        at = page.evaluate(FOCUS)
        if at < 0 or (seen and at == seen[0]):
            break
        outline = page.evaluate("(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1; })()")
        assert outline, page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
        seen.append(at)
    assert len(seen) >= 5
    wrapped = [b for a, b in zip(seen, seen[1:]) if b < a]
    # The brand stands first on the page and second in the source; nothing else goes back.
    assert len(wrapped) <= 1, seen


def wait_for_texts(page, texts):
    for text in texts:
        try:
            page.wait_for_function("t => document.body.innerText.includes(t)", arg=text)
        except NotSeen as e:
            raise AssertionError(f"{text!r} is not on the page:\n{page.inner_text('body')}") from e
