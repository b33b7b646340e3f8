"""What a person does with pools and nodes; the server's API says whether it happened. SPDX-License-Identifier: Apache-2.0"""

import pathlib
import re
import shlex
import sys
import time

import pytest

from page_checks import wait_for_texts
from weir_harness import Weir

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))

from server_process import FakeAgent, Server  # noqa: E402

DEADLINE_S = 40


@pytest.fixture(scope="module")
def weir_here(chromium):
    with Weir(["--slots", "2"]) as weir:
        yield weir


def pool(weir, name):
    return weir.api("GET", f"/api/v1/pools/{name}").json


def until(what, says):
    """Waits until what() says this; what it said last is in the failure."""
    deadline = time.monotonic() + DEADLINE_S
    while not says(last := what()):
        assert time.monotonic() < deadline, last
        time.sleep(0.05)
    return last


def test_the_life_of_a_pool(weir_here, tab_of):
    tab = tab_of(weir_here)
    page = tab.open("/new/pool")
    page.fill("input[name=name]", "grow")
    page.fill("input[name=title]", "Grows")
    page.select_option("select[name=provider]", "local")
    page.fill("input[name=min]", "1")
    page.fill("input[name=max]", "2")
    page.check("text=notebook")
    page.check("text=command")
    wait_for_texts(page, ["weir pool create grow --title Grows", "--provider local --min 1 --max 2"])
    tab.button("Look at it, then create")
    tab.confirm("Create the pool grow?")
    wait_for_texts(page, ["Scaling history"])
    made = until(lambda: pool(weir_here, "grow"), lambda p: p["nodes"]["up"] == 1)
    assert (made["title"], made["provider"]["max"], sorted(made["accepts"])) == ("Grows", 2, ["command", "notebook"])

    tab.button("Scale")
    page.select_option("dialog select >> nth=0", "fixed")
    page.fill("dialog input[name=nodes]", "3")
    tab.button("Look at it")
    tab.confirm("weir pool scale grow --nodes 3")
    until(lambda: pool(weir_here, "grow"), lambda p: p["nodes"]["up"] == 3)
    wait_for_texts(page, ["asked the provider for node 2"])

    number = int(weir_here.weir("submit", "--pool", "grow", "--", "sleep", "300").stdout)
    node = until(lambda: weir_here.api("GET", f"/api/v1/tasks/{number}").json, lambda t: t["state"] == "running")["attempts"][0]["node"]
    tab.button("Scale")
    page.select_option("dialog select >> nth=0", "named")
    page.check(f"dialog input[value='{node}']")
    page.select_option("dialog select[name=busy]", "requeue")
    tab.button("Look at it")
    tab.confirm("1 task would stop")
    moved = until(lambda: weir_here.api("GET", f"/api/v1/tasks/{number}").json, lambda t: t["state"] == "running" and len(t["attempts"]) == 2)
    assert {a["node"] for a in moved["attempts"]} != {node}

    tab.button("Pause")
    tab.confirm("weir pool pause grow")
    page.wait_for_selector(".sub .s-paused")
    assert pool(weir_here, "grow")["paused"] is True
    tab.button("Resume")
    tab.confirm()
    until(lambda: pool(weir_here, "grow"), lambda p: p["paused"] is False)

    page.get_by_role("link", name="Change").click()
    page.fill("input[name=title]", "Changed")
    tab.button("Look at it, then change")
    tab.confirm("weir pool edit grow --title Changed")
    until(lambda: pool(weir_here, "grow"), lambda p: p["title"] == "Changed")

    page.wait_for_selector("text=Scaling history")
    tab.button("Close")
    tab.confirm("weir pool close grow")
    until(lambda: pool(weir_here, "grow"), lambda p: p["state"] in ("closing", "closed"))
    tab.button("Restore")
    tab.confirm("weir pool restore grow")
    until(lambda: pool(weir_here, "grow"), lambda p: p["state"] not in ("closing", "closed"))

    tab.button("Delete")
    tab.confirm("1 task would stop")
    until(lambda: pool(weir_here, "grow"), lambda p: p["state"] == "pending-delete")
    wait_for_texts(page, ["can be restored until"])
    tab.button("Restore")
    tab.confirm()
    until(lambda: pool(weir_here, "grow"), lambda p: p["nodes"]["up"] >= 1)
    tab.button("Delete")
    tab.confirm()
    # Until its nodes have ended the pool cannot go for good.
    until(lambda: pool(weir_here, "grow"), lambda p: p["nodes"]["total"] == 0 and p["launches"]["live"] + p["launches"]["ending"] + p["launches"]["leaving"] == 0)
    tab.button("Delete for good")
    tab.confirm("weir pool delete grow --now")
    until(lambda: weir_here.api("GET", "/api/v1/pools/grow").status, lambda status: status == 404)
    wait_for_texts(page, ["1 pool"])


def test_a_faulty_definition_is_told_at_its_field(weir_here, tab_of):
    tab = tab_of(weir_here)
    page = tab.open("/new/pool")
    page.fill("input[name=name]", "wrong")
    page.select_option("select[name=access]", "dedicated")
    page.fill("input[name=for]", "nobody-here")
    tab.button("Look at it, then create")
    page.wait_for_selector("[role=alert]")
    assert "nobody-here" in page.inner_text("main")
    assert weir_here.api("GET", "/api/v1/pools/wrong").status == 404


def flags_of(weir, *command):
    return set(re.findall(r"^ +--([a-z0-9-]+)", weir.weir(*command, "--help").stdout, re.M))


def test_the_form_has_every_setting_of_the_command(weir_here, tab_of):
    page = tab_of(weir_here).open("/new/pool")
    page.evaluate("document.querySelectorAll('main details').forEach(d => { d.open = true; })")
    page.select_option("select[name=access]", "dedicated")
    seen = set()
    for provider in page.locator("select[name=provider] option").evaluate_all("all => all.map(o => o.value)"):
        page.select_option("select[name=provider]", provider)
        sizes = ("elastic", "fixed") if provider != "static" else ()
        for size in sizes:
            page.select_option("select[name=sizing]", size)
            seen |= set(page.locator("main form [name]").evaluate_all("all => all.map(e => e.name)"))
    ours = {"dry-run", "json", "server", "retry", "color", "preempt-delay"}  # of every command, and an older name
    assert seen - {"name", "sizing"} | {"accepts"} == flags_of(weir_here, "pool", "create") - ours


def test_rare_settings_reach_the_server_and_the_command_says_the_same(weir_here, tab_of):
    tab = tab_of(weir_here)
    page = tab.open("/new/pool")
    page.fill("input[name=name]", "rare")
    page.evaluate("document.querySelectorAll('main details').forEach(d => { d.open = true; })")
    settings = {"description": "It's \"rare\"", "patience": "90m", "turn": "3h", "history": "7d", "history-factor": "2", "topology": "zone, rack", "selector": "gpu=A100",
                "slots-per-node": "4", "aux-tasks": "7", "user-slots": "6", "idle-for-waiting": "3%"}
    for flag, text in settings.items():
        page.fill(f"input[name={flag}]", text)
    page.select_option("select[name=placement]", "spread")
    page.fill("input[name=turn]", "soon")
    tab.button("Look at it, then create")
    page.wait_for_selector(".field.has-error:has(input[name=turn]) [role=alert]")
    page.fill("input[name=turn]", "3h")
    command = page.inner_text("main .command code")
    tab.button("Look at it, then create")
    tab.confirm("Create the pool rare?")
    made = until(lambda: weir_here.api("GET", "/api/v1/pools/rare"), lambda a: a.status == 200).json["spec"]
    assert (made["scheduler"]["turn"], made["scheduler"]["history"], made["topology"], made["slots_per_node"]) == ("3h", {"half_life": "7d", "factor": 2}, ["zone", "rack"], 4)
    words = shlex.split(command)
    assert words[:4] == ["weir", "pool", "create", "rare"]
    weir_here.weir("pool", "create", "typed", *words[4:])
    assert {**pool(weir_here, "typed")["spec"], "name": "rare"} == made

    page = tab.open("/pools/rare/edit")
    page.evaluate("document.querySelectorAll('main details').forEach(d => { d.open = true; })")
    assert page.input_value("input[name=turn]") == "3h" and page.input_value("input[name=topology]") == "zone, rack"
    page.fill("input[name=turn]", "30m")
    page.fill("input[name=topology]", "")
    page.fill("input[name=description]", "")
    tab.button("Look at it, then change")
    tab.confirm("weir pool edit rare --description '' --topology none --turn 30m")
    changed = until(lambda: pool(weir_here, "rare")["spec"], lambda s: s["scheduler"]["turn"] == "30m")
    assert "topology" not in changed and "description" not in changed
    assert changed["patience"] == made["patience"] and changed["scheduler"]["history"] == made["scheduler"]["history"]


def test_a_node_is_drained_resumed_locked_and_labelled(weir_here, tab_of):
    name = weir_here.api("GET", "/api/v1/nodes").json["items"][0]["name"]

    def node():
        return weir_here.api("GET", f"/api/v1/nodes/{name}").json

    number = int(weir_here.weir("submit", "--name", "there", "--", "sleep", "300").stdout)
    until(lambda: weir_here.api("GET", f"/api/v1/tasks/{number}").json["state"], lambda s: s == "running")
    tab = tab_of(weir_here)
    page = tab.open(f"/nodes/{name}")
    page.wait_for_selector("main button:has-text('Remove')[disabled]")
    tab.button("Drain")
    page.select_option("dialog select[name=busy]", "kill")
    tab.button("Look at it")
    tab.confirm("1 task would stop")
    until(node, lambda n: n["draining"])
    until(lambda: weir_here.api("GET", f"/api/v1/tasks/{number}").json["state"], lambda s: s == "killed")
    page.wait_for_selector(".s-draining")
    tab.button("Resume")
    tab.confirm(f"weir node resume {name}")
    until(node, lambda n: not n["draining"])
    tab.button("Lock")
    tab.confirm(f"weir node lock {name}")
    until(node, lambda n: n["locked"])
    tab.button("Unlock")
    tab.confirm()
    until(node, lambda n: not n["locked"])
    tab.button("Label")
    page.fill("dialog input[name=labels]", "zone=a rack=r7")
    tab.button("Look at it")
    tab.confirm(f"weir node label {name} zone=a rack=r7")
    until(node, lambda n: n["labels"].get("zone") == "a" and n["labels"].get("rack") == "r7")
    wait_for_texts(page, ["rack=r7"])


def test_a_node_that_has_gone_is_removed(tab_of):
    server = Server().start()
    try:
        FakeAgent(server, "gone", slots=1).join().connect().close()
        tab = tab_of(server)
        page = tab.open("/nodes/gone")
        tab.button("Remove")
        tab.confirm("weir node remove gone")
        page.wait_for_selector("h1:has-text('Nodes')")
        assert server.call("GET", "nodes/gone").status == 404
        page.wait_for_function("() => !document.querySelector('main').innerText.includes('gone')")
    finally:
        server.close()
