"""Every view, in both colour schemes and at 360 pixels. Pictures are kept in build-results/browser. SPDX-License-Identifier: Apache-2.0"""

import pytest

from page_checks import OVERFLOW, PICTURES, check_focus, check_page, wait_for_texts

# Name, address, what must be read there.
VIEWS = [
    ("home", "/", ["default", "burst", "My tasks", "train", "3 used"]),
    ("tasks", "/tasks", ["train", "wide", "sweep", "breaks", "exit code 3"]),
    ("tasks-filtered", "/tasks?state=pending&pool=default", ["wide"]),
    ("task-running", "/tasks/1", ["train", "epoch 3", "Error: none", "Attempt 1", "devices 0, 1, 2", "weir submit", "got its place"]),
    ("task-waiting", "/tasks/2", ["Waits for 4 slots", "What would change this", "weir explain 2"]),
    ("task-failed", "/tasks/4", ["exit code 3", "going down", "Asked for and used"]),
    ("submit", "/submit?command=echo%20hi&slots=0", ["Would start now on", "weir submit --slots 0 -- sh -c 'echo hi'"]),
    ("queue", "/queue", ["wide", "waits for 4 slots"]),
    ("map", "/map", ["default", "a gang", "a node on its way"]),
    ("levels", "/levels", ["default"]),
    ("pools", "/pools", ["default", "burst", "serving"]),
    ("pool", "/pools/burst", ["local, 1 to 2 nodes", "Scaling history", "asked the provider for node 2, because task 3"]),
    ("pool-edit", "/pools/burst/edit", ["Look at it, then change"]),
    ("pool-new", "/new/pool", ["What brings nodes up and down"]),
    ("nodes", "/nodes", ["burst-1"]),
    ("node", "/nodes/burst-1", ["in pool burst", "What happened here", "task 3, instance 0"]),
    ("admin-tokens", "/admin", ["Tokens", "root"]),
    ("admin-changes", "/admin/changes", ["submitted", "root"]),
    ("admin-config", "/admin/config", ["Server file", "retention.tasks", "90d", "command line", "burst", "API"]),
    ("admin-health", "/admin/health", ["stores changes", "Agents connected"]),
]


@pytest.mark.parametrize("name,path,texts", VIEWS, ids=[v[0] for v in VIEWS])
def test_view(site, tab_of, name, path, texts):
    PICTURES.mkdir(parents=True, exist_ok=True)
    for look, how in (("light", {}), ("dark", {"dark": True}), ("narrow", {"narrow": True})):
        tab = tab_of(site, **how)
        page = tab.open(path)
        wait_for_texts(page, texts if look != "narrow" else texts[:1])
        page.screenshot(path=str(PICTURES / f"{name}-{look}.png"), full_page=look == "narrow")
        check_page(page)
        tab.check()


@pytest.mark.parametrize("path", ["/", "/tasks", "/tasks/1", "/submit", "/pools/burst", "/admin"])
def test_tab_goes_through_the_page_in_its_order(site, tab_of, path):
    check_focus(tab_of(site).open(path))


@pytest.mark.parametrize("path", ["/", "/timeline", "/usage"])
def test_nothing_is_wider_than_the_page(site, tab_of, path):
    page = tab_of(site).open(path)
    for width in (480, 641, 768, 1001, 1024, 1181, 1280):
        page.set_viewport_size({"width": width, "height": 700})
        assert page.evaluate(OVERFLOW) == [], width


def test_home_is_drawn_from_few_small_answers(site, tab_of):
    """How long it takes is measured by bench/pages.py."""
    tab = tab_of(site)
    tab.open("/")  # the assets are kept from now on, as in a browser that was here before
    answers = []
    tab.page.on("response", lambda r: answers.append(r) if "/api/v1/" in r.url and "/events" not in r.url else None)
    tab.page.reload()
    tab.page.wait_for_selector("[data-pool=default]")
    tab.page.wait_for_selector("[data-row='1']")
    names = [r.url.split("/api/v1/")[1].split("?")[0] for r in answers]
    assert names.count("home") == 1 and len(names) <= 4, names
    assert sum(int(r.headers["content-length"]) for r in answers) <= 150_000


def test_a_server_without_tasks_teaches_the_first_command(tab_of, weir):
    page = tab_of(weir).open("/")
    wait_for_texts(page, ["No task yet", "weir run -- echo hello"])
    check_page(page)
    page.screenshot(path=str(PICTURES / "home-first.png"))
    wait_for_texts(tab_of(weir).open("/tasks"), ["No task yet"])
    wait_for_texts(tab_of(weir).open("/queue"), ["Nothing waits"])


def test_an_unknown_task_and_an_unknown_page_say_so(site, tab_of):
    page = tab_of(site).open("/tasks/9999")
    wait_for_texts(page, ["9999"])
    page.wait_for_selector("[role=alert]")
    tab = tab_of(site)
    tab.page.goto(site.url + "/#/nowhere")
    wait_for_texts(tab.page, ["There is no such page"])
