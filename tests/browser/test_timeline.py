"""The timeline: bars of ended and running attempts, rows, zoom by drag and by keys, and a server on which nothing ran. SPDX-License-Identifier: Apache-2.0"""

import re

import pytest

from page_checks import PICTURES, check_page, wait_for_texts
from weir_harness import Weir


@pytest.fixture(scope="module")
def ran(chromium):
    """Two GPUs: task 1 completed, task 2 failed, task 3 was evicted for task 4, which runs; task 3 waits."""
    with Weir(["--fake-gpus", "2"]) as weir:
        for project in ("nlp", "vision"):
            weir.weir("project", "create", project)
        weir.weir("quota", "set", "nlp", "--pool", "default", "gpu=2")
        weir.submit("sleep", "1", project="nlp")
        weir.submit("false", project="vision")
        weir.wait(1)
        weir.wait(2)
        weir.submit("sleep", "1000", project="vision", resources={"gpu": 2})
        weir.wait_state(3, "running")
        weir.submit("sleep", "1000", project="nlp", resources={"gpu": 2})
        weir.wait_state(4, "running")
        yield weir


def bar(page, task):
    page.wait_for_selector(f".timeline-bar[data-task='{task}']")
    return page.get_attribute(f".timeline-bar[data-task='{task}']", "aria-label")


def test_bars_say_what_ran(ran, tab_of):
    page = tab_of(ran).open("/timeline?hours=1")
    node = ran.task(4)["attempts"][-1]["node"]
    page.wait_for_selector(f".timeline-track[data-row='{node}'] .timeline-bar")
    assert re.search(r"nlp: 1 slot \(GPU [01]\), ran 1(\.\d+)? s", bar(page, 1)), bar(page, 1)
    assert re.search(r"vision: 1 slot \(GPU [01]\), (.*, )?failed ", bar(page, 2)), bar(page, 2)
    assert re.search(r"vision: 2 slots \(GPU 0, 1\), (.*, )?evicted .* lost$", bar(page, 3)), bar(page, 3)
    assert re.search(r"nlp: 2 slots \(GPU 0, 1\), (.*, )?running ", bar(page, 4)), bar(page, 4)
    page.wait_for_selector(".timeline-now")
    for word, row in (("Devices", f"{node} GPU 1"), ("Users", "root"), ("Pools", "default")):
        page.get_by_role("button", name=word, exact=True).click()
        page.wait_for_selector(f".timeline-track[data-row='{row}'] .timeline-bar[data-task='4']")
    page.get_by_role("button", name="Projects", exact=True).click()
    page.wait_for_selector(".timeline-track[data-row=vision] .timeline-bar[data-task='3']")
    assert page.query_selector(".timeline-track[data-row=vision] .timeline-bar[data-task='4']") is None


def test_a_bar_leads_to_its_task(ran, tab_of):
    page = tab_of(ran).open("/timeline?hours=1")
    bar(page, 4)
    page.dispatch_event(".timeline-bar[data-task='4']", "click")
    page.wait_for_function("() => location.hash === '#/tasks/4'")


def window(page):
    query = page.evaluate("() => Object.fromEntries(new URLSearchParams(location.hash.split('?')[1]))")
    return [page.evaluate("t => Date.parse(t)", query[key]) for key in ("since", "until")]


def test_a_drag_zooms_and_keys_move(ran, tab_of):
    page = tab_of(ran).open("/timeline?hours=1")
    bar(page, 4)
    box = page.locator(".timeline-track").first.bounding_box()
    y = box["y"] + box["height"] - 1
    page.mouse.move(box["x"] + box["width"] * 0.8, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, y, steps=4)
    page.mouse.move(box["x"] + box["width"] * 0.999, y, steps=4)
    page.mouse.up()
    page.wait_for_function("() => location.hash.includes('since=')")
    since, until = window(page)
    assert 11 * 60_000 < until - since < 14 * 60_000  # a fifth of the hour that was drawn
    bar(page, 4)
    page.focus(".timeline")
    page.keyboard.press("+")
    page.wait_for_function("before => !location.hash.includes(before)", arg=page.evaluate("t => new Date(t).toISOString().replaceAll(':', '%3A')", since))
    nearer = window(page)
    assert abs((nearer[1] - nearer[0]) - (until - since) / 2) < 10
    page.get_by_role("button", name="Now", exact=True).click()
    page.wait_for_function("() => !location.hash.includes('since=')")


def test_looks(ran, tab_of):
    PICTURES.mkdir(parents=True, exist_ok=True)
    for look, how in (("light", {}), ("dark", {"dark": True}), ("narrow", {"narrow": True})):
        page = tab_of(ran, **how).open("/timeline?hours=1")
        bar(page, 3)
        page.screenshot(path=str(PICTURES / f"timeline-{look}.png"), full_page=True)
        check_page(page)


def test_what_starts_and_ends_is_drawn_without_a_reload(weir, tab_of):
    page = tab_of(weir).open("/timeline")
    wait_for_texts(page, ["Nothing ran in this time"])
    check_page(page)
    weir.submit("sleep", "1000")
    weir.wait_state(1, "running")
    page.wait_for_selector(".timeline-bar.running[data-task='1']")
    weir.weir("task", "kill", "--yes", 1)
    weir.wait(1)
    page.wait_for_selector(".timeline-bar.ended[data-task='1']")
