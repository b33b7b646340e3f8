"""The slot map and the water levels in real Chromium, on a server with scripted nodes.

SPDX-License-Identifier: Apache-2.0
"""

import re
import time

import pytest
from browser import browser
from server_process import FakeAgent
from weir_harness import DEADLINE_S


@pytest.fixture
def page(server, tmp_path):
    with browser(tmp_path) as page:
        page.open(server.url + server.call("POST", "session/link").json["path"], 1280)
        if page.value("document.querySelector('noscript, #app') === null"):
            pytest.skip("this build leaves the web interface out")
        yield page


def until(page, expression):
    deadline = time.monotonic() + DEADLINE_S
    while not (value := page.value(expression)):
        assert time.monotonic() < deadline, (expression, page.value("document.body.innerText")[:2000])
        time.sleep(0.05)
    return value


def gpu_node(server, name, gpus):
    agent = FakeAgent(server, name, slots=gpus)
    agent.capacity.update(devices=gpus, gpu_memory=80 << 30)
    return agent.join().connect()


def test_the_map_shows_nodes_and_follows_them(server, page):
    agent = gpu_node(server, "gpu-1", 4)
    page.value("location.hash = '#/map'")
    until(page, "document.querySelector('main .sub')?.innerText.includes('0 of 4 slots held')")
    began = time.monotonic()
    task = server.submit({"command": ["x"], "resources": {"gpu": 3}})[0]
    until(page, "document.querySelector('main .sub').innerText.includes('3 of 4 slots held, 1 free')")
    assert time.monotonic() - began < 5
    assert "default 3" in page.value("document.querySelector('.map-legend').innerText").replace("\n", " ")
    page.value("document.querySelector('canvas').focus()")
    for key in ("ArrowRight", "Enter"):
        page.value(f"document.querySelector('canvas').dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))")
        time.sleep(0.3)
    assert until(page, "location.hash.startsWith('#/nodes/gpu-1') && location.hash")
    page.value("location.hash = '#/map?as=table'")
    assert until(page, f"document.querySelector('table a[href=\"#/tasks/{task}\"]') !== null")
    assert page.value("document.documentElement.scrollWidth <= innerWidth")
    assert page.errors() == []
    agent.close()


def test_the_water_levels_change_a_quota_after_a_preview(server, page):
    agent = gpu_node(server, "gpu-1", 4)
    assert server.call("POST", "projects", {"name": "vision", "department": "default"}).status in (200, 201)
    server.submit({"command": ["x"], "resources": {"gpu": 3}, "project": "vision"})
    page.value("location.hash = '#/levels'")
    said = until(page, "document.querySelector('[data-account=vision] [role=img]')?.getAttribute('aria-label')")
    assert re.match(r"vision holds 3 slots, guaranteed 0 .*, 3 of them borrowed, no limit", said), said
    page.value("document.querySelector('[data-account=vision] button').click()")
    until(page, "document.querySelector('dialog form') !== null")
    page.value("const f = document.querySelector('dialog form input'); f.value = '2'; f.dispatchEvent(new Event('input', {bubbles: true}))")
    time.sleep(0.2)
    page.value("document.querySelector('dialog form').requestSubmit()")
    until(page, "document.querySelector('dialog [data-dry]') !== null")
    assert "weir quota set vision --pool default slots=2" in page.value("document.querySelector('dialog').innerText")
    quotas = {one["account"]: one for one in server.get("quotas")["items"] if one["kind"] == "project"}
    assert quotas["vision"]["guaranteed"] == 0  # a preview changes nothing
    page.value("document.querySelector('dialog [data-act=confirm]').click()")
    until(page, "document.querySelector('[data-account=vision] [role=img]').getAttribute('aria-label').includes('guaranteed 2, 1 of them borrowed')")
    quotas = {one["account"]: one for one in server.get("quotas")["items"] if one["kind"] == "project"}
    assert quotas["vision"]["guaranteed"] == 2
    assert page.errors() == []
    agent.close()
