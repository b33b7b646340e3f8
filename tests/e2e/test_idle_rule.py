"""The rule of a pool or a project for tasks that hold their places and do nothing: warned, then paused or ended, as their nodes say what they use.

SPDX-License-Identifier: Apache-2.0
"""
import json

SLEEP = ["sh", "-c", "echo asleep; exec sleep 600"]


def said(w, task):
    """What happened to a task that did nothing, and by whose rule, in order."""
    events = [json.loads(line) for line in w.weir("events", "--task", str(task), "--json=lines").stdout.splitlines()]
    return [event for event in events if event["type"] == "task-idle"]


def steps(w, task):
    return [(event["step"], event["rule"]) for event in said(w, task)]


def works(gate):
    """A task that works until the gate is there."""
    return ["sh", "-c", f"echo awake; until [ -e {gate} ]; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; done"]


def test_a_task_that_does_nothing_is_warned_then_ended_and_one_that_works_is_not(weir):
    w = weir("--slots", "4")
    gate = w.root / "gate"
    w.weir("pool", "edit", "default", "--idle-warn", "3s", "--idle-after", "6s", "--idle-action", "end")
    idle = int(w.weir("submit", "--", *SLEEP).stdout)
    busy = int(w.weir("submit", "--", *works(gate)).stdout)
    ended = w.wait(idle)
    assert (ended["state"], ended["cause"]) == ("failed", "idle")
    last = ended["attempts"][-1]
    assert (last["cause"], last["message"]) == ("idle", "ended: held its place and did nothing for longer than its pool or project allows")
    assert steps(w, idle) == [("warned", "pool default"), ("ended", "pool default")]
    [warned, end] = said(w, idle)
    assert warned["since"] < warned["time"] < warned["until"] <= end["time"] == end["until"] <= ended["ended_at"]
    assert w.task(busy)["state"] == "running"
    assert said(w, busy) == []
    gate.touch()
    assert w.wait(busy)["state"] == "completed"


def test_a_task_is_paused_says_why_and_goes_on(weir):
    w = weir("--slots", "2")
    gate = w.root / "gate"
    w.weir("pool", "edit", "default", "--idle-after", "3s")
    task = int(w.weir("submit", "--", "sh", "-c", f"[ -e {gate} ] || sleep 600").stdout)
    w.wait_state(task, "paused")
    shown = w.task(task)
    assert shown["attempts"][-1]["cause"] == "idle-paused"
    assert shown["reason"]["code"] == "paused-idle"
    why = w.weir("explain", str(task)).stdout
    assert "was paused, because it held its place in pool 'default' and did nothing" in why
    assert f"weir task activate {task}" in why
    gate.touch()
    w.weir("task", "activate", str(task))
    assert w.wait(task)["state"] == "completed"


def test_one_working_instance_keeps_the_task(weir):
    """A gang whose first instance works and whose second one waits for it does something."""
    w = weir("--slots", "4")
    gate = w.root / "gate"
    w.weir("pool", "edit", "default", "--idle-warn", "2s", "--idle-after", "4s", "--idle-action", "end")
    [_, _, script] = works(gate)
    gang = int(w.weir("submit", "--instances", "2", "--gang", "--", "sh", "-c", f"[ $WEIR_INSTANCE_ID = 0 ] || exec sleep 600; {script}").stdout)
    other = int(w.weir("submit", "--", *SLEEP).stdout)
    assert w.wait(other)["cause"] == "idle"
    assert w.task(gang)["state"] == "running"
    assert said(w, gang) == []
    w.weir("kill", str(gang))


def test_a_rule_that_cannot_be_is_refused(weir):
    w = weir("--slots", "1")
    refused = w.weir("pool", "edit", "default", "--idle-warn", "10m", "--idle-after", "5m", check=False)
    assert refused.returncode != 0 and "idle_warn" in refused.stderr and "below idle_after" in refused.stderr
    refused = w.weir("pool", "edit", "default", "--idle-action", "sleep", check=False)
    assert refused.returncode != 0 and "pause" in refused.stderr
    shown = w.api("GET", "pools/default").json
    assert (shown["idle_warn_ms"], shown["idle_after_ms"], shown["idle_action"]) == (0, 0, "pause")
    refused = w.weir("project", "edit", "default", "--idle-warn", "10m", check=False)
    assert refused.returncode != 0 and "idle_warn: must be 0 with the idle_action inherit" in refused.stderr
    refused = w.weir("project", "edit", "default", "--idle-after", "5m", "--idle-warn", "10m", "--idle-action", "end", check=False)
    assert refused.returncode != 0 and "idle_warn: must be below idle_after" in refused.stderr
    assert w.api("GET", "projects/default").json["idle_action"] == "inherit"


def test_the_rule_of_a_project_holds_in_place_of_the_rule_of_its_pool(weir):
    """Notebooks stay where the pool ends tasks, until their project gets a rule that ends them, too."""
    w = weir("--slots", "4")
    w.weir("pool", "edit", "default", "--idle-after", "3s", "--idle-action", "end")
    w.weir("project", "create", "notebooks", "--idle-action", "none")
    w.weir("department", "create", "ml", "--idle-after", "2s", "--idle-action", "pause")
    w.weir("project", "create", "nlp", "--department", "ml")
    stays = int(w.weir("submit", "--project", "notebooks", "--", *SLEEP).stdout)
    of_pool = int(w.weir("submit", "--", *SLEEP).stdout)
    of_department = int(w.weir("submit", "--project", "nlp", "--", *SLEEP).stdout)
    assert w.wait(of_pool)["cause"] == "idle"
    assert steps(w, of_pool) == [("ended", "pool default")]
    w.wait_state(of_department, "paused")
    assert steps(w, of_department) == [("paused", "department ml")]
    assert (w.task(stays)["state"], steps(w, stays)) == ("running", [])
    assert "never paused or ended" in w.weir("project", "show", "notebooks").stdout
    w.weir("project", "edit", "notebooks", "--idle-warn", "1s", "--idle-after", "2s", "--idle-action", "end")
    assert "warned after 1s, ended after 2s" in w.weir("project", "show", "notebooks").stdout
    assert w.wait(stays)["cause"] == "idle"
    assert steps(w, stays) == [("warned", "project notebooks"), ("ended", "project notebooks")]
