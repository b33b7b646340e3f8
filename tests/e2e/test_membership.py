"""Which pool a node is in: real agents that name no pool, labels and selectors, moves while tasks run.

What runs where is read from what the tasks wrote (organisation.py).
SPDX-License-Identifier: Apache-2.0
"""
from organisation import server_file

RD = ["rd1", "rd2", "rd3", "rd4"]
MLO = ["mlo1", "mlo2", "mlo3", "mlo4"]
A100_40 = [f"node-{n:02}" for n in range(21, 26)]
A100_80 = [f"node-{n:02}" for n in range(26, 31)]


def free_nodes(s, *names, gpus=4, labels=()):
    """Agents that name no pool."""
    for name in names:
        more = [word for label in labels for word in ("--label", label)]
        s.agent(name, "agent", "--server", s.url, "--join-token-file", str(s.dir / "join.token"), "--fake-gpus", str(gpus), *more)


def node(s, name):
    return s.api("GET", f"nodes/{name}").json


def test_new_nodes_land_in_default_and_move_when_they_are_labelled(site):
    """The acceptance story of a site that buys two kinds of machines (nodes 21 to 30)."""
    s = site(server_file(["default"], {"rd": RD, "mlops": MLO}))
    free_nodes(s, *A100_40, *A100_80)
    s.wait_until(lambda: s.nodes_ready("default") == {*A100_40, *A100_80}, "ten nodes in default")
    s.weir("pool", "create", "A100-40", "--selector", "gpu.size=40")
    s.weir("pool", "create", "A100-80", "--selector", "gpu.size=80,gpu.model=fake")
    for pool in ("A100-40", "A100-80"):
        lines = s.quotas(pool)
        assert [lines[name]["guaranteed"] for name in RD + MLO] == [0] * 8
        assert [lines[name]["limit"] for name in RD + MLO] == [None] * 8
    for name in A100_40:
        s.weir("node", "label", name, "gpu.size=40")
    for name in A100_80:
        s.weir("node", "label", name, "gpu.size=80")
    s.wait_until(lambda: s.nodes_ready("A100-40") == set(A100_40) and s.nodes_ready("A100-80") == set(A100_80), "every node in its pool")
    assert s.nodes_ready("default") == set()
    [gang] = s.stay("rd4", gpus=4, instances=5, gang=True, pools=["A100-40"])
    s.settled("A100-40", rd4=20)
    assert sorted(at for at, _ in s.running()[gang].values()) == A100_40
    moved = [e for e in s.weir("events", "--type", "node-moved", "--json=lines").stdout.splitlines()]
    assert len(moved) == 10


def test_a_busy_node_moves_when_its_task_has_ended_and_the_server_was_killed_between(site):
    s = site(server_file(["default"], {"rd": RD}))
    free_nodes(s, "n1")
    s.wait_until(lambda: s.nodes_ready("default") == {"n1"}, "the node")
    s.weir("pool", "create", "big", "--selector", "size=big")
    [task] = s.stay("rd1", gpus=1)
    s.wait_until(lambda: task in s.running(), "the task to run")
    refused = s.weir("node", "label", "n1", "size=big", "--busy", "refuse", check=False)
    assert refused.returncode == 5 and "in use" in refused.stderr, refused
    dry = s.weir("node", "label", "n1", "size=big", "--busy", "kill", "--dry-run", check=False)
    assert dry.returncode == 8 and str(task) in dry.stdout, dry
    assert "size" not in node(s, "n1")["labels"]
    s.weir("node", "label", "n1", "size=big")
    assert (node(s, "n1")["pool"], node(s, "n1")["pool_next"]) == ("default", "big")
    assert "big, as soon as nothing runs on the node" in s.weir("node", "show", "n1").stdout
    assert " moving " in s.weir("node", "list").stdout
    [second] = s.stay("rd1", gpus=1)
    s.kill()
    s.start()
    s.wait_until(lambda: node(s, "n1")["state"] == "up", "the node again")
    assert (node(s, "n1")["pool"], node(s, "n1")["pool_next"]) == ("default", "big")
    s.end(task)
    s.wait_until(lambda: node(s, "n1")["pool"] == "big", "the move")
    assert node(s, "n1")["pool_next"] is None and second not in s.running()
    s.weir("task", "edit", str(second), "--pool", "big")
    s.wait_until(lambda: second in s.running(), "the second task, moved by hand")
    s.weir("node", "label", "n1", "size-", "--busy", "requeue")
    s.wait_until(lambda: node(s, "n1")["pool"] == "default", "the way back")
    assert s.task(second)["state"] == "pending" and s.task(second)["counts"]["failed"] == 0


def test_what_the_agent_names_wins_and_conflicts_are_told(site):
    s = site(server_file(["default"], {"rd": RD}))
    s.weir("pool", "create", "first", "--selector", "rack=7")
    s.weir("pool", "create", "second", "--selector", "gpu.model=fake")
    free_nodes(s, "n1", labels=["rack=7"])
    s.agent("n2", "agent", "--server", s.url, "--pool", "default", "--join-token-file", str(s.dir / "join.token"), "--fake-gpus", "1",
            "--label", "rack=7")
    s.wait_until(lambda: s.nodes_ready("first") == {"n1"} and s.nodes_ready("default") == {"n2"}, "both nodes")
    shown = s.weir("node", "show", "n1").stdout
    assert "its labels match first, second (conflict: the pool that was made first counts)" in shown
    assert "1 node matches the selectors of other pools, too: n1" in s.weir("pool", "show", "first").stdout
    assert "conflict" not in s.weir("pool", "show", "second").stdout
    doctor = s.weir("doctor", check=False).stdout
    assert "1 node matches the selectors of several pools" in doctor
    s.weir("pool", "edit", "first", "--selector", "none")
    s.wait_until(lambda: s.nodes_ready("second") == {"n1"}, "the other pool")
    assert "several pools" not in s.weir("doctor", check=False).stdout
    s.weir("pool", "delete", "first", "--yes")


def test_bad_selectors_are_refused_with_the_place(site):
    s = site(server_file(["default"], {"rd": RD}))
    for bad, words in [({"selector": ["zone"]}, "selector[0]"), ({"selector": ["a=1", "a=2"]}, "there twice"),
                       ({"selector": {"zone": 7}}, "selector.zone"), ({"selector": "zone=a"}, "selector"),
                       ({"selector": [f"k{i}=1" for i in range(17)]}, "selector")]:
        answer = s.api("POST", "pools", {"name": "p", **bad})
        assert answer.status == 400 and words in answer.json["error"]["message"] + answer.json["error"]["path"], answer.json
    answer = s.api("PATCH", "pools/default", {"selector": {"zone": "a"}})
    assert answer.status in (400, 409, 422) and "selector" in answer.json["error"]["message"], answer.json
    assert [pool["name"] for pool in s.api("GET", "pools").json["items"]] == ["default"]
