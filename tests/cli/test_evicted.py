"""A task that lost its place says so wherever it is shown. SPDX-License-Identifier: Apache-2.0"""

import re

import pytest
from test_screens import screen  # noqa: F401
from weir_harness import weir_bin

AGAIN = r"evicted (just now|\d+s ago) for task 2 \(project nlp, its guarantee\), waits again: "


@pytest.fixture
def borrower(weir_factory):
    """Two GPUs: `weir run` follows task 1, which borrows both; task 2 takes them back."""
    weir = weir_factory("--fake-gpus", "2")
    weir.weir("project", "create", "nlp")
    weir.weir("project", "create", "vision")
    weir.weir("quota", "set", "nlp", "--pool", "default", "gpu=2")
    follower = weir.spawn("run", "--project", "vision", "--gpus", 2, "--name", "borrower", "--", "sleep", "1000")
    weir.wait_until(lambda: weir.api("GET", "tasks/1").status == 200, "the first task")
    weir.wait_state(1, "running")
    weir.submit("sleep", "1000", project="nlp", name="owner", resources={"gpu": 2})
    weir.wait_until(lambda: weir.task(1)["counts"]["preempted"] == 1 and weir.task(1)["state"] == "pending", "the eviction")
    yield weir, follower
    follower.kill()
    follower.wait()
    follower.stdout.close()
    follower.stderr.close()


def test_lists_and_show_say_that_a_task_was_evicted(borrower):
    weir, _ = borrower
    for command in (["task", "list", "--state", "pending"], ["queue"], ["task", "show", "1"]):
        said = weir.weir(*command).stdout
        assert re.search(AGAIN + "asks for 2 slots", said), (command, said)
    assert "evicted" not in weir.weir("task", "list", "--state", "running").stdout
    assert weir.weir_json("queue")[0]["evicted"]["claimant"] == 2


def test_weir_run_says_that_its_task_was_evicted(borrower):
    weir, follower = borrower
    line = follower.stderr.readline().decode()
    assert line == "weir: task 1 was evicted for task 2 (project nlp, its guarantee); it waits again\n"
    assert follower.stderr.readline().startswith(b"weir: task 1 waits, place 1: ")
    # A command that begins later says why the task waits, and no eviction of before.
    later = weir.spawn("task", "wait", "1")
    assert later.stderr.readline().startswith(b"weir: task 1 waits, place 1: ")
    later.kill()
    later.communicate()
    weir.weir("task", "kill", "2")
    weir.wait_state(1, "running")
    assert "evicted" not in weir.weir("task", "list", "--state", "running").stdout


def test_a_task_with_places_says_which_part_was_evicted(weir_factory):
    weir = weir_factory("--fake-gpus", "2")
    weir.weir("project", "create", "nlp")
    weir.weir("project", "create", "vision")
    weir.weir("quota", "set", "nlp", "--pool", "default", "gpu=1")
    weir.weir("submit", "--project", "vision", "--gpus", 1, "--array", "0-1", "--", "sleep", "1000")
    weir.wait_until(lambda: weir.task(1)["counts"]["active"] == 2, "both instances")
    weir.submit("sleep", "1000", project="nlp", resources={"gpu": 1})
    weir.wait_until(lambda: weir.task(1)["counts"]["waiting"] == 1, "the eviction")
    said = weir.weir("task", "show", "1").stdout
    assert re.search(r"an instance was evicted .* for task 2 \(project nlp, its guarantee\) and waits again", said), said


def test_an_eviction_over_a_named_resource_is_explained_in_it(weir_factory):
    """Nine slots of ten are free; the owner takes back the licences."""
    weir = weir_factory("--fake-gpus", "10", "--resources", "licence=2")
    weir.weir("project", "create", "owner")
    weir.weir("project", "create", "guest")
    for project, amount in (("owner", 2), ("guest", 0)):
        weir.weir("quota", "set", project, f"gpu={amount}", f"licence={amount}")
    weir.submit("sleep", "1000", project="guest", resources={"gpu": 1, "licence": 2})
    weir.wait_state(1, "running")
    weir.submit("sleep", "1000", project="owner", resources={"gpu": 1, "licence": 2})
    weir.wait_state(2, "running")
    evicted = weir.task(1)["evicted"]
    assert evicted["resource"] == "licence" and evicted["victim"]["allocated"] == 2
    assert "project 'guest' held 2 licence (guaranteed 0" in evicted["message"]


def test_a_priority_that_takes_a_named_resource_names_it(weir_factory):
    weir = weir_factory("--fake-gpus", "10", "--resources", "licence=2")
    weir.weir("quota", "set", "default", "--limit", "licence=2")
    weir.submit("sleep", "1000", resources={"gpu": 1, "licence": 2})
    weir.wait_state(1, "running")
    weir.submit("sleep", "1000", priority=90, resources={"gpu": 1, "licence": 2})
    weir.wait_state(2, "running")
    assert weir.task(1)["evicted"]["resource"] == "licence"


def test_an_attempt_says_in_whole_sentences_why_it_ended_at_80_columns(borrower, screen):  # noqa: F811
    weir, _ = borrower
    shown = screen(weir, 80).run(weir_bin(), "task", "show", "1")
    assert all(len(line) <= 80 for line in shown.splitlines()), shown
    rows = shown.split("ATTEMPT", 1)[1]
    assert "…" not in rows, shown
    why = "stopped for task 2, which took back the guarantee of its account; project 'vision' held 2 slots"
    assert why in " ".join(rows.split()), shown


def test_explain_of_a_running_task_says_that_it_waits_for_nothing(borrower):
    weir, _ = borrower
    weir.wait_state(2, "running")
    said = weir.weir("explain", "2").stdout
    assert "the task has its places and waits for nothing; `weir task show 2` says where" in said
    assert "waits for nothing" not in weir.weir("explain", "1").stdout
