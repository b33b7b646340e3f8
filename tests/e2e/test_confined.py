"""Tasks of an agent that runs as an ordinary user: each in a view of its own (docs/user/separation.md).

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import subprocess

import pytest
from weir_harness import Weir, weir_bin

USER = 310000 + os.getpid() % 60000


def views_are_there():
    return subprocess.run(["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--ipc", "true"], capture_output=True, check=False,
                          **({"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {})).returncode == 0


pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to start an agent as another user"),
              pytest.mark.skipif(not views_are_there(), reason="this kernel gives ordinary users no namespaces")]


@pytest.fixture(scope="module")
def w():
    with Weir(["--slots", "4"], user=USER) as weir:
        yield weir


def said(weir, *words, code=0):
    end = weir.weir("run", *words, check=False)
    assert end.returncode == code, (end.stdout, end.stderr)
    return end.stdout


def test_a_task_sees_its_own_processes_and_not_weirs_files(w):
    out = said(w, "--", "sh", "-c", f"ls /proc | grep -c '^[0-9]'; ls -A {w.dir} {w.dir}/node {w.dir}/node/job; cat {w.dir}/admin.token {w.home}/.config/weir/* 2>/dev/null; "
                                    f"ls -A {w.home}/.config/weir; echo mine > $WEIR_JOB_DIR/file; cat $WEIR_JOB_DIR/file; id -u", code=0).split()
    assert int(out[0]) <= 5
    assert w.token not in out
    assert out[-2:] == ["mine", str(USER)]
    task = w.api("GET", "tasks").json["items"][0]["id"]
    assert out.count(str(task)) == 1 and "admin.token" not in out and "spool" not in out  # of D/job only its own directory


def test_codes_and_signals_come_through(w):
    said(w, "--", "sh", "-c", "exit 7", code=7)
    said(w, "--", "sh", "-c", "kill -9 $$", code=137)
    assert "cannot execute" in w.weir("run", "--", "/nonexistent/program", check=False).stderr
    task = int(w.weir("submit", "--", "sh", "-c", "trap 'echo asked; exit 4' TERM; echo ready; while :; do sleep 0.05; done").stdout)
    w.wait_until(lambda: "ready" in w.weir("logs", str(task)).stdout, "the task's trap")
    w.weir("kill", str(task))
    w.wait_state(task, "killed")
    assert "asked" in w.weir("logs", str(task)).stdout


def test_the_memory_limit_is_the_programs_alone(w):
    """The node of this user has no cgroup. 2 MiB are too few for Weir's own part of a start, and enough for the program."""
    limit = said(w, "--memory", "2Mi", "--", "sh", "-c", "ulimit -d")
    assert limit == ("unlimited\n" if "ASAN_OPTIONS" in os.environ else "2048\n")


def test_nothing_outlives_the_task(w):
    name = f"weir-confined-{os.getpid()}"
    said(w, "--", "/usr/bin/python3", "-c",
         f"import os\nif os.fork() == 0:\n    os.setsid()\n    os.closerange(0, 100)\n    os.execve('/bin/sleep', ['{name}', '3600'], {{}})\n")
    found = [p for p in pathlib.Path("/proc").glob("[0-9]*/cmdline") if name.encode() in read(p)]
    assert found == []


def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_a_program_joins_the_task_in_its_view(w):
    task = int(w.weir("submit", "--env", "WORD=of-the-task", "--", "sh", "-c", "echo shared > /dev/shm/mine; echo ready; exec sleep 600").stdout)
    w.wait_until(lambda: "ready" in w.weir("logs", str(task)).stdout, "the task")
    out = w.weir("task", "exec", str(task), "--", "sh", "-c", f"cat /dev/shm/mine; echo $WORD; tr '\\0' ' ' < /proc/2/cmdline; ls {w.dir}; pwd -P; cat {w.dir}/admin.token; true").stdout
    assert out.split("\n")[:4] == ["shared", "of-the-task", "sleep 600 node", str(w.root)]
    assert w.token not in out
    assert not pathlib.Path("/dev/shm/mine").exists()
    end = w.weir("task", "exec", str(task), "--", "sh", "-c", "exit 9", check=False)
    assert end.returncode == 9
    other = said(w, "--", "sh", "-c", "cat /dev/shm/mine; echo none")
    assert other == "none\n"
    w.weir("kill", str(task))
    w.wait_state(task, "killed")


def test_files_come_and_go(w):
    tree = w.root / "tree"
    tree.mkdir()
    (tree / "given").write_text("from the caller")
    os.chown(tree, USER, USER)
    os.chown(tree / "given", USER, USER)
    assert said(w, "--upload", str(tree), "--name", "with-files", "--", "sh", "-c", "cat given; echo back > result") == "from the caller"
    [task] = [t["id"] for t in w.api("GET", "tasks").json["items"] if t["name"] == "with-files"]
    w.weir("task", "get", str(task), "result", "--output", str(w.root / "fetched"))
    assert (w.root / "fetched" / "result").read_text() == "back\n"


def test_a_task_outlives_its_agent(w):
    task = int(w.weir("submit", "--", "sh", "-c", "echo ready; while [ ! -e $WEIR_JOB_DIR/go ]; do sleep 0.05; done; echo gone").stdout)
    w.wait_until(lambda: "ready" in w.weir("logs", str(task)).stdout, "the task")
    w.stop()
    w.start()
    w.weir("task", "exec", str(task), "--", "sh", "-c", "touch $WEIR_JOB_DIR/go")
    w.wait_state(task, "completed")
    assert w.weir("logs", str(task)).stdout == "ready\ngone\n"


def test_a_setting_that_is_none_is_refused(tmp_path):
    end = subprocess.run([weir_bin(), "agent", "--dir", str(tmp_path / "node"), "--server", "http://127.0.0.1:1", "--confine", "perhaps"],
                         capture_output=True, text=True, check=False)
    assert end.returncode != 0
    assert "--confine must be auto, view, landlock or no, not 'perhaps'" in end.stderr


def test_a_task_that_kills_everything_ends_itself_alone(w):
    other = int(w.weir("submit", "--", "sleep", "600").stdout)
    w.wait_state(other, "running")
    before = w.api("GET", "nodes").json["items"][0]["incarnation"]
    said(w, "--", "/usr/bin/python3", "-c", "import os; os.kill(-1, 9)", code=1)  # there is no other process
    said(w, "--", "sh", "-c", "kill -9 $PPID; kill -9 -$PPID; true")
    assert w.task(other)["state"] == "running"
    assert w.api("GET", "nodes").json["items"][0]["incarnation"] == before
    w.weir("kill", str(other))
    w.wait_state(other, "killed")
