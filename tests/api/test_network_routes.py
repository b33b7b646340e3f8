"""Networks that pools and tasks may name. SPDX-License-Identifier: Apache-2.0"""

import signal

import pytest

LAB = {"name": "lab", "description": "d", "range": "10.77.0.0/24", "outbound": True, "for": ["project/default"]}


def test_networks_are_made_changed_and_deleted(server):
    made = server.call("POST", "networks", LAB)
    assert (made.status, made.json["spec"], made.json["uses"], made.json["pools"]) == (201, LAB, 0, [])
    assert server.call("POST", "networks", LAB).status == 409
    changed = server.call("PATCH", "networks/lab", {"range": "10.77.0.0/16", "for": []})
    assert (changed.status, changed.json["range"], changed.json["outbound"], changed.json["for"]) == (200, "10.77.0.0/16", True, [])
    meets = server.call("POST", "networks", {"name": "b", "range": "10.77.5.0/24"})
    assert (meets.status, meets.json["error"]["reason"]["code"]) == (409, "network-range")
    assert server.call("POST", "networks", {"name": "b", "range": "10.78.0.0/30"}).status == 201
    assert [item["name"] for item in server.get("networks")["items"]] == ["lab", "b"]
    assert server.call("DELETE", "networks/b").status == 204
    assert server.call("GET", "networks/b").status == 404


def test_who_may_use_a_network(server):
    server.call("POST", "projects", {"name": "nlp"})
    server.call("POST", "networks", {"name": "lab", "range": "10.77.0.0/24", "for": ["nlp"]})
    server.call("POST", "pools", {"name": "blue", "network": "lab"})
    server.call("POST", "pools", {"name": "free"})
    task = {"command": ["true"], "pool": "blue"}
    refused = server.call("POST", "tasks", task)
    assert (refused.status, refused.json["error"]["reason"]["code"], refused.json["error"]["path"]) == (400, "network-guest", "network")
    named = server.call("POST", "tasks", {"command": ["true"], "pool": "free", "network": "lab"})
    assert named.json["error"]["reason"]["code"] == "network-guest"
    made = server.call("POST", "tasks", task | {"project": "nlp"})
    assert made.status == 201
    number = made.json["tasks"][0]["id"]
    moved = server.call("PATCH", f"tasks/{number}", {"project": "default"})
    assert (moved.status, moved.json["error"]["reason"]["code"]) == (400, "network-guest")
    assert server.get(f"tasks/{number}")["project"] == "nlp"


@pytest.mark.parametrize(
    "path,body,where",
    [
        ("networks", {"range": "10.77.0.0/24"}, "name"),
        ("networks", {"name": "lab"}, "range"),
        ("networks", {"name": "host", "range": "10.77.0.0/24"}, "name"),
        ("networks", {"name": "isolated", "range": "10.77.0.0/24"}, "name"),
        ("networks", {"name": "lab", "range": "10.77.0.1/24"}, "range"),
        ("networks", {"name": "lab", "range": "10.77.0.0/31"}, "range"),
        ("networks", {"name": "lab", "range": "10.0.0.0/7"}, "range"),
        ("networks", {"name": "lab", "range": "010.77.0.0/24"}, "range"),
        ("networks", {"name": "lab", "range": "10.77.0.256/24"}, "range"),
        ("networks", {"name": "lab", "range": "fd00::/64"}, "range"),
        ("networks", {"name": "lab", "range": "10.77.0.0/24 "}, "range"),
        ("networks", {"name": "lab", "range": "10.77.0.0/24", "for": ["nobody"]}, "for"),
        ("networks", {"name": "lab", "range": "10.77.0.0/24", "outbound": "maybe"}, "outbound"),
        ("networks", {"name": "lab", "range": "10.77.0.0/24", "size": 3}, "size"),
        ("pools", {"name": "x", "network": "none"}, "network"),
        ("tasks", {"command": ["true"], "network": "none"}, "network"),
        ("tasks", {"command": ["true"], "network": "a b"}, "network"),
    ],
)
def test_mistakes_name_the_place(server, path, body, where):
    before = server.get(path)
    refused = server.call("POST", path, body)
    assert (refused.status, refused.json["error"]["path"]) == (400, where)
    assert server.get(path) == before


def test_networks_survive_a_restart(server):
    server.call("POST", "networks", LAB)
    server.call("POST", "pools", {"name": "blue", "network": "lab"})
    made = server.call("POST", "tasks", {"command": ["true"], "pool": "blue"})
    number = made.json["tasks"][0]["id"]
    before = (server.get("networks"), server.get("pools/blue")["network"], server.get(f"tasks/{number}")["network"])
    assert before[1:] == ("lab", "")
    server.stop(signal.SIGKILL)
    server.start()
    assert (server.get("networks"), server.get("pools/blue")["network"], server.get(f"tasks/{number}")["network"]) == before
    assert server.call("DELETE", "networks/lab").status == 409
