"""Join tokens in the wrong hands: used again, for another pool or node, or for the name of another machine.

SPDX-License-Identifier: Apache-2.0
"""

import json
import select
import time
from datetime import datetime

import pytest
from server_process import Stream

MINE, THEIRS = "a" * 32, "b" * 32


def token(server, **fields):
    answer = server.call("POST", "tokens", {"scope": "join", **fields})
    assert answer.status == 201, answer.body
    return answer.json


def join(server, secret, name, machine=MINE, **more):
    return server.call("POST", "agent/join", {"name": name, "machine": machine, **more}, token=secret)


def listed(server, made):
    return next(t for t in server.get("tokens")["items"] if t["id"] == made["id"])


def server_sees_silence(server):
    deadline = time.monotonic() + 30
    while server.get("nodes/n1")["state"] == "up":
        assert time.monotonic() < deadline
        select.select([], [], [], 0.05)


@pytest.fixture
def pool(server):
    assert server.call("POST", "pools", {"name": "gpu"}).status == 201
    return "gpu"


def test_a_token_is_used_up_by_one_node(server):
    made = token(server)
    assert made["uses"] == 1
    assert join(server, made["token"], "n1").status == 201
    answer = join(server, made["token"], "n2")
    assert answer.status == 403 and b"used up" in answer.body
    assert join(server, made["token"], "n1", machine=THEIRS).status == 403
    assert join(server, made["token"], "n1", machine="").status == 403
    assert listed(server, made)["uses"] == 0


def test_a_join_whose_answer_was_lost_is_repeated(server):
    made = token(server)
    first = join(server, made["token"], "n1").json["credential"]
    second = join(server, made["token"], "n1")
    assert second.status == 201
    assert server.call("POST", "agent/reports", {}, token=first).status == 401
    assert server.call("POST", "agent/reports", {}, token=second.json["credential"]).status in (400, 409)


def test_a_token_lasts_an_hour(server):
    made = token(server)
    life = datetime.fromisoformat(made["expires_at"]) - datetime.fromisoformat(made["created_at"])
    assert life.total_seconds() == 3600


def test_a_reusable_token_counts(server):
    made = token(server, uses=2)
    assert [join(server, made["token"], f"n{i}", machine=f"{i:032x}").status for i in range(3)] == [201, 201, 403]
    for bad in (0, -1, 10**6, "2", 1.5):
        assert server.call("POST", "tokens", {"scope": "join", "uses": bad}).status == 400
    assert server.call("POST", "tokens", {"scope": "read", "uses": 2}).status == 400


def test_a_token_is_for_one_pool(server, pool):
    made = token(server, name=pool, uses=5)
    assert join(server, made["token"], "n1", pool="default").status == 403
    credential = join(server, made["token"], "n1").json["credential"]
    hello = {"type": "hello", "protocol_min": 1, "protocol_max": 1, "build": "x", "name": "n1", "pool": "default",
             "boot_id": "b", "supervisor": "0" * 32, "capacity": {"slots": 1}}
    stream = Stream(server, "POST", "agent/stream", json.dumps(hello), credential)
    assert stream.status == 403
    stream.close()
    stream = Stream(server, "POST", "agent/stream", json.dumps({**hello, "pool": ""}), credential)
    assert stream.status == 200
    assert server.get("nodes/n1")["pool"] == pool
    stream.close()
    assert server.call("POST", "tokens", {"scope": "join", "name": "no-such-pool"}).status == 404


def test_the_name_of_another_machine_needs_the_administrator(server, agent):
    agent.close()
    server_sees_silence(server)
    for machine in (THEIRS, ""):
        answer = join(server, token(server)["token"], "n1", machine=machine)
        assert answer.status == 409 and b"weir node rejoin n1" in answer.body
    made = server.call("POST", "nodes/n1/rejoin").json
    assert made["node"] == "n1" and made["uses"] == 1
    assert join(server, made["token"], "n2", machine=THEIRS).status == 403
    assert join(server, made["token"], "n1", machine=THEIRS).status == 201
    assert join(server, made["token"], "n1", machine=MINE).status == 403
    assert join(server, token(server)["token"], "n1", machine=agent.machine).status == 409


def test_the_machine_that_has_a_name_keeps_it(server, agent):
    agent.close()
    server_sees_silence(server)
    assert join(server, token(server)["token"], "n1", machine=agent.machine).status == 201


def test_only_an_administrator_allows_another_machine(server, agent):
    assert server.call("POST", "nodes/n1/rejoin", token=agent.credential).status == 403
    assert server.call("POST", "nodes/n1/rejoin", token=server.join_token).status == 403
    assert server.call("POST", "nodes/n1/rejoin").status == 409  # it is connected
    assert server.call("POST", "nodes/n9/rejoin").status == 404
