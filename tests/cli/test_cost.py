"""What a change stops is said before it is done. SPDX-License-Identifier: Apache-2.0"""

import re

import pytest


@pytest.fixture
def full(weir_factory):
    """Two GPUs, both held by task 1; task 2 of the same project waits."""
    weir = weir_factory("--fake-gpus", "2")
    weir.weir("submit", "--gpus", 2, "--name", "resnet", "--", "sleep", "1000")
    weir.wait_state(1, "running")
    weir.weir("submit", "--gpus", 2, "--", "sleep", "1000")
    weir.wait_until(lambda: weir.task(2)["reason"]["code"] == "no-room", "task 2 to wait")
    return weir


def test_a_proposal_says_its_price(full):
    user = full.task(1)["user"]
    said = full.weir("explain", "2").stdout
    assert re.search(rf"weir task edit 2 --priority 51  # would stop task 1 of {user}, losing \d+s\n", said), said


def test_an_edit_that_stops_a_task_wants_a_yes(full):
    user = full.task(1)["user"]
    refused = full.weir("task", "edit", "2", "--priority", "51", check=False)
    assert refused.returncode == 5
    assert re.match(rf"this stops task 1 \(resnet, of {user} in project default\), losing [\d.]+s\n", refused.stderr)
    assert "give --yes" in refused.stderr
    assert full.task(2)["priority"] == 50 and full.task(1)["state"] == "running"
    full.weir("task", "edit", "2", "--priority", "51", "--yes")
    full.wait_state(2, "running")


def test_on_a_terminal_it_asks_and_says_what_it_did(full):
    terminal = full.terminal("task", "edit", "2", "--priority", "51")
    terminal.expect("Go on? [y/N]")
    terminal.send("n\n")
    assert terminal.finish()[0] == 1 and "nothing was changed" in terminal.text
    assert full.task(2)["priority"] == 50
    terminal = full.terminal("task", "edit", "2", "--priority", "51")
    terminal.expect("this stops task 1")
    terminal.send("y\n")
    assert terminal.finish()[0] == 0
    assert "task 2 is changed; it is " in terminal.text
    full.wait_state(2, "running")


def test_an_edit_that_stops_nothing_is_done_at_once(full):
    status, text = full.terminal("task", "edit", "2", "--priority", "40").finish()
    assert (status, text) == (0, "task 2 is changed; it is pending\n")
    assert full.weir("task", "edit", "2", "--time", "2h").stderr == ""  # a pipe is not talked to


def test_every_change_of_a_task_says_what_it_did(full):
    for command, said in (
        (["pause", "2"], "task 2 is paused\n"),
        (["activate", "2"], "task 2 is pending\n"),
        (["kill", "2"], "task 2 is killed\n"),
        (["kill", "1"], "task 1 is told to stop\n"),
    ):
        assert full.terminal("task", *command).finish() == (0, said)
    [node] = full.weir_json("node", "list")
    assert full.terminal("node", "drain", node["name"]).finish() == (0, f"node {node['name']} takes no new tasks\n")


def test_a_guarantee_that_stops_a_borrower_is_asked_for_on_a_terminal(weir_factory):
    weir = weir_factory("--fake-gpus", "2")
    weir.weir("project", "create", "nlp")
    weir.weir("project", "create", "vision")
    weir.submit("sleep", "1000", project="vision", resources={"gpu": 2})
    weir.wait_state(1, "running")
    weir.submit("sleep", "1000", project="nlp", resources={"gpu": 2})
    weir.wait_until(lambda: weir.task(2)["reason"] is not None, "task 2 to wait")
    terminal = weir.terminal("quota", "set", "nlp", "--pool", "default", "gpu=2")
    terminal.expect("this stops task 1 ")
    terminal.send("n\n")
    assert terminal.finish()[0] == 1 and weir.task(1)["state"] == "running"
    weir.weir("quota", "set", "nlp", "--pool", "default", "gpu=2")  # a script is not asked
    weir.wait_state(2, "running")


def test_a_dry_run_changes_nothing(full):
    dry = full.api("PATCH", "tasks/2?dry_run=true", {"priority": 51}).json
    assert [stop["task"] for stop in dry["stops"]] == [1] and dry["stops_total"] == 1 and dry["starts"][0]["task"] == 2
    assert full.task(2)["priority"] == 50 and full.task(1)["state"] == "running"
    assert full.api("PATCH", "tasks/99?dry_run=true", {"priority": 51}).status == 404
    assert full.api("PATCH", "tasks/2?dry_run=maybe", {"priority": 51}).status == 400
    assert full.api("POST", "tasks/1/kill?dry_run=true").json["stops"][0]["task"] == 1
    assert full.task(1)["state"] == "running"


def test_a_resumed_pool_says_its_price(weir_factory):
    weir = weir_factory("--fake-gpus", "2")
    weir.submit("sleep", "1000", resources={"gpu": 2})
    weir.wait_state(1, "running")
    weir.weir("pool", "pause", "default")
    weir.submit("sleep", "1000", resources={"gpu": 2}, priority=90)
    weir.wait_until(lambda: weir.task(2)["reason"]["code"] == "pool-paused", "task 2 to wait")
    user = weir.task(1)["user"]
    assert re.search(rf"weir pool resume default  # would stop task 1 of {user}, losing \d+s\n", weir.weir("explain", "2").stdout)
    refused = weir.weir("pool", "resume", "default", check=False)
    assert refused.returncode == 5 and refused.stderr.startswith("this stops task 1 ")
    weir.weir("pool", "resume", "default", "--yes")
    weir.wait_state(2, "running")
