"""What changes shows at once and stands still; a page outlives its server. SPDX-License-Identifier: Apache-2.0"""

import re

from page_checks import PICTURES, check_page, wait_for_texts


def test_a_change_shows_by_itself(weir, tab_of):
    tab = tab_of(weir)
    page = tab.open("/")
    wait_for_texts(page, ["No task yet"])
    weir.weir("submit", "--name", "sudden", "--", "sleep", "300")
    wait_for_texts(page, ["sudden"])  # how soon is measured by bench/pages.py
    page.wait_for_selector("[data-pool=default] >> text=1 used")


def test_rows_stand_still_until_asked(weir, tab_of):
    weir.weir("submit", "--name", "first", "--", "sleep", "300")
    page = tab_of(weir).open("/tasks")
    page.wait_for_selector("[data-row='1']")
    before = page.evaluate("[...document.querySelectorAll('[data-row]')].map(r => [r.dataset.row, Math.round(r.getBoundingClientRect().top)])")
    for name in ("second", "third"):
        weir.weir("submit", "--name", name, "--", "sleep", "300")
    wait_for_texts(page, ["2 new"])
    after = page.evaluate("[...document.querySelectorAll('[data-row]')].map(r => [r.dataset.row, Math.round(r.getBoundingClientRect().top)])")
    assert after == before
    weir.weir("kill", "1", "--yes")
    page.wait_for_selector("[data-row='1'] .s-killed")  # what a row says goes on changing
    page.get_by_role("button", name="2 new").click()
    page.wait_for_selector("[data-row='3']")
    assert page.evaluate("document.querySelector('[data-row]').dataset.row") == "3"


def test_a_page_outlives_the_death_of_its_server(weir, tab_of):
    weir.weir("submit", "--name", "survives", "--", "sleep", "300")
    tab = tab_of(weir)
    page = tab.open("/tasks")
    wait_for_texts(page, ["survives"])
    page.wait_for_selector(".s-running")
    weir.kill()
    page.wait_for_selector(".link-bar")
    bar = page.inner_text(".link-bar")
    assert "Connection lost" in bar and re.search(r"is \d+ (s|min) old", bar), bar
    assert "survives" in page.inner_text("main")  # what was known stays, with its age
    check_page(page)
    page.screenshot(path=str(PICTURES / "lost.png"))
    weir.start()
    page.wait_for_selector(".link-bar", state="detached", timeout=30000)
    page.wait_for_selector(".link-dot.live")
    weir.weir("submit", "--name", "afterwards", "--", "sleep", "300")
    wait_for_texts(page, ["1 new"])
    page.get_by_role("button", name="1 new").click()
    wait_for_texts(page, ["afterwards"])


def test_output_goes_on_after_the_server_was_killed(weir, tab_of):
    weir.weir("submit", "--", "sh", "-c", "echo before; while [ ! -e /tmp/never ]; do sleep 0.2; n=$((n+1)); echo tick $n; done")
    tab = tab_of(weir)
    page = tab.open("/tasks/1")
    page.wait_for_function("() => document.querySelector('.log')?.innerText.includes('tick 3')")
    weir.kill()
    page.wait_for_selector(".link-bar")
    weir.start()
    page.wait_for_selector(".link-bar", state="detached", timeout=30000)
    seen = int(page.get_attribute(".log", "data-lines"))
    page.wait_for_function("n => Number(document.querySelector('.log').dataset.lines) > n + 5", arg=seen, timeout=30000)
    numbers = page.evaluate("[...document.querySelectorAll('.log-line')].map(l => l.innerText.match(/tick (\\d+)/)?.[1]).filter(Boolean).map(Number)")
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))  # nothing twice, nothing left out


def test_keys(site, tab_of):
    tab = tab_of(site)
    page = tab.open("/tasks")
    page.wait_for_selector("[data-row='1']")
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.closest('[data-row]').dataset.row")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('[data-row]').dataset.row") != first
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.closest('[data-row]').dataset.row") == first
    page.keyboard.press("x")
    wait_for_texts(page, ["1 task chosen"])
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open] >> text=Keys")
    check_page(page)
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog[open]", state="detached")
    page.evaluate("[...'/burst'].forEach((key) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })))")  # faster than the field
    page.wait_for_selector("#hits li:first-child >> text=pool")
    assert page.input_value(".search-in") == "burst"
    check_page(page)
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('burst')")
    page.keyboard.press("g")
    page.keyboard.press("q")
    page.wait_for_selector("h1:has-text('Queue')")


def test_signing_in_with_a_token_and_out_again(site, tab_of):
    tab = tab_of(site, sign_in=False)
    page = tab.page
    page.goto(site.url)
    page.fill("input[type=password]", "weir_admin_" + "0" * 64)
    page.click("button[type=submit]")
    page.wait_for_selector("[role=alert]")
    check_page(page)
    page.screenshot(path=str(PICTURES / "sign-in.png"))
    page.fill("input[type=password]", tab.token())
    page.click("button[type=submit]")
    page.wait_for_selector("[data-pool=default]")
    assert page.evaluate("document.cookie") == ""  # no script sees the cookie
    assert tab.token() not in page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    page.reload()
    page.wait_for_selector("[data-pool=default]")
    page.click(".who summary")
    tab.button("Sign out")
    page.wait_for_selector("input[type=password]")
    page.reload()
    page.wait_for_selector("input[type=password]")


def test_a_one_time_link_signs_in_once(site, tab_of):
    link = site.weir("ui", "--print").stdout.strip()
    tab = tab_of(site, sign_in=False)
    tab.page.goto(link)
    tab.page.wait_for_selector("[data-pool=default]")
    assert "link=" not in tab.page.url
    [cookie] = tab.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    other = tab_of(site, sign_in=False)
    other.page.goto(link)
    wait_for_texts(other.page, ["This link has been used"])


def test_filters_stand_in_the_address(site, tab_of):
    tab = tab_of(site)
    page = tab.open("/tasks")
    page.wait_for_selector("[data-row='1']")
    tab.button("Failed")
    page.wait_for_selector("[data-row='1']", state="detached")
    assert "state=failed" in page.url
    page.reload()
    page.wait_for_selector("[data-row='4']")
    assert page.locator("[data-row]").count() == 1


def test_colours_are_chosen_and_kept(site, tab_of):
    tab = tab_of(site)
    page = tab.open("/")
    page.get_by_role("button", name="Colours: system").click()
    page.get_by_role("button", name="Colours: light").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    check_page(page)
    page.reload()
    page.wait_for_selector(".link-dot.live")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
