"""Agents that are drained, killed and come back: Determined's own end-to-end scenarios, with Weir's commands.

Each test of a case has its name in Determined's list (tests/peers has the decision cases). `disable` without `drain` is `weir node drain --busy requeue`.
SPDX-License-Identifier: Apache-2.0
"""
import os
import select
import shutil
import signal

import pytest

from organisation import server_file
from weir_harness import DEADLINE_S, supervisor_fd


@pytest.fixture
def cluster(site):
    """A factory: cluster("n1", "n2") is a server with these nodes, each with one slot."""
    def make(*names):
        s = site(server_file(["default"], {}))
        for name in names:
            start(s, name)
        s.wait_until(lambda: s.nodes_ready("default") == set(names), "the nodes")
        return s
    return make


def start(s, name, pool="default", gpus=0):
    s.agent(name, "agent", "--server", s.url, "--pool", pool, "--join-token-file", str(s.dir / "join.token"), "--slots", "1",
            "--fake-gpus", str(gpus))


def kill(s, name):
    """Kills the agent of a node; its supervisor and its tasks go on."""
    agent = s.agents.pop(name)
    agent.send_signal(signal.SIGKILL)
    agent.wait(timeout=DEADLINE_S)


def submit(s, *command, slots=1):
    return s.weir("submit", "--slots", str(slots), "--", *command).stdout.strip()


def node_of(s, task):
    return s.task(task)["attempts"][0]["node"]


def gate(s, name):
    """A command that runs until the file exists."""
    path = s.root / name
    return path, ["sh", "-c", f"while [ ! -e {path} ]; do sleep 0.05; done"]


def test_disable_then_enable_resumes(cluster):
    s = cluster("n1")
    go, wait = gate(s, "go")
    task = submit(s, *wait)
    s.wait_state(task, "running")
    s.weir("node", "drain", "n1", "--busy", "requeue", "--yes")
    s.wait_until(lambda: s.api("GET", "nodes/n1").json["tasks"] == [], "no slot in use")
    assert s.task(task)["state"] == "pending"
    s.weir("node", "resume", "n1")
    s.wait_until(lambda: s.task(task)["state"] == "running", "the job runs again")
    go.touch()
    s.wait_state(task, "completed")
    assert s.task(task)["counts"]["failed"] == 0


def test_other_devices_wait_for_the_tasks_that_began_before(cluster):
    s = cluster()
    node = lambda: s.api("GET", "nodes/n1").json  # noqa: E731
    start(s, "n1", gpus=2)
    s.wait_until(lambda: s.nodes_ready("default") == {"n1"}, "the node")
    go, wait = gate(s, "go")
    running = submit(s, *wait)
    s.wait_state(running, "running")
    kill(s, "n1")
    start(s, "n1", gpus=3)
    s.wait_until(lambda: "device count has changed from 2 to 3" in node()["trouble"], "the words")
    waiting = submit(s, "true")
    assert s.task(running)["state"] == "running" and s.task(waiting)["state"] == "pending"
    kill(s, "n1")
    start(s, "n1", gpus=3)  # another agent remembers it, too
    s.wait_until(lambda: s.agents["n1"].poll() is None and node()["state"] == "up" and node()["trouble"], "the node again")
    go.touch()
    s.wait_state(running, "completed")
    s.wait_state(waiting, "completed")
    assert not node()["trouble"] and node()["resources"]["slots"]["total"] == 3
    assert len(s.task(running)["attempts"]) == 1


def test_another_pool_waits_for_the_tasks_that_began_before(cluster):
    s = cluster("n1")
    s.weir("pool", "create", "other")
    node = lambda: s.api("GET", "nodes/n1").json  # noqa: E731
    go, wait = gate(s, "go")
    running = submit(s, *wait)
    s.wait_state(running, "running")
    kill(s, "n1")
    start(s, "n1", pool="other")
    s.wait_until(lambda: "resource pool has changed from 'default' to 'other'" in (node()["trouble"] or ""), "the words")
    assert node()["pool"] == "default"
    go.touch()
    s.wait_state(running, "completed")
    s.wait_until(lambda: node()["pool"] == "other" and not node()["trouble"], "the node in its new pool")
    after = s.weir("submit", "--pool", "other", "--", "true").stdout.strip()
    s.wait_state(after, "completed")


def test_drain_lets_running_finish(cluster):
    s = cluster("n1")
    go, wait = gate(s, "go")
    first = submit(s, *wait)
    s.wait_state(first, "running")
    s.weir("node", "drain", "n1")
    s.weir("node", "resume", "n1")
    second = submit(s, "true")
    assert s.reason(second)["code"] == "no-room" and s.task(first)["state"] == "running"
    s.weir("node", "drain", "n1")
    go.touch()
    s.wait_state(first, "completed")
    s.wait_until(lambda: (s.task(second)["reason"] or {}).get("code") == "nodes-away", "why the second waits")
    shown = s.api("GET", "nodes/n1").json
    assert shown["draining"] and shown["resources"]["slots"] == {"total": 1, "free": 1} and shown["tasks"] == []
    s.weir("node", "resume", "n1")
    s.wait_state(second, "completed")


def test_drain_zero_slot(cluster):
    s = cluster("n1", "n2")
    go, wait = gate(s, "go")
    first = submit(s, *wait, slots=0)
    s.wait_state(first, "running")
    x = node_of(s, first)
    s.weir("node", "drain", x)
    second = submit(s, *wait, slots=0)
    s.wait_state(second, "running")
    y = node_of(s, second)
    assert {x, y} == {"n1", "n2"}
    s.weir("node", "drain", y)
    go.touch()
    s.wait_state(first, "completed")
    s.wait_state(second, "completed")
    s.weir("node", "resume", x, y)
    s.wait_state(submit(s, "true", slots=0), "completed")


def test_reconnect_within_wait_keeps_task(cluster):
    s = cluster("n1")
    go, wait = gate(s, "go")
    task = submit(s, *wait)
    s.wait_state(task, "running")
    kill(s, "n1")
    s.wait_until(lambda: s.api("GET", "nodes/n1").json["state"] == "silent", "the server to notice")
    start(s, "n1")
    s.wait_until(lambda: s.nodes_ready("default") == {"n1"}, "the node again")
    go.touch()
    s.wait_state(task, "completed")
    assert len(s.task(task)["attempts"]) == 1


def test_container_lost_while_away_is_rescheduled(cluster):
    s = cluster("n1")
    go, wait = gate(s, "go")
    task = submit(s, *wait)
    s.wait_state(task, "running")
    kill(s, "n1")
    supervisor = supervisor_fd(s.root / "nodes" / "n1" / "supervisor.lock")
    signal.pidfd_send_signal(supervisor, signal.SIGKILL)
    os.close(supervisor)
    start(s, "n1")
    s.wait_until(lambda: len(s.task(task)["attempts"]) == 2 and s.task(task)["state"] == "running", "the second attempt")
    go.touch()
    s.wait_state(task, "completed")
    assert s.task(task)["counts"]["failed"] == 0


def test_a_removed_node_leaves_nothing(cluster):
    """As the job script of Slurm ends a node: the agent is killed and its directory removed. A supervisor that is still there makes nothing anew."""
    s = cluster("n1")
    home = s.root / "nodes" / "n1"
    supervisor = supervisor_fd(home / "supervisor.lock")
    kill(s, "n1")
    shutil.rmtree(home)
    ended = lambda: select.select([supervisor], [], [], 0)[0] != []  # noqa: E731
    s.wait_until(lambda: ended() or home.exists(), "the end of the supervisor")
    assert ended() and not home.exists()
    os.close(supervisor)


def test_reconnect_triggers_schedule(cluster):
    s = cluster("n1")
    kill(s, "n1")
    s.wait_until(lambda: s.api("GET", "nodes/n1").json["state"] == "silent", "the server to notice")
    task = submit(s, "true")
    start(s, "n1")
    s.wait_state(task, "completed")


def test_a_failing_check_of_the_site_takes_the_node_out_of_service(cluster):
    s = cluster()
    check, bad = s.root / "check", s.root / "bad"
    check.write_text(f"#!/bin/sh\nif [ -e {bad} ]; then echo 'some noise' >&2; cat {bad} >&2; exit 3; fi\n")
    check.chmod(0o755)
    bad.write_text("the fan of GPU 2 stands still\n")
    s.agent("n1", "agent", "--server", s.url, "--pool", "default", "--join-token-file", str(s.dir / "join.token"), "--slots", "2",
            "--fake-gpus", "0", "--health-check", str(check), "--health-every", "1s")
    node = lambda: s.api("GET", "nodes/n1").json  # noqa: E731
    s.wait_until(lambda: s.api("GET", "nodes/n1").status == 200, "the node")
    assert "the fan of GPU 2 stands still" in node()["trouble"] and "exit code 3" in node()["trouble"]
    task = submit(s, "true")
    assert s.task(task)["state"] == "pending"
    bad.unlink()
    s.wait_state(task, "completed")
    go, wait = gate(s, "go")
    running = submit(s, *wait)
    s.wait_state(running, "running")
    bad.write_text("no route to the storage\n")
    s.wait_until(lambda: "no route to the storage" in node()["trouble"], "the words")
    waiting = submit(s, "true")
    assert s.task(running)["state"] == "running" and s.task(waiting)["state"] == "pending"
    go.touch()
    s.wait_state(running, "completed")  # what runs goes on to its end
    assert s.task(waiting)["state"] == "pending"
    bad.unlink()
    s.wait_state(waiting, "completed")
