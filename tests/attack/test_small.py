"""Small things that read wrong or took too long: a node that does not answer, a supervisor without tasks, damage that nobody mentioned.

SPDX-License-Identifier: Apache-2.0
"""

import os

from server_process import FakeAgent
from weir_harness import supervisor_fd


class AsServer:
    """A Weir as the scripted agent wants it."""

    def __init__(self, weir):
        self.weir = weir
        self.port = weir.port
        self.join_token = weir.api("POST", "tokens", {"scope": "join"}).json["token"]

    def call(self, method, path, body=None, token=None):
        return self.weir.api(method, path, body, token=token)


def test_down_does_not_wait_in_silence_for_a_silent_node(weir_factory):
    weir = weir_factory("--slots", "1")
    agent = FakeAgent(AsServer(weir), name="far", slots=4).join().connect()
    task = weir.submit("true", resources={"slots": 4})
    key = agent.order()["key"]
    assert agent.report(agent.started(key)).status == 200
    weir.wait_state(task, "running")
    agent.close()
    weir.wait_until(lambda: weir.api("GET", "nodes/far").json["state"] == "silent", "the node to be silent")
    done = weir.weir("down", "--dir", str(weir.dir), "--stop-tasks", "--yes", check=False)
    assert done.returncode == 0, done.stderr
    assert f"task {task} is on node far, which is silent" in done.stderr


def test_a_supervisor_without_tasks_ends_with_down(weir):
    assert weir.wait(weir.submit("true"))["state"] == "completed"
    lock = weir.dir / "node" / "supervisor.lock"
    fd = supervisor_fd(lock)
    assert fd is not None
    os.close(fd)
    weir.weir("down", "--dir", str(weir.dir))
    assert supervisor_fd(lock) is None, "the supervisor outlives `weir down`"


def test_a_supervisor_with_tasks_outlives_down(weir):
    task = weir.submit("sleep", "600")
    weir.wait_state(task, "running")
    weir.weir("down", "--dir", str(weir.dir))
    fd = supervisor_fd(weir.dir / "node" / "supervisor.lock")
    assert fd is not None
    os.close(fd)
    weir.stop()
    weir.start()
    assert weir.task(task)["state"] == "running"


def test_the_server_says_at_its_start_that_output_is_lost(weir):
    assert weir.wait(weir.submit("sh", "-c", "seq 1000"))["state"] == "completed"
    weir.stop()
    (segment,) = (weir.dir / "log").glob("*.seg")
    os.truncate(segment, 20)
    weir.start()
    assert "a segment of the log is gone or cut" in weir.log_text()
    assert str(segment) in weir.log_text()


def test_ended_without_started_has_an_exit_code(agent):
    task = agent.server.call("POST", "tasks", {"command": ["true"]}).json["tasks"][0]["id"]
    assert agent.report(agent.ended(agent.order()["key"], code=3)).status == 200
    seen = agent.server.get(f"tasks/{task}")
    assert (seen["state"], seen["exit_code"]) == ("failed", 3)
    assert seen["started_at"] is not None
