"""Tasks that name several pools: real servers, real agents, pools of the provider `local`.

Where a task ran is read from what the task wrote.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import signal

import pytest

HOLD = "echo $WEIR_NODE >> {out}/{name}; while [ ! -e {out}/go ]; do sleep 0.1; done"


@pytest.fixture
def site(weir):
    """A server with two pools, each with at most one node of one slot."""
    w = weir()
    w.out = w.root / "outputs"
    w.out.mkdir()
    w.out.chmod(0o777)
    for pool in ("spot", "demand"):
        w.weir("pool", "create", pool, "--provider", "local", "--max", "1", "--idle", "1h")
    return w


def submit(w, name, *flags):
    return w.weir("submit", *flags, "--", "sh", "-c", HOLD.format(out=w.out, name=name)).stdout.strip()


def ran(w, name):
    """The nodes on which the task ran, one for each start."""
    path = w.out / name
    return path.read_text().split() if path.exists() else []


def opened(w):
    events = [json.loads(line) for line in w.weir("events", "--json").stdout.splitlines()]
    return [(e["task"], e["pool"], e["why"]) for e in events if e["type"] == "pool-opened"]


def test_a_pool_at_its_maximum_opens_the_next(site):
    w = site
    first = submit(w, "first", "--pool", "spot,demand")
    w.wait_until(lambda: ran(w, "first"), "the first task")
    second = submit(w, "second", "--pool", "spot,demand")
    w.wait_until(lambda: ran(w, "second"), "the second task")
    assert (ran(w, "first"), ran(w, "second")) == (["spot-1"], ["demand-2"])
    assert opened(w) == [(int(second), "demand", "no-capacity")]
    third = submit(w, "third", "--pool", "spot,demand")
    w.wait_until(lambda: len(opened(w)) == 2, "both pools are open for the third")
    told = w.weir("explain", third).stdout
    assert "considered in\n  spot (named first): " in told
    assert "\n  demand (the pool before has no capacity): " in told
    assert "next pool: none is left" in told
    assert [t["pool"] for t in w.api("GET", "queue").json["items"] if t["id"] == int(third)] == ["spot", "demand"]
    shown = w.weir("task", "show", third).stdout
    assert "spot (named first), demand (the pool before has no capacity)" in shown
    os.kill(w.pid_of("server"), signal.SIGKILL)  # what is open stays open
    w.kill()
    w.start()
    assert [o["pool"] for o in w.api("GET", f"tasks/{third}").json["fallback"]["open"]] == ["spot", "demand"]
    w.weir("kill", first)
    w.wait_until(lambda: ran(w, "third"), "the third task in the place of the first")
    (w.out / "go").touch()
    w.weir("wait", third)
    w.weir("wait", second)
    assert ran(w, "third") == ["spot-1"] and ran(w, "second") == ["demand-2"]


def test_time_opens_the_next_pool(site):
    w = site
    submit(w, "busy", "--pool", "spot")
    w.wait_until(lambda: ran(w, "busy"), "the pool is full")
    task = submit(w, "task", "--pool", "spot,demand", "--fallback", "after=1h")
    waits = w.api("GET", f"tasks/{task}").json["fallback"]
    assert waits["after_ms"] == 3600000 and waits["on"] == [] and len(waits["open"]) == 1
    assert waits["next"]["pool"] == "demand" and waits["next"]["at"] is not None
    assert "next pool: demand in " in w.weir("explain", task).stdout and opened(w) == []
    w.weir("task", "edit", task, "--fallback", "after=100ms,on=lost")
    w.wait_until(lambda: ran(w, "task"), "the task")
    assert ran(w, "task") == ["demand-2"] and opened(w) == [(int(task), "demand", "after")]
    (w.out / "go").touch()
    w.weir("wait", task)


def test_a_provider_that_fails_opens_the_next_pool(site):
    w = site
    local = w.dir / "local"
    local.rmdir()
    local.write_text("in the way")  # the provider cannot bring up any node
    task = submit(w, "task", "--pool", "spot,default")
    w.wait_until(lambda: ran(w, "task"), "the task on the node of the server")
    assert len(ran(w, "task")) == 1 and opened(w) == [(int(task), "default", "no-capacity")]
    assert w.api("GET", f"tasks/{task}").json["pool"] == "default"
    (w.out / "go").touch()
    w.weir("wait", task)


def test_a_list_of_an_edit(site):
    w = site
    submit(w, "busy", "--pool", "spot")
    w.wait_until(lambda: ran(w, "busy"), "the pool is full")
    task = submit(w, "task", "--pool", "spot")
    w.weir("task", "edit", task, "--pool", "spot,demand")
    w.wait_until(lambda: ran(w, "task"), "the task in the second pool")
    assert ran(w, "task") == ["demand-2"]
    assert w.api("GET", f"tasks/{task}").json["pools"] == ["spot", "demand"]
    (w.out / "go").touch()
    w.weir("wait", task)


def test_what_is_wrong_is_told_with_its_place(site):
    w = site
    for flags, told in ((("--pool", "spot,nowhere"), "no pool 'nowhere'"),
                        (("--pool", "spot,spot"), "the task names pool 'spot' twice"),
                        (("--pool", "spot,demand", "--fallback", "on=full"), "no-capacity or lost is wanted, not 'full'"),
                        (("--pool", "spot,demand", "--fallback", "5m"), "conditions are wanted, like after=5m"),
                        (("--pool", "spot,demand", "--fallback", "after=0s"), "it must be longer than 0"),
                        (("--pool", "spot,demand", "--slots", "2"), "the nodes of pool 'spot' together have 1")):
        answer = w.weir("submit", *flags, "--", "true", check=False)
        assert answer.returncode != 0 and told in answer.stderr, (flags, answer.stderr)
    assert w.api("GET", "tasks").json["items"] == []
