"""Pools with the provider exec: a program of the site brings the nodes up and down. The program is the example of the documentation.

WEIR_LONG=1: 200 cycles in place of 5.
SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import shutil
import signal

import pytest

from weir_harness import REPOSITORY, weir_bin

EXAMPLE = REPOSITORY / "docs/user/examples/weir-nodes"
CYCLES = 200 if os.environ.get("WEIR_LONG") else 5


@pytest.fixture
def program(weir, tmp_path):
    """A server, and the directory of the program with its machines."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for path in (tmp_path, *tmp_path.parents[:2]):
        path.chmod(path.stat().st_mode | 0o711)
    (tools / "weir").symlink_to(weir_bin())
    w = weir(env={"PATH": f"{tools}:{os.environ['PATH']}"})
    shutil.copy(EXAMPLE, tools)
    yield w, tools
    for lock in tools.rglob("agent.lock"):  # the program's, not the server's: they would outlive a test that failed
        try:
            os.kill(int(lock.read_text()), signal.SIGTERM)
        except (OSError, ValueError):
            pass


def pool_of(w, name):
    return w.api("GET", f"pools/{name}").json


def machines(tools):
    """The processes whose command lines name the directory of the program's machines."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(tools / "machines") in words:
            found.append(int(pid))
    return found


def nothing_left(w, tools, pool):
    launches = pool_of(w, pool)["launches"]
    directory = tools / "machines"
    return (launches["live"] + launches["ending"] == 0 and machines(tools) == []
            and (not directory.exists() or list(directory.iterdir()) == []))


def test_the_example_brings_nodes_up_and_down(program):
    w, tools = program
    w.weir("pool", "create", "mine", "--provider", "exec", "--command", tools / "weir-nodes", "--max", "2", "--idle", "1s")
    task = w.weir("submit", "--pool", "mine", "-n", "2", "--", "sh", "-c", "echo $WEIR_NODE").stdout.strip()
    w.weir("wait", task)
    assert {w.weir("logs", f"{task}.{i}").stdout.strip() for i in (0, 1)} <= {"mine-1", "mine-2"}
    w.wait_until(lambda: nothing_left(w, tools, "mine"), "no machine is left")
    shown = pool_of(w, "mine")["provider"]
    assert shown["type"] == "exec" and shown["command"] == str(tools / "weir-nodes")


def test_a_node_whose_machine_ends_is_leaving_and_not_silent(program):
    w, tools = program
    slow = tools / "slow"  # the agent is gone at once, the machine when the test says so
    slow.write_text(f"""#!/bin/sh
"{tools}/weir-nodes" "$@" || exit
[ "$1" != terminate ] || while [ ! -e {tools}/go ]; do sleep 0.05; done
""")
    slow.chmod(0o755)
    w.weir("pool", "create", "mine", "--provider", "exec", "--command", slow, "--max", "1", "--idle", "1s")
    w.weir("wait", w.weir("submit", "--pool", "mine", "--", "true").stdout.strip())
    node = w.wait_until(lambda: next((n for n in w.api("GET", "nodes?pool=mine").json["items"] if n["state"] == "silent"), None), "the agent to go")
    assert node["leaving"] == "the node has had no work for long enough"
    row = w.weir("node", "list", "--pool", "mine").stdout.splitlines()[1]
    assert "leaving" in row and "silent" not in row, row
    (tools / "go").touch()
    w.wait_until(lambda: nothing_left(w, tools, "mine"), "no machine is left")


def test_what_the_program_says_wrong_is_shown(program):
    w, tools = program
    bad = tools / "bad"
    bad.write_text("#!/bin/sh\necho oops >&2\nexit 3\n")
    bad.chmod(0o755)
    w.weir("pool", "create", "mine", "--provider", "exec", "--command", bad, "--max", "1")
    task = w.weir("submit", "--pool", "mine", "--", "true").stdout.strip()
    w.wait_until(lambda: "the program ended with exit code 3: oops" in w.weir("explain", task).stdout, "its words at the task")
    assert "exit code 3: oops" in w.weir("pool", "show", "mine").stdout
    bad.chmod(0o777)
    w.weir("pool", "edit", "mine", "--max", "2")
    w.wait_until(lambda: "only root or the user of the server" in pool_of(w, "mine")["launches"]["refusal"], "a program that others may write")
    answers = {'{"state": "up"}': "'state' must be", "[1": "no JSON", '{"state":"running","x":1}': "'x' is no field",
               '{"state":"starting","state":"gone"}': "twice"}
    for answer, words in answers.items():
        bad.write_text(f"#!/bin/sh\necho '{answer}'\n")
        bad.chmod(0o755)
        w.weir("pool", "edit", "mine", "--max", "2")  # asked again at once
        w.wait_until(lambda w=w, words=words: words in pool_of(w, "mine")["launches"]["refusal"], f"{words}")
    w.weir("pool", "edit", "mine", "--command", tools / "weir-nodes")
    w.weir("wait", task)


def test_settings_of_other_providers_are_refused(weir):
    w = weir()
    for flags, words in (
        (["--provider", "exec"], "needs the path of its program"),
        (["--provider", "exec", "--command", "weir-nodes"], "a whole path"),
        (["--provider", "local", "--command", "/x"], "only a provider of the type exec takes it"),
        (["--provider", "exec", "--command", "/x", "--partition", "p"], "only a provider of the type slurm takes it"),
        (["--provider", "slurm", "--sbatch-flag=--wrap=id"], "is not allowed"),
        (["--provider", "slurm", "--time-limit", "90s"], "whole minutes"),
    ):
        answer = w.weir("pool", "create", "p", "--max", "1", *flags, check=False)
        assert answer.returncode == 2 and words in answer.stderr, (flags, answer.stderr)
    assert [p["name"] for p in w.api("GET", "pools").json["items"]] == ["default"]


def test_settings_are_kept_and_changed(weir):
    w = weir()
    flags = ["--exclusive", "--constraint=fast&new"]
    provider = {"type": "slurm", "max": 2, "partition": "gpu", "account": "physics", "qos": "long", "flags": flags, "time_limit": "90m"}
    assert w.api("POST", "pools", {"name": "hpc", "provider": provider}).status == 201
    w.stop()
    w.start()
    shown = pool_of(w, "hpc")["provider"]
    assert [shown.get(key, "") for key in ("type", "partition", "account", "qos", "flags", "time_limit_ms", "command")] == [
        "slurm", "gpu", "physics", "long", flags, 90 * 60 * 1000, ""]
    assert w.api("PATCH", "pools/hpc", {"provider": {"flags": [], "qos": ""}}).status == 200
    shown = pool_of(w, "hpc")
    assert "flags" not in shown["provider"] and "qos" not in shown["provider"] and shown["provider"]["account"] == "physics"
    assert shown["spec"]["provider"]["time_limit"] == "1h30m"
    for bad in ({"flags": ["--exclusive"] * 17}, {"flags": [""]}, {"flags": "--x"}, {"partition": "x" * 256}, {"command": "/x"}, {"type": "exec"}):
        answer = w.api("PATCH", "pools/hpc", {"provider": bad})
        assert answer.status == 400 and answer.json["error"]["path"].startswith("provider."), (bad, answer.body)
    assert pool_of(w, "hpc") == shown


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def programs_of(pid):
    """The children of the server that run the program; between two lists there are none."""
    found = []
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        try:
            words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        found += [child] if b"flaky" in words or words == b"" else []
    return found


def test_cycles_with_a_flaky_program(program):
    """Grows from zero and shrinks to zero again and again, with a program that fails, is slow and lies."""
    w, tools = program
    shutil.copy(pathlib.Path(__file__).parent / "flaky_nodes.py", tools)
    (tools / "seed").write_text(os.environ.get("WEIR_SEED", "13"))
    (tools / "alive").touch()
    w.weir("pool", "create", "mine", "--provider", "exec", "--command", tools / "flaky_nodes.py", "--max", "3", "--idle", "200ms", "--max-starting", "20s")
    server = w.pid_of("server")
    before = descriptors(server)
    for cycle in range(CYCLES):
        task = w.weir("submit", "--pool", "mine", "-n", str(1 + cycle % 3), "--", "true").stdout.strip()
        for _ in range(100):
            if w.api("GET", f"tasks/{task}/wait?timeout=1").json["state"] == "completed":
                break
            w.weir("pool", "edit", "mine", "--max", "3")  # asked again without the wait after a failure
        assert w.task(task)["state"] == "completed", w.weir("explain", task).stdout
        w.wait_until(lambda: pool_of(w, "mine")["launches"]["live"] == 0, lambda: f"no node is up: {pool_of(w, 'mine')['launches']}")
    w.wait_until(lambda: nothing_left(w, tools, "mine"), lambda: f"nothing is left: {pool_of(w, 'mine')['launches']} {machines(tools)}")
    calls = (tools / "calls").read_text().splitlines()
    asked = sum(" launch " in line for line in calls)
    assert asked <= 60 * CYCLES, f"{asked} launches"
    assert {line.split(" ", 2)[2] for line in calls} - {"None"}, "no call had a fault"
    w.wait_until(lambda: descriptors(server) <= before + 4, lambda: f"{descriptors(server)} open files, {before} before")
    w.wait_until(lambda: programs_of(server) == [], lambda: f"no program runs: {programs_of(server)}")
    w.wait_until(lambda: w.api("GET", "nodes?pool=mine").json["items"] == [], "no node is left")
