"""Waiting in the open: why, which place, and whether the server is there. SPDX-License-Identifier: Apache-2.0"""

import os
import select
import signal
import time

import pytest


def full(weir):
    """A Weir of one slot, which a task holds until the file `go` is there."""
    weir.weir("submit", "--name", "holder", "--", "sh", "-c", f"while ! [ -e {weir.root}/go ]; do sleep 0.1; done")
    weir.wait_state(1, "running")


def submitted(weir):
    """Task 1 runs; the command that submits it may take a moment."""
    weir.wait_until(lambda: weir.api("GET", "tasks/1").status == 200, "task 1")
    weir.wait_state(1, "running")


def line(stream, seconds):
    """The next line that a process writes, within this time; None: none came."""
    deadline, data = time.monotonic() + seconds, b""
    while not data.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            return None
        piece = os.read(stream.fileno(), 1)
        if not piece:
            return None
        data += piece
    return data.decode().rstrip("\n")


@pytest.fixture
def busy(weir_factory):
    weir = weir_factory("--slots", "1")
    full(weir)
    return weir


@pytest.mark.parametrize("command", [["run", "--", "echo", "done"], ["task", "wait", "2"], ["task", "logs", "-f", "2"]])
def test_a_pipe_is_told_once_why_the_task_waits(busy, command):
    if command[0] == "task":
        busy.weir("submit", "--", "echo", "done")
    waiting = busy.spawn(*command)
    assert line(waiting.stderr, 10).startswith("weir: task 2 waits, place 1: waits for 1 slot; the nearest node ")
    time.sleep(2)
    (busy.root / "go").touch()
    out, err = waiting.communicate(timeout=30)
    assert waiting.returncode == 0
    assert err == b""  # said once, though the command looked several times
    assert out == (b"" if command[1] == "wait" else b"done\n")


def test_a_terminal_has_one_line_that_goes_away(busy):
    terminal = busy.terminal("run", "--", "echo", "done", columns=100)
    terminal.expect("task 2 waits, place 1: waits for 1 slot")
    (busy.root / "go").touch()
    status, text = terminal.finish()
    assert status == 0
    assert "\r\x1b[K" in text and text.rstrip().endswith("done")


def test_a_task_that_starts_at_once_says_nothing(weir):
    result = weir.weir("run", "--", "echo", "hello")
    assert (result.stdout, result.stderr) == ("hello\n", "")


@pytest.mark.parametrize("command", [["run", "--", "sleep", "600"], ["task", "wait", "1"], ["events", "-f"]])
def test_a_lost_server_is_named_within_two_seconds_and_again_when_it_is_back(weir, command):
    if command[0] != "run":
        weir.weir("submit", "--", "sleep", "600")
        weir.wait_state(1, "running")
    waiting = weir.spawn(*command)
    submitted(weir)
    time.sleep(1)
    weir.kill()
    said = line(waiting.stderr, 2.5)
    assert said is not None and said.startswith("weir: lost the server: ") and str(weir.port) in said, said
    weir.start()
    assert line(waiting.stderr, 10) == "weir: the server answers again"
    waiting.send_signal(signal.SIGKILL)
    waiting.wait()


def test_a_server_that_hangs_is_lost_too(weir):
    waiting = weir.spawn("run", "--", "sleep", "600")
    submitted(weir)
    children = [int(p) for t in (weir.process.pid,) for p in open(f"/proc/{t}/task/{t}/children").read().split()]
    [server] = [p for p in children if b"server" in open(f"/proc/{p}/cmdline", "rb").read().split(b"\0")]
    time.sleep(1)
    os.kill(server, signal.SIGSTOP)
    try:
        said = line(waiting.stderr, 3)
        assert said is not None and said.startswith("weir: lost the server: "), said
    finally:
        os.kill(server, signal.SIGCONT)
    assert line(waiting.stderr, 10) == "weir: the server answers again"
    waiting.kill()
    waiting.wait()
