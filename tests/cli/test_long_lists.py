"""Lists stop after 50 rows and cost what they show. SPDX-License-Identifier: Apache-2.0"""

import json
import time

WAITING = 3000


def submit(weir, count):
    """Waiting tasks of twenty priorities, by the API: faster than by the command line."""
    weir.weir("pool", "pause", "default")
    for first in range(0, count, 1000):
        body = [{"command": ["true"], "priority": 40 + n % 20} for n in range(first, first + 1000)]
        assert weir.api("POST", "/api/v1/tasks", body).status == 201


def test_a_table_stops_after_fifty_rows_and_says_how_many_more(weir):
    submit(weir, WAITING)
    for words in (["queue"], ["task", "list", "--active"], ["task", "list", "--state", "pending"]):
        shown = weir.weir(*words)
        assert len(shown.stdout.splitlines()) == 51, words
        assert shown.stderr == "… and 2,950 more; --limit N shows N, --limit 0 all\n", words
    assert weir.weir("task", "list").stderr == "… and more; --limit N shows N, --limit 0 all\n"
    # The highest twenty of all tasks, not of the first fifty.
    highest = weir.weir("task", "list", "--active", "--sort", "-priority", "--columns", "priority", "--no-header", "--limit", "0")
    assert highest.stdout.split()[:50] == ["59"] * 50
    cut = weir.weir("queue", "--sort", "-id", "--columns", "id", "--no-header")
    assert cut.stdout.split() == [str(n) for n in range(WAITING, WAITING - 50, -1)]
    assert "… and 2,950 more" in cut.stderr
    assert len(weir.weir("queue", "--limit", "70").stdout.splitlines()) == 71
    assert len(weir.weir("queue", "-q").stdout.split()) == WAITING
    assert len(weir.weir_json("queue", "--limit", "0")) == WAITING


def test_pages_of_the_queue_follow_each_other_though_tasks_leave(weir):
    submit(weir, 1000)
    first = weir.api("GET", "/api/v1/queue?limit=400").json
    assert (first["total"], len(first["items"])) == (1000, 400)
    last = first["items"][-1]["id"]
    weir.weir("task", "kill", "--yes", last)  # the task that the cursor names is gone
    ids = [item["id"] for item in first["items"]]
    cursor = first["next"]
    while cursor:
        page = weir.api("GET", f"/api/v1/queue?limit=400&cursor={cursor}").json
        ids += [item["id"] for item in page["items"]]
        positions = [item["position"] for item in page["items"]]
        assert positions == list(range(positions[0], positions[0] + len(positions)))
        cursor = page["next"]
    assert len(ids) == len(set(ids)) == 1000
    assert ids == sorted(ids, key=lambda n: (-(40 + (n - 1) % 20), n))


def test_pages_go_on_from_pool_to_pool(weir):
    weir.weir("pool", "create", "second")
    weir.weir("pool", "pause", "default")
    weir.weir("pool", "pause", "second")
    for n in range(10):
        body = {"command": ["true"], "pool": "second" if n % 2 else "default"}
        assert weir.api("POST", "/api/v1/tasks", body).status == 201
    shown, cursor = [], ""
    while cursor is not None:
        page = weir.api("GET", f"/api/v1/queue?limit=3{cursor and '&cursor=' + cursor}").json
        assert page["total"] == 10
        shown += [(item["pool"], item["position"], item["id"]) for item in page["items"]]
        cursor = page["next"]
    assert shown == [("default", n + 1, 2 * n + 1) for n in range(5)] + [("second", n + 1, 2 * n + 2) for n in range(5)]
    assert weir.api("GET", "/api/v1/queue?pool=second").json["total"] == 5


def test_a_long_queue_costs_no_more_than_a_short_one(weir):
    def seconds():
        best = 60.0
        for _ in range(5):
            began = time.monotonic()
            assert len(weir.api("GET", "/api/v1/queue?limit=50").json["items"]) == 50
            best = min(best, time.monotonic() - began)
        return best

    submit(weir, 1000)
    short = seconds()
    submit(weir, 30000)
    assert seconds() < 5 * short + 0.01
    # The last page costs what it shows, too: the position is in the cursor.
    cursor, pages = "", 0
    while cursor is not None and pages < 30:
        page = json.loads(weir.api("GET", f"/api/v1/queue?limit=1000{cursor and '&cursor=' + cursor}").body)
        cursor, pages = page["next"], pages + 1
    began = time.monotonic()
    assert weir.api("GET", f"/api/v1/queue?limit=50&cursor={cursor}").json["items"][0]["position"] == 30001
    assert time.monotonic() - began < 5 * short + 0.02
