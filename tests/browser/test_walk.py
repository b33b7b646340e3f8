"""Ten questions of somebody who sees the pages for the first time: each is answered by what a page says, at most three clicks from Home.

The pictures of the walk are kept in build-results/browser/walk. SPDX-License-Identifier: Apache-2.0
"""

import re

import pytest

from company import Company
from page_checks import PICTURES, check_page

CLICKS_MAX = 3


@pytest.fixture(scope="module")
def company(chromium):
    site = Company()
    try:
        site.start()
        yield site.stories()
    finally:
        site.close()


class Walk:
    """Clicks from Home, counted; typing into the search and Enter is one click."""

    def __init__(self, tab, name):
        self.tab, self.name, self.clicks = tab, name, 0
        self.page = tab.open("/")
        self.page.wait_for_selector("[data-pool=a100]")

    def click(self, what):
        self.clicks += 1
        what.click()
        return self

    def link(self, text, inside="body", exact=True):
        return self.click(self.page.locator(inside).get_by_role("link", name=text, exact=exact).first)

    def button(self, text):
        return self.click(self.page.get_by_role("button", name=text, exact=True).first)

    def search(self, word, kind):
        self.clicks += 1
        self.page.keyboard.press("/")
        self.page.wait_for_selector(".search-in:focus")
        self.page.keyboard.type(word)
        self.page.wait_for_selector(f"#hits li:first-child:has-text('{kind}')")
        self.page.keyboard.press("Enter")
        return self

    def reads(self, *answers, inside="main, dialog[open]"):
        """The page says all of it; answers are texts or patterns."""
        for answer in answers:
            pattern = answer if isinstance(answer, re.Pattern) else re.compile(re.escape(answer))
            try:
                self.page.wait_for_function("([s, p]) => [...document.querySelectorAll(s)].some(e => new RegExp(p, 's').test(e.innerText))", arg=[inside, pattern.pattern])
            except Exception as e:
                raise AssertionError(f"{answer!r} is not answered:\n{self.page.inner_text('main')}") from e
        folder = PICTURES / "walk"
        folder.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(folder / f"{self.name}.png"), full_page=True)
        assert self.clicks <= CLICKS_MAX, self.clicks
        check_page(self.page)


@pytest.fixture
def walk(company, tab_of, request):
    return Walk(tab_of(company), request.node.name.removeprefix("test_"))


def test_01_who_holds_the_gpus_of_pool_a100(walk):
    walk.link("a100").link("All", "section.card:has-text('Running')")
    walk.reads(re.compile(r"bert-base.*bob.*8 GPU"), re.compile(r"asr-conformer.*dan.*4 GPU"))


def test_02_why_does_this_task_wait(walk, company):
    walk.search(str(company.at["large"]), "task")
    walk.reads("Waits for 8 slots", re.compile(r"n7.* 2 slots? free|n7 has 2 free"), re.compile("n8.*drain"), re.compile(r"held by.*task"))


def test_03_what_did_node_n7_do(walk):
    walk.search("n7", "node").reads("What happened here", re.compile(r"started.*task \d+"), "joined", re.compile(r"GPU 0.*carol"))


def test_04_how_much_of_the_guarantee_of_nlp_is_lent(walk):
    walk.link("Levels", "nav")
    walk.page.wait_for_selector("[data-account=nlp]")
    walk.reads(re.compile(r"nlp.*8 of 10.*2 lent"), "vision borrows 2")
    basin = walk.page.locator(".card:has([data-account=nlp])").filter(has_text="vision borrows 2")
    assert basin.locator("svg.levels-flows[data-flows='1'] path.levels-flow-line").count() == 1
    assert basin.locator("svg.levels-flows text").text_content() == "2"


def test_05_why_does_the_pool_cloud_not_grow(walk):
    walk.link("cloud").reads("the pool is at its maximum of 2 nodes", "asked the provider for node 2, because task")


def test_06_why_was_this_task_stopped_and_what_was_lost(walk, company):
    walk.search("asr-conformer-2", "task").reads("Evicted", "by the rule guarantee", f"stopped for task {company.at['called']}", "preempted once")


def test_07_which_tasks_failed_and_why(walk, company):
    walk.link("Tasks", "nav").button("Failed").click(walk.page.locator(f"[data-row='{company.at['crash']}'] a").first)
    walk.reads("exit code 1", "CUDA out of memory")


def test_08_where_could_a_task_with_two_gpus_start_now(walk):
    walk.link("Map", "nav")
    walk.page.wait_for_selector("canvas[data-drawn]")
    walk.button("Table").reads(re.compile(r"n7\s+h100\s+up[^\n]*\s+2 of 8"), re.compile(r"n8\s+h100\s+up, draining"))


def test_09_who_changed_the_quota_of_speech(walk):
    walk.link("Admin", "nav").button("Changes by people").reads(re.compile(r"set a quota in pool a100 of speech slots: guaranteed 8, limit 16, weight 1\s+user:root"))


def test_10_what_is_lost_when_n7_is_drained_at_once(walk, company):
    walk.search("n7", "node").button("Drain")
    walk.page.get_by_label("Tasks on it").select_option("kill")
    walk.button("Look at it")
    walk.reads("1 task would stop", "llama-70b-sft", re.compile(r"would be lost|loses"))
    walk.tab.button("Leave it")
    assert not company.api("GET", "nodes/n7").json["draining"]
