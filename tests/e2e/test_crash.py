"""kill -9 anywhere loses nothing that was acknowledged and starts nothing twice.

The checker reads what the tasks wrote (ledger.py). Moments are random by seed; WEIR_SEED repeats a run, WEIR_KILLS scales it.
SPDX-License-Identifier: Apache-2.0
"""
import http.client
import json
import os
import random
import signal
import threading
import time
import uuid

import pytest

from ledger import Ledger, output_of

QUICK = bool(os.environ.get("WEIR_QUICK"))
KILLS = int(os.environ.get("WEIR_KILLS", "6" if QUICK else "50"))
SEED = int(os.environ.get("WEIR_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)


class Submitter(threading.Thread):
    """Submits tasks one by one, each with a key of its own, repeating each until it is acknowledged."""

    def __init__(self, w, commands):
        super().__init__(daemon=True)
        self.w, self.commands = w, commands
        self.acknowledged = []
        self.stop_asked = threading.Event()
        self.failure = None

    def run(self):
        try:
            for command in self.commands:
                if self.stop_asked.is_set():
                    return
                self.acknowledged.append(self.one(command))
        except Exception as e:  # noqa: BLE001 - told by the test's thread
            self.failure = e

    def one(self, command):
        key, body = uuid.uuid4().hex, json.dumps({"command": command})
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                answer = self.w.api("POST", "tasks", body, headers={"Idempotency-Key": key})
            except (OSError, http.client.HTTPException):
                time.sleep(0.01)
                continue
            if answer.status == 201:
                return answer.json["tasks"][0]["id"]
            if answer.status not in (429, 503):
                raise AssertionError((answer.status, answer.body))
            time.sleep(0.01)
        raise AssertionError("not acknowledged within a minute")


def endless(ledger, rng):
    while True:
        yield ledger.command(rng.choice(["0", "0", "0.05", "0.3"]))


def settle(w, submitter):
    """No more submissions; every acknowledged task ends."""
    submitter.stop_asked.set()
    submitter.join(90)
    assert not submitter.is_alive()
    assert submitter.failure is None, submitter.failure
    for task in submitter.acknowledged:
        ended = w.wait(task)
        assert ended["state"] == "completed", ended


def supervisors(w):
    """Process ids of the supervisors of this directory."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if len(words) > 1 and words[1] == "supervisor" and any(str(w.dir) in word for word in words):
            found.append(int(pid))
    return found


def check_outputs(w, tasks):
    for task in tasks:
        out, err = output_of(task)
        assert w.api("GET", f"tasks/{task}/logs?stream=stdout&format=raw").body.decode() == out, task
        assert w.api("GET", f"tasks/{task}/logs?stream=stderr&format=raw").body.decode() == err, task


@pytest.mark.parametrize("victim", ["server", "agent"])
def test_killed_again_and_again(weir, victim):
    print(f"WEIR_SEED={SEED}")
    rng = random.Random(SEED)
    w = weir("--slots", "16")
    ledger = Ledger(w.root)
    submitter = Submitter(w, endless(ledger, random.Random(SEED + 1)))
    submitter.start()
    for _ in range(KILLS):
        time.sleep(rng.random() * 0.25)  # a random moment is the point
        os.kill(w.pid_of(victim), signal.SIGKILL)
        w.process.wait(timeout=60)
        w.stop()
        w.start()
    settle(w, submitter)
    assert len(submitter.acknowledged) >= KILLS
    assert ledger.breaches(submitter.acknowledged) == []
    check_outputs(w, submitter.acknowledged[:: max(1, len(submitter.acknowledged) // 50)])


@pytest.mark.parametrize("point", ["commit-before-order", "order-before-wire", "decide-before-commit", "commit-before-answer"])
def test_a_kill_planted_in_the_server_loses_nothing(weir, point):
    """The server ends itself, as by kill -9, at a named point of its work: each task still runs exactly once."""
    for occurrence in (1, 2, 5):
        w = weir("--slots", "4", env={"WEIR_CRASH_AT": f"{point}:{occurrence}"})
        ledger = Ledger(w.root)
        submitter = Submitter(w, (ledger.command() for _ in range(12)))
        submitter.start()
        w.process.wait(timeout=60)
        w.stop()
        w.extra_env = {}
        w.start()
        submitter.join(90)
        settle(w, submitter)
        assert len(submitter.acknowledged) == 12
        assert ledger.breaches(submitter.acknowledged) == []
        w.close()


def test_a_killed_supervisor_is_a_loss_never_a_success(weir):
    w = weir("--slots", "4")
    ledger = Ledger(w.root)
    tasks = [w.submit(*ledger.command(600)) for _ in range(3)]
    once = w.submit(*ledger.command(600), repeatable=False)
    for task in [*tasks, once]:
        w.wait_state(task, "running")
    (supervisor,) = supervisors(w)
    os.kill(supervisor, signal.SIGKILL)
    ended = w.wait(once)
    assert ended["state"] == "unknown"
    for task in tasks:
        again = w.wait_until(lambda t=task: w.task(t)["counts"]["lost"] == 1 and w.task(t), f"task {task} to be lost")
        assert again["state"] in ("pending", "starting", "running")
        w.wait_state(task, "running")
    w.wait_until(lambda: sum(line[0] == "start" for line in ledger.lines()) == 7, "the second starts")
    assert all(line[0] != "end" for line in ledger.lines()), "a task outlived its supervisor"
    (replacement,) = supervisors(w)
    assert replacement != supervisor
    lines = (w.dir / "node" / "supervisor.log").read_text().splitlines()
    dead, living = [said["id"] for said in map(json.loads, lines) if said["message"] == "supervisor runs"]
    # os.walk() goes on where a directory of another test has just gone.
    assert not [path for path, *_ in os.walk("/sys/fs/cgroup") if path.endswith(f"/weir-{dead}")], "a dead one's cgroup is left"


def test_tasks_outlive_server_and_agent(weir):
    w = weir("--slots", "4")
    gate = w.root / "gate"
    task = w.submit("sh", "-c", f"echo one; until [ -e {gate} ]; do sleep 0.05; done; echo two; exit 5")
    w.wait_state(task, "running")
    before = supervisors(w)
    w.kill()
    gate.touch()
    w.start()
    assert supervisors(w) == before
    ended = w.wait(task)
    assert (ended["state"], ended["exit_code"]) == ("failed", 5)
    assert w.api("GET", f"tasks/{task}/logs?stream=stdout&format=raw").body == b"one\ntwo\n"


def test_a_second_server_on_the_directory_is_refused(weir):
    w = weir()
    second = w.weir("server", "--dir", str(w.dir), "--listen", "127.0.0.1:0", check=False)
    assert second.returncode != 0
    assert str(w.dir) in second.stderr and "in use" in second.stderr
    assert w.weir("run", "--", "echo", "still").stdout == "still\n"
