"""Pools, nodes, status, metrics. SPDX-License-Identifier: Apache-2.0"""

import shutil
import signal
import subprocess

import pytest
from server_process import FakeAgent, Server


def test_pools_are_made_changed_and_deleted(server):
    made = server.call("POST", "pools", {"name": "gpu", "title": "The big ones", "patience": "5s", "accepts": ["command"]})
    assert made.status == 201
    assert (made.json["patience_ms"], made.json["accepts"], made.json["paused"]) == (5000, ["command"], False)
    assert server.call("POST", "pools", {"name": "gpu"}).status == 409
    edited = server.call("PATCH", "pools/gpu", {"paused": True})
    assert (edited.json["paused"], edited.json["title"]) == (True, "The big ones")
    assert server.call("PATCH", "pools/gpu", {"name": "other"}).status == 400
    assert [pool["name"] for pool in server.get("pools")["items"]] == ["default", "gpu"]
    assert server.get("pools?limit=1")["next"] is not None
    assert server.call("DELETE", "pools/gpu").status == 204
    gone = server.get("pools/gpu")
    assert (gone["state"], gone["health"], gone["restore_until"] is not None) == ("pending-delete", "unavailable", True)
    again = server.call("DELETE", "pools/gpu")
    assert (again.status, again.json["error"]["reason"]["code"]) == (409, "pool-deleted")
    assert server.call("POST", "pools", {"name": "gpu"}).json["error"]["reason"]["code"] == "pool-deleted"
    assert server.call("PATCH", "pools/gpu", {"paused": False}).status == 409
    assert server.call("POST", "pools/gpu/close").status == 409
    assert server.call("POST", "pools/gpu/restore").json["title"] == "The big ones"
    assert server.call("DELETE", "pools/gpu?now=true").status == 204
    assert server.call("GET", "pools/gpu").status == 404
    assert server.call("DELETE", "pools/gpu").status == 404
    assert server.call("POST", "pools/gpu/restore").status == 404


def test_whom_to_ask_about_a_pool(server):
    assert server.get("pools/default")["contact"] == ""
    assert server.call("PATCH", "pools/default", {"contact": "ops, room 12"}).status == 200
    server.stop(signal.SIGKILL)
    server.start()
    pool = server.get("pools/default")
    assert (pool["contact"], pool["spec"]["contact"]) == ("ops, room 12", "ops, room 12")


def test_a_pool_with_tasks_is_not_deleted_without_force(server):
    server.call("POST", "pools", {"name": "p"})
    server.submit({"command": ["true"], "pool": "p"})
    refused = server.call("DELETE", "pools/p")
    assert (refused.status, refused.json["error"]["reason"]["code"]) == (409, "in-use")


@pytest.mark.parametrize("body,path", [({}, "name"), ({"name": "a b"}, "name"), ({"name": "x", "size": 3}, "size")])
def test_malformed_pools_are_refused(shared, body, path):
    answer = shared.call("POST", "pools", body)
    assert (answer.status, answer.json["error"]["path"]) == (400, path)


def test_nodes_are_drained_and_labelled(server, agent):
    node = server.get("nodes/n1")
    assert (node["state"], node["pool"], node["draining"]) == ("up", "default", False)
    assert node["resources"]["slots"] == {"total": 2, "free": 2}
    server.call("PATCH", "nodes/n1", {"labels": {"rack": "7", "zone": "a"}})
    edited = server.call("PATCH", "nodes/n1", {"draining": True, "labels": {"zone": None, "os": "debian"}}).json
    assert (edited["draining"], edited["labels"]) == (True, {"rack": "7", "os": "debian"})
    [task] = server.submit()
    assert server.get(f"tasks/{task}")["reason"]["code"] == "nodes-away"
    server.call("PATCH", "nodes/n1", {"draining": False})
    assert agent.order()["key"] == f"{task}.0:1"
    assert server.call("PATCH", "nodes/none", {"draining": True}).status == 404
    assert server.call("PATCH", "nodes/n1", {"speed": 1}).status == 400


def test_nodes_are_listed_by_pool_and_page(server):
    agents = [FakeAgent(server, f"m{i}").join().connect() for i in range(5)]
    first = server.get("nodes?limit=3")
    rest = server.get(f"nodes?limit=3&cursor={first['next']}")
    assert [node["name"] for node in first["items"] + rest["items"]] == [f"m{i}" for i in range(5)]
    assert rest["next"] is None
    assert server.call("GET", "nodes?pool=none").status == 404
    for agent in agents:
        agent.close()


def test_a_broken_stream_makes_the_node_silent(server, agent):
    events = server.stream("events?type=node-state")
    assert events.line() == ": weir"
    agent.close()
    _, kind, data = events.event()
    assert (kind, data["state"]) == ("node-state", "silent")
    assert server.get("nodes/n1")["state"] == "silent"
    events.close()


def test_status_and_state(server, agent):
    server.submit({"command": ["env"], "env": {"SECRET": "hush"}})
    status = server.get("status")
    assert (status["nodes"]["up"], status["tasks"]["starting"], status["writable"]) == (1, 1, True)
    state = server.call("GET", "state")
    assert state.json["seq"] >= status["seq"]
    assert [len(state.json[key]) for key in ("pools", "nodes", "tasks")] == [1, 1, 1]
    assert b"hush" not in state.body


def test_whoami(shared):
    assert shared.get("whoami")["scope"] == "admin"


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_prometheus_accepts_the_metrics(server, agent):
    server.submit()
    agent.run_next()
    text = server.call("GET", "/metrics").body
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, timeout=30)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert b"weir_tasks_submitted_total 1\n" in text
    assert b"weir_agents_connected 1\n" in text


def test_every_metric_is_described(shared):
    import pathlib
    import re

    names = set(re.findall(r"^# TYPE (\w+)", shared.call("GET", "/metrics").body.decode(), re.M))
    page = (pathlib.Path(__file__).parents[2] / "docs/user/metrics.md").read_text()
    assert names == set(re.findall(r"`(weir_\w+)", page))


CONFIG = """
listen: 127.0.0.1:0
pools:
  - name: declared
    title: {title}
"""


def test_pools_of_the_file_are_reconciled_at_start_and_on_sighup():
    server = Server(CONFIG.format(title="one"))
    try:
        server.start()
        assert server.get("pools/declared")["title"] == "one"
        events = server.stream("events?type=pool-set")
        events.line()
        (server.root / "server.yaml").write_text(CONFIG.format(title="two"))
        server.process.send_signal(signal.SIGHUP)
        assert events.event()[2]["pool"] == "declared"
        assert server.get("pools/declared")["title"] == "two"
        events.close()
    finally:
        server.close()
