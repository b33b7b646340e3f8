"""The agent and its supervisor against a scripted server. SPDX-License-Identifier: Apache-2.0"""

import os
import pathlib
import select
import signal
import subprocess
import tempfile
import time

import pytest

from fake_server import FakeServer
from weir_harness import weir_bin


class Node:
    """An agent in a directory of its own; its supervisor is ended with it."""

    def __init__(self, server, *args):
        self.server = server
        self.root = tempfile.TemporaryDirectory(prefix="weir-test-")
        self.dir = pathlib.Path(self.root.name) / "node"
        os.chmod(self.root.name, 0o711)
        self.args = args
        self.process = None

    def start(self, *more, token="weir_join_x"):
        command = [weir_bin(), "agent", "--dir", str(self.dir), "--server", self.server.url, "--pool", "default",
                   "--name", "n1", *(["--join-token", token] if token else []), *self.args, *more]
        self.process = subprocess.Popen(command, stderr=open(self.dir.parent / "agent.log", "ab"))
        return self

    def log(self):
        return (self.dir.parent / "agent.log").read_text()

    def supervisor_pid(self):
        return int((self.dir / "supervisor.lock").read_text())

    def stop(self, sig=signal.SIGTERM):
        self.process.send_signal(sig)
        return self.process.wait(30)

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.stop()
        try:
            pid = self.supervisor_pid()
            fd = os.pidfd_open(pid)
        except (OSError, ValueError):
            fd = None
        if fd is not None:
            signal.pidfd_send_signal(fd, signal.SIGTERM)
            select.select([fd], [], [], 20)
            os.close(fd)
        said = self.log() + (self.dir / "supervisor.log").read_text()
        self.root.cleanup()
        assert "Sanitizer" not in said and "runtime error" not in said and "bug:" not in said, said


@pytest.fixture
def server():
    server = FakeServer().start()
    yield server
    server.stop()


@pytest.fixture
def node(server):
    node = Node(server)
    node.dir.parent.mkdir(exist_ok=True)
    yield node
    node.close()


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition, what):
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.005)


def test_joins_says_hello_and_runs(server, node):
    node.args = ("--fake-gpus", "2", "--resources", "foo=7", "--label", "zone=a")
    node.start()
    hello = server.wait_hello(1)
    machine = (node.dir / "machine").read_text().strip()
    assert len(machine) == 32
    assert server.joins == [("weir_join_x", {"name": "n1", "pool": "default", "machine": machine})]
    assert hello["protocol_min"] == 1 and len(hello["supervisor"]) == 32 and hello["attempts"] == []
    assert hello["capacity"]["devices"] == 2 and hello["capacity"]["slots"] == 2
    assert hello["capacity"]["resources"] == {"foo": 7}
    assert hello["labels"]["zone"] == "a" and hello["labels"]["gpu.model"] == "fake"
    assert (node.dir / "credential").stat().st_mode & 0o777 == 0o600
    server.start_task(1, "sh", "-c", "echo $WEIR_TASK_ID $WEIR_NODE $CUDA_VISIBLE_DEVICES; echo e >&2; exit 7",
                      devices=[0, 1])
    ended = server.wait_report("ended", "1.0:1")
    assert ended["exit_code"] == 7
    assert server.output("1.0:1") == b"1 n1 0,1\n" and server.output("1.0:1", 2) == b"e\n"
    assert ended["out_bytes"] == 9 and ended["err_bytes"] == 2
    types = [r["type"] for r in server.reports if r["key"] == "1.0:1"]
    assert types[0] == "started" and types[-1] == "ended"


def test_a_program_that_is_not_there(server, node):
    node.start()
    server.wait_hello(1)
    server.start_task(1, "no-such-program")
    failed = server.wait_report("spawn_failed", "1.0:1")
    assert failed["errno"] == 2 and "no-such-program" in failed["message"]


def test_ping_is_answered_by_an_empty_batch(server, node):
    node.start()
    server.wait_hello(1)
    before = server.batches
    server.order("ping")
    server.wait(lambda: server.batches > before, "an answer to a ping")


def test_stale_orders_are_refused(server, node):
    node.start()
    server.wait_hello(1)
    server.start_task(1, "true", incarnation=9)
    assert server.wait_report("refused", "1.0:1")["why"] == "stale-incarnation"
    server.start_task(2, "true", epoch=0)
    assert server.wait_report("refused", "2.0:1")["why"] == "stale-epoch"
    server.order("frobnicate", key="3.0:1")
    assert server.wait_report("refused", "3.0:1")["why"] == "unknown-order"
    assert server.find("started", "1.0:1") is None


def test_a_server_of_an_older_epoch_is_left(server, node):
    server.epoch = 5
    node.start()
    server.wait_hello(1)
    server.epoch = 4
    server.end_streams()
    server.wait_hello(3)  # it comes, sees the old epoch, and leaves again
    assert "stale-epoch" in node.log()


def test_rides_through_a_server_restart(server, node):
    node.start()
    server.wait_hello(1)
    server.start_task(1, "sh", "-c", "echo before; while [ ! -e go ]; do sleep 0.01; done; echo after; exit 3")
    server.wait_report("started", "1.0:1")
    server.stop()
    (node.dir / "job/1/0/go").touch()
    server.epoch += 1
    server.start()
    hello = server.wait_hello(2)
    assert [a["key"] for a in hello["attempts"]] == ["1.0:1"] and hello["epoch_seen"] == 1
    assert server.wait_report("ended", "1.0:1")["exit_code"] == 3
    assert server.output("1.0:1") == b"before\nafter\n"


def test_a_server_that_moved_is_found_by_the_file(server, node):
    node.start()
    server.wait_hello(1)
    server.stop()
    server.port = 0
    server.start()
    (node.dir / "server.url").write_text(server.url + "\n")
    server.wait_hello(2)


def test_reports_are_repeated_until_taken(server, node):
    node.start()
    server.wait_hello(1)
    server.refuse_reports = 3
    server.start_task(1, "echo", "hi")
    server.wait_report("ended", "1.0:1")
    assert server.output("1.0:1") == b"hi\n"


def test_killed_agent_tasks_run_on_and_everything_arrives(server, node):
    node.start()
    server.wait_hello(1)
    server.start_task(1, "sh", "-c", "i=0; while [ $i -lt 200 ]; do echo line $i; i=$((i+1)); sleep 0.005; done; exit 9")
    server.start_task(2, "sh", "-c", "exit 4")
    server.wait_report("started", "1.0:1")
    first = server.hellos[-1]["supervisor"]
    node.stop(signal.SIGKILL)
    node.start()
    hello = server.wait_hello(2)
    assert hello["supervisor"] == first
    assert len(server.joins) == 1
    assert server.wait_report("ended", "1.0:1")["exit_code"] == 9
    assert server.wait_report("ended", "2.0:1")["exit_code"] == 4
    assert server.output("1.0:1") == b"".join(b"line %d\n" % i for i in range(200))


def test_sigterm_leaves_the_tasks(server, node):
    node.start()
    server.wait_hello(1)
    server.start_task(1, "sleep", "1000")
    pid = server.wait_report("started", "1.0:1")["pid"]
    assert node.stop() == 0
    assert alive(pid)
    node.start()
    server.wait_hello(2)
    server.stop_task(1)
    assert server.wait_report("ended", "1.0:1")["exit_code"] == 137


def test_killed_supervisor_reports_lost(server, node):
    node.start()
    first = server.wait_hello(1)["supervisor"]
    server.start_task(1, "sh", "-c", "echo $$; setsid sleep 1000 & echo $!; wait")
    server.wait(lambda: server.output("1.0:1").count(b"\n") == 2, "two pids")
    pids = [int(p) for p in server.output("1.0:1").split()]
    os.kill(node.supervisor_pid(), signal.SIGKILL)
    server.wait_report("lost", "1.0:1")
    hello = server.wait_hello(2)
    assert hello["supervisor"] != first
    wait_until(lambda: not any(alive(p) for p in pids), f"{pids} still live")
    server.start_task(1, "true", attempt=1)  # known to have been: never started again
    server.start_task(1, "true", attempt=2)
    assert server.wait_report("ended", "1.0:2")["exit_code"] == 0
    assert server.find("ended", "1.0:1") is None


def test_both_killed_the_next_agent_tells(server, node):
    """What the dead supervisor recorded is told in its name first, so that an end stays an end."""
    node.start()
    first = server.wait_hello(1)["supervisor"]
    server.refuse_reports = 10**9
    server.start_task(1, "sh", "-c", "echo done; exit 6")
    server.start_task(2, "sleep", "1000")
    spool = node.dir / "spool"
    wait_until(lambda: any(b"done" in p.read_bytes() for p in spool.iterdir()), "the spool has the output")
    wait_until(lambda: (node.dir / "job/2/0").exists() and not (node.dir / "job/1").exists(), "task 1 is over")
    node.stop(signal.SIGKILL)
    os.kill(node.supervisor_pid(), signal.SIGKILL)
    server.refuse_reports = 0
    node.start()
    server.wait_report("lost", "2.0:1")
    assert server.wait_report("ended", "1.0:1")["exit_code"] == 6
    assert server.find("lost", "1.0:1") is None
    told, again = server.wait(lambda: len(server.hellos) >= 3 and server.hellos[1:3], "two more hellos")
    assert told["supervisor"] == first != again["supervisor"]
    assert {a["key"] for a in told["attempts"]} == {"1.0:1", "2.0:1"}
    server.start_task(3, "true")
    server.wait_report("ended", "3.0:1")


def test_a_second_agent_is_refused_and_replace_takes_over(server, node):
    node.start()
    first = server.wait_hello(1)["supervisor"]
    second = subprocess.run([weir_bin(), "agent", "--dir", str(node.dir), "--server", server.url, "--name", "n1"],
                            capture_output=True, text=True, timeout=30)
    assert second.returncode == 1 and "--replace" in second.stderr
    old = node.process
    node.start("--replace")
    assert server.wait_hello(2)["supervisor"] == first
    assert old.wait(30) == 0


def test_cut_off_agent_stops_its_tasks(server, node):
    node.args = ("--stop-after", "50ms")
    node.start()
    server.wait_hello(1)
    server.start_task(1, "sleep", "1000")
    pid = server.wait_report("started", "1.0:1")["pid"]
    server.stop()
    wait_until(lambda: not alive(pid), "the task still runs")
    server.start()
    assert server.wait_report("ended", "1.0:1")["exit_code"] == 143


@pytest.mark.parametrize("status", [401, 404])
def test_a_forgotten_credential_is_renewed(server, node, status):
    server.unknown_status = status
    node.start()
    server.wait_hello(1)
    server.credential = "weir_node_other"
    server.end_streams()
    server.wait_hello(2)
    assert len(server.joins) == 2
    server.start_task(1, "true")
    server.wait_report("ended", "1.0:1")


def test_without_a_join_token_a_refused_agent_ends_and_says_why(server, node):
    node.start()
    server.wait_hello(1)
    node.stop()
    server.credential = "weir_node_other"
    node.start(token=None)
    assert node.process.wait(30) == 1
    assert "--join-token" in node.log()
    assert len(server.joins) == 1


def test_a_refused_join_token_ends_the_agent_and_a_busy_server_does_not(server, node):
    server.join_status = 503
    node.start()
    wait_until(lambda: len(server.joins) >= 2, "a second try to join")
    assert node.process.poll() is None
    server.join_status = 401
    assert node.process.wait(30) == 1
    assert "refuses to let 'n1' join (401)" in node.log()


def test_many_tasks_all_end_once(server, node):
    node.start()
    server.wait_hello(1)
    for task in range(1, 301):
        server.start_task(task, "sh", "-c", f"echo {task}")
    for task in range(1, 301):
        server.wait_report("ended", f"{task}.0:1")
    for task in range(1, 301):
        assert server.output(f"{task}.0:1") == b"%d\n" % task
        assert sum(r["type"] == "ended" and r["key"] == f"{task}.0:1" for r in server.reports) == 1
    assert not any((node.dir / "job").glob("[0-9]*"))
