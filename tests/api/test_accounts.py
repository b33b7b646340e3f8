"""Departments, projects, quotas. SPDX-License-Identifier: Apache-2.0"""

import signal

import pytest
from server_process import FakeAgent, Server


def line(server, account, resource="slots", kind="project", **query):
    """The line of the list of quotas for one account and resource."""
    items = server.get("quotas?" + "&".join(f"{k}={v}" for k, v in {kind: account, **query}.items()))["items"]
    [found] = [item for item in items if item["resource"] == resource]
    return found


def test_the_defaults_are_there(server):
    assert server.get("projects")["items"] == [
        {"name": "default", "department": "default", "title": "", "description": "", "idle_warn_ms": 0, "idle_after_ms": 0, "idle_action": "inherit", "tasks": 0}
    ]
    [department] = server.get("departments")["items"]
    assert (department["name"], department["parent"], department["children"]) == ("default", None, 1)
    for path in ("projects/default", "departments/default"):
        assert server.call("DELETE", path).status == 409
    assert server.call("PATCH", "departments/default", {"title": "Us"}).json["title"] == "Us"


def test_accounts_are_made_changed_moved_and_deleted(server):
    assert server.call("POST", "departments", {"name": "ml", "title": "Learning"}).status == 201
    made = server.call("POST", "projects", {"name": "vision", "department": "ml"})
    assert (made.status, made.json["department"]) == (201, "ml")
    assert server.call("POST", "projects", {"name": "vision"}).status == 409
    assert server.call("POST", "departments", {"name": "vision"}).status == 201  # another kind
    refused = server.call("DELETE", "departments/ml")
    assert (refused.status, refused.json["error"]["reason"]["code"]) == (409, "not-empty")
    moved = server.call("PATCH", "projects/vision", {"department": "default", "description": "d"}).json
    assert (moved["department"], moved["description"]) == ("default", "d")
    assert server.call("DELETE", "departments/ml").status == 204
    assert server.call("GET", "departments/ml").status == 404
    assert server.call("DELETE", "projects/vision").status == 204


def test_the_rule_for_tasks_that_do_nothing_is_kept(server):
    def rule(item):
        return (item["idle_warn_ms"], item["idle_after_ms"], item["idle_action"])

    made = server.call("POST", "projects", {"name": "nlp", "idle_warn": "30m", "idle_after": "1h", "idle_action": "end"})
    assert (made.status, rule(made.json)) == (201, (1800000, 3600000, "end"))
    refused = server.call("PATCH", "projects/nlp", {"idle_after": 0})
    assert (refused.status, refused.json["error"]["path"]) == (400, "idle_after")
    assert "above 0" in refused.json["error"]["message"]
    assert server.call("PATCH", "projects/nlp", {"title": "t"}).status == 200  # the rule stays
    assert server.call("PATCH", "departments/default", {"idle_action": "none"}).status == 200
    server.stop(signal.SIGKILL)
    server.start()
    assert rule(server.get("projects/nlp")) == (1800000, 3600000, "end")
    assert rule(server.get("departments/default")) == (0, 0, "none")
    assert server.call("PATCH", "projects/nlp?dry_run=true", {"idle_after": "2h"}).json["changes"] is True
    assert rule(server.get("projects/nlp"))[1] == 3600000


def test_a_department_cannot_lie_below_itself(server):
    server.call("POST", "departments", {"name": "a"})
    server.call("POST", "departments", {"name": "b", "parent": "a"})
    refused = server.call("PATCH", "departments/a", {"parent": "b"})
    assert (refused.status, refused.json["error"]["path"]) == (400, "parent")
    assert refused.json["error"]["reason"]["code"] == "cycle"
    assert server.get("departments/a")["parent"] is None
    assert server.call("PATCH", "departments/b", {"parent": ""}).json["parent"] is None


@pytest.mark.parametrize(
    "path,body,where",
    [
        ("projects", {}, "name"),
        ("projects", {"name": "a b"}, "name"),
        ("projects", {"name": "x", "department": "nowhere"}, "department"),
        ("projects", {"name": "x", "parent": "default"}, "parent"),
        ("departments", {"name": "x", "size": 3}, "size"),
    ],
)
def test_malformed_accounts_are_refused(shared, path, body, where):
    answer = shared.call("POST", path, body)
    assert (answer.status, answer.json["error"]["path"]) == (400, where)


def test_quotas_are_set_and_shown_with_what_is_used(server):
    agent = FakeAgent(server).join().connect()  # two slots
    server.call("POST", "projects", {"name": "vision"})
    put = server.call(
        "PUT",
        "quotas",
        {"project": "vision", "pool": "default", "resources": {"gpu": {"guaranteed": 1, "limit": 1.5, "weight": 2}, "memory": "1Gi"}},
    )
    assert put.status == 200
    assert put.json["resources"] == {
        "slots": {"guaranteed": 1, "limit": 1.5, "weight": 2},
        "memory": {"guaranteed": 2**30, "limit": None, "weight": 1},
    }
    patched = server.call("PATCH", "quotas", {"project": "vision", "pool": "default", "resources": {"slots": {"limit": "unlimited"}}, "rank": 7})
    assert patched.json["resources"]["slots"] == {"guaranteed": 1, "limit": None, "weight": 2}
    assert patched.json["rank"] == 7
    assert patched.json["ticket"] == 0
    asked = {"project": "vision", "pool": "default", "ticket": 4711}
    assert server.call("PATCH", "quotas", asked).json["ticket"] == 4711
    rest = line(server, "default")
    assert (rest["guaranteed"], rest["computed"]) == (1, True)
    server.submit([{"command": ["true"], "project": "vision", "resources": {"slots": 1}}] * 3)
    agent.order(), agent.order()
    used = line(server, "vision")
    assert (used["allocated"], used["borrowed"], used["demand"], used["overhang"]) == (2, 1, 3, 0)
    assert (used["running"], used["pending"]) == (2, 1)
    server.call("PATCH", "quotas", {"project": "vision", "pool": "default", "resources": {"slots": {"guaranteed": 0, "limit": 0.5}}})
    assert line(server, "vision")["overhang"] == 1.5
    assert line(server, "default", kind="department")["allocated"] == 2
    whole = server.call("PUT", "quotas", {"project": "vision", "pool": "default"}).json
    assert (whole["resources"], whole["rank"]) == ({}, 100)
    agent.close()


def test_lines_are_listed_by_page(server):
    for name in ("a", "b", "c"):
        server.call("POST", "projects", {"name": name})
    seen, cursor = [], ""
    while cursor is not None:
        page = server.get(f"quotas?limit=2&all=true{cursor and '&cursor=' + cursor}")
        assert len(page["items"]) <= 2
        seen += [(item["kind"], item["account"], item["resource"]) for item in page["items"]]
        cursor = page["next"]
    assert len(seen) == len(set(seen)) == 5 * 3
    assert [account for _, account, resource in seen if resource == "slots"] == ["default", "default", "a", "b", "c"]
    assert len(server.get("quotas")["items"]) == 5


@pytest.mark.parametrize(
    "body,status,where",
    [
        ({"pool": "default"}, 400, "project"),
        ({"project": "default"}, 400, "pool"),
        ({"project": "default", "department": "default", "pool": "default"}, 400, "department"),
        ({"project": "nobody", "pool": "default"}, 404, "project"),
        ({"project": "default", "pool": "nowhere"}, 404, "pool"),
        ({"project": "default", "pool": "default", "resources": {"gpu": -1}}, 400, "resources.gpu"),
        ({"project": "default", "pool": "default", "resources": {"gpu": {"limit": "many"}}}, 400, "resources.gpu.limit"),
        ({"department": "nobody", "pool": "default"}, 404, "department"),
        ({"project": "default", "pool": "default", "resources": {"gpu": {"limit": -3}}}, 400, "resources.gpu.limit"),
        ({"project": "default", "pool": "default", "resources": {"gpu": {"guaranteed": [1]}}}, 400, "resources.gpu.guaranteed"),
        ({"project": "default", "pool": "default", "resources": {"memory": "5Q"}}, 400, "resources.memory"),
        ({"project": "default", "pool": "default", "resources": {"nothing": {"limit": 1}}}, 422, "resources.nothing"),
        ({"project": "default", "pool": "default", "resources": {"gpu": {"weight": "NaN"}}}, 400, "resources.gpu.weight"),
        ({"project": "default", "pool": "default", "resources": {"gpu": {"weight": 1001}}}, 400, "resources.gpu.weight"),
        ({"project": "default", "pool": "default", "resources": {"gpu": {"weight": -2}}}, 400, "resources.gpu.weight"),
        ({"project": "default", "pool": "default", "resources": {"gpu": 1, "slots": 1}}, 400, "resources"),
        ({"project": "default", "pool": "default", "resources": {"nothing": 1}}, 422, "resources.nothing"),
        ({"project": "default", "pool": "default", "rank": -1}, 400, "rank"),
        ({"project": "default", "pool": "default", "size": 1}, 400, "size"),
    ],
)
def test_malformed_quotas_are_refused_with_the_place(shared, body, status, where):
    before = shared.get("quotas?all=true")
    for method in ("PUT", "PATCH"):
        answer = shared.call(method, "quotas", body)
        assert (answer.status, answer.json["error"]["path"]) == (status, where)
    assert shared.get("quotas?all=true") == before


def test_tasks_go_to_projects_that_exist(server):
    refused = server.call("POST", "tasks", {"command": ["true"], "project": "nobody"})
    assert (refused.status, refused.json["error"]["path"]) == (400, "project")
    server.call("POST", "projects", {"name": "vision"})
    [task] = server.submit({"command": ["true"], "project": "vision"})
    assert server.get(f"tasks/{task}")["project"] == "vision"
    refused = server.call("DELETE", "projects/vision")
    assert (refused.status, refused.json["error"]["reason"]["code"]) == (409, "in-use")


def test_all_of_it_survives_a_restart(server):
    server.call("POST", "departments", {"name": "ml"})
    server.call("POST", "projects", {"name": "vision", "department": "ml"})
    server.call("PUT", "quotas", {"department": "ml", "pool": "default", "resources": {"gpu": 3}})
    before = [server.get(path) for path in ("departments", "projects", "quotas?all=true")]
    server.stop(signal.SIGKILL)
    server.start()
    assert [server.get(path) for path in ("departments", "projects", "quotas?all=true")] == before


@pytest.mark.parametrize("what", ["pool", "project", "department"])
def test_quotas_of_what_does_not_exist_are_not_an_empty_list(server, what):
    refused = server.call("GET", f"quotas?{what}=nosuch")
    assert refused.status == 404
    assert (refused.json["error"]["path"], refused.json["error"]["message"]) == (what, f"no {what} 'nosuch'")


def test_a_pools_scheduler_is_set_and_shown(server):
    made = server.call(
        "POST", "pools", {"name": "p", "scheduler": {"policy": "priority", "preemption": "off", "user_slots": 2, "stale_grace": "never"}}
    ).json["scheduler"]
    assert (made["policy"], made["preemption"], made["user_slots"], made["stale_grace_ms"]) == ("priority", "off", 2, None)
    refused = server.call("PATCH", "pools/p", {"scheduler": {"policy": "lottery"}})
    assert (refused.status, refused.json["error"]["path"]) == (400, "scheduler.policy")
    assert "fair-share" in refused.json["error"]["message"]


def test_shares_look_back_where_a_pool_says_so(server):
    assert server.get("pools/default")["scheduler"]["history"] is None
    assert line(server, "default")["history"] is None
    shown = server.call("PATCH", "pools/default", {"scheduler": {"history": {"half_life": "7d", "factor": 0.5}}}).json["scheduler"]
    assert shown["history"] == {"half_life_ms": 7 * 24 * 3600 * 1000, "window_ms": 0, "factor": 0.5}
    assert line(server, "default")["history"] == 0
    for body, where in (
        ({"half_life": "7d", "factor": 11}, "scheduler.history.factor"),
        ({"half_life": -1}, "scheduler.history.half_life"),
        ({"half_life": 0}, "scheduler.history"),
        ("sometimes", "scheduler.history"),
    ):
        refused = server.call("PATCH", "pools/default", {"scheduler": {"history": body}})
        assert (refused.status, refused.json["error"]["path"]) == (400, where)
    assert server.call("PATCH", "pools/default", {"scheduler": {"history": "off"}}).json["scheduler"]["history"] is None


FILE = """
departments:
  - {name: vision-lab, parent: ml}
  - {name: ml, title: Learning}
projects:
  - {name: vision, department: vision-lab}
quotas:
  - {project: vision, pool: default, resources: {gpu: 4, cpu: {limit: 10}}, rank: 200}
  - {department: ml, pool: default, resources: {gpu: {guaranteed: 6, limit: unlimited}, foo: 3}}
"""


def test_what_the_file_declares_is_there_and_comes_back_with_sighup():
    server = Server(FILE)
    try:
        server.start()
        assert server.get("departments/vision-lab")["parent"] == "ml"
        assert server.get("projects/vision")["department"] == "vision-lab"
        quota = line(server, "vision", "cpu")
        assert (quota["limit"], quota["rank"]) == (10, 200)
        assert line(server, "vision")["guaranteed"] == 4
        lab = line(server, "ml", kind="department")  # foo is nobody's yet: the whole quota waits
        assert (lab["guaranteed"], lab["computed"]) == (4, True)
        assert "foo" in server.log()
        agent = FakeAgent(server, foo=7).join().connect()
        server.call("PATCH", "quotas", {"project": "vision", "pool": "default", "resources": {"gpu": 1}})
        events = server.stream("events")
        server.process.send_signal(signal.SIGHUP)
        while events.event()[1] != "quota-set":
            pass
        events.close()
        server.call("PATCH", "projects/vision", {"title": "after"})  # behind all that SIGHUP did
        assert line(server, "vision")["guaranteed"] == 4
        assert line(server, "ml", kind="department")["guaranteed"] == 6
        assert line(server, "ml", "foo", kind="department")["guaranteed"] == 3
        agent.close()
    finally:
        server.close()
