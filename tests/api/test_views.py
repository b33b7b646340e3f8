"""The answers that draw a view with one request. SPDX-License-Identifier: Apache-2.0"""

from server_process import FakeAgent


def cells(answer):
    """{node: {task id: (instance, state, slots, devices)}} of a map."""
    tasks = [row[0] for row in answer["tasks"]]
    return {
        name: {tasks[t]: (instance, state, slots, rest[0] if rest else 0) for t, instance, state, slots, *rest in held}
        for _, name, _, _, _, _, _, held in answer["nodes"]
    }


def test_home_counts_slots_by_condition(server):
    first = FakeAgent(server, "n1", slots=4).join().connect()
    second = FakeAgent(server, "n2", slots=4).join().connect()
    third = FakeAgent(server, "n3", slots=4).join().connect()
    running = server.submit({"command": ["x"], "resources": {"slots": 3}})[0]
    assert cells(server.get("map"))["n1"][running][2] == 3
    assert server.call("PATCH", "nodes/n2", {"draining": True}).status == 200
    third.close()
    while server.get("nodes/n3")["state"] == "up":
        pass
    home = server.get("home")
    pool = home["pools"][0]
    assert pool["name"] == "default"
    assert pool["slots"] == {"total": 12, "used": 3, "reserved": 0, "free": 1, "draining": 4, "broken": 4, "coming": 0}
    assert (pool["nodes"]["up"], pool["nodes"]["silent"], pool["nodes"]["draining"]) == (2, 1, 1)
    assert (pool["waiting"], pool["running"], pool["oldest_task"]) == (0, 1, None)
    assert [(one["level"], one["message"]) for one in home["attention"]] == [("warn", "1 node of pool 'default' is silent")]
    assert [one["id"] for one in home["mine"]["items"]] == [running]
    first.close()
    second.close()


def test_home_names_the_longest_wait_and_shows_nobody_elses_tasks(server):
    agent = FakeAgent(server, "n1", slots=2).join().connect()
    server.submit({"command": ["x"], "resources": {"slots": 2}})
    oldest, later = [server.submit({"command": ["x"], "resources": {"slots": 2}})[0] for _ in range(2)]
    pool = server.get("home")["pools"][0]
    assert (pool["waiting"], pool["oldest_task"]) == (2, oldest)
    assert pool["oldest_wait"] == server.get(f"tasks/{oldest}")["queued_at"]
    assert server.call("POST", f"tasks/{oldest}/kill").status == 200
    assert server.get("home")["pools"][0]["oldest_task"] == later
    eve = server.call("POST", "tokens", {"scope": "read", "name": "eve"}).json["token"]
    mine = server.get("home", token=eve)["mine"]
    assert (mine["items"], mine["waiting"], mine["running"]) == ([], 0, 0)
    assert server.get("home")["mine"]["waiting"] == 1
    agent.close()


def test_the_longest_wait_is_of_what_is_counted_as_waiting(server):
    agent = FakeAgent(server, "n1", slots=2).join().connect()
    runs = server.submit({"command": ["x"], "resources": {"slots": 1}})[0]
    after = server.submit({"command": ["x"], "resources": {"slots": 1}, "depends_on": [runs]})[0]
    pool = server.get("home")["pools"][0]
    assert (pool["waiting"], pool["oldest_task"], pool["oldest_wait"]) == (0, None, None)  # it waits for a task, not for a place
    partly = server.submit({"command": ["x"], "instances": 3, "resources": {"slots": 1}})[0]
    pool = server.get("home")["pools"][0]
    assert (pool["waiting"], pool["running"], pool["oldest_task"]) == (1, 2, partly)
    assert pool["oldest_wait"] == server.get(f"tasks/{partly}")["queued_at"]
    assert server.get(f"tasks/{after}")["state"] == "pending"
    agent.close()


def test_the_map_has_every_device_and_its_task(server):
    capacity = {"devices": 4, "gpu_memory": 16 << 30}
    agent = FakeAgent(server, "g1", slots=4)
    agent.capacity.update(capacity)
    agent.join().connect()
    whole = server.submit({"command": ["x"], "resources": {"gpu": 2}})[0]
    part = server.submit({"command": ["x"], "resources": {"gpu": 0.5}})[0]
    answer = server.get("map")
    held = cells(answer)["g1"]
    assert held[whole][:3] == (0, 1, 2) and bin(held[whole][3]).count("1") == 2
    assert held[part][:3] == (0, 1, 0.5) and bin(held[part][3]).count("1") == 1
    assert held[whole][3] & held[part][3] == 0
    row = answer["nodes"][0]
    assert (row[1], answer["pools"][row[2]], row[3], row[4], row[5], row[6]) == ("g1", "default", 0, 4, 1.5, 4)
    for task, user, project, kind, instances, gang in answer["tasks"]:
        shown = server.get(f"tasks/{task}")
        assert (answer["users"][user], answer["projects"][project], kind) == (shown["user"], shown["project"], shown["kind"])
        assert (instances, gang) == (shown["instances"], int(shown["gang"]))
    agent.close()


def test_the_map_is_paged_filtered_and_asked_for_by_name(server):
    agents = [FakeAgent(server, f"n{i}", slots=1).join().connect() for i in range(5)]
    seen, after = [], 0
    while after is not None:
        answer = server.get(f"map?limit=2&after={after}")
        assert len(answer["nodes"]) <= 2
        seen += [row[1] for row in answer["nodes"]]
        after = answer["next"]
    assert seen == [f"n{i}" for i in range(5)]
    some = server.get("map?nodes=n3,none,n1")
    assert ([row[1] for row in some["nodes"]], some["gone"], some["next"]) == (["n3", "n1"], ["none"], None)
    assert server.call("POST", "pools", {"name": "other"}).status == 201
    assert server.get("map?pool=other")["nodes"] == []
    assert len(server.get("map?pool=default")["nodes"]) == 5
    assert server.call("GET", "map?pool=nope").status == 404
    assert server.call("GET", "map?nodes=" + ",".join(f"x{i}" for i in range(257))).status in (400, 409)
    for agent in agents:
        agent.close()


def test_the_map_says_what_events_follow(server):
    agent = FakeAgent(server, "n1", slots=1).join().connect()
    before = server.get("map")["seq"]
    task = server.submit({"command": ["x"]})[0]
    stream = server.stream(f"events?after={before}")
    kinds = []
    while "allocated" not in kinds:
        seq, kind, data = stream.event()
        kinds.append(kind)
        assert int(seq) == before + len(kinds)
    assert (data["task"], data["node"]) == (task, "n1")
    assert cells(server.get("map?nodes=n1"))["n1"][task]
    stream.close()
    agent.close()


def test_drained_and_silent_nodes_are_marked(server):
    agents = [FakeAgent(server, name, slots=1).join().connect() for name in ("n1", "n2")]
    assert server.call("PATCH", "nodes/n1", {"draining": True}).status == 200
    agents[1].close()
    while server.get("nodes/n2")["state"] == "up":
        pass
    assert {row[1]: row[3] for row in server.get("map")["nodes"]} == {"n1": 4, "n2": 1}
    agents[0].close()
