"""`weir whatif` and POST /whatif: one change, tried in a copy of the state. SPDX-License-Identifier: Apache-2.0"""

import re

import pytest


@pytest.fixture(scope="module")
def weir(weir_shared):
    """A pool that grows up to two nodes, and one task that waits there because the pool is paused."""
    weir_shared.weir("pool", "create", "burst", "--provider", "local", "--max", 2, "--idle", "1h", "--node-slots", 1)
    weir_shared.weir("pool", "pause", "burst", "--yes")
    weir_shared.weir("submit", "--pool", "burst", "--name", "wide", "-n", 3, "--slots", 1, "--", "sleep", "1000")
    return weir_shared


def tried(weir, *words, code=8):
    """Standard output of a command that changes nothing."""
    before = weir.api("GET", "status").json["seq"]
    result = weir.weir("whatif", *words, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    assert weir.api("GET", "status").json["seq"] == before
    return result.stdout if code != 2 else result.stderr


def test_a_command_is_tried(weir):
    said = tried(weir, "pool", "resume", "burst")
    assert "would launch 2 nodes in pool burst\n" in said
    assert said == weir.weir("pool", "resume", "burst", "--dry-run", check=False).stdout
    assert tried(weir, "pool", "create", "second", "--provider", "local", "--min", 3, "--max", 4) == (
        "would make pool second\nwould launch 3 nodes in pool second\n")
    assert tried(weir, "pool", "pause", "burst", code=0) == "would change nothing\n"
    assert "it has no --dry-run" in tried(weir, "node", "list", code=2)
    assert "no command that can be tried" in tried(weir, "nonsense", code=2)


def test_a_call_of_the_api_is_tried(weir):
    said = tried(weir, "PATCH", "/pools/burst", '{"paused":false}')
    assert said == weir.weir("pool", "resume", "burst", "--dry-run", check=False).stdout
    assert "would end task 1" in tried(weir, "POST", "/tasks/1/kill")
    assert "would wait: pool 'burst' was deleted" in tried(weir, "DELETE", "/pools/burst?force=true")
    answer = weir.api("POST", "whatif", {"method": "PATCH", "path": "/api/v1/pools/burst", "body": {"paused": False}})
    assert answer.status == 200
    assert (answer.json["launches_total"], answer.json["launches"]) == (2, [{"pool": "burst", "nodes": 2, "price": 0, "currency": ""}])
    assert (answer.json["node_ends_total"], answer.json["node_ends"]) == (0, [])


@pytest.mark.parametrize("ask, status, path, words", [
    ({}, 400, "path", "must be a path"),
    ({"path": "/pools/burst"}, 400, "method", "is missing"),
    ({"method": "PATCH", "path": "pools"}, 400, "path", "must be a path"),
    ({"method": "PATCH", "path": "/pools/%62urst"}, 400, "path", "without escapes"),
    ({"method": "PATCH", "path": "/nowhere"}, 404, "path", "no such path"),
    ({"method": "PUT", "path": "/pools/burst"}, 400, "method", "only GET, PATCH, DELETE"),
    ({"method": "GET", "path": "/pools"}, 400, "path", "changes nothing"),
    ({"method": "POST", "path": "/tasks/1/open", "body": {}}, 400, "path", "cannot be tried"),
    ({"method": "POST", "path": "/config", "body": {}}, 400, "path", "POST /config?dry_run=true"),
    ({"method": "POST", "path": "/whatif", "body": {}}, 400, "path", "cannot be tried"),
    ({"method": "DELETE", "path": "/pools/burst?all"}, 400, "path", "unknown query parameter 'all'"),
    ({"method": "PATCH", "path": "/pools/burst"}, 400, "body", "is missing"),
    ({"method": "PATCH", "path": "/pools/burst", "body": {"max": 1}}, 400, "max", "unknown field"),
    ({"method": "PATCH", "path": "/pools/gone", "body": {}}, 404, "", "no pool 'gone'"),
    ({"method": "PATCH", "path": "/pools/burst", "body": {"provider": {"min": 9}}}, 400, "", ""),
    ({"method": "PATCH", "path": "/pools/burst", "more": 1}, 400, "more", "unknown field"),
])
def test_what_cannot_be_tried_is_refused(weir, ask, status, path, words):
    before = weir.api("GET", "status").json["seq"]
    answer = weir.api("POST", "whatif", ask)
    assert answer.status == status, answer.json
    assert words in answer.json["error"]["message"], answer.json
    assert path == "" or answer.json["error"]["path"] == path, answer.json
    assert weir.api("GET", "status").json["seq"] == before


def test_a_smaller_maximum_ends_nodes(weir_factory):
    weir = weir_factory()
    weir.weir("pool", "create", "burst", "--provider", "local", "--min", 2, "--max", 3)
    weir.wait_until(lambda: weir.weir_json("pool", "show", "burst")["nodes"]["up"] == 2, "two nodes to join")
    said = weir.weir("whatif", "pool", "edit", "burst", "--min", 0, "--max", 1, check=False)
    assert re.fullmatch(r"would end node burst-[12] of pool burst\n", said.stdout), said.stdout + said.stderr
    assert weir.weir("pool", "edit", "burst", "--max", 1, "--dry-run", check=False).returncode not in (0, 8)


def test_nodes_that_work_would_end_later(weir_factory):
    """What a change ends once the tasks have left is said before it happens, and happens."""
    weir = weir_factory()
    weir.weir("flavor", "create", "fine", "--slots", 1, "--price", "1.5", "--currency", "EUR")
    weir.weir("pool", "create", "train", "--provider", "local", "--flavor", "fine", "--nodes", 2)
    task = weir.weir("submit", "--pool", "train", "-n", 2, "--slots", 1, "--", "sleep", "1000").stdout.strip()
    weir.wait_until(lambda: len(weir.task(int(task))["attempts"]) == 2 and weir.task(int(task))["state"] == "running", "both instances to run")
    weir.weir("pool", "create", "other", "--provider", "local", "--flavor", "fine", "--nodes", 1)  # none of these changes touches it
    both = [f"would end node train-{n} of pool train once it has no work, saving 1.5 EUR an hour" for n in (1, 2)]

    def ends(*words):
        said = weir.weir("whatif", *words, check=False)
        assert said.returncode == 8, said.stdout + said.stderr
        return [line for line in said.stdout.splitlines() if " node" in line]

    assert ends("pool", "scale", "train", "--remove", "train-1") == both[:1]
    assert ends("pool", "scale", "train", "--remove", "train-1", "--busy", "requeue") == both[:1]
    assert ends("pool", "scale", "train", "--nodes", 0) == both
    assert ends("pool", "close", "train") == both
    assert ends("pool", "close", "train", "--kill") == both
    assert ends("pool", "delete", "train", "--force") == both
    assert ends("pool", "edit", "train", "--min", 0, "--max", 1) == ["would end a node of pool train once it has no work, saving 1.5 EUR an hour"]
    assert [line for line in ends("pool", "replace", "train", "--at-once", 2) if "launch" not in line] == [f"would replace node train-{n} of pool train once it has no work" for n in (1, 2)]
    answer = weir.api("DELETE", "pools/train?force=true&dry_run=true").json
    assert answer["node_ends_total"] == 2 and answer["node_ends"][0] == {
        "pool": "train", "node": "train-1", "now": False, "replaced": False, "price": 1.5, "currency": "EUR"}
    weir.weir("node", "lock", "train-1")
    assert ends("pool", "edit", "train", "--min", 0, "--max", 0) == ["would end a node of pool train once it has no work, saving 1.5 EUR an hour"]
    weir.weir("node", "unlock", "train-1")
    weir.weir("pool", "delete", "train", "--force", "--yes")
    weir.wait_until(lambda: weir.api("GET", "nodes?pool=train").json["items"] == [], "both nodes to go")
    assert weir.task(int(task))["state"] == "unavailable"
    restored = weir.weir("whatif", "pool", "restore", "train", check=False).stdout
    assert "would launch 2 nodes in pool train, for 3 EUR an hour" in restored, restored


def test_a_replacement_names_the_tasks_of_later_nodes(weir_factory):
    """Nodes are replaced one at a time. The tasks of all of them stop, and are named before."""
    weir = weir_factory()
    weir.weir("flavor", "create", "fine", "--slots", 1)
    weir.weir("pool", "create", "train", "--provider", "local", "--flavor", "fine", "--nodes", 3)
    weir.wait_until(lambda: weir.weir_json("pool", "show", "train")["nodes"]["up"] == 3, "three nodes to join")
    tasks = [int(weir.weir("submit", "--pool", "train", "--slots", 1, "--", "sleep", "1000").stdout) for _ in range(3)]
    weir.wait_until(lambda: all(weir.task(task)["state"] == "running" for task in tasks), "the tasks to run")
    stops = [line for line in weir.weir("whatif", "pool", "replace", "train", "--busy", "requeue", check=False).stdout.splitlines() if "stop" in line]
    assert len(stops) == 3 and sum("when its node is replaced" in line for line in stops) == 2, stops
    assert {int(re.match(r"would stop task (\d+) ", line)[1]) for line in stops} == set(tasks)
    stay = weir.weir("whatif", "pool", "replace", "train", "--busy", "wait", check=False).stdout
    assert "would stop" not in stay and stay.count("would replace node") == 3, stay
    killed = weir.api("POST", "pools/train/replace?dry_run=true", {"busy": "kill", "at_once": 2}).json["stops"]
    assert sorted((stop["cause"], stop["later"]) for stop in killed) == [("killed", False), ("killed", False), ("killed", True)]
    assert "would launch 2 nodes in pool train" in weir.weir("whatif", "pool", "replace", "train", "--at-once", 2, check=False).stdout
    weir.weir("pool", "replace", "train", "--busy", "requeue", "--yes")
    weir.wait_until(lambda: weir.weir_json("pool", "show", "train")["replacement"]["at_once"] == 0, "the replacement to end")
    assert all("preempted" in [attempt["cause"] for attempt in weir.task(task)["attempts"]] for task in tasks)


def test_nodes_have_their_price(weir):
    weir.weir("flavor", "create", "fine", "--slots", 1, "--price", "1.5", "--currency", "EUR")
    said = tried(weir, "pool", "create", "priced", "--provider", "local", "--flavor", "fine", "--min", 3, "--max", 4)
    assert "would launch 3 nodes in pool priced, for 4.5 EUR an hour\n" in said
    weir.weir("pool", "create", "priced", "--provider", "local", "--flavor", "fine", "--min", 1, "--max", 1)
    weir.wait_until(lambda: weir.api("GET", "nodes?pool=priced").json["items"], "its node")
    node = weir.api("GET", "nodes?pool=priced").json["items"][0]["name"]
    said = tried(weir, "pool", "edit", "priced", "--min", 0, "--max", 0)
    assert f"would end node {node} of pool priced, saving 1.5 EUR an hour\n" in said
