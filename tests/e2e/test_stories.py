"""Whole stories of administrators who come from other systems, each played from its beginning to its end with real agents.

The other stories: test_pool_life.py (Qarnot's elastic pool), test_membership.py (Run:ai's nodes that are labelled), test_ec2.py (spot, then on-demand;
a zone without capacity; two regions), test_slurm_to_ec2.py.
What ran where is read from what the tasks wrote, and from the processes of the machine.
SPDX-License-Identifier: Apache-2.0
"""
from test_elastic_pools import machines, nodes, outputs, pool_of


def held(out, name):
    """The command of a task that writes down each of its starts, and runs until the file NAME.go is there."""
    return ["sh", "-c", f"echo $WEIR_NODE >> {out}/{name}; while [ ! -e {out}/{name}.go ]; do sleep 0.1; done"]


def wrote(out, name):
    path = out / name
    return path.read_text().split() if path.exists() else []


def refused(w, *words, said):
    answer = w.weir(*words, check=False)
    assert answer.returncode != 0 and said in answer.stderr, answer.stderr
    return answer


BOARDS = """
defaults: {gpu_pool: gpus, cpu_pool: cpus}
pools:
  - {name: gpus, provider: {type: local, max: 2, gpus: 2, idle: 1s}}
  - {name: cpus, slots_per_node: 0, provider: {type: local, max: 1, idle: 1s}}
"""


def test_boards_stay_on_a_cpu_pool_while_the_gpus_go_to_zero(site):
    """Determined's first story: TensorBoards have a cheap pool without slots, and the pool with GPUs costs nothing while nobody trains."""
    s = site(BOARDS)
    out = outputs(s)
    assert machines(s) == []
    board = s.weir("submit", "--kind", "tensorboard", "--", *held(out, "board")).stdout.strip()
    s.wait_until(lambda: wrote(out, "board"), "the board")
    assert wrote(out, "board") == nodes(s, "cpus") and nodes(s, "gpus") == []
    train = s.weir("submit", "--gpus", "2", "--", *held(out, "train")).stdout.strip()
    s.wait_until(lambda: wrote(out, "train"), "the training")
    assert wrote(out, "train") == nodes(s, "gpus") and s.task(int(train))["pool"] == "gpus"
    # What the pool without slots can never have is refused at once, and nothing is launched for it.
    refused(s, "submit", "--pool", "cpus", "--gpus", "1", "--", "true", said="cpus")
    refused(s, "submit", "--pool", "cpus", "--slots", "1", "--", "true", said="largest node of pool 'cpus' has 0")
    assert pool_of(s, "cpus")["launches"]["live"] == 1
    (out / "train.go").touch()
    s.weir("wait", train)
    s.wait_until(lambda: nodes(s, "gpus") == [], "no node with GPUs is left")
    assert s.task(int(board))["state"] == "running" and wrote(out, "board") == nodes(s, "cpus")
    (out / "board.go").touch()
    s.weir("wait", board)
    s.wait_until(lambda: machines(s) == [], "no node is left")
    assert len(wrote(out, "board")) == len(wrote(out, "train")) == 1


def test_prototypes_have_a_cheap_pool(weir):
    """Determined's fourth story: a small cheap pool for prototypes beside a dear one. What outgrows it is moved by hand, under its number."""
    w = weir()
    out = outputs(w)
    w.weir("flavor", "create", "small", "--slots", "1", "--price", "0.1", "--currency", "USD")
    w.weir("flavor", "create", "large", "--slots", "4", "--price", "3.2", "--currency", "USD")
    w.weir("pool", "create", "prototype", "--provider", "local", "--flavor", "small", "--max", "1", "--idle", "1s", "--accepts", "command,notebook,shell")
    w.weir("pool", "create", "train", "--provider", "local", "--flavor", "large", "--max", "2", "--idle", "1s")
    dry = w.weir("submit", "--pool", "prototype", "--dry-run", "--", "true", check=False)
    assert "would launch 1 node in pool prototype, for 0.1 USD an hour" in dry.stdout, dry
    dry = w.weir("submit", "--pool", "train", "--slots", "4", "-n", "2", "--dry-run", "--", "true", check=False)
    assert "would launch 2 nodes in pool train, for 6.4 USD an hour" in dry.stdout, dry
    refused(w, "submit", "--pool", "prototype", "--kind", "experiment", "--", "true", said="pool 'prototype' does not take tasks of kind 'experiment'")
    refused(w, "submit", "--pool", "prototype", "--slots", "2", "--", "true", said="pool 'prototype'")
    task = w.weir("submit", "--pool", "prototype", "--", *held(out, "model")).stdout.strip()
    w.wait_until(lambda: wrote(out, "model"), "the prototype")
    assert wrote(out, "model") == nodes(w, "prototype") and nodes(w, "train") == []
    w.weir("task", "edit", task, "--pool", "train", "--yes")
    w.wait_until(lambda: len(wrote(out, "model")) == 2, "the same task in the other pool")
    assert wrote(out, "model")[1:] == nodes(w, "train") and w.task(int(task))["counts"]["failed"] == 0
    (out / "model.go").touch()
    w.weir("wait", task)
    w.wait_until(lambda: machines(w) == [], "no node is left")


def test_a_dedicated_pool_is_scaled_deleted_and_restored(weir):
    """ModelArts' story: three nodes for one project; five; two named nodes leave, one of them busy; a service is refused; deleted, and all is back."""
    w = weir()
    out = outputs(w)
    for project in ("vision", "speech"):
        w.weir("project", "create", project)
    w.weir("pool", "create", "train", "--provider", "local", "--nodes", "3", "--access", "dedicated", "--for", "vision",
           "--accepts", "experiment,notebook,tensorboard")
    w.weir("quota", "set", "vision", "--pool", "train", "slots=2")
    w.wait_until(lambda: len(nodes(w, "train")) == 3 and pool_of(w, "train")["state"] == "fully-executing", "three nodes")
    mine = ["submit", "--pool", "train", "--project", "vision", "--kind", "experiment", "--"]
    refused(w, "submit", "--pool", "train", "--project", "speech", "--kind", "experiment", "--", "true", said="dedicated to others than project 'speech'")
    refused(w, "submit", "--pool", "train", "--project", "vision", "--kind", "service", "--", "true", said="does not take tasks of kind 'service'")

    w.weir("pool", "scale", "train", "--nodes", "5")
    w.wait_until(lambda: len(nodes(w, "train")) == 5, "five nodes")
    first = w.weir(*mine, *held(out, "first")).stdout.strip()
    w.wait_until(lambda: wrote(out, "first"), "the task")
    busy = wrote(out, "first")[0]
    idle = next(name for name in nodes(w, "train") if name != busy)
    w.weir("pool", "scale", "train", "--remove", f"{busy},{idle}", "--busy", "requeue", "--yes")
    w.wait_until(lambda: len(wrote(out, "first")) == 2, "the task runs elsewhere")
    w.wait_until(lambda: len(nodes(w, "train")) == 3 and len(machines(w)) == 6, "three nodes: three agents, three supervisors")
    assert not {busy, idle} & set(nodes(w, "train")) and wrote(out, "first")[1] in nodes(w, "train")

    second, third, fourth = (w.weir(*mine, *held(out, name)).stdout.strip() for name in ("second", "third", "fourth"))
    w.wait_until(lambda: wrote(out, "second") and wrote(out, "third"), "all nodes have work")
    shown = w.weir("pool", "delete", "train", "--dry-run", check=False).stdout
    for task in (first, second, third):
        assert f"would stop task {task}" in shown, shown
    assert "losing" in shown and f"task {fourth} " in shown
    refused(w, "pool", "delete", "train", "--yes", said="in use by 4 tasks")
    w.weir("pool", "delete", "train", "--force", "--yes")
    w.wait_until(lambda: machines(w) == [], "the nodes are gone")
    assert {w.task(int(task))["state"] for task in (first, second, third, fourth)} == {"unavailable"}
    assert pool_of(w, "train")["state"] == "pending-delete"

    w.weir("pool", "restore", "train")
    w.wait_until(lambda: [len(wrote(out, name)) for name in ("first", "second", "third")] == [3, 2, 2], "three tasks run again")
    back = pool_of(w, "train")
    assert (back["provider"]["nodes"], back["access"], back["accepts"]) == (3, "dedicated", ["experiment", "notebook", "tensorboard"])
    lines = w.weir_json("quota", "list", "--pool", "train", "--limit", "0")
    assert [one["guaranteed"] for one in lines if (one["account"], one["resource"]) == ("vision", "slots")] == [2]
    for name in ("first", "second", "third", "fourth"):
        (out / f"{name}.go").touch()
    for task in (first, second, third, fourth):
        w.weir("wait", task)
    assert wrote(out, "fourth") and len(wrote(out, "fourth")) == 1
