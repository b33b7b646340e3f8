"""Tasks that look at other tasks and at the processes of Weir itself.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib

import pytest

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run the tasks as another user")


def output(weir, *command):
    task = weir.submit(*command)
    weir.wait(task)
    return weir.api("GET", f"tasks/{task}/logs?stream=stdout&format=raw").body.decode()


def node_of(weir):
    return weir.api("GET", "nodes").json["items"][0]


def pids(weir):
    return [weir.process.pid, weir.pid_of("server"), weir.pid_of("agent"), int((weir.dir / "node" / "supervisor.lock").read_text())]


@as_root
@pytest.mark.parametrize("user", [None, 300000 + os.getpid() % 100000], ids=["the-usual-user", "a-user-of-its-own"])
def test_no_task_reads_the_memory_or_environment_of_weir(weir_factory, user):
    """As root and as an ordinary user, whose tasks are the same user as Weir itself."""
    weir = weir_factory("--slots", "2", user=user)
    for pid in pids(weir):
        for name in ("environ", "mem", "maps", "fd"):
            said = output(weir, "sh", "-c", f"ls /proc/{pid}/{name}/ || head -c 100 /proc/{pid}/{name} | wc -c")
            assert "0" == said.split()[-1], (name, said)


@as_root
def test_a_task_of_another_user_sees_no_process_of_weir(weir):
    said = output(weir, "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    assert "supervisor" not in said and "admin" not in said, said
    for pid in pids(weir):
        assert output(weir, "sh", "-c", f"[ -e /proc/{pid} ] && echo seen || echo hidden") == "hidden\n"


@as_root
def test_no_secret_of_weir_is_readable_by_a_task(weir):
    """Every file of the data directory, whoever made it: a task reads none except what is meant for it."""
    secrets = [path for path in weir.dir.rglob("*") if path.is_file() and path.name not in ("server.url", "up.pid") and "job" not in path.relative_to(weir.dir).parts]
    assert any(path.name == "admin.token" for path in secrets)
    script = "; ".join(f"head -c 1 '{path}' >/dev/null 2>&1 && echo '{path.relative_to(weir.dir)}'" for path in secrets)
    assert output(weir, "sh", "-c", script + "; true") == ""


@as_root
def test_tasks_with_users_of_their_own_cannot_reach_each_other(weir_factory):
    weir = weir_factory("--slots", "2", "--task-uids", "400000-400999")
    gate = weir.root / "gate"
    victim = weir.submit("sh", "-c", f"echo secret > mine; echo $$; until [ -e {gate} ]; do sleep 0.05; done", env={"SECRET": "hunter2"})
    weir.wait_state(victim, "running")
    pid = weir.wait_until(lambda: weir.api("GET", f"tasks/{victim}/logs?format=raw").body.decode().strip(), "the pid of the victim")
    file = next((weir.dir / "node" / "job" / str(victim)).glob("*/mine"))
    said = output(
        weir, "sh", "-c", f"id -u; kill -9 {pid} && echo killed; cat /proc/{pid}/environ && echo read; cat {file} && echo opened; ls {file.parent} && echo listed; kill -9 -1"
    )
    uid = int(said.split()[0])
    assert 400000 <= uid < 401000 and uid != file.stat().st_uid
    assert not any(word in said for word in ("killed", "read", "opened", "listed", "hunter2"))
    assert weir.task(victim)["state"] == "running"
    gate.touch()
    assert weir.wait(victim)["state"] == "completed"
    assert "users of their own" in node_of(weir)["unprevented"]


@as_root
def test_the_job_directory_of_a_task_without_files_goes_to_the_next_task(weir_factory):
    weir = weir_factory("--slots", "1", "--task-uids", "400000-400999")
    for _ in range(100):  # more tasks than there are ready directories
        task = weir.submit("sh", "-c", "touch a && rm a")
    assert weir.wait(task)["state"] == "completed"
    done = weir.api("GET", "tasks?state=failed").json["items"]
    assert done == []


def test_a_range_that_is_none_is_refused(weir_factory):
    weir = weir_factory(start=False)
    for wrong in ("0-10", "5", "20000-10000", "x-y", "4294967295-4294967296"):
        done = weir.weir("up", "--dir", str(weir.dir), "--task-uids", wrong, check=False, timeout=60)
        assert done.returncode != 0 and "--task-uids must be a range" in done.stderr, (wrong, done.stderr)


def test_the_node_says_what_it_cannot_prevent(weir):
    said = node_of(weir)["unprevented"]
    assert said
    assert said in weir.weir("node", "show", node_of(weir)["name"]).stdout
    assert "what this node cannot prevent" in weir.log_text()
    page = pathlib.Path(__file__).parents[2] / "docs" / "user" / "separation.md"
    assert "cannot prevent" in page.read_text()
