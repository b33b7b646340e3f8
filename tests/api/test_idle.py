"""GET /usage/idle: who holds slots and does nothing with them. SPDX-License-Identifier: Apache-2.0"""

import time

from server_process import FakeAgent


def use(key, at_ms, cpu_ms, gpu=None):
    known = {} if gpu is None else {"gpu_known": True, "gpu": gpu, "gpu_memory": 0}
    return {"type": "use", "key": key, "at_ms": at_ms, "cpu_ms": cpu_ms, "memory": 1, "memory_peak": 1, **known}


def test_what_holds_and_does_nothing_is_listed_until_it_works(server):
    agent = FakeAgent(server, "n1", slots=4).join().connect()
    sleeps, works = [server.submit({"command": ["x"], "name": name, "resources": {"slots": slots}})[0] for name, slots in (("sleeps", 3), ("works", 1))]
    keys = [agent.order()["key"] for _ in range(2)]
    assert agent.report(*[agent.started(key) for key in keys]).status == 200
    assert agent.report(use(keys[0], 1000, 5), use(keys[1], 1000, 5)).status == 200
    begin = time.monotonic()
    assert server.get("usage/idle")["items"] == []  # five minutes have not gone by
    while time.monotonic() - begin < 1.1:
        time.sleep(0.05)
    assert agent.report(use(keys[0], 2000, 6), use(keys[1], 2000, 905)).status == 200
    idle = server.get("usage/idle?seconds=1")
    assert [(i["task"], i["instance"], i["name"], i["user"], i["project"], i["pool"], i["node"], i["slots"]) for i in idle["items"]] == [(sleeps, 0, "sleeps", "root", "default", "default", "n1", 3)]
    assert (idle["attempts"], idle["slots"]) == (1, 3)
    assert 3 <= idle["slot_seconds"] == idle["items"][0]["slot_seconds"] < 60
    # Work on a device counts as work on a core does.
    assert agent.report(use(keys[0], 3000, 7, gpu=0.8)).status == 200
    assert server.get("usage/idle?seconds=1")["items"] == []
    assert [i["task"] for i in server.get("usage/idle?seconds=0")["items"]] in ([sleeps, works], [works, sleeps])
    assert agent.report(agent.ended(keys[0]), agent.ended(keys[1])).status == 200
    assert server.get("usage/idle?seconds=0")["attempts"] == 0
    assert server.call("GET", "usage/idle?seconds=x").status == 400
    agent.close()
