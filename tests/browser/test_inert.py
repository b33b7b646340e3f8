"""Texts of users that look like markup do nothing, in every field and in output. SPDX-License-Identifier: Apache-2.0"""

import json
import pathlib
import re

import pytest
import yaml

from page_checks import wait_for_texts
from weir_harness import Weir

ROOT = pathlib.Path(__file__).resolve().parents[2]

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
FOREIGN = """() => [...document.querySelectorAll('main script, main img, main svg:not(.usage-days), main iframe, main object, main embed, main b[onclick], dialog script, dialog img')].map(e => e.outerHTML.slice(0, 100))
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


MARK = "<img src=x onerror=alert('field')><b onclick=alert(2)>field</b>"


def fields_that_take(weir, schema, path, base):
    """Every field of the schema that takes the text, with the form in which the server takes it."""
    taken = {}
    for field in schemas()[schema]["properties"]:
        for value in (MARK, [MARK], {"x": MARK}, {MARK: "x"}):
            if field not in base and weir.api("POST", f"/api/v1/{path}?dry_run=true", {**base, field: value}).status in (200, 201):
                taken[field] = value
                break
    return taken


def schemas():
    return yaml.safe_load((ROOT / "docs" / "api" / "openapi.yaml").read_text())["components"]["schemas"]


def addresses(**words):
    """Every view of the interface, with these words in the place of the parts of its address."""
    paths = re.findall(r"path: '([^']+)'", (ROOT / "web" / "src" / "routes.ts").read_text())
    assert len(paths) > 15
    return [re.sub(r":(\w+)", lambda part: words[path.split("/")[1] + "." + part[1]], path) for path in paths if ":tab" not in path] + [f"/admin/{tab}" for tab in ("changes", "config", "health")]


@pytest.fixture(scope="module")
def marked(chromium):
    """The text stands in every field of every object that takes it, in the error of a program, and in output."""
    with Weir(["--slots", "2"]) as weir:
        base = {"command": ["sh", "-c", 'printf "%s\\n" "$1"; printf "%s\\n" "$1" >&2; sleep 600', "sh", MARK], "resources": {"slots": 0}}
        node = weir.api("GET", "/api/v1/nodes").json["items"][0]["name"]
        assert weir.api("PATCH", f"/api/v1/nodes/{node}", {"labels": {"x": MARK}}).status == 200
        weir.fields = fields_that_take(weir, "TaskSubmit", "tasks", {**base, "entrypoint": None, "stage": False})
        pool = fields_that_take(weir, "PoolCreate", "pools", {"name": "marked"})
        for method, path, body in (("POST", "tasks", {**base, **{k: v for k, v in weir.fields.items() if k not in ("workdir", "image", "mounts")}}), ("POST", "tasks", {**base, **weir.fields}),
                                   ("POST", "tasks", {"command": [MARK], "name": MARK, "resources": {"slots": 0}}), ("POST", "pools", {"name": "marked", **pool}),
                                   ("POST", "projects", {"name": "marked", "title": MARK, "description": MARK}),
                                   ("POST", "departments", {"name": "marked", "title": MARK, "description": MARK}), ("POST", "flavors", {"name": "marked", "description": MARK, "native": MARK, "provider": "local", "slots": 1})):
            answer = weir.api(method, "/api/v1/" + path, body)
            assert answer.status in (200, 201), (path, answer.body)
        weir.pool, weir.node = pool, node
        for number in (2, 3):  # what no node has, and a program that is not there
            weir.weir("task", "wait", number, check=False)
        weir.wait_until(lambda: MARK in weir.weir("logs", "1").stdout, "the output")
        yield weir


def test_the_text_stands_in_the_fields_that_take_any_text(marked):
    assert {"name", "description", "tags", "env"} <= set(marked.fields), marked.fields
    assert {"title", "description", "contact"} <= set(marked.pool), marked.pool


def test_no_view_makes_anything_of_it(marked, tab_of):
    tab = tab_of(marked)
    seen = 0
    for address in [*addresses(**{"tasks.id": "1", "pools.name": "marked", "nodes.name": marked.node}), "/tasks/2", "/tasks/3", "/tasks?name=" + MARK, "/submit?from=1", "/map?as=table&q=" + MARK, "/usage?by=project&user=" + MARK]:
        page = tab.open(address)
        page.wait_for_function("() => !/Asking the server|Reading the log/.test(document.querySelector('main').innerText)")
        assert page.evaluate(FOREIGN) == [], address
        seen += page.inner_text("main").count("alert(2)")
        tab.check()
    assert seen > 15, seen  # the text was there to be read
    page = tab.open("/tasks/1")
    page.wait_for_function("t => document.querySelector('.log')?.innerText.includes(t)", arg=MARK)
    assert page.inner_text("main").count(MARK) >= 5  # the name, the description, a tag, the environment, the output
