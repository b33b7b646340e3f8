"""The usage view: sums, days, filters, the file, and a server on which nothing ran. SPDX-License-Identifier: Apache-2.0"""

import pytest

from page_checks import PICTURES, check_focus, check_page, wait_for_texts
from weir_harness import Weir


@pytest.fixture(scope="module")
def used(chromium):
    """Two GPUs; tasks of two projects that completed, failed and were evicted, and so lost work."""
    with Weir(["--fake-gpus", "2"]) as weir:
        for project in ("nlp", "vision"):
            weir.weir("project", "create", project)
        weir.weir("quota", "set", "nlp", "--pool", "default", "gpu=2")
        weir.submit("true", project="nlp", time_limit="1h")
        weir.submit("false", project="vision")
        weir.wait(1)
        weir.wait(2)
        weir.submit("sleep", "1000", project="vision", resources={"gpu": 2})
        weir.wait_state(3, "running")
        weir.submit("sleep", "1000", project="nlp", resources={"gpu": 2})
        weir.wait_until(lambda: weir.task(3)["counts"]["preempted"] == 1, "the eviction")
        for task in (3, 4):
            weir.weir("task", "kill", "--yes", task)
            weir.wait(task)
        yield weir


def row_of(page, key):
    page.wait_for_selector(f"tr[data-row={key!r}]")
    return page.inner_text(f"tr[data-row={key!r}]")


def test_sums_are_those_of_the_command(used, tab_of):
    page = tab_of(used).open("/usage?by=project")
    answer = used.weir_json("usage", "--by", "project")
    for item in answer["items"]:
        text = row_of(page, item["key"]).split("\t")
        used_s = item["slot_seconds"]["used"]
        assert used_s > 0
        assert text[1] == ("<0.01" if used_s < 18 else f"{used_s / 3600:.2f}".rstrip("0")), text
        assert text[6:9] == [str(item["tasks"]["ended"]), str(item["tasks"]["failed"]), str(item["attempts"]["evicted"])], text
    assert row_of(page, "nlp").split("\t")[3] == "1", "the time limit of an hour was asked for"
    wait_for_texts(page, ["By day", "weir usage --by project --since"])


@pytest.mark.parametrize("by", ["user", "project", "pool", "node", "kind", "day"])
def test_the_file_is_that_of_the_command(used, tab_of, by):
    page = tab_of(used).open(f"/usage?by={by}")
    page.wait_for_selector("tr[data-row]")
    with page.expect_download() as got:
        page.click("button[data-act=csv]")
    assert got.value.suggested_filename.startswith(f"weir-usage-{by}-")
    assert got.value.path().read_text() == used.weir("usage", "--by", by, "--csv").stdout


def test_a_row_and_a_day_narrow_the_question(used, tab_of):
    page = tab_of(used).open("/usage?by=project")
    page.click("tr[data-row=vision] a")
    day = used.weir_json("usage", "--by", "day")["items"][-1]["key"]
    assert row_of(page, day).split("\t")[6] == "2"  # tasks of vision alone
    page.wait_for_selector("button:has-text('project vision')")
    page.focus(f".usage-day[data-day='{day}']")
    page.keyboard.press("Enter")
    page.wait_for_function("day => location.hash.includes(`since=${day}&until=${day}`)", arg=day)
    wait_for_texts(page, [f"weir usage --by user --since {day}"])
    page.click("button:has-text('project vision')")
    page.wait_for_function("() => !location.hash.includes('project=')")


def test_looks_and_keys(used, tab_of):
    PICTURES.mkdir(parents=True, exist_ok=True)
    for look, how in (("light", {}), ("dark", {"dark": True}), ("narrow", {"narrow": True})):
        tab = tab_of(used, **how)
        page = tab.open("/usage?by=project")
        row_of(page, "nlp")
        page.wait_for_selector(".usage-day .usage-kept")
        page.screenshot(path=str(PICTURES / f"usage-{look}.png"), full_page=True)
        check_page(page)
    tab = tab_of(used)
    page = tab.open("/")
    page.keyboard.press("g")
    page.keyboard.press("u")
    page.wait_for_selector("main h1:has-text('Usage')")
    row_of(page, used.weir_json("usage")["items"][0]["key"])
    check_focus(page)


def test_who_holds_and_idles_is_named(weir, tab_of):
    weir.submit("sleep", "1000", name="dozes")
    weir.wait_state(1, "running")
    weir.wait_until(lambda: weir.task(1)["attempts"][0]["use"] is not None, "a word of the node about the task")
    tab = tab_of(weir)
    # The server is asked for those who have just begun to idle, not for those of five minutes.
    tab.page.route("**/usage/idle", lambda route: route.continue_(url=route.request.url + "?seconds=0"))
    page = tab.open("/usage")
    assert "dozes" in row_of(page, "1.0")
    wait_for_texts(page, ["Held and idle", "1 slot"])
    check_page(page)


def test_a_server_on_which_nothing_ran_says_so(weir, tab_of):
    page = tab_of(weir).open("/usage")
    wait_for_texts(page, ["No task used anything in this time", "No attempt has ended on this server yet"])
    assert page.is_disabled("button[data-act=csv]")
    check_page(page)


def test_a_task_that_ends_is_counted_without_a_reload(weir, tab_of):
    page = tab_of(weir).open("/usage?by=project")
    wait_for_texts(page, ["No task used anything"])
    weir.submit("true")
    weir.wait(1)
    project = weir.task(1)["project"]
    assert row_of(page, project).split("\t")[6] == "1"
