"""`--dry-run` says what a change would do, and does nothing. SPDX-License-Identifier: Apache-2.0"""

import re
import shlex

import pytest

from weir_harness import REPOSITORY


@pytest.fixture
def full(weir_factory):
    """Two GPUs, both held by task 1; task 2 of the same project waits."""
    weir = weir_factory("--fake-gpus", "2")
    weir.weir("submit", "--gpus", 2, "--name", "resnet", "--time", "2h", "--", "sleep", "1000")
    weir.wait_state(1, "running")
    weir.weir("submit", "--gpus", 2, "--", "sleep", "1000")
    weir.wait_until(lambda: weir.task(2)["reason"]["code"] == "no-room", "task 2 to wait")
    return weir


def dry(weir, *words, code=8):
    """The lines of a dry run. The number of the last fact stays what it was."""
    before = weir.api("GET", "status").json["seq"]
    result = weir.weir(*words, "--dry-run", check=False)
    assert result.returncode == code, result.stdout + result.stderr
    assert weir.api("GET", "status").json["seq"] == before
    return result.stdout


def test_a_task_that_would_start_now(weir_factory):
    weir = weir_factory("--fake-gpus", "4")
    [node] = weir.weir_json("node", "list")
    said = weir.weir("submit", "--dry-run", "--gpus", 3, "--", "true", check=False)
    assert (said.returncode, said.stdout) == (8, f"would start now on {node['name']}, GPUs 0-2\n")
    said = weir.weir("run", "--dry-run", "--slots", 0, "--", "false", check=False)
    assert (said.returncode, said.stdout) == (8, f"would start now on {node['name']}\n")
    assert weir.weir_json("task", "list") == []
    dry_json = weir.weir("submit", "--dry-run", "--json", "--gpus", 1, "--", "true", check=False)
    assert '"devices":[0]' in dry_json.stdout and dry_json.returncode == 8
    never = weir.weir("submit", "--dry-run", "--gpus", 99, "--spread", "--", "true", check=False)
    assert never.returncode == 9, never.stderr


def test_a_task_that_would_wait_says_for_which_end(full):
    said = full.weir("submit", "--dry-run", "--gpus", 2, "--", "true", check=False)
    assert said.returncode == 8
    # Task 2 comes first, so task 1 must end and then task 2.
    assert re.fullmatch(r"would wait for 2 slots; .*; first when task 2 ends, after 1 other\n", said.stdout), said.stdout
    full.weir("task", "kill", "2")
    full.wait_state(2, "killed")
    said = full.weir("submit", "--dry-run", "--gpus", 2, "--", "true", check=False)
    assert re.search(r"; first when task 1 ends, in 1h5\dm at the latest\n$", said.stdout), said.stdout
    assert [task["id"] for task in full.weir_json("task", "list")] == [2, 1]


def test_the_tasks_of_a_file(full):
    path = full.root / "tasks.yaml"
    path.write_text("- {name: a, command: [true], resources: {slots: 0}}\n- {name: b, command: [true], resources: {gpu: 1}}\n")
    said = full.weir("submit", "--dry-run", "-f", path, check=False)
    assert said.returncode == 8, said.stderr
    first, second = said.stdout.splitlines()
    assert first.startswith("task 1 of 2 (a) would start now on "), said.stdout
    assert second.startswith("task 2 of 2 (b) would wait for 1 slot; "), said.stdout


def test_edit_and_move(full):
    user = full.task(1)["user"]
    stops, starts = dry(full, "task", "edit", "2", "--priority", "51").splitlines()
    assert re.fullmatch(rf"would stop task 1 \(resnet, of {user} in project default\), losing [\d.]+s", stops), stops
    assert re.fullmatch(rf"would start task 2 \(of {user} in project default\) on \S+, GPUs 0-1, once the stopped tasks have left", starts), starts
    assert full.task(2)["priority"] == 50
    assert dry(full, "task", "edit", "2", "--priority", "50", code=0).endswith("would change nothing\n")
    full.weir("submit", "--gpus", 2, "--", "sleep", "1000")
    assert re.match(r"task 3 .* would wait for 2 slots; ", dry(full, "task", "move", "3", "--ahead-of", "2"))
    assert full.weir("task", "move", "3", "--ahead-of", "99", "--dry-run", check=False).returncode == 3


def test_kill_pause_and_activate(full):
    user = full.task(1)["user"]
    said = dry(full, "task", "kill", "1")
    assert re.search(r"would stop task 1 .* losing .*\nwould start task 2 .*, once the stopped tasks have left\n", said), said
    assert dry(full, "kill", "2") == f"would end task 2 (of {user} in project default), which does not run: killed\n"
    both = dry(full, "task", "kill", "1", "2")
    assert "would stop task 1 " in both and "would end task 2 " in both and "start" not in both
    assert dry(full, "task", "pause", "1").startswith("would stop task 1 ")
    assert dry(full, "task", "pause", "2") == "would change this alone: no task starts, waits or stops\n"
    assert full.weir("task", "kill", "99", "--dry-run", check=False).returncode == 3
    assert full.task(1)["state"] == "running" and full.task(2)["state"] == "pending"


def test_a_kill_of_several_shows_the_same_before_it_asks(full):
    terminal = full.terminal("task", "kill", "1", "2")
    terminal.expect("Go on? [y/N]")
    assert "this kills 2 tasks: 1, 2" in terminal.text
    assert "this stops task 1 (resnet" in terminal.text and "this ends task 2 " in terminal.text
    terminal.send("n\n")
    assert terminal.finish()[0] == 1 and full.task(1)["state"] == "running"


def test_nodes(full):
    [node] = full.weir_json("node", "list")
    name = node["name"]
    said = dry(full, "node", "drain", name)
    assert said.startswith(f"would start nothing more on node {name}\ntask 2 "), said
    assert " would wait: " in said and "draining" in said
    assert dry(full, "node", "resume", name, code=0) == "would change nothing\n"
    assert dry(full, "node", "label", name, "zone=a").startswith(f"would change labels of node {name}\n")
    assert full.weir("node", "remove", name, "--dry-run", check=False).returncode == 5
    assert not full.weir_json("node", "list")[0]["draining"]


def test_quotas_and_pools(full):
    said = dry(full, "quota", "set", "default", "--limit", "gpu=2")
    assert re.match(r"task 2 .* would wait: .*limit", said), said
    assert dry(full, "pool", "edit", "default", "--patience", "7s") == "would change this alone: no task starts, waits or stops\n"
    said = dry(full, "pool", "pause", "default")
    assert re.match(r"task 2 .* would wait: .*paused", said), said
    assert dry(full, "pool", "resume", "default", code=0) == "would change nothing\n"
    full.weir("pool", "create", "old")
    assert dry(full, "pool", "delete", "old") == "would delete pool old; `weir pool restore` brings it back for 24 hours\n"
    assert dry(full, "pool", "delete", "old", "--now") == "would delete pool old for good\n"
    refused = full.weir("pool", "delete", "default", "--dry-run", check=False)
    assert refused.returncode == 5 and refused.stdout == ""


def test_accounts_and_flavors(full):
    assert dry(full, "department", "create", "ml") == "would make department ml\n"
    full.weir("department", "create", "ml")
    assert dry(full, "project", "create", "nlp", "--department", "ml") == "would make project nlp\n"
    full.weir("project", "create", "nlp", "--department", "ml", "--title", "Words")
    assert dry(full, "project", "edit", "nlp", "--title", "Words", code=0) == "would change nothing\n"
    assert dry(full, "project", "edit", "nlp", "--department", "default") == "would change project nlp\n"
    assert dry(full, "department", "edit", "ml", "--title", "Learning") == "would change department ml\n"
    assert dry(full, "project", "delete", "nlp") == "would delete project nlp\n"
    refused = full.weir("department", "delete", "ml", "--dry-run", check=False)
    assert refused.returncode == 5 and refused.stdout == "" and "nlp" in refused.stderr
    [project] = [p for p in full.weir_json("project", "list") if p["name"] == "nlp"]
    assert (project["department"], project["title"]) == ("ml", "Words")
    assert dry(full, "flavor", "create", "small", "--slots", 2) == "would make flavor small\n"
    full.weir("flavor", "create", "small", "--slots", 2)
    assert dry(full, "flavor", "edit", "small", "--slots", 2, code=0) == "would change nothing\n"
    assert dry(full, "flavor", "edit", "small", "--slots", 3) == "would change flavor small\n"
    assert dry(full, "flavor", "delete", "small") == "would delete flavor small\n"
    assert full.weir("flavor", "create", "small", "--dry-run", check=False).returncode == 5
    assert [flavor["slots"] for flavor in full.weir_json("flavor", "list")] == [2]


def test_tokens(full):
    tokens = full.weir_json("token", "list")
    assert dry(full, "token", "create", "--scope", "read") == "would make a token\n"
    [admin] = [token["id"] for token in tokens if token["scope"] == "admin"]
    assert dry(full, "token", "delete", admin) == f"would make token {admin} invalid\n"
    assert full.weir("token", "delete", admin, "0" * 16, "--dry-run", check=False).returncode == 3
    assert full.weir("token", "create", "--scope", "join", "--name", "nowhere", "--dry-run", check=False).returncode == 3
    [node] = full.weir_json("node", "list")
    refused = full.weir("node", "rejoin", node["name"], "--dry-run", check=False)
    assert refused.returncode == 5 and "is connected" in refused.stderr
    assert full.weir_json("token", "list") == tokens


def test_tasks_that_a_person_works_in(full):
    for words in (["shell"], ["notebook", "start"], ["tensorboard", "start", "/tmp"]):
        said = full.weir(*words, "--gpus", 1, "--dry-run", check=False)
        assert said.returncode == 8 and said.stdout.startswith("would wait for 1 slot; "), said.stdout + said.stderr
    assert [task["id"] for task in full.weir_json("task", "list")] == [2, 1]


def test_a_server_file(full):
    path = full.root / "server.yaml"
    path.write_text("pools: [{name: default}, {name: other}]\n")
    shown = full.weir("config", "diff", path, check=False)
    tried = full.weir("config", "apply", path, "--dry-run", check=False)
    assert tried.returncode == 8 and tried.stdout == shown.stdout and "+ pool other" in tried.stdout
    assert [pool["name"] for pool in full.weir_json("pool", "list")] == ["default"]


READS = """
    status, doctor, explain, queue, events, completion, help, version, whoami, usage, support, sim, top, ui, ps, logs, wait,
    task list, task show, task logs, task wait, task files, task get, task open, task exec, shell attach,
    pool list, pool show, pool events, pool try, flavor list, flavor show, network list, network show, project list, project show, department list, department show,
    quota list, node list, node show, config check, config init, config diff, config show, config import, token list, state export,
    sim compare, sim openb, db check, tls show, context list, budget, audit list, audit verify
"""
OWN_MACHINE = """
    up, down, server, agent, checkpoint, login, context use, db backup, db restore, db adopt, tls init,
    guild run-once, guild watch, guild start
"""


def test_every_command_that_changes_a_server_can_be_tried(weir_shared):
    """A new command has the flag, or it is named above: it only looks, or it changes files and processes of its own machine."""
    without = {re.sub(r"\s+", " ", name).strip() for name in f"{READS},{OWN_MACHINE}".split(",")}
    page = weir_shared.weir("help").stdout.partition("Every day\n")[2]
    commands = re.findall(r"^  ([a-z]+(?: [a-z-]+)?)  +\S", page, re.M)
    assert len(commands) > 80 and without < set(commands)
    for name in commands:
        has = "--dry-run" in weir_shared.weir(*name.split(), "--help").stdout
        assert has != (name in without), name


def test_a_pool_edit_that_stops_tasks_wants_a_yes(weir_factory):
    weir = weir_factory("--fake-gpus", "2")
    weir.weir("pool", "edit", "default", "--preemption", "off")
    weir.submit("sleep", "1000", resources={"gpu": 2})
    weir.wait_state(1, "running")
    weir.submit("sleep", "1000", resources={"gpu": 2}, priority=90)
    weir.wait_until(lambda: weir.task(2)["reason"] is not None, "task 2 to wait")
    assert dry(weir, "pool", "edit", "default", "--preemption", "on").startswith("would stop task 1 ")
    refused = weir.weir("pool", "edit", "default", "--preemption", "on", check=False)
    assert refused.returncode == 5 and refused.stderr.startswith("this stops task 1 ")
    assert weir.task(1)["state"] == "running"
    weir.weir("pool", "edit", "default", "--preemption", "on", "--yes")
    weir.wait_state(2, "running")


def test_completion_and_help_know_the_flag(weir_shared):
    for command in ("submit", "run", "task edit", "task move", "task kill", "node drain", "quota set", "pool edit", "pool delete"):
        assert "--dry-run" in weir_shared.weir(*command.split(), "--help").stdout
        assert "--dry-run" in weir_shared.weir("__complete", *command.split(), "--dry").stdout


def test_every_command_of_the_page_works(full):
    text = (REPOSITORY / "docs" / "user" / "dry-run.md").read_text()
    (block,) = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    [node] = full.weir_json("node", "list")
    before = full.api("GET", "status").json["seq"]
    for line in block.replace(" n1 ", f" {node['name']} ").splitlines():
        words = shlex.split(line)
        assert words[0] == "weir"
        done = full.weir(*words[1:], check=False)
        assert done.returncode == 8 and done.stdout != "", f"{line}: {done.stderr}"
    assert full.api("GET", "status").json["seq"] == before
