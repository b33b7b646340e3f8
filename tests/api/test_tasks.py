"""Submitting, showing, changing, listing tasks. SPDX-License-Identifier: Apache-2.0"""

import json
import signal
import threading

import pytest
from server_process import FakeAgent


def error(answer):
    return answer.status, answer.json["error"]["code"], answer.json["error"]["path"]


def test_an_acknowledged_task_survives_kill_9(server):
    ids = server.submit([{"command": ["true"], "name": f"t{i}"} for i in range(50)])
    server.stop(signal.SIGKILL)
    server.start()
    listed = server.get("tasks?limit=1000")["items"]
    assert [task["id"] for task in listed] == ids[::-1]
    assert [task["name"] for task in listed] == [f"t{i}" for i in range(49, -1, -1)]


def test_a_clean_stop_and_start_keeps_everything(server):
    [task] = server.submit({"command": ["true"], "tags": ["a"], "priority": 70})
    before = server.get(f"tasks/{task}")
    assert server.stop() == 0
    server.start()
    assert server.get(f"tasks/{task}") == before
    assert server.get("status")["epoch"] == 2


@pytest.mark.parametrize(
    "body,path",
    [
        ('{"command":["true"],"colour":"red"}', "colour"),
        ('[{"command":["true"]},{"command":["true"],"priority":0}]', "[1].priority"),
        ('{"command":["true"],"resources":{"foo":-1}}', "resources.foo"),
        ('{"command":["true"],"resources":{"foo":"NaN"}}', "resources.foo"),
        ('{"command":["true"],"resources":{"foo":1e99}}', "resources.foo"),
        ('{"command":["true"],"resources":{"":1}}', "resources."),
        ('{"command":"true"}', "command"),
        ('{"command":["true"],"user":"root"}', "user"),
    ],
)
def test_malformed_tasks_are_refused_with_the_place(shared, body, path):
    before = shared.get("status")["seq"]
    answer = shared.call("POST", "tasks", body, raw=True)
    assert (answer.status, answer.json["error"]["path"]) == (400, path), answer.body
    assert shared.get("status")["seq"] == before


@pytest.mark.parametrize("body", ["", "{", "[]", "7", "null", '{"command":["a"],"command":["b"]}', "\xff", "[" * 100])
def test_malformed_json_is_refused(shared, body):
    answer = shared.call("POST", "tasks", body.encode("latin-1"), raw=True)
    assert answer.status == 400
    assert answer.json["error"]["message"]


def test_what_can_never_run_is_refused_whole(server, agent):
    before = server.get("status")["seq"]
    tasks = [{"command": ["true"]}, {"command": ["true"], "resources": {"slots": 3}}]
    answer = server.call("POST", "tasks", tasks)
    assert answer.status == 422
    refusal = answer.json["error"]
    assert refusal["code"] == "never"
    assert refusal["path"].startswith("[1]")
    assert (refusal["reason"]["wanted"], refusal["reason"]["available"]) == (3, 2)
    assert server.get("status")["seq"] == before
    assert server.get("tasks")["items"] == []


def test_idempotency_keys(server):
    body = {"command": ["true"]}
    key = {"Idempotency-Key": "k 1"}
    first = server.call("POST", "tasks", body, headers=key)
    again = server.call("POST", "tasks", body, headers=key)
    assert (first.status, again.status) == (201, 201)
    assert again.json["tasks"] == first.json["tasks"]
    assert (first.json["repeated"], again.json["repeated"]) == (False, True)
    other = server.call("POST", "tasks", {"command": ["false"]}, headers=key)
    assert (other.status, other.json["error"]["code"]) == (422, "key-reused")
    server.stop(signal.SIGKILL)
    server.start()
    assert server.call("POST", "tasks", body, headers=key).json["repeated"] is True
    assert len(server.get("tasks")["items"]) == 1
    # Another user's equal key is another key.
    token = server.call("POST", "tokens", {"scope": "admin", "name": "ann"}).json["token"]
    theirs = server.call("POST", "tasks", body, headers=key, token=token)
    assert theirs.json["repeated"] is False
    assert server.get(f"tasks/{theirs.json['tasks'][0]['id']}")["user"] == "ann"


@pytest.mark.parametrize("key", ["", "x" * 256, "tab\there", "umläut"])
def test_malformed_keys_are_refused(shared, key):
    answer = shared.call("POST", "tasks", {"command": ["true"]}, headers={"Idempotency-Key": key.encode("latin-1")})
    assert answer.status == 400


def test_a_repeated_key_shows_how_the_tasks_stand_now(server, agent):
    key = {"Idempotency-Key": "k"}
    server.call("POST", "tasks", {"command": ["true"]}, headers=key)
    agent.run_next()
    again = server.call("POST", "tasks", {"command": ["true"]}, headers=key).json
    assert again["tasks"][0]["state"] == "completed"


def test_the_four_verbs(server):
    [task] = server.submit({"command": ["true"], "stage": True})
    act = lambda verb: server.call("POST", f"tasks/{task}/{verb}")  # noqa: E731
    assert server.get(f"tasks/{task}")["state"] == "staged"
    assert act("pause").status == 409
    assert act("start").json["state"] == "pending"
    assert act("start").status == 409
    assert act("pause").json["state"] == "paused"
    assert act("activate").json["state"] == "pending"
    assert act("kill").json["state"] == "killed"
    for verb in ("kill", "start", "pause", "activate"):
        assert error(act(verb))[:2] == (409, "conflict")
    assert server.call("PATCH", f"tasks/{task}", {"priority": 1}).status == 409
    for path in ("tasks/999/kill", "tasks/0/kill", "tasks/x/kill", "tasks/18446744073709551616/kill"):
        assert server.call("POST", path).status == 404
    assert server.call("PATCH", "tasks/999", {"priority": 1}).status == 404


def test_edit(server):
    [task] = server.submit()
    change = {"priority": 90, "name": "new", "tags": ["x", "y"], "time_limit": "2h", "max_retries": 3, "grace": 5}
    edited = server.call("PATCH", f"tasks/{task}", change).json
    assert (edited["priority"], edited["name"], edited["tags"]) == (90, "new", ["x", "y"])
    assert (edited["time_limit_ms"], edited["max_retries"], edited["grace_ms"]) == (7200000, 3, 5000)
    assert error(server.call("PATCH", f"tasks/{task}", {"prioritaet": 1})) == (400, "invalid", "prioritaet")
    assert server.get(f"tasks/{task}") == edited


def test_a_description_is_kept_changed_and_found(server):
    about = "ablation of the third layer"
    [task] = server.submit({"command": ["true"], "description": about})
    [other] = server.submit({"command": ["true"]})
    found = lambda text: [t["id"] for t in server.get(f"tasks?description={text}")["items"]]  # noqa: E731
    assert server.get(f"tasks/{task}")["description"] == about
    assert server.get(f"tasks/{other}")["spec"].get("description") is None
    assert found("third") == [task] and found("fourth") == []
    assert server.call("PATCH", f"tasks/{task}", {"description": "fourth layer"}).status == 200
    server.stop(signal.SIGKILL)
    server.start()
    assert server.get(f"tasks/{task}")["spec"]["description"] == "fourth layer"
    assert found("fourth") == [task]
    assert server.call("POST", f"tasks/{task}/kill").status == 200
    assert found("fourth") == [task]  # also in history
    answer = server.call("PATCH", f"tasks/{other}", {"description": "x" * 1001})
    assert error(answer) == (400, "invalid", "description")


def test_times_of_a_gang_are_edited_at_any_time(server):
    [task] = server.submit({"command": ["true"], "instances": 2, "min_instances": 1})
    assert server.get(f"tasks/{task}")["stale_grace_ms"] is None
    answer = server.call("PATCH", f"tasks/{task}", {"stale_grace": "never", "preemption_delay": "90s"})
    assert answer.status == 200
    shown = server.get(f"tasks/{task}")
    assert (shown["stale_grace_ms"], shown["preemption_delay_ms"]) == (-1, 90000)
    assert (shown["spec"]["stale_grace"], shown["spec"]["preemption_delay"]) == ("never", "1m30s")
    assert server.call("PATCH", f"tasks/{task}", {"stale_grace": "pool", "preemption_delay": "pool"}).status == 200
    shown = server.get(f"tasks/{task}")
    assert (shown["stale_grace_ms"], shown["preemption_delay_ms"]) == (None, None)


def test_wait_is_answered_by_the_end(server, agent):
    [task] = server.submit()
    got = []
    waiter = threading.Thread(target=lambda: got.append(server.get(f"tasks/{task}/wait?timeout=30")))
    key = agent.order()["key"]
    waiter.start()
    agent.report(agent.started(key))
    agent.report(agent.ended(key, 3))
    waiter.join(30)
    assert (got[0]["state"], got[0]["exit_code"]) == ("failed", 3)
    assert server.get(f"tasks/{task}/wait") == got[0]


def test_wait_gives_the_task_when_the_time_is_over(server):
    [task] = server.submit()
    assert server.get(f"tasks/{task}/wait?timeout=0")["state"] == "pending"
    assert server.call("GET", "tasks/99/wait").status == 404


def pages(server, query, limit):
    items, cursor, count = [], None, 0
    while count == 0 or cursor is not None:
        more = f"&cursor={cursor}" if cursor else ""
        page = server.get(f"tasks?limit={limit}{query}{more}")
        assert len(page["items"]) <= limit
        items += page["items"]
        cursor = page["next"]
        count += 1
        assert count < 1000
    return items


def test_pages_list_each_task_once_while_tasks_come_and_end(server, agent):
    ids = server.submit([{"command": ["true"]} for _ in range(40)])
    seen, cursor = [], None
    while True:
        page = server.get("tasks?limit=3" + (f"&cursor={cursor}" if cursor else ""))
        seen += [task["id"] for task in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
        agent.run_next()  # one ends and moves to history …
        server.submit()  # … and another comes, between any two pages
    assert seen == ids[::-1]


def test_filters(server, agent):
    server.submit({"command": ["true"], "name": "a", "tags": ["x"]})
    server.submit({"command": ["true"], "name": "b", "kind": "experiment"})
    agent.run_next()
    agent.run_next(code=1)
    server.submit({"command": ["true"], "name": "c", "tags": ["x", "y"], "stage": True})
    server.submit({"command": ["true"], "name": "d", "priority": 1, "stage": True})

    def names(query):
        whole = [task["name"] for task in server.get("tasks?" + query)["items"]]
        assert [task["name"] for task in pages(server, "&" + query, 1)] == whole
        return "".join(whole)

    assert names("") == "dcba"
    assert names("ended=true") == "ba"
    assert names("ended=false") == "dc"
    assert names("state=failed") == "b"
    assert names("state=staged,completed") == "dca"
    assert names("state=staged&ended=true") == ""
    assert names("pool=default&project=default") == "dcba"
    for what in ("pool", "project"):
        assert error(server.call("GET", f"tasks?{what}=nosuch")) == (404, "not-found", what)
    assert names("kind=experiment") == "b"
    assert names("tag=x") == "ca"
    assert names("tag=y") == "c"
    assert names("name=a") == "a"
    assert names("user=nobody") == ""
    assert names("pool=default&project=default") == "dcba"
    assert names("since=2999-01-01T00:00:00Z&ended=true") == ""
    assert names("since=2001-01-01T00:00:00Z") == "dcba"


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=1001", "limit=x", "state=sleeping", "kind=x", "ended=perhaps", "since=yesterday", "cursor=1", "colour=red"],
)
def test_malformed_questions_are_refused_by_name(shared, query):
    answer = shared.call("GET", "tasks?" + query)
    assert answer.status == 400
    assert answer.json["error"]["path"] == query.split("=")[0]


def test_a_cursor_is_for_its_own_question(shared):
    shared.submit([{"command": ["true"]}] * 3)
    cursor = shared.get("tasks?limit=1")["next"]
    assert shared.call("GET", f"tasks?limit=1&cursor={cursor}").status == 200
    assert shared.call("GET", f"tasks?limit=1&state=pending&cursor={cursor}").status == 400
    assert shared.call("GET", f"pools?cursor={cursor}").status == 400


def test_explain_and_queue_say_why(server, agent):
    server.submit({"command": ["true"], "resources": {"slots": 2}})
    [waiting] = server.submit({"command": ["true"], "resources": {"slots": 2}, "name": "w"})
    why = server.get(f"tasks/{waiting}/explain")
    assert (why["task"], why["reason"]["code"], why["position"]) == (waiting, "no-room", 1)
    assert why["nearest"][0]["node"] == "n1"
    assert why["blockers"] == [waiting - 1]
    [item] = server.get("queue?pool=default")["items"]
    assert (item["id"], item["position"], item["reason"]) == (waiting, 1, why["reason"])
    assert server.call("GET", "queue?pool=none").status == 404
    assert server.call("GET", "tasks/99/explain").status == 404


def test_a_large_submission_is_one_commit(server):
    body = json.dumps([{"command": ["true"]}] * 20000)
    answer = server.call("POST", "tasks", body, raw=True)
    assert answer.status == 201
    assert len(answer.json["tasks"]) == 20000
    assert server.get("status")["tasks"]["pending"] == 20000


def test_many_are_killed_at_once_and_each_is_told(server):
    ids = server.submit([{"command": ["true"]}] * 3)
    answer = server.call("POST", "tasks/kill", {"ids": [ids[2], 999, ids[0]]})
    assert answer.status == 200
    assert answer.json["tasks"] == [
        {"id": ids[2], "killed": True, "state": "killed"},
        {"id": 999, "killed": False, "state": None},
        {"id": ids[0], "killed": True, "state": "killed"},
    ]
    again = server.call("POST", "tasks/kill", {"ids": [ids[0]]}).json["tasks"]
    assert again == [{"id": ids[0], "killed": False, "state": "killed"}]
    assert server.get(f"tasks/{ids[1]}")["state"] == "pending"


@pytest.mark.parametrize("body", [{}, {"ids": []}, {"ids": ["1"]}, {"ids": 1}, {"ids": [1] * 1001}, {"ids": [-1]}])
def test_a_malformed_list_of_ids_kills_nothing(shared, body):
    answer = shared.call("POST", "tasks/kill", body)
    assert (answer.status, answer.json["error"]["path"]) == (400, "ids")


def test_a_task_moves_in_the_queue_and_stays_there(server):
    a, b, c = server.submit([{"command": ["true"]}] * 3)
    assert server.call("POST", f"tasks/{c}/move", {"ahead_of": a}).status == 200
    order = [task["id"] for task in server.get("queue")["items"]]
    assert order == [c, a, b]
    server.stop(signal.SIGKILL)
    server.start()
    assert [task["id"] for task in server.get("queue")["items"]] == order
    assert server.call("POST", f"tasks/{c}/move", {"behind": b}).status == 200
    assert [task["id"] for task in server.get("queue")["items"]] == [a, b, c]
    [urgent] = server.submit({"command": ["true"], "priority": 80})
    answer = server.call("POST", f"tasks/{a}/move", {"ahead_of": urgent})
    assert answer.status == 409
    assert f"weir task edit {a} --priority 80" in answer.json["error"]["message"]
    for body in [{}, {"ahead_of": a, "behind": b}, {"ahead_of": "x"}, {"ahead_of": a}, {"beside": b}]:
        assert server.call("POST", f"tasks/{a}/move", body).status == 400
    assert server.call("POST", f"tasks/{a}/move", {"behind": 999}).status == 404


def test_an_ended_task_is_submitted_again(server):
    body = {"command": ["true"], "env": {"K": "V"}, "name": "n", "tags": ["t"], "array": "5-7", "priority": 60,
            "time_limit": "90s", "grace": 2.5, "max_retries": 3, "resources": {"slots": 2, "cpu": 0.5}}
    first, waits = server.submit([body, {"command": ["true"]}])
    assert server.call("POST", f"tasks/{first}/retry").status == 409
    server.call("POST", f"tasks/{first}/kill")
    answer = server.call("POST", f"tasks/{first}/retry")
    assert answer.status == 201, answer.body
    again = answer.json["tasks"][0]["id"]
    assert again == waits + 1
    old, new = server.get(f"tasks/{first}"), server.get(f"tasks/{again}")
    same = ["command", "env", "name", "tags", "instances", "array_first", "priority", "time_limit_ms", "grace_ms",
            "max_retries", "resources", "pool", "project", "kind", "gang", "preemptible", "repeatable"]
    assert {key: new[key] for key in same} == {key: old[key] for key in same}
    assert new["state"] == "pending"
    assert server.call("POST", "tasks/999/retry").status == 404


def test_edits_say_what_cannot_change(server):
    server.call("POST", "projects", {"name": "q"})
    [task] = server.submit({"command": ["true"]})
    answer = server.call("PATCH", f"tasks/{task}", {"project": "q", "resources": {"slots": 3}})
    assert answer.status == 200, answer.body
    assert (answer.json["project"], answer.json["resources"]) == ("q", {"slots": 3})
    answer = server.call("PATCH", f"tasks/{task}", {"command": ["false"]})
    assert (answer.status, answer.json["error"]["path"]) == (400, "command")
    assert server.call("PATCH", f"tasks/{task}", {"project": "none"}).status == 400


def test_nodes_and_topology_of_a_task_that_waits_change(server):
    server.call("PATCH", "pools/default", {"topology": ["rack"], "scheduler": {}})
    [task] = server.submit({"command": ["true"], "instances": 2, "gang": True, "stage": True})
    edited = server.call("PATCH", f"tasks/{task}", {"topology": {"preferred": "rack"}, "node_labels": {"zone": "a"}})
    assert edited.status == 200, edited.body
    assert (edited.json["topology"], edited.json["node_labels"]) == ({"preferred": "rack"}, {"zone": "a"})
    assert error(server.call("PATCH", f"tasks/{task}", {"topology": {"required": "row"}})) == (400, "invalid", "topology")
    edited = server.call("PATCH", f"tasks/{task}", {"topology": {}, "node_labels": {}}).json
    assert (edited["topology"], edited["node_labels"]) == (None, {})


def test_groups_come_back_as_they_were_asked_for(server):
    groups = [{"name": "server", "instances": 2, "min": 1, "topology": None},
              {"name": "replicas", "min_groups": 1, "topology": None, "groups": [
                  {"name": "a", "instances": 1, "node_labels": {"zone": "a"}, "topology": None},
                  {"name": "b", "instances": 3, "min": 2, "resources": {"slots": 2}, "topology": None}]}]
    [task] = server.submit({"command": ["true"], "groups": groups, "min_groups": 1, "stage": True})
    shown = server.get(f"tasks/{task}")
    assert (shown["groups"], shown["min_groups"]) == (groups, 1)
    assert (shown["instances"], shown["min_instances"], shown["gang"]) == (6, 1, True)
    answer = server.call("POST", "tasks", {"command": ["true"], "groups": [{"instances": 2, "min": 3}]})
    assert error(answer) == (400, "invalid", "groups[0].min")
    answer = server.call("PATCH", f"tasks/{task}", {"min_groups": 2})
    assert error(answer) == (400, "invalid", "min_groups")


def test_dependencies_of_any_end(server):
    [first] = server.submit({"command": ["true"]})
    after, strict = server.submit([{"command": ["true"], "depends_on": [f"{first}:any"]},
                                   {"command": ["true"], "depends_on": [first]}])
    assert server.get(f"tasks/{after}")["depends_on"] == [f"{first}:any"]
    server.call("POST", f"tasks/{first}/kill")
    assert server.get(f"tasks/{strict}")["state"] == "failed"
    assert server.get(f"tasks/{after}")["reason"]["code"] != "dependency"
    for wrong in ["x:any", f"{first}:never", "0:any", ":any"]:
        answer = server.call("POST", "tasks", {"command": ["true"], "depends_on": [wrong]})
        assert (answer.status, answer.json["error"]["path"]) == (400, "depends_on[0]")


def test_a_task_avoids_nodes(server):
    agents = [FakeAgent(server, name).join().connect() for name in ("n1", "n2")]
    [task] = server.submit({"command": ["true"], "avoid": ["n1"], "resources": {"slots": 2}})
    agents[1].order()
    assert server.get(f"tasks/{task}")["avoid"] == ["n1"]
    [waits] = server.submit({"command": ["true"], "avoid": ["n1"], "resources": {"slots": 1}})
    nearest = server.get(f"tasks/{waits}/explain")["nearest"]
    assert [node["code"] for node in nearest] == ["no-room", "avoided"]
    unknown = server.call("POST", "tasks", {"command": ["true"], "avoid": ["n7"]})
    assert error(unknown) == (400, "invalid", "avoid")
    never = server.call("POST", "tasks", {"command": ["true"], "avoid": ["n1", "n2"]})
    assert (never.status, never.json["error"]["path"]) == (422, "avoid")
    assert server.call("PATCH", f"tasks/{waits}", {"avoid": ["n2"]}).json["avoid"] == ["n2"]
    agents[0].order()
    busy = server.call("PATCH", f"tasks/{waits}", {"avoid": []})
    assert busy.status == 409
    for agent in agents:
        agent.close()


def test_a_pool_says_what_its_slots_are(server, agent):
    pool = server.get("pools/default")
    assert (pool["slot_type"], pool["slots"]["total"]) == ("cpu", 2)
    assert pool["aux"] == {"total": 100, "free": 100, "used": 0}
    assert pool["scheduler"]["uneven"] == "on"
    assert server.call("PATCH", "pools/default", {"scheduler": {"uneven": "off"}}).json["scheduler"]["uneven"] == "off"
