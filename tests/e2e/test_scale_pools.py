"""Pools whose size people change: real agents, which the server starts and ends on its own machine.

SPDX-License-Identifier: Apache-2.0
"""
import re

from test_elastic_pools import machines, nodes, outputs, pool_of


def node_of(w, name):
    return w.api("GET", f"nodes/{name}").json


def busy(w, out, pool, count=1):
    """A task that writes the names of its nodes and runs until the file `go` is there."""
    return w.weir("submit", "--pool", pool, "-n", str(count), "--", "sh", "-c",
                  f"echo $WEIR_NODE >> {out}/$WEIR_TASK_ID.$WEIR_INDEX; while [ ! -e {out}/go ]; do sleep 0.1; done").stdout.strip()


def wrote(out, task):
    """The nodes on which instance 0 of the task started, the first first."""
    path = out / f"{task}.0"
    return path.read_text().split() if path.exists() else []


def test_three_nodes_then_five_then_two_named_nodes_leave(weir):
    """ModelArts' story: a pool of 3 nodes; 5; two nodes are named, one runs a task, which then runs elsewhere."""
    w = weir()
    out = outputs(w)
    w.weir("pool", "create", "train", "--provider", "local", "--nodes", "3")
    w.wait_until(lambda: len(nodes(w, "train")) == 3, "three nodes")
    assert "local: 3 nodes of 1 slot" in w.weir("pool", "show", "train").stdout
    w.weir("pool", "scale", "train", "--nodes", "5")
    w.wait_until(lambda: len(nodes(w, "train")) == 5, "five nodes")
    task = busy(w, out, "train")
    w.wait_until(lambda: wrote(out, task), "the task")
    (first,) = wrote(out, task)
    idle = next(name for name in nodes(w, "train") if name != first)
    dry = w.weir("pool", "scale", "train", "--remove", f"{first},{idle}", "--busy", "requeue", "--dry-run", check=False)
    assert dry.returncode == 8 and f"would scale pool train" in dry.stdout and f"task {task}" in dry.stdout
    assert len(nodes(w, "train")) == 5 and wrote(out, task) == [first]
    answer = w.weir("pool", "scale", "train", "--remove", f"{first},{idle}", "--busy", "refuse", check=False)
    assert answer.returncode != 0 and f"node '{first}' runs 1 instance: {task}.0" in answer.stderr
    assert pool_of(w, "train")["provider"]["nodes"] == 5
    w.weir("pool", "scale", "train", "--remove", f"{first},{idle}", "--busy", "requeue", "--yes")
    w.wait_until(lambda: len(wrote(out, task)) == 2, "the task runs elsewhere")
    assert wrote(out, task)[1] not in (first, idle)
    w.wait_until(lambda: len(nodes(w, "train")) == 3 and len(machines(w)) == 6, "three nodes: three agents, three supervisors")
    assert first not in nodes(w, "train") and idle not in nodes(w, "train")
    shown = pool_of(w, "train")
    assert (shown["provider"]["nodes"], shown["provider"]["min"], shown["provider"]["max"]) == (3, 3, 3)
    (out / "go").touch()
    w.weir("wait", task)
    said = [e for e in w.weir("events", "--json").stdout.splitlines() if "node-leaving" in e]
    assert len(said) == 2 and all("a user named the node" in e and "requeue" in e for e in said)


def test_busy_nodes_wait_and_locked_nodes_stay(weir):
    w = weir()
    out = outputs(w)
    w.weir("pool", "create", "train", "--provider", "local", "--nodes", "3")
    task = busy(w, out, "train", 3)
    w.wait_until(lambda: len(list(out.iterdir())) == 3, "three instances")
    kept = nodes(w, "train")[0]
    w.weir("node", "lock", kept)
    assert "locked" in w.weir("node", "list", "--pool", "train").stdout
    answer = w.weir("pool", "scale", "train", "--nodes", "0", check=False)
    assert answer.returncode != 0 and "cannot shrink to 0 nodes, because 1 of its nodes is locked" in answer.stderr
    answer = w.weir("pool", "scale", "train", "--remove", kept, check=False)
    assert answer.returncode != 0 and f"node '{kept}' is locked; `weir node unlock {kept}` lets it go" in answer.stderr
    w.weir("pool", "scale", "train", "--nodes", "1")
    w.wait_until(lambda: pool_of(w, "train")["launches"]["leaving"] == 2, "two nodes wait for their tasks")
    assert len(nodes(w, "train")) == 3 and node_of(w, kept)["leaving"] == ""
    leaves = next(name for name in nodes(w, "train") if name != kept)
    assert node_of(w, leaves)["leaving"] == "the pool was made smaller"
    (out / "go").touch()
    w.weir("wait", task)
    w.wait_until(lambda: nodes(w, "train") == [kept] and len(machines(w)) == 2, "the locked node alone")
    assert w.weir("task", "show", task, "--json").stdout.count("preempted") <= 1  # nothing was stopped for it


def test_what_cannot_be_is_refused_and_changes_nothing(weir):
    w = weir()
    w.weir("pool", "create", "burst", "--provider", "local", "--max", "2")
    before = pool_of(w, "burst")["provider"]
    for words, says in ((["--nodes", "20000"], "from 0 to 10000"), (["--min", "3"], "min is 3 and max is 2"),
                        (["--nodes", "1", "--max", "2"], "a fixed number of nodes, or a min and a max"),
                        (["--remove", "nobody"], "no node 'nobody' in pool 'burst'"), ([], "nothing to change"),
                        (["--nodes", "1", "--busy", "soon"], "soon")):
        answer = w.weir("pool", "scale", "burst", *words, check=False)
        assert answer.returncode != 0 and says in answer.stderr, (words, answer.stderr)
    answer = w.weir("pool", "scale", "default", "--nodes", "2", check=False)
    assert answer.returncode != 0 and "pool 'default' has no provider" in answer.stderr
    assert pool_of(w, "burst")["provider"] == before and machines(w) == []


def test_a_drain_with_a_deadline(weir):
    w = weir()
    out = outputs(w)
    w.weir("pool", "create", "train", "--provider", "local", "--nodes", "2")
    w.wait_until(lambda: len(nodes(w, "train")) == 2, "two nodes")
    task = busy(w, out, "train")
    w.wait_until(lambda: wrote(out, task), "the task")
    (first,) = wrote(out, task)
    answer = w.weir("node", "drain", first, "--within", "1h", "--busy", "wait", check=False)
    assert answer.returncode == 2 and "busy: requeue or busy: kill" in answer.stderr
    said = w.weir("node", "drain", first, "--within", "1h", "--dry-run", check=False)
    assert said.returncode == 8 and re.search(rf"would stop task {task} \(.*\) in (1h|59m)", said.stdout), said.stdout
    assert node_of(w, first)["drain_by"] is None
    w.weir("node", "drain", first, "--within", "1h")
    again = w.api("PATCH", f"nodes/{first}?dry_run=true", {"labels": {"a": "b"}}).json["stops"]
    assert again == []  # the deadline is no matter of this change
    assert node_of(w, first)["draining"] and node_of(w, first)["drain_by"] is not None
    assert wrote(out, task) == [first]
    w.weir("node", "resume", first)
    assert node_of(w, first)["drain_by"] is None
    w.weir("node", "drain", first, "--within", "1s")
    w.wait_until(lambda: len(wrote(out, task)) == 2, "the task runs elsewhere")
    assert wrote(out, task)[1] != first
    assert sorted(nodes(w, "train")) == sorted({first, wrote(out, task)[1]})  # a drained node stays
    story = w.weir("pool", "events", "train").stdout
    assert f" drains node {first}\n" in story and f" ended the drain of node {first}\n" in story
    assert re.search(rf"node {first} takes no new tasks: a user drains the node; tasks that run there at \S+Z: requeue\n", story), story
    (out / "go").touch()
    w.weir("wait", task)


def test_all_nodes_are_replaced_one_at_a_time(weir):
    w = weir()
    out = outputs(w)
    w.weir("pool", "create", "train", "--provider", "local", "--nodes", "2")
    w.wait_until(lambda: len(nodes(w, "train")) == 2, "two nodes")
    task = busy(w, out, "train")
    w.wait_until(lambda: wrote(out, task), "the task")
    before = nodes(w, "train")
    w.weir("pool", "replace", "train", "--busy", "requeue", "--yes")
    w.wait_until(lambda: pool_of(w, "train")["replacement"]["ended"] != "", "the replacement")
    shown = w.weir("pool", "show", "train").stdout
    assert "2 of 2 nodes told to leave; ended: all nodes are replaced" in shown, shown
    story = w.weir("pool", "events", "train").stdout
    assert " replaces 2 nodes, at most 1 at once\n" in story and "  the replacement of nodes ended: all nodes are replaced\n" in story, story
    assert len(nodes(w, "train")) == 2 and not set(nodes(w, "train")) & set(before)
    w.wait_until(lambda: wrote(out, task)[-1] in nodes(w, "train"), "the task runs on a new node")
    (out / "go").touch()
    w.weir("wait", task)


def zones_of(w, pool):
    items = w.api("GET", f"nodes?pool={pool}").json["items"]
    return sorted(node["labels"]["zone"] for node in items if node["state"] == "up")


def test_each_zone_has_its_number_of_nodes(weir):
    w = weir()
    w.weir("flavor", "create", "small", "--slots", "1", "--zones", "a,b,c")
    zoned = ["--provider", "local", "--flavor", "small"]
    answer = w.weir("pool", "create", "train", *zoned, "--nodes", "3", "--zones", "a=2,b=2", check=False)
    assert answer.returncode == 2 and "3 nodes in all" in answer.stderr
    answer = w.weir("pool", "create", "train", *zoned, "--nodes", "3", "--zones", "a=2,x=1", check=False)
    assert answer.returncode == 2 and "no such zone" in answer.stderr
    w.weir("pool", "create", "train", *zoned, "--nodes", "3", "--zones", "a=2,b=1")
    w.wait_until(lambda: zones_of(w, "train") == ["a", "a", "b"], "two nodes in a, one in b")
    w.weir("pool", "scale", "train", "--nodes", "4", "--zones", "a=1,b=2,c=1")
    w.wait_until(lambda: zones_of(w, "train") == ["a", "b", "b", "c"], "one in a, two in b, one in c")
    answer = w.weir("pool", "scale", "train", "--nodes", "5", check=False)
    assert answer.returncode == 2 and "sum to the 5 nodes" in answer.stderr
    assert w.api("GET", "pools/train").json["provider"]["zones"] == ["a=1", "b=2", "c=1"]
