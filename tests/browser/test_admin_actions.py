"""Tokens, the server file, and what a token's scope allows. SPDX-License-Identifier: Apache-2.0"""

import pytest

from page_checks import wait_for_texts
from weir_harness import Weir


@pytest.fixture(scope="module")
def weir_here(chromium):
    with Weir(["--slots", "1"]) as weir:
        yield weir


def test_a_token_is_made_shown_once_and_revoked(weir_here, tab_of):
    tab = tab_of(weir_here)
    page = tab.open("/admin")
    tab.button("Make a token")
    page.fill("dialog input[name=name]", "watcher")
    wait_for_texts(page, ["weir token create --scope read --name watcher --expires 90d"])
    page.click("dialog button[data-act=confirm]")
    wait_for_texts(page, ["The token of watcher. It is shown this once."])
    secret = page.inner_text(".note.good pre")
    assert secret.startswith("weir_read_")
    assert weir_here.api("GET", "/api/v1/whoami", token=secret).json["scope"] == "read"
    tab.button("I have it")
    assert secret not in page.content()
    row = page.locator("tr", has_text="watcher")
    row.get_by_role("button").click()
    tab.confirm("weir token delete")
    assert weir_here.api("GET", "/api/v1/whoami", token=secret).status == 401


def test_a_reader_is_offered_no_change(weir_here, tab_of):
    number = weir_here.weir("submit", "--name", "shown", "--", "sleep", "300").stdout.strip()
    secret = weir_here.weir("token", "create", "--name", "reader", "--scope", "read").stdout.split()[0]
    tab = tab_of(weir_here, sign_in=False)
    tab.sign_in(secret)
    page = tab.open(f"/tasks/{number}")
    wait_for_texts(page, ["shown"])
    for word in ("Kill", "Pause", "Priority"):
        assert page.get_by_role("button", name=word, exact=True).count() == 0
    assert page.get_by_role("link", name="Admin", exact=True).count() == 0
    for path in ("/pools/default", "/nodes"):
        page = tab.open(path)
        assert page.get_by_role("button", name="Delete", exact=True).count() == 0
    page.goto(weir_here.url + "/#/admin")
    wait_for_texts(page, ["This page is for administrators"])
    assert weir_here.api("POST", f"/api/v1/tasks/{number}/kill", token=secret).status == 403
    weir_here.weir("kill", number, "--yes")


def test_a_server_file_is_looked_at_then_applied(weir_here, tab_of):
    tab = tab_of(weir_here)
    page = tab.open("/admin/config")
    page.fill("textarea[name=config]", "pools:\n  - name: filed\n    title: By the file\nprojects:\n  - name: paper\n")
    tab.button("Look")
    wait_for_texts(page, ["create pool filed", "create project paper"])
    assert weir_here.api("GET", "/api/v1/pools/filed").status == 404
    tab.button("Apply")
    wait_for_texts(page, ["Applied: 2 changes"])
    assert weir_here.api("GET", "/api/v1/pools/filed").json["title"] == "By the file"
    page.fill("textarea[name=config]", "pools:\n  - name: filed\n    colour: red\n")
    tab.button("Look")
    page.wait_for_selector("[role=alert]")
    assert "colour" in page.inner_text("[role=alert]")


def test_what_people_changed_is_listed(weir_here, tab_of):
    weir_here.weir("project", "create", "seen")
    page = tab_of(weir_here).open("/admin/changes")
    wait_for_texts(page, ["seen", "user:root"])
