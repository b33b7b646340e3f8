"""Water levels: a quota is edited where it is drawn, after a look at what it would change. SPDX-License-Identifier: Apache-2.0"""

import pytest

from page_checks import check_page, wait_for_texts
from weir_harness import Weir


@pytest.fixture(scope="module")
def shared(chromium):
    """Four GPUs: task 1 of vision holds all of them, task 2 of nlp waits."""
    with Weir(["--fake-gpus", "4"]) as weir:
        for project in ("vision", "nlp"):
            weir.weir("project", "create", project)
        weir.weir("pool", "edit", "default", "--turn", "0s", "--yes")
        weir.weir("quota", "set", "vision", "--pool", "default", "gpu=4", "--limit", "gpu=unlimited")
        weir.submit("sleep", "1000", project="vision", name="holds", resources={"gpu": 4}, preemptible=True)
        weir.wait_state(1, "running")
        weir.submit("sleep", "1000", project="nlp", name="asks", resources={"gpu": 2})
        yield weir


def quota(weir, project):
    return next(line for line in weir.api("GET", "/api/v1/quotas?pool=default").json["items"] if line["account"] == project and line["resource"] == "slots")


def lower(page):
    """Opens the quota of vision and lowers what is guaranteed to two GPUs."""
    page.click("button[aria-label='Edit the quota of vision']")
    page.get_by_role("textbox", name="Guaranteed").fill("2")
    page.get_by_role("button", name="Show what would change").click()
    page.wait_for_selector("dialog[open] [data-dry]")


def test_a_quota_is_looked_at_then_set(shared, tab_of):
    tab = tab_of(shared)
    page = tab.open("/levels")
    page.wait_for_selector("[data-account=vision] >> text=of 4")
    lower(page)
    check_page(page)
    text = page.inner_text("dialog[open]")
    assert "weir quota set vision --pool default" in text and "guaranteed 2" in text
    tab.button("Leave it")
    assert quota(shared, "vision")["guaranteed"] == 4  # a look changes nothing
    # The guarantee of nlp calls two GPUs in: what would stop, and what would start, is said before.
    lower(page)
    tab.confirm()
    page.wait_for_selector("[data-account=vision] >> text=of 2")
    assert quota(shared, "vision")["guaranteed"] == 2
    page.click("button[aria-label='Edit the quota of nlp']")
    page.get_by_role("textbox", name="Guaranteed").fill("2")
    page.get_by_role("button", name="Show what would change").click()
    tab.confirm("1 task would stop")
    shared.wait_state(2, "running")
    assert quota(shared, "nlp")["guaranteed"] == 2
    wait_for_texts(page, ["2 of 2"])  # the vessel of nlp, drawn anew without a reload


def test_a_wrong_quota_is_refused_where_it_is_asked(shared, tab_of):
    before = quota(shared, "vision")
    page = tab_of(shared).open("/levels")
    page.click("button[aria-label='Edit the quota of vision']")
    page.get_by_role("textbox", name="Limit").fill("lots")
    page.get_by_role("button", name="Show what would change").click()
    page.wait_for_selector("dialog[open] [role=alert]")
    assert page.locator("dialog[open] button[data-act=confirm]").is_disabled()
    assert quota(shared, "vision") == before
