"""A node with a valid credential reports nonsense. The server refuses it, and everybody else is served.

SPDX-License-Identifier: Apache-2.0
"""

import copy
import json
import os
import random

import pytest
from server_process import FakeAgent, Stream

# Numbers at and around every bound that a decoder, the core or the store could have.
NUMBERS = [-1, 0, 1, 2, 3, 255, 256, 4095, 4096, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**48, 2**48 + 1,
           2**53 - 1, 2**53, 2**53 + 1, 2**56 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, 0.5, 1e300]
OTHERS = [None, True, False, "", "x", "\x7f\x1b[2J", "n" * 300, "n" * 5000, [], [[]], {}, {"a": {}}, [1] * 100,
          "18446744073709551615.0:1", "1.4294967295:4294967295", "0.0:0", "1.0:99999999999", "../../etc", "\ud7ff"]


def served(server):
    """A submission of somebody else is stored."""
    answer = server.call("POST", "tasks", {"command": ["true"]})
    assert answer.status == 201, answer.body
    assert "commit failed" not in server.log()
    return answer.json["tasks"][0]["id"]


def reports_of(agent, key):
    """One report of each type, every field given."""
    return [
        {**agent.started(key), "workdir_used": True},
        agent.output(key, b"hello\n"),
        {"type": "checkpoint", "key": key, "at_ms": 5},
        {"type": "use", "key": key, "at_ms": 5, "cpu_ms": 1, "memory": 1, "memory_peak": 1, "gpu_known": True, "gpu": 0.5, "gpu_memory": 1},
        {"type": "refused", "key": key, "why": "no"},
        {"type": "spawn_failed", "key": key, "at_ms": 1, "errno": 2, "message": "no such file"},
        {"type": "lost", "key": key},
        {**agent.ended(key, out=6), "out_of_memory": True},
        {**agent.ended(key, out=6), "out_of_disk": True},
    ]


def test_output_at_the_largest_offset(server, agent):
    """The report that once stopped all writes."""
    server.submit()
    key = agent.order()["key"]
    for offset in (2**63 - 1, 2**53, 2**53 - 1, 64 * 2**20 + 4097):
        answer = agent.report(agent.output(key, b"x", offset=offset))
        assert answer.status == 400, (offset, answer.body)
        assert answer.json["error"]["path"] == "offset"
        served(server)


def test_every_field_of_every_report(server, agent):
    """Each field of each report takes each odd value, one at a time. The server answers 200 or 400, and never fails."""
    server.submit()
    key = agent.order()["key"]
    for report in reports_of(agent, key):
        for field in report:
            for value in NUMBERS + OTHERS:
                if field == "type" and value in ("", "x"):
                    continue
                answer = agent.report({**report, field: value})
                assert answer.status in (200, 400, 409), (report["type"], field, value, answer.body)
        served(server)
    for field in ("epoch", "incarnation", "batch", "reports"):
        for value in NUMBERS + OTHERS:
            answer = agent.report(agent.started(key), **{field: value})
            assert answer.status in (200, 400, 409), (field, value, answer.body)
    served(server)


def hello_variants(hello):
    """The hello with one field, also of its capacity and attempts, replaced by each odd value."""
    places = [(hello, k) for k in hello] + [(hello["capacity"], k) for k in hello["capacity"]]
    places += [(hello["attempts"][0], k) for k in hello["attempts"][0]]
    for holder, field in places:
        kept = holder[field]
        for value in NUMBERS + OTHERS + [{"a": 2**63}, {"a" * 64: 1}, {f"r{i}": 1 for i in range(100)}]:
            holder[field] = value
            yield field, value
        holder[field] = kept


def test_every_field_of_the_hello(server, agent):
    hello = agent.hello(labels={"zone": "a"}, attempts=[{"key": "1.0:1", "state": "running"}])
    hello.update(fact_seen=1, closing=False, trouble="", unprevented="", limits="")
    hello["capacity"] = copy.deepcopy(hello["capacity"])
    hello["capacity"]["resources"] = {"foo": 1}
    for field, value in hello_variants(hello):
        stream = Stream(server, "POST", "agent/stream", json.dumps(hello), agent.credential)
        assert stream.status in (200, 400, 403, 404, 409, 422), (field, value, stream.response.read())
        stream.close()
    served(server)


def test_every_field_of_the_join(server):
    for field in ("name", "pool", "machine", "request"):
        for value in NUMBERS + OTHERS:
            body = {"name": "n9", "pool": "default", field: value}
            answer = server.call("POST", "agent/join", body, token=server.join_token)
            assert answer.status in (201, 400, 403, 404, 409, 422), (field, value, answer.body)
    served(server)


def test_a_node_cannot_report_on_the_tasks_of_another(server, agent):
    """What another node runs is neither ended nor given output by a stranger."""
    server.submit()
    key = agent.order()["key"]
    assert agent.report(agent.started(key)).status == 200
    thief = FakeAgent(server, name="n2").join().connect()
    for report in reports_of(thief, key):
        assert thief.report(report).status in (200, 409)
    task = server.get(f"tasks/{key.split('.')[0]}")
    assert task["state"] == "running"
    assert server.call("GET", f"tasks/{task['id']}/logs").body == b""
    thief.close()


def test_what_a_task_uses_is_never_nonsense(server, agent):
    """Numbers at every bound, in one report after the other: what people see of it stays a number within its bounds."""
    task = server.submit()[0]
    key = agent.order()["key"]
    assert agent.report(agent.started(key)).status == 200
    for value in [n for n in NUMBERS if isinstance(n, int)]:
        use = {"type": "use", "key": key, "at_ms": 5, "cpu_ms": value, "memory": value, "memory_peak": value, "gpu_known": True, "gpu": value, "gpu_memory": value}
        assert agent.report(use).status in (200, 400), value
        shown = server.get(f"tasks/{task}")
        numbers = [n for n in json.dumps(shown).replace(":", " ").replace(",", " ").split() if n.lstrip("-").replace(".", "").isdigit()]
        assert all(0 <= float(n) <= 2**63 for n in numbers), (value, shown)
        assert server.call("GET", "/metrics").status == 200
        assert server.get("pools")
    served(server)


def odd(rng, depth=0):
    kind = rng.randrange(6 if depth < 3 else 4)
    if kind < 2:
        return rng.choice(NUMBERS)
    if kind < 4:
        return rng.choice(OTHERS)
    if kind == 4:
        return [odd(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(["key", "type", "offset", "data", "a"]): odd(rng, depth + 1) for _ in range(rng.randrange(4))}


@pytest.mark.parametrize("seed", [int(os.environ.get("WEIR_SEED", "1")), 2, 3])
def test_random_batches(server, agent, seed):
    """Reports in any order, each with up to three odd fields, while tasks come and go; WEIR_SEED repeats a run."""
    rng = random.Random(seed)
    keys = ["1.0:1", "99.0:1"]
    for turn in range(60):
        server.submit({"command": ["true"], "max_retries": 3})
        batch = []
        for _ in range(rng.randrange(1, 12)):
            report = dict(rng.choice(reports_of(agent, rng.choice(keys))))
            for _ in range(rng.choice([0, 0, 1, 3])):
                report[rng.choice(list(report))] = odd(rng)
            batch.append(report)
        answer = agent.report(*batch)
        assert answer.status in (200, 400, 409), answer.body
        if answer.status == 409 or "the supervisor of the node is gone" in server.log()[-300:] or turn % 10 == 9:
            agent.connect()
        keys = [f"{task}.0:{attempt}" for task in range(max(1, turn - 6), turn + 2) for attempt in (1, 2)]
    served(server)
