"""GET /timeline: attempts that ended and attempts that run, as bars. SPDX-License-Identifier: Apache-2.0"""

import datetime

import pytest
from server_process import FakeAgent


def ms(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000


def bars(answer):
    """{(task, instance, attempt): (row, project, begin, end, state, slots, lost)}, with moments as in the answers about tasks."""
    since = ms(answer["since"])
    return {
        (task, index, attempt): (answer["rows"][row], answer["projects"][project], since + begin, None if end is None else since + end, state, slots, lost)
        for row, project, task, index, attempt, begin, end, state, slots, lost, *_ in answer["bars"]
    }


@pytest.fixture
def ran(server):
    """Task 1 completed and task 2 failed on n1, task 3 runs there, task 4 waits."""
    agent = FakeAgent(server, "n1", slots=2).join().connect()
    server.submit({"command": ["x"], "resources": {"slots": 2}})
    agent.run_next()
    server.submit({"command": ["x"]})
    agent.run_next(code=3)
    server.submit({"command": ["x"], "resources": {"slots": 2}})
    key = agent.order()["key"]
    agent.report(agent.started(key))
    server.submit({"command": ["x"]})
    yield server
    agent.close()


def test_bars_are_the_attempts(ran):
    found = bars(ran.get("timeline"))
    attempts = {n: ran.get(f"tasks/{n}")["attempts"][-1] for n in (1, 2, 3)}
    assert sorted(key[0] for key in found) == [1, 2, 3], "a task that waits has no bar"
    for n, state, slots in ((1, "ended", 2), (2, "failed", 1), (3, "running", 2)):
        row, project, begin, end, said, held, lost = found[n, 0, attempts[n]["attempt"]]
        assert (row, project, said, held, lost) == ("n1", "default", state, slots, 0)
        assert begin == pytest.approx(ms(attempts[n]["allocated_at"]), abs=1)
        assert end is None if n == 3 else end == pytest.approx(ms(attempts[n]["ended_at"]), abs=1)


def test_bars_have_their_phases(server):
    """How long an attempt waited, when its program started, and on which devices: of attempts that ended, were repeated, or run."""
    agent = FakeAgent(server, "n1", slots=4)
    agent.capacity.update(devices=4, gpu_memory=1 << 30)
    agent.join().connect()
    server.submit({"command": ["x"], "resources": {"gpu": 4}})
    server.submit({"command": ["x"], "resources": {"gpu": 2}, "max_retries": 1})
    agent.run_next()
    agent.run_next(code=3)  # waits for the first; fails, and is tried again
    agent.run_next()
    server.submit({"command": ["x"], "resources": {"gpu": 1}})
    key = agent.order()["key"]
    agent.report({**agent.started(key), "at_ms": int(ms(server.get("status")["time"]))})
    found = {(bar[2], bar[4]): bar for bar in server.get("timeline")["bars"]}
    assert sorted(found) == [(1, 1), (2, 1), (2, 2), (3, 1)]
    attempts = {(n, a["attempt"]): a for n in (1, 2, 3) for a in server.get(f"tasks/{n}")["attempts"]}
    for key, bar in found.items():
        attempt = attempts[key]
        waited, start, devices = bar[10:]
        assert devices == attempt["devices"], key
        begin = ms(attempt["allocated_at"])
        started = ms(attempt["started_at"])
        assert start == (pytest.approx(started - begin, abs=1) if started >= begin else None), key  # a clock may be off
        if key[1] == 1:
            assert waited == pytest.approx(begin - ms(server.get(f"tasks/{key[0]}")["submitted_at"]), abs=1)
    assert (len(found[1, 1][12]), len(found[2, 1][12]), len(found[2, 2][12]), len(found[3, 1][12])) == (4, 2, 2, 1)
    agent.close()


def test_rows_and_filters(ran):
    user = ran.get("tasks/1")["user"]
    for by, name in (("node", "n1"), ("user", user), ("project", "default"), ("pool", "default")):
        assert ran.get(f"timeline?by={by}")["rows"] == [name]
    assert len(ran.get("timeline?node=n1")["bars"]) == 3
    assert ran.get("timeline?node=n2")["bars"] == []
    assert ran.get("timeline?pool=other")["bars"] == []


def test_a_time_has_what_overlaps_it(ran):
    third = ran.get("tasks/3")["attempts"][-1]
    before = ran.get("timeline?since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z")
    assert before["bars"] == []
    until = [bar[2] for bar in ran.get(f"timeline?until={third['allocated_at']}")["bars"]]
    assert 1 in until
    assert 3 not in until
    after = ran.get(f"timeline?since={third['allocated_at']}")
    assert 3 in [bar[2] for bar in after["bars"]]
    assert 1 not in [bar[2] for bar in after["bars"]]


@pytest.mark.parametrize("query,path", [("by=task", "by"), ("since=yesterday", "since"), ("since=2026-02-01T00:00:00Z&until=2026-01-01T00:00:00Z", "since"), ("since=2026-01-01T00:00:00Z&until=2026-03-01T00:00:00Z", "since")])
def test_wrong_questions(server, query, path):
    answer = server.call("GET", f"timeline?{query}")
    assert (answer.status, answer.json["error"]["path"]) == (400, path)
