"""Checkpoints as agents report them: taken from whoever runs the attempt, shown, stored. SPDX-License-Identifier: Apache-2.0"""

import datetime
import signal
import time


def said(key, at_ms):
    return {"type": "checkpoint", "key": key, "at_ms": at_ms}


def ms_of(text):
    return round(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def started(server, agent, **fields):
    """A task that runs, its key, and a moment some time after its start."""
    [task] = server.submit({"command": ["train"], **fields})
    key = agent.order()["key"]
    assert agent.report(agent.started(key)).status == 200
    begun = ms_of(server.get(f"tasks/{task}")["attempts"][0]["started_at"])
    until = time.monotonic() + 0.05  # the server's clock goes by this one, not by that on the wall
    while time.monotonic() < until:
        time.sleep(0.01)
    return task, key, begun


def checkpoint_of(server, task, index=0):
    return server.get(f"tasks/{task}")["attempts"][index]["checkpoint_at"]


def test_a_checkpoint_is_shown_and_is_an_event(server, agent):
    task, key, begun = started(server, agent)
    assert checkpoint_of(server, task) is None
    assert agent.report(said(key, begun + 20)).json == {"acked": True}
    at = checkpoint_of(server, task)
    assert ms_of(at) == begun + 20
    agent.report(agent.ended(key))
    ended = server.get(f"tasks/{task}")
    assert ended["state"] == "completed" and ended["attempts"][0]["checkpoint_at"] == at


def test_what_says_nothing_new_is_acknowledged_and_passed_over(server, agent):
    task, key, begun = started(server, agent)
    attempt = key.rsplit(":", 1)[0]
    for report in (said(key, begun), said(key, 0), said(f"{attempt}:2", begun + 20), said("9999.0:1", begun + 20)):
        assert agent.report(report).json == {"acked": True}
        assert checkpoint_of(server, task) is None
    assert agent.report(said(key, begun + 20), said(key, begun + 30), said(key, begun + 20)).status == 200
    at = checkpoint_of(server, task)
    assert ms_of(at) == begun + 20
    for _ in range(3):
        agent.report(said(key, begun + 25), said(key, begun + 10))
    assert checkpoint_of(server, task) == at
    agent.report(agent.ended(key))
    agent.report(said(key, begun + 20000))  # late
    assert server.get(f"tasks/{task}")["attempts"][0]["checkpoint_at"] == at


def test_a_clock_that_is_ahead_is_believed_up_to_now(server, agent):
    task, key, begun = started(server, agent)
    assert agent.report(said(key, begun + 10**9)).status == 200
    [later] = server.submit()
    assert begun < ms_of(checkpoint_of(server, task)) <= ms_of(server.get(f"tasks/{later}")["submitted_at"])
    agent.report(agent.ended(key))


def test_malformed_checkpoints_are_refused(server, agent):
    task, key, _ = started(server, agent)
    for report in ({"type": "checkpoint", "key": "x", "at_ms": 1}, {"type": "checkpoint", "at_ms": 1},
                   {"type": "checkpoint", "key": key, "at_ms": "soon"}, {"type": "checkpoint", "key": key, "at_ms": -5}):
        answer = agent.report(report)
        assert answer.status == 400, (report, answer.body)
    assert checkpoint_of(server, task) is None
    agent.report(agent.ended(key))


def test_a_checkpoint_survives_kill_9(server, agent):
    task, key, begun = started(server, agent)
    agent.report(said(key, begun + 20))
    at = checkpoint_of(server, task)
    server.stop(signal.SIGKILL)
    server.start()
    assert checkpoint_of(server, task) == at
