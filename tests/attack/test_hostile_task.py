"""A task that tries everything it can think of (hostile_task.py) against its node and its neighbours.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import shutil

import pytest
from weir_harness import Weir

SECRET = "the-other-tasks-secret"
STRAY = "weir-hostile-stray"
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give each task a user")


def running(name):
    found = []
    for proc in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if name.encode() in proc.read_bytes().split(b"\0"):
                found.append(proc.parent.name)
        except OSError:
            pass
    return found


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZXT"
    except OSError:
        return False


def one_pid(w, word):
    """The pid of a role of this node."""
    for proc in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = proc.read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in words and any(str(w.dir).encode() in x for x in words):
            return int(proc.parent.name)
    raise AssertionError(f"no process {word}")


@pytest.fixture
def node():
    w = Weir(["--slots", "4", "--task-uids", "310000-310999", "--task-pids", "100"]).start()
    yield w
    w.close()


def test_a_hostile_task_achieves_nothing(node):
    w = node
    victim = int(w.weir("submit", "--env", f"SECRET={SECRET}", "--", "sh", "-c",
                        f"umask 077; echo {SECRET} > secret; echo $$; exec sleep 600").stdout)
    w.wait_until(lambda: w.weir("logs", str(victim)).stdout.strip(), "the other task's pid")
    pid = int(w.weir("logs", str(victim)).stdout)
    given = {"VICTIM_PID": pid, "VICTIM_DIR": w.dir / "node" / "job" / str(victim) / "0", "DATA_DIR": w.dir, "NODE_DIR": w.dir / "node",
             "SUPERVISOR_PID": one_pid(w, "supervisor"), "AGENT_PID": one_pid(w, "agent"), "SERVER_PID": one_pid(w, "server"),
             "CGROUPS": " ".join((w.dir / "node" / "cgroups").read_text().split()) if (w.dir / "node" / "cgroups").exists() else "",
             "STRAY_NAME": STRAY}
    given["GIVEN"] = ",".join(given)
    script = w.root / "hostile_task.py"
    shutil.copy(pathlib.Path(__file__).with_name("hostile_task.py"), script)
    script.chmod(0o644)
    flags = [word for k, v in given.items() for word in ("--env", f"{k}={v}")]
    end = w.weir("run", *flags, "--", "/usr/bin/python3", script, check=False)
    assert end.stdout.endswith("END\n"), end.stdout + end.stderr
    tries = [line.split("|") for line in end.stdout.splitlines() if "|" in line]
    assert len(tries) >= 40
    done = [line for line in tries if line[1] != "refused"]
    assert not done, f"{len(done)} of {len(tries)} tries succeeded: {done}"
    assert SECRET not in end.stdout
    assert running(STRAY) == []
    assert alive(pid) and w.task(victim)["state"] == "running"
    assert all(alive(given[role]) for role in ("SUPERVISOR_PID", "AGENT_PID", "SERVER_PID"))
    assert w.weir("run", "--", "echo", "well").stdout == "well\n"


def test_a_kill_of_everything_reaches_only_its_own_task(node):
    w = node
    victim = int(w.weir("submit", "--", "sleep", "600").stdout)
    w.wait_state(victim, "running")
    w.weir("run", "--", "/usr/bin/python3", "-c", "import os; os.kill(-1, 9)", check=False)
    assert w.task(victim)["state"] == "running"
    assert w.weir("run", "--", "echo", "well").stdout == "well\n"


def test_an_ordinary_agent_says_what_it_cannot_prevent():
    """As an ordinary user a task is that user: the node lists what follows from it, and the list is true."""
    with Weir(["--slots", "2"], user=65534) as w:
        [node] = w.api("GET", "nodes").json["items"]
        assert "tasks run as the agent's own user" in node["unprevented"]
        assert "cpu, memory, processes" in node["unprevented"] or "memory" in node["limits"]
        token = w.weir("run", "--", "cat", w.dir / "admin.token", check=False).stdout.strip()
        assert token == w.token, "the list says that a task can read credentials"
