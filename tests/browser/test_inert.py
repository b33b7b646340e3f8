"""Texts of users that look like markup do nothing, in every field and in output. SPDX-License-Identifier: Apache-2.0"""

import json

import pytest

from page_checks import wait_for_texts
from weir_harness import Weir

CORPUS = [
    "<script>alert('script')</script>",
    "<img src=x onerror=alert('img')>",
    "\"><svg onload=alert('svg')>",
    "' onmouseover='alert(1)' x='",
    "javascript:alert('url')",
    "</title><iframe srcdoc='<script>parent.alert(1)</script>'>",
    "{{constructor.constructor('alert(1)')()}}",
    "\u202eevil\u2066 <a href=//evil.example>click</a>",
]
ESCAPES = "\\033]0;title\\007\\033[31mred\\033[0m\\033]8;;javascript:alert(1)\\007link\\033]8;;\\007\\033[2J\\r\\033[?1049h<b onclick=alert(1)>bold</b>\\033[31mred\\033[0m"


@pytest.fixture(scope="module")
def hostile(chromium):
    with Weir(["--slots", "2"]) as weir:
        everything = " ".join(CORPUS)
        for number, text in enumerate(CORPUS):
            body = {"name": text, "description": text.replace("\u202e", ""), "tags": [text], "env": {"TEXT": text}, "command": ["sh", "-c", 'printf "%s\\n" "$TEXT"; printf "' + ESCAPES + '\\n"; exit 1', text], "resources": {"slots": 1}}
            answer = weir.api("POST", "/api/v1/tasks", body)
            assert answer.status in (201, 400), answer.body
            if answer.status == 400:  # a text that no task may have is refused, which is inert as well
                body.update(name=f"plain {number}", description="", tags=[])
                assert weir.api("POST", "/api/v1/tasks", body).status == 201
        weir.api("POST", "/api/v1/tasks", {"name": CORPUS[1], "command": ["sleep", "600"], "resources": {"slots": 2}})
        weir.api("POST", "/api/v1/tasks", {"name": CORPUS[0], "command": ["sleep", "600"], "resources": {"slots": 2}})
        assert weir.api("POST", "/api/v1/pools", {"name": "hostile", "title": CORPUS[0], "description": CORPUS[1], "contact": CORPUS[2]}).status == 201
        assert weir.api("POST", "/api/v1/projects", {"name": "p", "title": CORPUS[1]}).status == 201
        node = weir.api("GET", "/api/v1/nodes").json["items"][0]["name"]
        assert weir.api("PATCH", f"/api/v1/nodes/{node}", {"labels": {"x": CORPUS[1]}}).status == 200
        weir.node, weir.everything = node, everything
        for number in range(1, len(CORPUS) + 1):
            weir.weir("task", "wait", number, check=False)
        yield weir


# Elements that no view makes itself, and handlers in attributes.
FOREIGN = """() => [...document.querySelectorAll('main script, main img, main svg, main iframe, main object, main embed, main b[onclick], dialog script, dialog img')].map(e => e.outerHTML.slice(0, 100))
  .concat([...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => /^on/.test(a.name) || (/^(href|src|action|formaction|srcdoc|xlink:href)$/.test(a.name) && /^\\s*javascript:/i.test(a.value)))).map(e => e.outerHTML.slice(0, 100)))
  .concat([...document.querySelectorAll('a[href]')].filter(a => a.origin !== location.origin).map(a => a.href))"""


def look(tab, path, *texts):
    page = tab.open(path)
    wait_for_texts(page, texts)
    page.evaluate("document.querySelectorAll('main *').forEach(e => e.dispatchEvent(new MouseEvent('mouseover', {bubbles: true})))")
    assert page.evaluate(FOREIGN) == []
    tab.check()


def test_lists_and_home(hostile, tab_of):
    tab = tab_of(hostile)
    look(tab, "/", "<img src=x onerror=alert('img')>")
    look(tab, "/tasks", *CORPUS[:3])
    look(tab, "/queue", CORPUS[0])
    look(tab, "/pools", CORPUS[0])
    look(tab, "/pools/hostile", CORPUS[1], CORPUS[2])
    look(tab, "/pools/hostile/edit")
    look(tab, f"/nodes/{hostile.node}", f"x={CORPUS[1]}")
    look(tab, "/admin/changes", "<script>alert('script')</script>")


@pytest.mark.parametrize("number", range(1, len(CORPUS) + 1))
def test_the_page_of_a_task_and_its_output(hostile, tab_of, number):
    tab = tab_of(hostile)
    look(tab, f"/tasks/{number}", "exit code 1")
    tab.page.wait_for_function("() => document.querySelector('.log')?.innerText.includes('<b onclick=alert(1)>bold</b>')")
    output = tab.page.inner_text(".log-box")
    assert CORPUS[number - 1].replace("\u202e", "").split("\u2066")[0].strip()[:12] in output.replace("\u202e", "")
    assert "\x1b" not in output and "\x07" not in output
    assert tab.page.title() == f"Task {number} · Weir"  # no escape sequence changes the title
    assert tab.page.locator(".log-31", has_text="red").count() == 1


def test_search_addresses_and_dialogs(hostile, tab_of):
    tab = tab_of(hostile)
    page = tab.open("/tasks")
    page.keyboard.press("/")
    page.keyboard.type("<img")
    page.wait_for_selector("#hits .hit-text >> text=onerror")
    assert page.evaluate(FOREIGN) == []
    page.keyboard.press("Escape")
    for path in ("/tasks?user=<img src=x onerror=alert(1)>&name=\"><script>alert(1)</script>", "/tasks/<script>alert(1)</script>", "/pools/%3Cimg%20src=x%20onerror=alert(1)%3E", "/submit?command=<img src=x onerror=alert(1)>&name=javascript:alert(1)"):
        page.goto(hostile.url + "/#" + path)
        page.wait_for_selector("main h1, main h3")
        assert page.evaluate(FOREIGN) == []
    page = tab.open(f"/tasks/{len(CORPUS) + 1}")
    tab.button("Kill")
    page.wait_for_selector("dialog[open] [data-dry]")
    assert page.evaluate(FOREIGN) == []
    tab.button("Leave it")
    assert json.loads(hostile.weir("task", "show", str(len(CORPUS) + 1), "--json").stdout)["state"] in ("running", "pending")
