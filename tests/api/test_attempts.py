"""Every attempt of a task stays visible: while the task goes on, after a restart, and in history.
SPDX-License-Identifier: Apache-2.0
"""

import signal

import pytest


def keys(task):
    return [attempt["key"] for attempt in task["attempts"]]


def test_each_retry_is_kept_with_node_times_and_end(server, agent):
    [task] = server.submit({"command": ["flaky"], "max_retries": 2, "instances": 2, "resources": {"slots": 1}})
    first, second = agent.order()["key"], agent.order()["key"]
    agent.report(agent.started(first), agent.ended(first, 3), agent.started(second))
    again = agent.order()["key"]
    assert again == f"{task}.0:2"
    shown = server.get(f"tasks/{task}")
    assert keys(shown) == [f"{task}.0:1", f"{task}.0:2", f"{task}.1:1"]
    old = shown["attempts"][0]
    assert (old["state"], old["node"], old["cause"], old["exit_code"]) == ("ended", "n1", "exit", 3)
    assert old["allocated_at"] <= old["started_at"] <= old["ended_at"]
    agent.report(agent.started(again), agent.ended(again, 4))
    last = agent.order()["key"]
    agent.report(agent.started(last), agent.ended(last), agent.ended(second))
    ended = server.get(f"tasks/{task}")
    assert ended["state"] == "completed"
    assert keys(ended) == [f"{task}.0:1", f"{task}.0:2", f"{task}.0:3", f"{task}.1:1"]
    assert [attempt["exit_code"] for attempt in ended["attempts"]] == [3, 4, 0, 0]


def test_a_waiting_task_shows_its_last_attempt_once(server, agent):
    [task] = server.submit({"command": ["flaky"], "max_retries": 1})
    key = agent.order()["key"]
    assert server.call("PATCH", "nodes/n1", {"draining": True}).status == 200
    agent.report(agent.started(key), agent.ended(key, 3))
    shown = server.get(f"tasks/{task}")
    assert (shown["state"], keys(shown)) == ("pending", [key])
    assert (shown["attempts"][0]["state"], shown["attempts"][0]["exit_code"]) == ("ended", 3)


def preempted(server, agent):
    """A running task that a task with a higher priority pushes out; and that other task."""
    [task] = server.submit({"command": ["low"], "resources": {"slots": 2}, "priority": 10, "grace": 60})
    key = agent.order()["key"]
    agent.report(agent.started(key))
    [other] = server.submit({"command": ["high"], "resources": {"slots": 2}, "priority": 90})
    order = agent.order()
    assert (order["type"], order["key"], order["cause"]) == ("stop", key, "preempted")
    return task, key, other


@pytest.mark.parametrize("when", ["stopping", "waiting", "restarted"])
def test_a_preempted_attempt_stays_preempted(server, agent, when):
    task, key, other = preempted(server, agent)
    if when == "stopping":
        server.call("POST", f"tasks/{task}/kill")
        agent.report(agent.ended(key, 143))
    else:
        agent.report(agent.ended(key, 143))
        if when == "restarted":
            agent.close()
            server.stop(signal.SIGKILL)
            server.start()
        waits = server.get(f"tasks/{task}")
        assert (waits["state"], waits["attempts"][0]["cause"]) == ("pending", "preempted")
        server.call("POST", f"tasks/{task}/kill")
    ended = server.get(f"tasks/{task}")
    assert (ended["state"], ended["cause"], keys(ended)) == ("killed", "killed", [key])
    attempt = ended["attempts"][0]
    assert (attempt["cause"], attempt["state"], attempt["node"]) == ("preempted", "ended", "n1")
    assert f"for task {other}" in attempt["why"]
    assert attempt["ended_at"] <= ended["ended_at"]


def test_attempts_survive_a_restart_and_a_lost_node_names_it(server, agent):
    [task] = server.submit({"command": ["long"]})
    key = agent.order()["key"]
    agent.report(agent.started(key))
    agent.close()
    agent.connect(attempts=[])  # its supervisor knows nothing of the task
    again = agent.order()["key"]
    agent.report(agent.started(again))
    agent.close()
    server.stop(signal.SIGKILL)
    server.start()
    shown = server.get(f"tasks/{task}")
    assert keys(shown) == [key, again]
    assert (shown["attempts"][0]["cause"], shown["attempts"][0]["node"]) == ("node-lost", "n1")
    assert shown["attempts"][1]["state"] == "running"


def test_a_gang_that_begins_again_keeps_the_attempts_that_had_ended(server, agent):
    [task] = server.submit({"command": ["ranks"], "instances": 2, "gang": True, "max_retries": 1, "resources": {"slots": 1}})
    first, second = agent.order()["key"], agent.order()["key"]
    agent.report(agent.started(first), agent.started(second), agent.ended(first), agent.ended(second, 9))
    orders = {agent.order()["key"], agent.order()["key"]}
    assert orders == {f"{task}.0:2", f"{task}.1:2"}
    shown = server.get(f"tasks/{task}")
    assert keys(shown) == [f"{task}.0:1", f"{task}.0:2", f"{task}.1:1", f"{task}.1:2"]
    assert [attempt["exit_code"] for attempt in shown["attempts"]] == [0, None, 9, None]
