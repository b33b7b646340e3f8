"""The report of weir sim in a real browser: it can be read on a narrow and on a wide page, light and dark."""

import pytest
from browser import browser

from test_sim import SCENARIO, sim

# Texts that stand out of the page, that are cut off, or that lie over the label before.
UNREADABLE = """(() => {
  const bad = [], width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) bad.push("the page is wider than its window");
  for (const one of document.querySelectorAll("h1, h2, h3, p, .unit, .ys span, .xs span, .value, .card *, .use span, .legend span")) {
    const box = one.getBoundingClientRect();
    if (box.width && (box.left < 0 || box.right > width)) bad.push("out of the page: " + one.textContent);
    if (one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflow !== "visible") bad.push("cut off: " + one.textContent);
    if (box.width && parseFloat(getComputedStyle(one).fontSize) < 12) bad.push("too small: " + one.textContent);
  }
  for (const row of document.querySelectorAll(".xs")) {
    let last = -1000;
    for (const one of row.children) {
      const box = one.getBoundingClientRect();
      if (box.width && box.left < last) bad.push("over the label before: " + one.textContent);
      last = box.width ? box.right : last;
    }
  }
  return bad;
})()"""

# The contrast of texts with what is behind them (WCAG: 4.5 for small ones).
PALE = """(() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const bad = [];
  for (const one of document.querySelectorAll("h1, h2, h3, p, footer, .unit, .ys span, .xs span, .card *, .use span, .legend span, th, td")) {
    let back = one;
    while (back && getComputedStyle(back).backgroundColor === "rgba(0, 0, 0, 0)") back = back.parentElement;
    const a = light(getComputedStyle(one).color), b = light(getComputedStyle(back).backgroundColor);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(ratio.toFixed(1) + ": " + one.textContent);
  }
  return bad;
})()"""

LONG = SCENARIO.replace("vision", "a-project-with-a-name-that-is-really-as-long-as-names-may-be-63")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("browser")) as one:
        yield one


@pytest.mark.parametrize("text", (SCENARIO, LONG), ids=("short", "long"))
@pytest.mark.parametrize("width", (360, 500, 1400))
def test_every_label_can_be_read(page, tmp_path, text, width):
    path, report = tmp_path / "teams.yaml", tmp_path / "report.html"
    path.write_text(text)
    assert sim(path, "--report", report).returncode == 0
    for scheme in ("light", "dark"):
        page.open(report.as_uri(), width, scheme)
        assert page.value(UNREADABLE) == []
        assert page.value(PALE) == []
        assert page.errors() == []


@pytest.mark.parametrize("width", (360, 500, 1400))
def test_every_label_of_a_comparison_can_be_read(page, tmp_path, width):
    path, other, report = tmp_path / "teams.yaml", tmp_path / "a-file-with-a-name-that-goes-on-and-on-and-on.yaml", tmp_path / "page.html"
    path.write_text(SCENARIO)
    other.write_text(SCENARIO.replace("count: 3", "count: 4"))
    assert sim("compare", path, other, other, "--seeds", "1-2", "--quiet", "--report", report).returncode == 0
    for scheme in ("light", "dark"):
        page.open(report.as_uri(), width, scheme)
        assert page.value(UNREADABLE) == []
        assert page.value(PALE) == []
        assert page.errors() == []


def test_the_pointer_and_the_keys_show_values(page, tmp_path):
    path, report = tmp_path / "teams.yaml", tmp_path / "report.html"
    path.write_text(SCENARIO)
    assert sim(path, "--report", report).returncode == 0
    page.open(report.as_uri(), 500)
    assert page.value("document.querySelectorAll('.tip').length") == page.value("document.querySelectorAll('figure.live').length")
    page.value("document.querySelector('figure.live').scrollIntoView()")
    box = page.value("(({left, top}) => ({left, top}))(document.querySelector('figure.live svg').getBoundingClientRect())")
    for x in (5, 380):  # a tip stays inside the page at both ends
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=box["left"] + x, y=box["top"] + 20)
        shown = page.value("(({left, right}) => ({left, right}))(document.querySelector('.tip').getBoundingClientRect())")
        assert 0 <= shown["left"] < shown["right"] <= 500
    page.value("document.querySelector('figure.live svg').focus()")
    before = page.value("document.querySelector('.tip').textContent")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowLeft")
    assert page.value("document.querySelector('.tip').textContent") != before != ""
