"""Kills at many moments, and several schedulers on one home. Real staging is slow, so most runs are copies of one really staged run.

SPDX-License-Identifier: Apache-2.0"""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import pytest
from conftest import environment
from guild_client import PACKAGES, Guild, kill_group, wait_for

LONG = bool(os.environ.get("WEIR_LONG"))
KILLS = 60 if LONG else 6
SHARED_RUNS = 100 if LONG else 24

COUNTED = """
- model: m
  operations:
    counted:
      exec: "sh -c 'echo x >> starts; sleep 0.02; echo y >> ends'"
"""


@pytest.fixture
def guild(tmp_path):
    made = Guild(environment("guild", *PACKAGES), tmp_path)
    (made.project / "guild.yml").write_text(COUNTED)
    return made


def copies(guild, count, prefix="r"):
    """Stages one run really, and copies it under other ids."""
    first = f"{prefix}000"
    guild.stage(f"--run-id={first}", op="counted")
    for number in range(1, count):
        run = f"{prefix}{number:03}"
        shutil.copytree(guild.dir(first), guild.dir(run))
        (guild.dir(run) / ".guild/attrs/id").write_text(run + "\n")
    return [f"{prefix}{number:03}" for number in range(count)]


# How far a scheduler has come when it is killed, a moment later: not at all, a run begins, a run runs, a run has ended.
STEPS = [lambda guild, run: True, lambda guild, run: not guild.staged(run), lambda guild, run: lines(guild, run, "starts") > 0,
         lambda guild, run: guild.attr(run, "exit_status") is not None]


def moment(guild, rng, process, runs, attempt):
    """Waits for the moment of a kill, which is the test: by steps and not by the clock alone, so that a slow machine comes as far."""
    step = STEPS[attempt % len(STEPS)]
    while not any(step(guild, run) for run in runs) and process.poll() is None:
        time.sleep(0.001)
    time.sleep(rng.uniform(0, 0.03))


def lines(guild, run, name):
    path = guild.dir(run) / name
    return len(path.read_text().splitlines()) if path.exists() else 0


def settled(guild, run):
    """Staged and untouched, or ended with everything that Guild records."""
    g = guild.dir(run) / ".guild"
    if (g / "PENDING").exists():
        return False
    if (g / "STAGED").exists():
        return True
    return (g / "attrs/exit_status").exists() and (g / "attrs/stopped").exists() and not (g / "LOCK").exists()


def at_work(guild):
    """The processes that have this Guild home in their environment: schedulers, what records their runs, and the runs themselves."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"GUILD_HOME={guild.home}".encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
        except OSError:  # it ended meanwhile
            continue
    return found


def check(guild, runs):
    """Looks when nobody is at work: a recorder that outlives its scheduler may still begin the staged run it was given."""
    wait_for(lambda: not at_work(guild))
    assert all(settled(guild, run) for run in runs)
    for run in runs:
        if guild.staged(run):
            assert lines(guild, run, "starts") == 0, run
        else:
            assert guild.attr(run, "exit_status") == "0", run
            assert lines(guild, run, "starts") == 1 and lines(guild, run, "ends") == 1, run


@pytest.mark.parametrize("group", [False, True], ids=["command", "process-group"])
def test_kills_at_many_moments(guild, group):
    rng, moments = random.Random(7), []
    for attempt in range(KILLS):
        runs = copies(guild, 6, prefix=f"k{attempt:02}")
        process = guild.weir_start("run-once", "workers=3", start_new_session=True)
        moment(guild, rng, process, runs, attempt)
        if group:
            kill_group(process)
        else:
            process.kill()
            process.wait()
        process.stdout.close()
        check(guild, runs)
        moments.append(sum(guild.staged(run) for run in runs))
    statuses = guild.runs()
    assert set(statuses.values()) <= {"staged", "completed"}
    assert sum(moments) > 0 and min(moments) < 6, f"no kill came in the middle: {moments}"
    assert guild.weir("run-once", "workers=8").returncode == 0  # the next one takes what is left
    assert set(guild.runs().values()) == {"completed"}
    check(guild, list(statuses))


def helpers(process, names=("guild-starter", "guild-guard")):
    """The processes below a `weir guild` that record its runs."""
    found, look = [], [process.pid]
    while look:
        pid = look.pop()
        try:
            with open(f"/proc/{pid}/task/{pid}/children") as children:
                below = [int(word) for word in children.read().split()]
            with open(f"/proc/{pid}/comm") as comm:
                found += [pid] if comm.read().strip() in names else []
        except (FileNotFoundError, ProcessLookupError):
            continue
        look += below
    return found


def kill_one(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


@pytest.mark.parametrize("alone", [True, False], ids=["recorder", "recorder-and-command"])
def test_kill_of_a_process_that_records_a_run(guild, alone):
    """A starter or its guard is killed, alone or with the command: the other one records the run to its end."""
    rng = random.Random(11)
    killed = 0
    for attempt in range(KILLS):
        runs = copies(guild, 4, prefix=f"s{attempt:02}")
        process = guild.weir_start("run-once", "workers=2", start_new_session=True)
        name = rng.choice(["guild-starter", "guild-guard"])
        while not helpers(process, [name]) and process.poll() is None:
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.03))
        chosen = helpers(process, [name])[:1]
        for pid in chosen if alone else [process.pid, *chosen]:
            kill_one(pid)
        killed += len(chosen)
        said = process.communicate(timeout=60)[0]
        check(guild, runs)
        assert not alone or process.returncode == 0, said
    assert killed > KILLS / 3, "hardly any kill met a run"


def test_kill_of_everything_leaves_no_run_stranded(guild):
    """Nobody is left who could record: Guild calls a run that had begun an error, and no run is pending or runs for ever."""
    rng = random.Random(13)
    for attempt in range(KILLS):
        runs = copies(guild, 4, prefix=f"e{attempt:02}")
        process = guild.weir_start("run-once", "workers=2", start_new_session=True)
        moment(guild, rng, process, runs, attempt)
        for pid in [process.pid, *helpers(process)]:
            kill_one(pid)
        process.communicate(timeout=60)
        for run in runs:
            assert not (guild.dir(run) / ".guild/PENDING").exists()
            assert lines(guild, run, "starts") <= 1

    def at_rest():  # one look: a run whose process was on its way to its command is staged until it gets there
        statuses = set(guild.runs().values())
        return statuses if "running" not in statuses else None

    assert wait_for(at_rest, every_s=0.2) <= {"staged", "completed", "error", "terminated"}


def test_two_schedulers_and_a_guild_queue_start_each_run_once(guild):
    runs = copies(guild, SHARED_RUNS)
    queue = subprocess.Popen([guild.bin / "guild", "run", "queue", "run-once=yes", "-y"], cwd=guild.project, env=guild.env,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    wait_for(lambda: sum(not guild.staged(run) for run in runs) >= 1)  # the queue works
    schedulers = [guild.weir_start("run-once", "workers=1", "order=fifo") for _ in range(2)]
    said = [process.communicate(timeout=240)[0] for process in (*schedulers, queue)]
    assert [process.returncode for process in (*schedulers, queue)] == [0, 0, 0], said
    check(guild, runs)
    assert all(lines(guild, run, "starts") == 1 for run in runs)
    started = [sum(f"Run {run} started\n" in text for run in runs) for text in said[:2]]
    by_queue = sum(f"Starting staged run {run}\n" in said[2] for run in runs)
    assert sum(started) + by_queue == SHARED_RUNS and min(*started, by_queue) > 0, (started, by_queue)
