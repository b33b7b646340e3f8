"""The life of a pool: its states and its health as nodes come and go, close, delete, restore. Real agents of the provider `local`.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import signal


def pool_of(w, name):
    return w.api("GET", f"pools/{name}").json


def task_of(w, task):
    return w.api("GET", f"tasks/{task}").json


def machines(w):
    """The processes of nodes that the server brought up."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if any(str(w.dir / "local").encode() in word for word in words):
            found.append(int(pid))
    return found


def states(w, name):
    """The states of the pool in their order, as the facts say."""
    lines = w.weir("events", "--pool", name, "--type", "pool-state", "--json").stdout.splitlines()
    return [json.loads(line)["state"] for line in lines]


def is_state(w, name, state):
    w.wait_until(lambda: pool_of(w, name)["state"] == state, f"pool {name} is {state}")


def server_dies(w):
    """kill -9 of the server in the middle, and another server on its directory."""
    os.kill(w.pid_of("server"), signal.SIGKILL)
    w.kill()
    w.start()


def waiting_task(w, pool, go, *flags):
    return w.weir("submit", "--pool", pool, *flags, "--", "sh", "-c", f"while [ ! -e {go} ]; do sleep 0.1; done").stdout.strip()


def growths(told):
    """The states cut behind each `fully-executing`: one growth each."""
    cut = [[]]
    for state in told:
        cut[-1].append(state)
        if state == "fully-executing":
            cut.append([])
    return cut[:-1]


def test_the_story_of_an_elastic_pool(weir):
    """Qarnot's example: 0 to 5 nodes, a task of one instance, a task of five, nothing, closed."""
    w = weir()
    go = w.root / "go"
    made = w.api("POST", "pools", {"name": "burst", "provider": {"type": "local", "min": 0, "max": 5, "idle": "1s"}})
    assert (made.status, made.json["state"]) == (201, "submitted")
    is_state(w, "burst", "fully-executing")
    empty = pool_of(w, "burst")
    assert empty["health"] == "running" and empty["nodes"]["total"] == 0 and "no task needs a node" in empty["reason"]
    one = waiting_task(w, "burst", go)
    w.wait_until(lambda: task_of(w, one)["state"] == "running" and pool_of(w, "burst")["nodes"]["up"] == 1, "one runs")
    is_state(w, "burst", "fully-executing")
    go.touch()
    w.weir("wait", one)
    go.unlink()
    task = waiting_task(w, "burst", go, "-n", "5")
    w.wait_until(lambda: task_of(w, task)["state"] == "running" and pool_of(w, "burst")["nodes"]["up"] == 5, "five run")
    is_state(w, "burst", "fully-executing")
    assert pool_of(w, "burst")["reason"] == "5 of 5 nodes are up"
    go.touch()
    w.weir("wait", task)
    w.wait_until(lambda: pool_of(w, "burst")["nodes"]["total"] == 0 and machines(w) == [], "no node is left")
    is_state(w, "burst", "fully-executing")
    w.weir("pool", "close", "burst")
    is_state(w, "burst", "closed")
    told = states(w, "burst")
    assert told[0] == "fully-executing" and told[-1] == "closed"
    # The first growth begins at no node. Each growth ends with all nodes there; states that last shorter than a turn are skipped.
    begin = growths(told)[1]
    assert begin[0] in ("partially-dispatched", "fully-dispatched")
    assert all(set(growth[:-1]) <= {"partially-dispatched", "fully-dispatched", "partially-executing"} for growth in growths(told))
    assert len(growths(told)) >= 3
    types = [json.loads(line)["type"] for line in w.weir("events", "--pool", "burst", "--json").stdout.splitlines()]
    assert types[-2:] == ["pool-closing", "pool-state"]
    refused = w.weir("submit", "--pool", "burst", "--", "true", check=False)
    assert refused.returncode != 0 and "pool 'burst' is closed" in refused.stderr and "weir pool restore burst" in refused.stderr
    story = w.weir("pool", "events", "burst").stdout
    assert "pool burst is fully-executing, health running: no node is wanted" in story
    assert "closed pool burst; running tasks go on to their end" in story and "has joined as burst-" in story
    w.weir("pool", "restore", "burst")
    w.weir("run", "--pool", "burst", "--", "true")


def test_closing_lets_tasks_end_and_starts_none(weir):
    w = weir()
    go = w.root / "go"
    w.weir("pool", "create", "burst", "--provider", "local", "--max", "1", "--idle", "1s")
    task = waiting_task(w, "burst", go)
    w.wait_until(lambda: task_of(w, task)["state"] == "running", "the task runs")
    behind = waiting_task(w, "burst", go)
    w.weir("pool", "close", "burst")
    is_state(w, "burst", "closing")
    assert task_of(w, task)["state"] == "running"
    assert "pool 'burst' is closing and takes no task" in w.weir("explain", behind).stdout
    server_dies(w)
    go.touch()
    w.weir("wait", task)
    is_state(w, "burst", "closed")
    assert machines(w) == [] and task_of(w, behind)["state"] == "pending"
    w.weir("task", "edit", behind, "--pool", "default")
    w.weir("wait", behind)


def test_close_kill_ends_the_running_tasks(weir):
    w = weir()
    w.weir("pool", "create", "burst", "--provider", "local", "--max", "1", "--idle", "1s")
    task = waiting_task(w, "burst", w.root / "go")
    w.wait_until(lambda: task_of(w, task)["state"] == "running", "the task runs")
    dry = w.weir("pool", "close", "burst", "--kill", "--dry-run", check=False)
    assert f"would stop task {task}" in dry.stdout and task_of(w, task)["state"] == "running"
    w.weir("pool", "close", "burst", "--kill", "--yes")
    w.weir("wait", task, check=False)
    assert task_of(w, task)["state"] == "killed"
    is_state(w, "burst", "closed")


def test_a_fixed_pool_is_deleted_and_restored(weir):
    """ModelArts' example: a pool of 3 nodes; delete shows its victims, restore brings all back."""
    w = weir()
    go = w.root / "go"
    w.weir("pool", "create", "lab", "--provider", "local", "--min", "3", "--max", "3")
    is_state(w, "lab", "fully-executing")
    w.weir("quota", "set", "default", "--pool", "lab", "slots=2")
    runs = waiting_task(w, "lab", go, "-n", "3")
    waits = waiting_task(w, "lab", go)
    w.wait_until(lambda: task_of(w, runs)["state"] == "running", "the task runs")
    dry = w.weir("pool", "delete", "lab", "--dry-run", check=False).stdout
    assert f"would stop task {runs}" in dry and "losing" in dry and f"task {waits} " in dry
    refused = w.weir("pool", "delete", "lab", "--yes", check=False)
    assert refused.returncode != 0 and "in use by 2 tasks" in refused.stderr
    w.weir("pool", "delete", "lab", "--force", "--yes")
    w.wait_until(lambda: task_of(w, runs)["state"] == "unavailable" and machines(w) == [], "the task stopped, the nodes are gone")
    gone = pool_of(w, "lab")
    assert gone["state"] == "pending-delete" and gone["health"] == "unavailable" and gone["restore_until"]
    assert task_of(w, waits)["state"] == "unavailable"
    assert "pool 'lab' was deleted; `weir pool restore lab`" in w.weir("explain", waits).stdout
    taken = w.weir("pool", "create", "lab", check=False)
    assert taken.returncode != 0 and "`weir pool restore lab`" in taken.stderr and "--now" in taken.stderr
    w.weir("task", "edit", waits, "--pool", "default")
    server_dies(w)
    assert task_of(w, runs)["state"] == "unavailable"
    w.weir("pool", "restore", "lab")
    is_state(w, "lab", "fully-executing")
    w.wait_until(lambda: task_of(w, runs)["state"] == "running", "the task runs again")
    assert pool_of(w, "lab")["nodes"]["up"] == 3
    assert "slots" in w.weir("quota", "list", "--pool", "lab", "--json").stdout
    go.touch()
    w.weir("wait", runs)
    w.weir("wait", waits)


def test_a_pool_without_nodes_says_so(weir):
    w = weir()
    w.weir("pool", "create", "lab")
    is_state(w, "lab", "submitted")
    w.wait_until(lambda: pool_of(w, "lab")["health"] == "unavailable", "no node is there")
    assert "no node has joined" in pool_of(w, "lab")["reason"]
    shown = w.weir("pool", "show", "lab").stdout
    assert "unavailable" in shown and "no node has joined" in shown
    assert (pool_of(w, "default")["state"], pool_of(w, "default")["health"]) == ("fully-executing", "running")


def test_a_name_is_free_once_the_pool_is_gone_for_good(weir):
    w = weir()
    w.weir("pool", "create", "old")
    w.weir("pool", "delete", "old", "--yes")
    assert pool_of(w, "old")["state"] == "pending-delete"
    w.weir("pool", "delete", "old", "--now", "--yes")
    assert w.api("GET", "pools/old").status == 404
    w.weir("pool", "create", "old")
    refused = w.weir("pool", "close", "default", check=False)
    assert refused.returncode != 0 and "default" in refused.stderr
