"""Tasks that kill what runs them, as the agent's own user: the supervisor, or everything.

SPDX-License-Identifier: Apache-2.0
"""

import http.client
import os
import subprocess

import pytest

POISON = ["sh", "-c", "kill -9 $PPID; sleep 60"]
POISON_ALL = ["sh", "-c", "kill -9 -1; sleep 60"]

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give the node a user of its own, with nothing else to kill")


@pytest.fixture
def lonely(weir_factory):
    """A Weir of a user that has no other process."""
    return weir_factory("--slots", "4", "--confine", "no", user=200000 + os.getpid() % 100000)


def node(weir):
    return weir.api("GET", "nodes").json["items"][0]


@as_root
def test_a_task_that_kills_its_supervisor_is_not_run_for_ever(lonely):
    task = lonely.submit(*POISON, max_losses=2)
    ended = lonely.wait(task)
    assert (ended["state"], ended["cause"], ended["exit_code"]) == ("failed", "losses", 125)
    assert ended["counts"]["lost"] == 2
    assert lonely.wait(lonely.submit("true"))["state"] == "completed"
    assert node(lonely)["incarnation"] <= 4
    log = lonely.log_text()
    assert f'"first":"{task}.0:1"' in log or f"first={task}.0:1" in log, log


@as_root
def test_after_a_crash_loop_the_node_starts_without_tasks_and_says_so(lonely):
    # The first task is the one that the server ends with, perhaps before it has answered.
    task = 1
    try:
        assert lonely.submit(*POISON_ALL) == task
    except http.client.RemoteDisconnected:
        pass
    for _ in range(3):
        if lonely.process is not None:
            lonely.process.wait(timeout=60)
            lonely.stop()
        try:
            lonely.start()
        except AssertionError:  # the task ran again before the ready line, and ended the server with it
            assert "supervisor died under its tasks" in lonely.log_text()
    shown = lonely.wait_until(lambda: node(lonely)["trouble"] and node(lonely)["state"] == "up" and node(lonely), "the node to say what is wrong")
    assert f"task {task}" in shown["trouble"] and "died 3 times" in shown["trouble"]
    assert "out of service" in lonely.weir("node", "list").stdout
    assert shown["trouble"] in lonely.weir("node", "show", shown["name"]).stdout
    waits = lonely.wait_until(lambda: lonely.task(task)["state"] == "pending" and lonely.task(task), "the task to wait")
    assert waits["counts"]["lost"] == 3
    other = lonely.submit("true")
    assert "out of service" in lonely.weir("explain", other).stdout
    lonely.weir("task", "kill", task)
    assert lonely.wait(task)["state"] == "killed"
    assert lonely.process.poll() is None


def test_poison_of_another_user_kills_nothing(weir):
    """As root the tasks run as another user, who cannot signal the supervisor. As an ordinary user this is the attack itself."""
    if os.geteuid() != 0:
        pytest.skip("the node's own user is attacked by the other tests")
    assert weir.wait(weir.submit("sh", "-c", "kill -9 $PPID"))["state"] == "failed"
    assert node(weir)["incarnation"] == 1
    assert subprocess.run(["true"], check=True).returncode == 0
