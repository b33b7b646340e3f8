"""Why a task waits: the same words everywhere, and what is said to help does help, typed as it stands there.

SPDX-License-Identifier: Apache-2.0
"""
import re
import shlex

import pytest

from organisation import server_file

# Stays, whoever asks it to go, until the gate is there.
STUBBORN = "trap '' TERM; echo up; until [ -e \"$1\" ]; do sleep 0.05; done"


@pytest.fixture
def s(site):
    """One node of four GPUs; department ml with the projects vision and speech."""
    s = site(server_file(["default"], {"ml": ["vision", "speech"]}))
    s.nodes("n1")
    s.quota("vision", "default", 2, 1)
    s.quota("speech", "default", 2, 1)
    return s


def field(text, label):
    """What stands beside the label."""
    [value] = re.findall(rf"^{label}  +(.*)$", text, re.M)
    return value


def waits(s, task, code):
    """The task waits for this, and every surface says so in the same words; what would help."""
    s.wait_until(lambda: (s.task(task)["reason"] or {}).get("code") == code, lambda: f"{code}; it is {s.task(task)['reason']}")
    said = s.task(task)["reason"]["message"]
    explained = s.api("GET", f"tasks/{task}/explain").json
    assert explained["reason"]["message"] == said
    assert {t["id"]: t["reason"]["message"] for t in s.api("GET", "tasks").json["items"] if t["reason"]}[task] == said
    assert s.weir_json("explain", task)["reason"]["message"] == said
    assert field(s.weir("explain", task).stdout, "reason") == said
    assert field(s.weir("task", "show", task).stdout, "detail") == said
    assert f"{task}  {said}" in s.weir("task", "list", "--columns", "id,detail").stdout
    queued = {t["id"]: t["reason"]["message"] for t in s.api("GET", "queue?pool=default").json["items"]}
    if task in queued:
        assert queued[task] == said
        assert said in s.weir("queue").stdout
    return explained["suggestions"]


def helps(s, task, suggestions, begin):
    """The suggestion that begins so is a command; with it the task runs."""
    [command] = [one for one in suggestions if one.startswith(begin)]
    words = shlex.split(command, comments=True)[1:]
    s.weir(*words, *(["--yes"] if "#" in command and words[0] == "task" else []))
    s.wait_state(task, "running")


def test_a_task_that_is_held_back(s):
    [staged] = s.stay("vision", gpus=1, stage=True)
    helps(s, staged, waits(s, staged, "staged"), "weir task start")
    [after] = s.stay("vision", gpus=1, depends_on=[staged])
    assert waits(s, after, "dependency") == []
    assert s.api("POST", f"tasks/{after}/pause").status == 200
    [command] = waits(s, after, "paused")
    s.weir(*shlex.split(command, comments=True)[1:])
    waits(s, after, "dependency")


def test_a_pool_that_is_paused_and_a_node_that_is_away(s):
    s.weir("pool", "pause", "default")
    [task] = s.stay("vision", gpus=1)
    helps(s, task, waits(s, task, "pool-paused"), "weir pool resume")
    s.weir("node", "drain", "n1")
    [other] = s.stay("vision", gpus=1)
    helps(s, other, waits(s, other, "nodes-away"), "weir node resume")


def test_a_silent_node_with_room_is_named(s):
    s.nodes("n2")
    s.stay("vision", gpus=4)
    s.settled(vision=4)
    [free] = [node["name"] for node in s.weir_json("node", "list") if node["resources"]["slots"]["free"] == 4]
    s.nodes_end(free)
    s.wait_until(lambda: free not in s.nodes_ready("default"), f"{free} to be silent")
    [task] = s.stay("vision", gpus=2)
    assert "weir node resume" not in "".join(waits(s, task, "no-room"))
    assert s.task(task)["reason"]["message"].endswith(f"; node {free} has room, but is silent")
    assert s.task(task)["reason"]["away"] == free
    assert s.weir_json("pool", "show", "default")["nodes"] == {"total": 2, "up": 1, "silent": 1, "draining": 0, "lost": 0}
    assert "  nodes   1 up, 1 silent, 0 lost\n" in s.weir("explain", "default").stdout
    assert s.weir_json("pool", "show", "default")["reason"] == "1 of 2 nodes is up; 1 is silent"
    [busy] = [node["name"] for node in s.weir_json("node", "list") if node["name"] != free]
    s.weir("node", "drain", busy)
    assert s.weir_json("pool", "show", "default")["reason"] == "1 of 2 nodes is up; 1 is silent; 1 drains"
    [home] = [pool for pool in s.api("GET", "home").json["pools"] if pool["name"] == "default"]
    assert home["reason"] == "1 of 2 nodes is up; 1 is silent; 1 drains"


def test_a_pool_without_nodes(site):
    """The command that is named brings one, with the address and the token in it."""
    s = site(server_file(["default"], {"ml": ["vision"]}))
    [task] = s.stay("vision", gpus=1)
    [command] = waits(s, task, "pool-empty")
    command = command.replace("URL", s.url).replace("TOKEN", (s.dir / "join.token").read_text().strip())
    s.agent("n1", *shlex.split(command, comments=True)[1:], "--fake-gpus", "2")
    s.wait_state(task, "running")


def test_room_by_asking_for_less(s):
    s.stay("vision", gpus=3)
    s.settled(vision=3)
    [task] = s.stay("vision", gpus=2)
    assert "request 1 slot or less, and the task can start now" in waits(s, task, "no-room")
    [gang] = s.stay("vision", gpus=1, instances=2, gang=True)
    waits(s, gang, "gang-short")
    s.weir("task", "edit", task, "--gpus", "1")
    s.wait_state(task, "running")


def test_room_by_a_higher_priority(s):
    """Of one's own project; another project's tasks are not to be had that way."""
    s.stay("vision", gpus=2)
    s.stay("speech", gpus=2)
    s.settled(vision=2, speech=2)
    [small, large] = s.stay("vision", gpus=2)[0], s.stay("vision", gpus=4)[0]
    assert not [one for one in waits(s, large, "over-share") if "--priority" in one]
    suggestions = waits(s, small, "no-room")
    assert [one for one in suggestions if "--priority" in one and "# would stop task " in one]
    helps(s, small, suggestions, f"weir task edit {small} --priority ")


def test_more_than_the_share(s):
    """With the guarantee that is named its project has the right to it, and takes what was lent."""
    s.weir("quota", "set", "speech", "--pool", "default", "gpu=0")
    s.stay("speech", gpus=2)
    s.settled(speech=2)
    [large] = s.stay("vision", gpus=4)
    helps(s, large, waits(s, large, "over-share"), "weir quota set vision ")


def test_places_kept_for_another(s):
    s.weir("pool", "edit", "default", "--patience", "0")
    s.stay("vision", gpus=1)
    s.settled(vision=1)
    [holder] = s.stay("vision", gpus=4)
    [task] = s.stay("vision", gpus=1)
    helps(s, task, waits(s, task, "reserved"), f"weir task move {task} --ahead-of {holder}")


def test_bounds_of_accounts_and_users(s):
    s.quota("vision", "default", 2, 1, 1)
    [limited] = s.stay("vision", gpus=2)
    helps(s, limited, waits(s, limited, "over-limit"), "weir quota set vision ")
    s.quota("ml/", "default", 4, 1, 1)  # two are held: the limit that helps counts them
    [below] = s.stay("speech", gpus=1)
    helps(s, below, waits(s, below, "over-limit"), "weir quota set --department ml ")
    s.quota("ml/", "default", 4, 1)
    s.quota("speech", "default", 0, 1)
    [firm] = s.stay("speech", gpus=1, preemptible=False)
    suggestions = waits(s, firm, "over-guarantee")
    assert "submit the task with --preemptible" in suggestions
    loose = s.weir("submit", "--preemptible", "--project", "speech", "--gpus", "1", "--", str(s.script), str(s.record)).stdout.strip()
    s.wait_state(int(loose), "running")
    s.end(int(loose))
    helps(s, firm, suggestions, "weir quota set speech ")
    s.weir("pool", "edit", "default", "--user-slots", "4")
    [capped] = s.stay("speech", gpus=1)
    waits(s, capped, "user-cap")


def test_what_was_lent_on_its_way_back(s):
    s.weir("pool", "edit", "default", "--preemption-delay", "1h")
    gate = s.root / "gate"
    borrower = s.submit("sh", "-c", STUBBORN, "sh", str(gate), project="speech", resources={"gpu": 4}, grace="1h", kind="experiment")
    s.wait_until(lambda: s.api("GET", f"tasks/{borrower}/logs?stream=stdout&format=raw").body, "the borrower to run")
    [owner] = s.stay("vision", gpus=2)
    waits(s, owner, "preemption-delay")
    assert field(s.weir("explain", owner).stdout, "moves on").startswith("at the latest in ")
    s.weir("pool", "edit", "default", "--preemption-delay", "0", "--yes")
    waits(s, owner, "victims-leaving")
    assert field(s.weir("explain", owner).stdout, "moves on").startswith("at the latest in ")
    gate.touch()
    s.wait_state(owner, "running")


def test_those_who_run_have_their_minimum_runtime(s):
    """Of another project, and of the own one: both say until when; without it the task starts."""
    s.weir("pool", "edit", "default", "--reclaim-min-runtime", "1h", "--preempt-min-runtime", "1h")
    s.stay("speech", gpus=2, count=2)
    s.settled(speech=4)
    [owner] = s.stay("vision", gpus=2)
    [urgent] = s.stay("speech", gpus=2, priority=90)
    for task in (owner, urgent):
        assert waits(s, task, "minimum-runtime") == []
        assert re.match("at the latest in (1h|59m)", field(s.weir("explain", task).stdout, "moves on"))
    s.weir("pool", "edit", "default", "--preempt-min-runtime", "0", "--yes")
    s.wait_state(urgent, "running")
    s.weir("pool", "edit", "default", "--reclaim-min-runtime", "0", "--yes")
    s.wait_state(owner, "running")


def test_another_pool_with_room(site):
    """The command that is named moves the task there, and it runs."""
    s = site(server_file(["default", "spare", "shut"], {"ml": ["vision"]}))
    s.nodes("n1")
    s.nodes("n2", pool="spare")
    s.nodes("n3", pool="shut")
    s.weir("pool", "pause", "shut")
    s.stay("vision", gpus=4)
    s.settled(vision=4)
    [task] = s.stay("vision", gpus=4)
    suggestions = waits(s, task, s.reason(task)["code"])
    assert [one for one in suggestions if "--pool" in one] == [f"weir task edit {task} --pool spare  # starts there now"]
    helps(s, task, suggestions, f"weir task edit {task} --pool ")
