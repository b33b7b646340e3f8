"""`--cpu-binding`: which processors a task may use, as the kernel says it of the task itself.

SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess

import pytest
from weir_harness import Weir, weir_bin

ALL = os.sched_getaffinity(0)
ALLOWED = "sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status"
pytestmark = pytest.mark.skipif(len(ALL) < 2, reason="this machine has one processor")


def threads(text):
    """{0, 2, 3} of "0,2-3"."""
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def begin(w, *flags):
    """A task that says its processors and waits, by its number."""
    task = int(w.weir("submit", *flags, "--", "sh", "-c", f"{ALLOWED}; exec sleep 600").stdout)
    w.wait_until(lambda: w.weir("logs", str(task)).stdout.strip(), "the task")
    return task


def allowed(w, task):
    return threads(w.weir("logs", str(task)).stdout)


def stop(w, task):
    w.weir("kill", str(task))
    w.wait_state(task, "killed")


@pytest.mark.parametrize("binding", ["cores", "numa"])
def test_whole_processors_are_a_tasks_own(binding):
    with Weir(["--slots", "4", "--cpu-binding", binding]) as w:
        one = begin(w, "--cpu", "1")
        two = begin(w, "--cpu", "1")
        assert len(allowed(w, one)) == len(allowed(w, two)) == 1
        assert allowed(w, one) != allowed(w, two) and allowed(w, one) | allowed(w, two) <= ALL
        joined = w.weir("task", "exec", str(one), "--", "sh", "-c", ALLOWED).stdout
        assert threads(joined) == allowed(w, one)
        before = allowed(w, one)
        stop(w, one)
        again = begin(w, "--cpu", "1")
        assert not allowed(w, again) & allowed(w, two)
        if len(ALL) == 2:
            assert allowed(w, again) == before
        stop(w, again)
        part = begin(w, "--cpu", "0.5")
        assert allowed(w, part) == ALL
        stop(w, part)
        stop(w, two)


def test_without_the_setting_tasks_use_all_processors():
    with Weir(["--slots", "4"]) as w:
        task = begin(w, "--cpu", "1")
        assert allowed(w, task) == ALL
        stop(w, task)


def test_a_setting_that_is_none_is_refused(tmp_path):
    end = subprocess.run([weir_bin(), "agent", "--dir", str(tmp_path / "node"), "--server", "http://127.0.0.1:1", "--cpu-binding", "sockets"],
                         capture_output=True, text=True, check=False)
    assert end.returncode != 0
    assert "--cpu-binding must be none, cores or numa, not 'sockets'" in end.stderr
