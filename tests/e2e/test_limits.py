"""What a task may use of its node: memory, processors and processes, by the cgroups of this machine.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib

import pytest

TOUCH = "import sys; x = bytearray(int(sys.argv[1]) << 20); print(len(x), flush=True)"
MIB = 1 << 20


@pytest.fixture
def limited(weir):
    """A node with cgroups; skipped where the machine gives none to this user."""
    w = weir("--slots", "4")
    [node] = w.api("GET", "nodes").json["items"]
    if "memory" not in node["limits"]:
        pytest.skip(f"this machine has no memory cgroups for this user: {node['limits']!r}")
    return w


def places(w):
    """The directories of the node's cgroups."""
    return [pathlib.Path(line) for line in next(w.root.rglob("cgroups")).read_text().splitlines()]


def attempt(w, task):
    return w.api("GET", f"tasks/{task}").json["attempts"][-1]


def test_more_memory_than_asked_for_ends_the_task_and_says_so(limited):
    w = limited
    neighbour = int(w.weir("submit", "--slots", "1", "--memory", "100Mi", "--", "python3", "-c",
                           TOUCH + "; import time; time.sleep(60)", "60").stdout)
    w.wait_until(lambda: w.weir("logs", str(neighbour)).stdout, "the neighbour's memory")
    end = w.weir("run", "--slots", "1", "--memory", "100Mi", "--", "python3", "-c", TOUCH, "200", check=False)
    assert end.returncode == 137
    said = "killed: used more than its 100Mi of memory"
    assert said in end.stderr
    [task] = [t for t in w.api("GET", "tasks").json["items"] if t["cause"] == "out-of-memory"]
    assert said in w.weir("task", "show", str(task["id"])).stdout
    ended = attempt(w, task["id"])
    assert (ended["cause"], ended["message"], ended["memory_peak"]) == ("out-of-memory", said, 100 * MIB)
    assert "out-of-memory" in w.weir("events", "--task", str(task["id"])).stdout
    assert w.task(neighbour)["state"] == "running"


def test_memory_that_was_asked_for_can_be_used(limited):
    end = limited.weir("run", "--slots", "1", "--memory", "300Mi", "--", "python3", "-c", TOUCH, "200", check=False)
    assert (end.returncode, end.stdout) == (0, f"{200 * MIB}\n")


def test_the_part_of_memory_that_comes_with_a_slot_is_a_limit(weir):
    w = weir("--slots", "4", "--resources", "memory=400Mi")
    end = w.weir("run", "--slots", "1", "--", "python3", "-c", TOUCH, "200", check=False)
    assert end.returncode == 137 and "used more than its 100Mi" in end.stderr


def test_half_a_core_is_half_a_core(limited):
    """By the task's own account of use: CPU seconds over seconds that it ran."""
    w = limited
    burn = ("import time, os; t = time.monotonic()\nwhile time.monotonic() - t < 5: pass\n"
            "print(sum(os.times()[:2]) / (time.monotonic() - t))")
    end = w.weir("run", "--cpu", "0.5", "--", "python3", "-c", burn)
    assert float(end.stdout) <= 0.55, end.stdout
    [task] = w.api("GET", "tasks").json["items"]
    used = attempt(w, task["id"])["cpu_ms"]
    if os.getloadavg()[0] < os.cpu_count():  # a busy machine cannot give it even that
        assert 2250 <= used <= 2750, used
    assert used <= 2850


def test_processes_are_counted(weir):
    w = weir("--slots", "2", "--task-pids", "20")
    bomb = "i=0; while [ $i -lt 60 ]; do sleep 30 & i=$((i+1)); done; echo all"
    end = w.weir("run", "--", "sh", "-c", bomb, check=False)
    assert "all" not in end.stdout
    assert end.returncode != 0
    assert w.weir("run", "--", "echo", "well").stdout == "well\n"


def test_nothing_survives_the_end_of_a_task(limited):
    """Double-forked, in a session of its own, with an empty environment and its output elsewhere."""
    w = limited
    hide = ("import os, sys, time\n"
            "if os.fork(): sys.exit(0)\n"
            "os.setsid()\n"
            "if os.fork(): os._exit(0)\n"
            "os.execve('/bin/sleep', ['weir-stray-test', '4242'], {})\n")
    w.weir("run", "--", "sh", "-c", f"python3 -c \"{hide}\"; sleep 0.2")
    for proc in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert b"weir-stray-test" not in proc.read_bytes()
        except OSError:
            pass


def test_cgroups_are_removed_with_their_supervisor(limited):
    w = limited
    w.weir("run", "--", "true")
    there = places(w)
    assert there and all(p.is_dir() for p in there)
    w.close()
    assert not any(p.exists() for p in there)


def test_a_killed_supervisor_leaves_neither_process_nor_cgroup(limited):
    w = limited
    task = int(w.weir("submit", "--no-repeat", "--", "sh", "-c", "setsid sleep 6789 & exec sleep 6789").stdout)
    w.wait_state(task, "running")
    there = places(w)
    pid = int(next(w.root.rglob("supervisor.lock")).read_text())
    os.kill(pid, 9)
    w.wait_until(lambda: not any(p.exists() for p in there), "the removal of the cgroups")
    shown = w.wait_state(task, "unknown")
    assert shown["cause"] == "node-lost"
    for proc in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert proc.read_bytes() != b"sleep\x006789\x00"
        except OSError:
            pass


@pytest.mark.parametrize("mode", ["v1", "off"])
def test_other_modes(weir, mode):
    w = weir("--slots", "2", env={"WEIR_CGROUPS": mode})
    [node] = w.api("GET", "nodes").json["items"]
    if mode == "off":
        assert node["limits"] == "cgroups none"
        assert "more cpu, memory, processes than a task holds" in node["unprevented"]
        assert "more cpu" in w.weir("node", "show", node["name"]).stdout
    elif "memory" not in node["limits"]:
        pytest.skip("no cgroups of version 1")
    else:
        assert node["limits"].startswith("cgroups v1")
    end = w.weir("run", "--slots", "1", "--memory", "100Mi", "--", "python3", "-c", TOUCH, "200", check=False)
    assert end.returncode != 0 and "MemoryError" in end.stderr if mode == "off" else end.returncode == 137
    assert w.weir("run", "--slots", "1", "--memory", "300Mi", "--", "python3", "-c", TOUCH, "200").stdout
    w.weir("run", "--", "sh", "-c", "setsid sleep 6790 >/dev/null 2>&1 & exit 0")
    for proc in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert proc.read_bytes() != b"sleep\x006790\x00"
        except OSError:
            pass


def test_use_is_shown_beside_what_is_held(limited):
    w = limited
    task = int(w.weir("submit", "--slots", "1", "--cpu", "0.5", "--memory", "200Mi", "--", "python3", "-c",
                      "x = bytearray(90 << 20)\nwhile True: pass").stdout)
    w.wait_state(task, "running")
    w.wait_until(lambda: (attempt(w, task)["use"] or {}).get("cpu") is not None, "two figures of its use")
    now = attempt(w, task)
    assert now["holds"] == {"slots": 1, "cpu": 0.5, "memory": 200 * MIB}
    assert 90 * MIB <= now["use"]["memory"] <= 130 * MIB
    assert 0.1 < now["use"]["cpu"] <= 0.6
    assert "of 0.5 cpu" in w.weir("task", "show", str(task)).stdout
    said = w.api("GET", "/metrics").body.decode()
    figures = dict(line.rsplit(" ", 1) for line in said.splitlines() if not line.startswith("#"))
    assert float(figures['weir_pool_memory_used_bytes{pool="default"}']) >= 90 * MIB
    assert float(figures['weir_pool_cpu_held_cores{pool="default"}']) == 0.5
    w.weir("kill", str(task))
    w.wait_state(task, "killed")
    assert attempt(w, task)["use"] is None
