"""Flavors: the kinds of nodes that providers bring up. SPDX-License-Identifier: Apache-2.0"""

import signal

import pytest

V100 = {
    "name": "v100",
    "provider": "local",
    "native": "p3.16xlarge",
    "gpus": 8,
    "cpu": 64,
    "memory": "488Gi",
    "zones": ["a", "b"],
    "price": 24.48,
    "currency": "USD",
    "spot": True,
}


def test_flavors_are_made_changed_and_deleted(server):
    made = server.call("POST", "flavors", V100)
    assert (made.status, made.json["memory"], made.json["price"], made.json["zones"]) == (201, 488 << 30, 24.48, ["a", "b"])
    assert (made.json["pools"], made.json["sold_out"], made.json["line"]) == ([], [], [])
    assert server.call("POST", "flavors", V100).status == 409
    changed = server.call("PATCH", "flavors/v100", {"price": "22.5", "spot": False, "zones": []})
    assert (changed.status, changed.json["price"], changed.json["spot"], changed.json["zones"]) == (200, 22.5, False, [])
    assert changed.json["native"] == "p3.16xlarge"  # what the body does not name stays
    again = changed.json["spec"] | {"name": "copy"}
    assert server.call("POST", "flavors", again).status == 201
    assert [item["name"] for item in server.get("flavors")["items"]] == ["v100", "copy"]
    assert server.call("DELETE", "flavors/copy").status == 204
    assert server.call("GET", "flavors/copy").status == 404


def test_a_pool_has_the_amounts_of_its_flavor(server):
    server.call("POST", "flavors", {"name": "two", "slots": 2, "price": 1.5, "currency": "EUR"})
    pool = {"name": "burst", "flavor": "two", "provider": {"type": "local", "max": 0}}
    made = server.call("POST", "pools", pool)
    assert (made.status, made.json["flavor"], made.json["market"]["slots"]) == (201, "two", 2)
    assert (made.json["market"]["price"], made.json["market"]["line"]) == (1.5, None)
    assert server.get("flavors/two")["pools"] == ["burst"]
    assert server.call("PATCH", "flavors/two", {"slots": 4}).status == 200
    assert server.get("pools/burst")["market"]["slots"] == 4
    used = server.call("DELETE", "flavors/two")
    assert (used.status, used.json["error"]["reason"]["code"]) == (409, "flavor-used")
    assert server.call("PATCH", "pools/burst", {"flavor": ""}).json["market"] is None
    assert server.call("DELETE", "flavors/two").status == 204


@pytest.mark.parametrize(
    "path,body,where",
    [
        ("flavors", {}, "name"),
        ("flavors", {"name": "a b"}, "name"),
        ("flavors", {"name": "x", "provider": "static"}, "provider"),
        ("flavors", {"name": "x", "provider": "moon"}, "provider"),
        ("flavors", {"name": "x", "zones": ["a", "a"]}, "zones"),
        ("flavors", {"name": "x", "zones": [f"z{i}" for i in range(17)]}, "zones"),
        ("flavors", {"name": "x", "price": -1}, "price"),
        ("flavors", {"name": "x", "currency": "a" * 17}, "currency"),
        ("flavors", {"name": "x", "size": 3}, "size"),
        ("pools", {"name": "x", "flavor": "none", "provider": {"type": "local", "max": 1}}, "flavor"),
        ("pools", {"name": "x", "flavor": "none"}, "flavor"),
        ("pools", {"name": "x", "flavor": "none", "provider": {"type": "local", "max": 1, "slots": 3}}, "provider.slots"),
    ],
)
def test_mistakes_name_the_place(server, path, body, where):
    before = server.get(path)
    refused = server.call("POST", path, body)
    assert (refused.status, refused.json["error"]["path"]) == (400, where)
    assert server.get(path) == before


def test_flavors_survive_a_restart(server):
    server.call("POST", "flavors", V100)
    server.call("POST", "pools", {"name": "train", "flavor": "v100", "provider": {"type": "local", "max": 0}})
    before = (server.get("flavors"), server.get("pools/train"))
    server.stop(signal.SIGKILL)
    server.start()
    assert (server.get("flavors"), server.get("pools/train")) == before
