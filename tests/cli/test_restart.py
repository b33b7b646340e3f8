"""Commands that ride through a restart of the server. SPDX-License-Identifier: Apache-2.0"""

import os
import signal
import socket
import threading

import pytest
from weir_harness import DEADLINE_S


def crash(weir):
    """kill -9 of the server; `weir up` ends with it."""
    os.kill(weir.pid_of("server"), signal.SIGKILL)
    weir.process.wait(timeout=DEADLINE_S)


def test_run_follows_through_a_crash_without_losing_or_repeating_a_byte(weir):
    go = weir.root / "go"
    go.mkdir()
    go.chmod(0o777)
    script = (
        "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; "
        f"touch {go}/half; while [ ! -e {go}/on ]; do read -t 0.05 x < {go}/fifo || :; done; "
        "while [ $i -lt 4000 ]; do echo line $i; i=$((i+1)); done; exit 5"
    )
    os.mkfifo(go / "fifo")
    process = weir.spawn("run", "--", "bash", "-c", script)
    fifo = os.open(go / "fifo", os.O_RDWR)
    collected = []
    reader = threading.Thread(target=lambda: collected.append(process.stdout.read()))
    reader.start()
    weir.wait_until((go / "half").exists, "the first half")
    crash(weir)
    (go / "on").touch()
    weir.start()
    reader.join(DEADLINE_S)
    assert process.wait(timeout=DEADLINE_S) == 5, process.stderr.read()
    os.close(fifo)
    process.stderr.close()
    process.stdout.close()
    assert collected[0].decode() == "".join(f"line {i}\n" for i in range(4000))


def test_wait_survives_a_crash(weir):
    go = weir.root / "go"
    go.mkdir()
    go.chmod(0o777)
    os.mkfifo(go / "fifo")
    os.chmod(go / "fifo", 0o666)
    task = weir.submit("sh", "-c", f"read x < {go}/fifo; exit 6")
    weir.wait_state(task, "running")
    process = weir.spawn("task", "wait", task)
    crash(weir)
    weir.start()
    with open(go / "fifo", "w") as fifo:
        fifo.write("go\n")
    assert process.wait(timeout=DEADLINE_S) == 6
    process.stdout.close()
    process.stderr.close()


def test_a_submission_waits_for_the_server_and_is_made_once(weir):
    crash(weir)
    process = weir.spawn("submit", "--", "true")
    assert b"trying for up to 30 s" in process.stderr.readline()
    weir.start()
    out, _ = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, out) == (0, b"1\n")
    assert len(weir.weir_json("task", "list")) == 1


def test_a_watch_goes_on_after_a_crash(weir):
    process = weir.spawn("task", "list", "--watch", "--json")
    weir.weir("run", "--", "true")
    assert b'"id":1' in process.stdout.readline()
    crash(weir)
    weir.start()
    weir.weir("run", "--", "true")
    line = process.stdout.readline()
    while b'"id":2' not in line:
        assert line
        line = process.stdout.readline()
    process.terminate()
    process.wait()
    process.stdout.close()
    process.stderr.close()


def test_followed_events_go_on_after_a_crash_each_once(weir):
    process = weir.spawn("events", "-f", "--after", "0", "--type", "task-submitted", "--json")
    weir.weir("submit", "--", "true")
    assert b'"task":1,' in process.stdout.readline()
    crash(weir)
    weir.start()
    weir.weir("submit", "--", "true")
    assert b'"task":2,' in process.stdout.readline()
    process.terminate()
    process.wait()
    process.stdout.close()
    process.stderr.close()


@pytest.mark.parametrize("words", [["run", "--"], ["task", "wait"], ["task", "logs", "-f"]])
def test_a_server_that_comes_back_on_another_port_is_found(weir, words):
    """`weir up --port 0` takes the port that it had, or another one when that is in use, and saves its address in the login."""
    go = weir.root / "go"
    go.mkdir()
    go.chmod(0o777)
    os.mkfifo(go / "fifo")
    os.chmod(go / "fifo", 0o666)
    command = ["sh", "-c", f"echo before; read x < {go}/fifo; echo after; exit 6"]
    words = [*words, *command] if words[0] == "run" else [*words, weir.submit(*command)]
    process = weir.spawn(*words)
    weir.wait_until(lambda: weir.api("GET", "tasks/1").status == 200, "the task")
    weir.wait_state("1", "running")
    was = weir.url
    crash(weir)
    with socket.socket() as squatter:  # the old port cannot be had again
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        squatter.bind(("127.0.0.1", weir.port))
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        weir.start(port=0)
        assert weir.url != was
        with open(go / "fifo", "w") as fifo:
            fifo.write("go\n")
        out, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == (0 if "logs" in words else 6), err
    assert out == (b"" if "wait" in words else b"before\nafter\n")


@pytest.mark.parametrize(
    "words,mark",
    [
        (["task", "list", "--watch", "--json"], b'"id":%d'),
        (["events", "-f", "--after", "0", "--type", "task-submitted", "--json"], b'"task":%d,'),
    ],
)
def test_a_watch_finds_the_server_on_its_new_port(weir, words, mark):
    process = weir.spawn(*words)
    weir.weir("submit", "--", "true")
    assert mark % 1 in process.stdout.readline()
    crash(weir)
    with socket.socket() as squatter:
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        squatter.bind(("127.0.0.1", weir.port))
        weir.start(port=0)
        weir.weir("submit", "--", "true")
        line = process.stdout.readline()
        while mark % 2 not in line:
            assert line
            line = process.stdout.readline()
    process.terminate()
    process.wait()
    process.stdout.close()
    process.stderr.close()
