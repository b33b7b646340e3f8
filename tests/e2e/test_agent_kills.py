"""kill -9 of the agent at each step of a task's life: the task runs once, its exit code and output arrive, nothing stays behind.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import signal

import pytest

from test_agent_alone import Node, node, server, wait_until  # noqa: F401

SCRIPT = "echo run >> $0; echo before; while [ ! -e $0.go ]; do sleep 0.02; done; echo after; exit 7"
STEPS = ["before the order is passed on", "after the order", "after the start", "in the middle", "told to stop", "after the end", "twice"]


def processes(name):
    found = []
    for proc in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if name.encode() in proc.read_bytes():
                found.append(proc.parent.name)
        except OSError:
            pass
    return found


@pytest.mark.parametrize("step", STEPS)
def test_killed_agent(server, node, step):  # noqa: F811
    file = node.dir.parent / "runs"
    node.dir.parent.chmod(0o777)
    go = file.with_name("runs.go")
    node.start()
    server.wait_hello(1)
    if step == "after the end":
        server.refuse_reports = 10000  # the end stays unacknowledged
    server.start_task(1, "sh", "-c", SCRIPT, str(file))
    if step == "before the order is passed on":
        node.stop(signal.SIGKILL)
    else:
        wait_until(file.exists if step != "after the order" else (lambda: True), "the task's first line")
    if step in ("after the start", "in the middle", "twice"):
        server.wait_report("started", "1.0:1")
    if step == "in the middle":
        server.wait(lambda: server.output("1.0:1") == b"before\n", "output")
    if step == "told to stop":
        server.stop_task(1, grace_ms=60000)
    if step == "after the end":
        go.touch()
        wait_until(lambda: not processes(str(file)), "the end of the task")
    hellos = len(server.hellos)
    if step != "before the order is passed on":
        node.stop(signal.SIGKILL)
    if step == "twice":
        node.start(token=None)
        server.wait_hello(hellos + 1)
        node.stop(signal.SIGKILL)
        hellos = len(server.hellos)
    server.refuse_reports = 0
    node.start(token=None)
    server.wait_hello(hellos + 1)
    if step in ("before the order is passed on", "after the order"):
        server.start_task(1, "sh", "-c", SCRIPT, str(file))  # as a server does after each hello
    if step != "told to stop":
        go.touch()
    if step == "told to stop":
        server.stop_task(1, grace_ms=0)
    ended = server.wait_report("ended", "1.0:1")
    assert ended["exit_code"] == 7 or (step == "told to stop" and ended["exit_code"] >= 128)
    if step != "told to stop":
        assert server.output("1.0:1") == b"before\nafter\n"
    assert file.read_text() == "run\n", "run more than once"
    assert processes(str(file)) == []
