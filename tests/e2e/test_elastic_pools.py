"""Pools that grow and shrink by themselves: real agents, which the server starts and ends on its own machine.

What happened is read from what the tasks wrote and from the processes of the machine, not from the server's word alone.
SPDX-License-Identifier: Apache-2.0
"""
import os
import signal

def outputs(w):
    """A directory into which tasks write."""
    made = w.root / "outputs"
    made.mkdir()
    made.chmod(0o777)
    return made


def nodes(w, pool):
    return sorted(node["name"] for node in w.api("GET", f"nodes?pool={pool}").json["items"])


def pool_of(w, name):
    return w.api("GET", f"pools/{name}").json


def machines(w):
    """The processes of nodes that the server brought up: command lines that name its directory `local`."""
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


def test_from_zero_to_five_and_back(weir):
    w = weir()
    out = outputs(w)
    w.weir("pool", "create", "burst", "--provider", "local", "--max", "5", "--idle", "1s")
    assert pool_of(w, "burst")["provider"]["max"] == 5 and machines(w) == []
    w.weir("run", "--pool", "burst", "--", "true")
    task = w.weir("submit", "--pool", "burst", "-n", "5", "--", "sh", "-c",
                  f"echo $WEIR_NODE > {out}/$WEIR_INDEX; while [ ! -e {out}/go ]; do sleep 0.1; done").stdout.strip()
    wrote = lambda: {path.read_text().strip() for path in out.iterdir()} - {""}  # noqa: E731
    w.wait_until(lambda: len(wrote()) == 5, "five instances at once")
    assert wrote() == set(nodes(w, "burst"))
    (out / "go").touch()
    w.weir("wait", task)
    w.wait_until(lambda: nodes(w, "burst") == [] and machines(w) == [], "no node is left")
    assert list((w.dir / "local").iterdir()) == []
    asked = [e for e in w.weir("events", "--pool", "burst", "--json").stdout.splitlines() if "launch-asked" in e]
    assert len(asked) == 5  # one for the first task, four more for the second


def test_what_no_node_can_run_is_refused_at_once(weir):
    w = weir()
    w.weir("pool", "create", "burst", "--provider", "local", "--max", "2", "--node-slots", "2")
    answer = w.weir("submit", "--pool", "burst", "--slots", "1", "--memory", "1Gi", "--", "true", check=False)
    assert answer.returncode == 9 and "the largest node of pool 'burst' has 0" in answer.stderr
    answer = w.weir("submit", "--pool", "burst", "--gang", "-n", "5", "--", "true", check=False)
    assert answer.returncode == 9 and "hold 4" in answer.stderr
    answer = w.weir("pool", "edit", "burst", "--min", "3", check=False)
    assert answer.returncode == 2 and "min" in answer.stderr and "max is 2" in answer.stderr
    assert pool_of(w, "burst")["provider"]["min"] == 0 and machines(w) == []


def test_a_killed_server_finds_its_nodes_again(weir):
    w = weir()
    out = outputs(w)
    w.weir("pool", "create", "burst", "--provider", "local", "--max", "2", "--idle", "1s")
    task = w.weir("submit", "--pool", "burst", "-n", "2", "--", "sh", "-c",
                  f"echo $WEIR_NODE >> {out}/$WEIR_INDEX; while [ ! -e {out}/go ]; do sleep 0.1; done").stdout.strip()
    w.wait_until(lambda: len(list(out.iterdir())) == 2, "two instances")
    before = nodes(w, "burst")
    os.kill(w.pid_of("server"), signal.SIGKILL)
    w.kill()
    w.start()
    w.wait_until(lambda: all(n["state"] == "up" for n in w.api("GET", "nodes?pool=burst").json["items"]), "both nodes are back")
    assert nodes(w, "burst") == before
    (out / "go").touch()
    w.weir("wait", task)
    assert [path.read_text().count("\n") for path in sorted(out.glob("[0-9]*"))] == [1, 1]  # each started once
    w.wait_until(lambda: nodes(w, "burst") == [] and machines(w) == [], "no node is left")


def test_a_provider_that_cannot_says_so(weir):
    w = weir()
    local = w.dir / "local"
    local.rmdir()
    local.write_text("in the way")
    w.weir("pool", "create", "burst", "--provider", "local", "--max", "1")
    task = w.weir("submit", "--pool", "burst", "--", "true").stdout.strip()
    w.wait_until(lambda: "cannot make" in w.weir("explain", task).stdout, "the words of the provider")
    shown = w.weir("pool", "show", "burst").stdout
    assert "provider says" in shown and "cannot make" in shown and "asked again" in shown
    local.unlink()
    local.mkdir(mode=0o711)
    w.weir("wait", task)
    assert pool_of(w, "burst")["launches"]["refusal"] == ""


def test_free_slots_are_kept_ready(weir):
    w = weir()
    w.weir("pool", "create", "warm", "--provider", "local", "--min", "1", "--max", "3", "--headroom", "1", "--idle", "1s")
    w.wait_until(lambda: len(nodes(w, "warm")) == 1, "the minimum")
    task = w.weir("submit", "--pool", "warm", "--", "sleep", "600").stdout.strip()
    w.wait_until(lambda: len(nodes(w, "warm")) == 2, "a second node for the headroom")
    w.weir("submit", "--pool", "warm", "-n", "2", "--", "sleep", "600")
    w.wait_until(lambda: len(nodes(w, "warm")) == 3, "all nodes")
    more = w.weir("submit", "--pool", "warm", "--", "true").stdout.strip()
    w.wait_until(lambda: "the pool is at its maximum of 3 nodes" in w.weir("explain", more).stdout, "why it waits")
    w.weir("kill", "--yes", task, "2", more)
    w.wait_until(lambda: len(nodes(w, "warm")) == 1 and len(machines(w)) == 2, "the minimum again: one agent, one supervisor")


def test_another_agent_takes_the_tasks_over(weir):
    """The agent of a node dies, and its tasks go on: the server starts another agent for the same node."""
    w = weir()
    out = outputs(w)
    w.weir("pool", "create", "burst", "--provider", "local", "--max", "1", "--idle", "1s")
    task = w.weir("submit", "--pool", "burst", "--", "sh", "-c",
                  f"mkdir -p a/b; touch a/b/c; chmod 555 a/b a; echo x >> {out}/ran; while [ ! -e {out}/go ]; do sleep 0.1; done").stdout.strip()
    w.wait_until(lambda: (out / "ran").exists(), "the task")
    (lock,) = (w.dir / "local").glob("*/node/agent.lock")
    first = int(lock.read_text())
    os.kill(first, signal.SIGKILL)
    w.wait_until(lambda: lock.read_text().strip() not in ("", str(first)), "another agent")
    w.wait_until(lambda: [n["state"] for n in w.api("GET", "nodes?pool=burst").json["items"]] == ["up"], "the node is up again")
    (out / "go").touch()
    w.weir("wait", task)
    assert (out / "ran").read_text() == "x\n"
    w.wait_until(lambda: machines(w) == [] and list((w.dir / "local").iterdir()) == [], "nothing is left")
    w.wait_until(lambda: not [t for t in w.api("GET", "tokens").json["items"] if t["scope"] == "node" and t["name"].startswith("burst")],
                 "its credential is gone")


def test_a_node_with_many_files_goes_too(weir):
    """Another process removes the directory, so that the server answers meanwhile."""
    w = weir()
    w.weir("pool", "create", "burst", "--provider", "local", "--max", "1", "--idle", "1s")
    w.weir("run", "--pool", "burst", "--", "sh", "-c",
           "cd \"$WEIR_JOB_DIR\"; mkdir many; cd many; for i in $(seq 3000); do : > file$i; done; chmod 555 .")
    w.wait_until(lambda: nodes(w, "burst") == [] and list((w.dir / "local").iterdir()) == [], "nothing is left")
