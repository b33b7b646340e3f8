"""Buttons of Home: a notebook is started, and its page opens with its token; the others fill the form with what runs.

SPDX-License-Identifier: Apache-2.0
"""

import pytest

from page_checks import check_page, wait_for_texts
from weir_harness import Weir

# In place of Jupyter: answers below its base address to who brings its token.
JUPYTER = """#!/usr/bin/python3
import http.server, os, sys, urllib.parse
words = dict(w.lstrip("-").split("=", 1) for w in sys.argv[1:] if "=" in w)
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        token = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("token", [""])[0]
        text = f"base {words['ServerApp.base_url']} token {'right' if token == os.environ['JUPYTER_TOKEN'] else 'wrong'}"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<h1>" + text.encode() + b"</h1>")
http.server.HTTPServer(("127.0.0.1", int(words["port"])), Page).serve_forever()
"""


@pytest.fixture(scope="module")
def here(chromium):
    with Weir(["--slots", "2"]) as weir:
        folder = weir.root / "programs"
        folder.mkdir()
        (folder / "jupyter-lab").write_text(JUPYTER)
        (folder / "jupyter-lab").chmod(0o755)
        yield weir


def test_a_notebook_is_started_and_opened(here, tab_of):
    tab = tab_of(here)
    page = tab.open("/")
    page.get_by_role("link", name="CPU-only notebook").click()
    page.wait_for_selector("[data-trial=start]")
    assert "--slots 0" in page.inner_text("#trial")
    check_page(page)
    field = page.get_by_label("Environment")
    field.fill(field.input_value() + f"\nPATH={here.root}/programs:/usr/bin:/bin")
    tab.button("Submit")
    page.wait_for_selector(".s-running")
    wait_for_texts(page, ["A shell beside the task"])
    for _ in range(40):  # Jupyter needs a moment until it listens
        with page.expect_popup() as opened:
            tab.button("Open")
        opened.value.wait_for_load_state()
        text = opened.value.inner_text("body")
        opened.value.close()
        if "base" in text:
            break
        page.wait_for_timeout(250)
    assert "base /proxy/1/ token right" in text, text
    assert "WEIR" not in text


@pytest.mark.parametrize("button,kind,runs", [("Notebook", "notebook", "jupyter"), ("TensorBoard", "tensorboard", "tensorboard --host"), ("Shell", "shell", "exec bash")])
def test_each_button_fills_the_form(here, tab_of, button, kind, runs):
    page = tab_of(here).open("/")
    page.get_by_role("link", name=button, exact=True).click()
    page.wait_for_selector("textarea[name=command]")
    assert runs in page.input_value("textarea[name=command]")
    assert page.get_by_label("Kind").input_value() == kind
    page.wait_for_selector("[data-trial]")
    check_page(page)


def test_a_shell_says_how_to_enter_it(here, tab_of):
    here.weir("shell", "--slots", "0", "--detach")
    number = max(t["id"] for t in here.api("GET", "tasks").json["items"])
    wait_for_texts(tab_of(here).open(f"/tasks/{number}"), ["Enter the shell", f"weir shell attach {number}"])
