"""Which pool a node is in: real agents that name no pool, labels and selectors, moves while tasks run.

What runs where is read from what the tasks wrote (organisation.py).
SPDX-License-Identifier: Apache-2.0
"""
import subprocess

from organisation import server_file
from weir_harness import weir_bin

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
    """Run:ai's story of a site that buys two kinds of machines (nodes 21 to 30), beside two of its old nodes."""
    s = site(server_file(["default"], {"rd": RD, "mlops": MLO}))
    old = ["node-01", "node-02"]
    free_nodes(s, *old, *A100_40, *A100_80)
    s.wait_until(lambda: s.nodes_ready("default") == {*old, *A100_40, *A100_80}, "all nodes in default")
    s.weir("pool", "create", "A100-40", "--selector", "gpu.size=40")
    s.weir("pool", "create", "A100-80", "--selector", "gpu.size=80,gpu.model=fake")
    for pool in ("A100-40", "A100-80"):
        lines = s.quotas(pool)
        assert [(lines[name]["guaranteed"], lines[name]["limit"]) for name in RD + MLO] == [(0, None)] * 8
        assert {one["resource"] for one in s.weir_json("quota", "list", "--pool", pool, "--limit", "0")} == {"slots"}  # nothing bounds cpu
    for name in A100_40:
        s.weir("node", "label", name, "gpu.size=40")
    for name in A100_80:
        s.weir("node", "label", name, "gpu.size=80")
    s.wait_until(lambda: s.nodes_ready("A100-40") == set(A100_40) and s.nodes_ready("A100-80") == set(A100_80), "every node in its pool")
    assert s.nodes_ready("default") == set(old)
    for pool in ("A100-40", "A100-80"):  # only `default` is promised what nobody was promised
        assert {name: line["guaranteed"] for name, line in s.quotas(pool).items() if not name.endswith("/")} == {**dict.fromkeys(RD + MLO, 0), "default": 20}
    [gang] = s.stay("rd4", gpus=4, instances=5, gang=True, pools=["A100-40"])
    s.settled("A100-40", rd4=20)
    assert sorted(at for at, _ in s.running()[gang].values()) == A100_40
    moved = [e for e in s.weir("events", "--type", "node-moved", "--json=lines").stdout.splitlines()]
    assert len(moved) == 10
    # The list `A100-80, Default`: five tasks borrow the first pool, and the sixth falls through.
    six = s.stay("rd4", gpus=4, count=6, pools=["A100-80", "default"])
    s.wait_until(lambda: all(task in s.running() for task in six), "five tasks in the first pool, the sixth in the second")
    places = [node for task in six for node, _ in s.running()[task].values()]
    assert sorted(places[:5]) == A100_80 and places[5] in old
    assert [s.task(task)["pool"] for task in six] == ["A100-80"] * 5 + ["default"]
    # A pool that is dedicated now is closed to all but the project: the task's project counts, not its user.
    away = s.weir("pool", "edit", "A100-40", "--access", "dedicated", "--for", "mlo1", check=False)
    assert away.returncode == 5 and "in use by 1 task" in away.stderr, away
    s.end(gang)
    s.wait_until(lambda: gang not in s.running(), "the end of the gang")
    s.weir("pool", "edit", "A100-40", "--access", "dedicated", "--for", "mlo1")
    refused = s.api("POST", "tasks", {"command": ["true"], "project": "rd4", "pools": ["A100-40"]})
    assert refused.status == 422 and "dedicated to others than project 'rd4'" in refused.json["error"]["message"], refused.json
    [mine] = s.stay("mlo1", gpus=4, pools=["A100-40"])
    s.wait_until(lambda: mine in s.running(), "the task of the project")
    assert [node for node, _ in s.running()[mine].values()][0] in A100_40


def test_a_busy_node_moves_when_its_task_has_ended_and_the_server_was_killed_between(site):
    s = site(server_file(["default"], {"rd": RD}))
    free_nodes(s, "n1")
    s.wait_until(lambda: s.nodes_ready("default") == {"n1"}, "the node")
    s.weir("pool", "create", "big", "--selector", "size=big")
    [task] = s.stay("rd1", gpus=1)
    s.wait_until(lambda: task in s.running(), "the task to run")
    refused = s.weir("node", "label", "n1", "size=big", "--busy", "refuse", check=False)
    assert refused.returncode == 5 and "node 'n1' runs 1 instance" in refused.stderr, refused
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


def test_a_dedicated_pool_serves_its_projects_only(site):
    s = site(server_file(["default"], {"rd": RD, "mlops": MLO}))
    s.weir("pool", "create", "lab", "--access", "dedicated", "--for", "rd1,department/mlops")
    assert "only department/mlops, project/rd1" in s.weir("pool", "show", "lab").stdout
    refused = s.weir("submit", "--pool", "lab", "--project", "rd2", "--", "true", check=False)
    assert refused.returncode == 9 and "dedicated to others than project 'rd2'" in refused.stderr, refused
    mine = s.weir("submit", "--pool", "lab", "--project", "rd1", "--", "true").stdout.strip()
    theirs = s.weir("submit", "--pool", "lab", "--project", "mlo3", "--", "true").stdout.strip()
    away = s.weir("pool", "edit", "lab", "--for", "rd1", check=False)
    assert away.returncode == 5 and "in use by 1 task" in away.stderr, away
    s.weir("pool", "edit", "lab", "--for", "rd1", "--force", "--yes")
    assert (s.task(mine)["state"], s.task(theirs)["state"]) == ("pending", "unavailable")
    assert "dedicated to others than project 'mlo3'" in s.weir("explain", theirs).stdout
    s.kill()
    s.start()
    assert s.task(theirs)["state"] == "unavailable"
    free_nodes(s, "n1", gpus=1)
    s.weir("task", "edit", theirs, "--pool", "default")
    s.weir("wait", theirs)
    assert s.task(mine)["state"] == "pending"
    for bad, path in [({"access": "dedicated"}, "for"), ({"for": ["rd1"]}, "for"), ({"access": "dedicated", "for": ["nobody"]}, "for"),
                      ({"access": "dedicated", "for": ["default"]}, "for"), ({"access": "mine"}, "access"), ({"slots_per_node": -1}, "slots_per_node")]:
        answer = s.api("POST", "pools", {"name": "p", **bad})
        assert answer.status == 400 and answer.json["error"]["path"] == path, answer.json


def test_tensorboards_have_a_pool_without_slots_beside_the_gpus(site):
    """A CPU pool for TensorBoards beside a GPU pool: what names no pool goes where it can run."""
    s = site("defaults: {gpu_pool: gpus, cpu_pool: cpus}\npools:\n  - {name: gpus}\n  - {name: cpus, slots_per_node: 0}\n")
    s.nodes("g1", pool="gpus")
    s.nodes("c1", pool="cpus", gpus=0)
    board = s.weir("submit", "--kind", "tensorboard", "--", "sleep", "600").stdout.strip()
    train = s.weir("submit", "--gpus", "4", "--", "sleep", "600").stdout.strip()
    aux = s.weir("submit", "--slots", "0", "--", "sleep", "600").stdout.strip()
    for task, pool, node_name in [(board, "cpus", "c1"), (train, "gpus", "g1"), (aux, "cpus", "c1")]:
        s.wait_state(task, "running")
        assert s.task(task)["pool"] == pool
        assert node_name in s.weir("node", "list", "--pool", pool).stdout
    refused = s.weir("submit", "--pool", "cpus", "--slots", "1", "--", "true", check=False)
    assert refused.returncode == 9 and "largest node of pool 'cpus' has 0" in refused.stderr, refused
    refused = s.weir("task", "edit", train, "--pool", "cpus", check=False)
    assert refused.returncode == 9 and s.task(train)["pool"] == "gpus", refused  # no GPU there, ever
    s.weir("task", "edit", aux, "--pool", "gpus", "--yes")  # runs already: it ends there, and starts here under the same id
    s.wait_until(lambda: s.task(aux)["pool"] == "gpus" and s.task(aux)["state"] == "running", "the task in the other pool")
    assert s.task(aux)["counts"]["failed"] == 0


def test_config_init_writes_a_file_that_a_server_takes(site):
    """`weir config init cpu+gpu`: both default pools, checked, and tasks go where the pages say."""
    written = subprocess.run([weir_bin(), "config", "init", "cpu+gpu"], capture_output=True, text=True, check=True).stdout
    s = site(written)
    checked = s.weir("config", "check", str(s.root / "server.yaml"))
    assert checked.returncode == 0
    assert s.weir("config", "diff", str(s.root / "server.yaml")).returncode == 0  # the server is as the file says
    for words, pool in [(["--gpus", "1"], "gpu"), ([], "gpu"), (["--slots", "0"], "cpu"), (["--cpu", "1"], "cpu"),
                        (["--kind", "tensorboard"], "cpu"), (["--pool", "default", "--gpus", "1"], "default")]:
        task = s.weir("submit", *words, "--", "true").stdout.strip()
        assert s.task(task)["pool"] == pool, words
