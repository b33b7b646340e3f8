"""Tasks say that they have saved their work; the checker reads what they wrote themselves.

SPDX-License-Identifier: Apache-2.0
"""
import datetime
import json
import os
import signal
import time

from weir_harness import weir_bin

# The server's clock goes by the time since it started, that on the wall may be set; and a file's stamp is of the last tick.
SKEW_MS = 500
SAVE = f'date +%s%3N >> "$LEDGER"; {weir_bin()} checkpoint; date +%s%3N >> "$LEDGER"'
TOUCH = 'date +%s%3N >> "$LEDGER"; touch "$WEIR_CHECKPOINT_FILE"; date +%s%3N >> "$LEDGER"'


def ms_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000


class Saver:
    """A task that saves when its first gate opens, and ends when its second does; what it did is in its ledger."""

    def __init__(self, w, name, save, **fields):
        self.w, self.root = w, w.root / name
        self.root.mkdir()
        self.root.chmod(0o777)
        script = (f"sleep 0.1; until [ -e {self.root}/save ]; do sleep 0.02; done; {save}; "
                  f"until [ -e {self.root}/end ]; do sleep 0.02; done")
        self.id = w.submit("sh", "-c", script, env={"LEDGER": str(self.root / "ledger")}, **fields)

    def let(self, gate):
        (self.root / gate).touch()

    def saved(self):
        """When it saved, by its own clock: not before, not after."""
        try:
            lines = (self.root / "ledger").read_text().split()
        except FileNotFoundError:
            return None
        return (int(lines[0]), int(lines[1])) if len(lines) == 2 else None

    def wait_saved(self):
        return self.w.wait_until(self.saved, f"task {self.id} to save")

    def checkpoint(self):
        return self.w.task(self.id)["attempts"][0]["checkpoint_at"]

    def check(self):
        """What is known of it is what it did."""
        first, last = self.wait_saved()
        at = self.w.wait_until(self.checkpoint, f"the checkpoint of task {self.id}")
        assert first - SKEW_MS <= ms_of(at) <= last + SKEW_MS, (first, at, last)
        return at


def events_of(w, task, type="attempt-checkpoint"):
    lines = w.weir("events", "--task", str(task), "--type", type, "--json=lines").stdout.splitlines()
    return [json.loads(line) for line in lines]


def test_a_task_says_that_it_has_saved(weir):
    w = weir("--slots", "4")
    for name, save in (("said", SAVE), ("touched", TOUCH)):
        saver = Saver(w, name, save)
        w.wait_state(saver.id, "running")
        assert saver.checkpoint() is None
        saver.let("save")
        at = saver.check()
        shown = w.weir("task", "show", str(saver.id)).stdout
        assert "CHECKPOINT" in shown
        [event] = events_of(w, saver.id)
        assert event["key"] == f"{saver.id}.0:1" and event["at"] == at
        saver.let("end")
        ended = w.wait(saver.id)
        assert ended["state"] == "completed" and ended["attempts"][0]["checkpoint_at"] == at
    silent = w.submit("true")
    assert w.wait(silent)["attempts"][0]["checkpoint_at"] is None
    assert "CHECKPOINT" not in w.weir("task", "show", str(silent)).stdout


def test_nothing_saved_is_lost_or_invented_by_kills(weir):
    """Saved while the server is dead, with the agent killed as well before it could tell; and told once."""
    w = weir("--slots", "4")
    saver = Saver(w, "s", TOUCH)
    other = Saver(w, "other", TOUCH)
    w.wait_state(saver.id, "running")
    w.wait_state(other.id, "running")
    os.kill(w.pid_of("server"), signal.SIGKILL)
    saver.let("save")
    saver.wait_saved()
    w.kill()
    w.start()
    saver.check()
    assert other.checkpoint() is None and other.saved() is None
    at = saver.checkpoint()
    w.kill()  # acknowledged: on disk
    w.start()
    assert saver.checkpoint() == at
    assert len(events_of(w, saver.id)) == 1
    assert events_of(w, other.id) == []
    for one in (saver, other):
        one.let("save")
        one.let("end")
        assert w.wait(one.id)["state"] == "completed"


def test_who_has_saved_makes_room_and_loses_little(weir):
    w = weir("--fake-gpus", "2")
    for project in ("owner", "borrower"):
        w.weir("project", "create", project)
    w.weir("quota", "set", "owner", "--pool", "default", "gpu=1")
    old = Saver(w, "old", TOUCH, project="borrower", resources={"gpu": 1}, grace=1)
    w.wait_state(old.id, "running")
    young = Saver(w, "young", TOUCH, project="borrower", resources={"gpu": 1}, grace=1)
    started = ms_of(w.wait_state(young.id, "running")["attempts"][0]["started_at"])
    w.wait_until(lambda: time.time() * 1000 > started + 2 * SKEW_MS, "a later time")
    old.let("save")
    at = ms_of(old.check())
    assert at > started
    claimant = w.submit("true", project="owner", resources={"gpu": 1})
    assert w.wait(claimant)["state"] == "completed"
    evicted = w.wait_until(lambda: w.task(old.id)["evicted"], "an eviction")
    assert evicted["claimant"] == claimant
    assert w.task(young.id)["evicted"] is None
    ended = w.wait_until(lambda: events_of(w, old.id, "attempt-ended"), "its end")[0]
    assert ended["end"] == "preempted"
    lost = w.task(old.id)["evicted"]["work_lost"]["slot_seconds"]
    assert 0 < lost <= (ms_of(ended["time"]) - at + SKEW_MS) / 1000, (lost, ended, at)
    assert "slot-seconds" in w.weir("task", "show", str(old.id)).stdout
    for one in (old, young):
        w.api("POST", f"tasks/{one.id}/kill")
