"""Chromium, a server with work on it, and pages that watch themselves. SPDX-License-Identifier: Apache-2.0"""

import pathlib
import shutil
import subprocess
import sys
import urllib.parse

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from weir_harness import Weir, weir_bin  # noqa: E402

CHROMIUM = shutil.which("chromium")
WIDE, NARROW = {"width": 1280, "height": 860}, {"width": 360, "height": 740}
WAIT_MS = 15000

# Runs before any script of a page: remembers what the Content-Security-Policy refused, and what inert text must never do.
WATCH = """
window.__refused = [];
document.addEventListener('securitypolicyviolation', e => window.__refused.push(e.violatedDirective + ' ' + e.blockedURI));
window.__ran = [];
window.alert = window.confirm = window.prompt = text => { window.__ran.push(String(text)); };
"""


def has_interface():
    """Is the interface in this build? Its page names a script."""
    return subprocess.run(["grep", "-aq", "/assets/app-", weir_bin()], check=False).returncode == 0


@pytest.fixture(scope="session")
def chromium():
    if CHROMIUM is None:
        pytest.skip("no Chromium (apt-get install chromium)")
    if not has_interface():
        pytest.skip("this build has no web interface (no Node)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


class Tab:
    """A page of one server. `page` is Playwright's."""

    def __init__(self, browser, weir, dark=False, narrow=False):
        self.weir, self.errors, self.hosts = weir, [], set()
        self.context = browser.new_context(viewport=NARROW if narrow else WIDE, color_scheme="dark" if dark else "light", reduced_motion="reduce")
        self.context.add_init_script(WATCH)
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT_MS)
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.on("request", lambda r: self.hosts.add(urllib.parse.urlsplit(r.url).netloc))

    def sign_in(self, token=None):
        """By one request, as the sign-in form does it; the cookie stays in this tab's context."""
        answer = self.context.request.post(self.weir.url + "/api/v1/session", headers={"Authorization": f"Bearer {token or self.token()}", "X-Weir-Request": "1"})
        assert answer.status == 201, answer.text()
        return self

    def token(self):
        return (self.weir.dir / "admin.token").read_text().strip()

    def open(self, path="/", heading=None):
        """Opens a view and waits until it is drawn."""
        self.page.goto(self.weir.url + "/#" + path)
        self.page.wait_for_selector("main h1" if heading is None else f"main h1:has-text({heading!r})")
        self.page.wait_for_selector(".link-dot.live")
        return self.page

    def check(self):
        """Nothing was refused by the policy, nothing threw, nothing went to another host, no text acted."""
        assert self.errors == []
        assert self.page.evaluate("window.__refused") == []
        assert self.page.evaluate("window.__ran") == []
        assert self.hosts <= {urllib.parse.urlsplit(self.weir.url).netloc}

    def confirm(self, says=None):
        """Reads what a change would do, then makes it."""
        self.page.wait_for_selector("dialog[open] button[data-act=confirm]:not([disabled])")
        if says is not None:
            text = self.page.inner_text("dialog[open]")
            assert says in text, text
        self.page.click("dialog[open] button[data-act=confirm]")
        self.page.wait_for_selector("dialog[open]", state="detached")

    def button(self, name):
        self.page.get_by_role("button", name=name, exact=True).first.click()


@pytest.fixture
def tab_of(chromium):
    """tab_of(weir, dark=…, narrow=…): a signed-in tab; checked and closed after the test."""
    tabs = []

    def make(weir, sign_in=True, **how):
        tab = Tab(chromium, weir, **how)
        tabs.append(tab)
        return tab.sign_in() if sign_in else tab

    yield make
    for tab in tabs:
        try:
            tab.check()
        finally:
            tab.context.close()


@pytest.fixture(scope="module")
def site(chromium):
    """A server with four false GPUs, three pools and tasks in every state that a view shows; tests here change nothing of it."""
    with Weir(["--fake-gpus", "4", "--resources", "foo=7"]) as weir:
        weir.weir("pool", "create", "burst", "--provider", "local", "--min", "1", "--max", "2", "--idle", "1h")
        weir.weir("pool", "create", "serving", "--title", "Serving", "--accepts", "service")
        weir.weir("project", "create", "vision")
        weir.weir("submit", "--name", "train", "--gpus", "3", "--tag", "paper", "--", "sh", "-c", "for i in 1 2 3; do echo epoch $i; done; echo Error: none >&2; sleep 600")
        weir.weir("submit", "--name", "wide", "--gpus", "4", "--", "sleep", "600")
        weir.weir("submit", "--name", "sweep", "--pool", "burst", "--array", "0-3", "--", "sleep", "600")
        weir.weir("submit", "--name", "breaks", "--slots", "0", "--resources", "foo=1", "--", "sh", "-c", "echo going down; exit 3")
        weir.weir("task", "wait", "4", check=False)
        yield weir
