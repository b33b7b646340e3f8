"""The simulator's report in the web interface: kept at the server, or from a file; what a hostile file may not do.

SPDX-License-Identifier: Apache-2.0
"""

import pytest

from page_checks import OVERFLOW, PICTURES, check_page, wait_for_texts
from weir_harness import Weir

SCENARIO = """
projects: [{name: vision}, {name: nlp}]
nodes: [{name: n, count: 2, gpus: 4}]
streams:
  - {name: v, project: vision, every: 5m, until: 1h, runs: {mean: 20m}, resources: {gpu: 2}}
  - {name: s, project: nlp, every: 10m, until: 1h, runs: {mean: 10m}, resources: {gpu: 4}}
"""
HOSTILE = """<!doctype html><title>weir sim</title><main><h1>weir sim</h1>
<script>alert('script')</script><img src=x onerror="alert('img')"><svg onload="alert('svg')"><a href="javascript:alert(1)">link</a></svg>
<iframe srcdoc="<script>parent.alert(1)</script>"></iframe><style>body{display:none}</style><p style="background:url(//evil.example/x)" onclick="alert(2)">text</p>
<link rel=stylesheet href=//evil.example/y><object data=//evil.example/z></object><form action=//evil.example><input name=q></form>
<figure class="live"><svg></svg><data value="[1,2"></data></figure></main>"""
IN_REPORT = "() => document.querySelector('.report').shadowRoot"


@pytest.fixture(scope="module")
def reported(chromium):
    with Weir(["--slots", "2"]) as weir:
        folder = weir.dir / "reports"
        folder.mkdir()
        (weir.root / "two.yaml").write_text(SCENARIO)
        weir.weir("sim", weir.root / "two.yaml", "--report", folder / "two.html", "--quiet")
        yield weir


def test_a_report_of_the_server_has_the_charts_of_the_file(reported, tab_of):
    for look, how in (("light", {}), ("dark", {"dark": True}), ("narrow", {"narrow": True})):
        tab = tab_of(reported, **how)
        page = tab.open("/report")
        page.get_by_role("link", name="two.html").click()
        page.wait_for_selector(".report[data-report='two.html']")
        page.wait_for_function(f"() => ({IN_REPORT})()?.querySelectorAll('figure svg').length > 3")
        inside = page.evaluate(f"() => ({IN_REPORT})().querySelector('main').innerText")
        for text in ("Allocation", "Waits by size and account", "vision"):
            assert text in inside, text
        page.locator(".report figure.live svg").first.hover()
        page.locator(".report .tip").first.wait_for(state="visible")  # the charts' own script runs in the page
        assert page.evaluate(OVERFLOW) == []
        check_page(page)
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(PICTURES / f"report-{look}.png"), full_page=True)
        tab.check()


def test_a_report_opens_from_a_file(reported, tab_of):
    page = tab_of(reported).open("/report")
    page.set_input_files("input[type=file]", str(reported.dir / "reports" / "two.html"))
    page.wait_for_selector(".report[data-report='two.html']")
    page.wait_for_function(f"() => ({IN_REPORT})()?.querySelectorAll('figure svg').length > 3")


def test_a_hostile_file_does_nothing(reported, tab_of):
    tab = tab_of(reported)
    path = reported.root / "hostile.html"
    path.write_text(HOSTILE)
    page = tab.open("/report")
    page.set_input_files("input[type=file]", str(path))
    page.wait_for_selector(".report[data-report='hostile.html']")
    names = page.evaluate(f"() => [...({IN_REPORT})().querySelectorAll('*')].map(e => e.localName)")
    assert not {"script", "img", "iframe", "style", "link", "object", "form", "input", "a"} & set(names), names
    attributes = page.evaluate(f"() => [...({IN_REPORT})().querySelectorAll('*')].flatMap(e => [...e.attributes].map(a => a.name + '=' + a.value))")
    assert not [a for a in attributes if a.startswith("on") or "evil" in a], attributes
    assert "text" in page.evaluate(f"() => ({IN_REPORT})().querySelector('main').innerText")
    tab.check()  # nothing ran, nothing was asked of another host, the policy had nothing to refuse


def test_another_file_is_no_report(reported, tab_of):
    (reported.root / "other.html").write_text("<p>hello</p>")
    page = tab_of(reported).open("/report")
    page.set_input_files("input[type=file]", str(reported.root / "other.html"))
    wait_for_texts(page, ["other.html is no report of the simulator"])
    check_page(page)
