"""Runs as tasks of a running Weir. SPDX-License-Identifier: Apache-2.0"""

import contextlib
import os
import random
import signal
import subprocess
import tempfile
import time

import pytest
from conftest import environment
from guild_client import PACKAGES, Guild, wait_for

LONG = bool(os.environ.get("WEIR_LONG"))
KILLS = 20 if LONG else 4


def task_user():
    """Whom tasks of a Weir that root starts run as."""
    return "nobody" if os.getuid() == 0 else None


@contextlib.contextmanager
def guild_of(weir):
    """A Guild whose weir commands find a running Weir. pytest closes its own directories to other users whenever a test run begins."""
    with tempfile.TemporaryDirectory(prefix="weir-guild-", ignore_cleanup_errors=True) as place:
        os.chmod(place, 0o755)
        guild = Guild(environment("guild", *PACKAGES), place)
        guild.env.update({"WEIR_SERVER": weir.url, "WEIR_TOKEN": weir.token})
        guild.weir_server = weir
        yield guild


@pytest.fixture
def served(weir_factory):
    with guild_of(weir_factory("--slots", "3", "--resources", "foo=7")) as guild:
        yield guild


def open_home(guild):
    """The tasks' user may write what is in the home now."""
    if task_user():
        subprocess.run(["chown", "-R", task_user(), guild.home], check=True)


def stage(guild, *argv):
    guild.stage(*argv)
    run = next(a.split("=")[1] for a in argv if a.startswith("--run-id"))
    # no interpreter below a private directory: the task's user may not reach it
    (guild.dir(run) / ".guild/attrs/cmd").write_text("- sh\n- -c\n- echo Run $RUN_ID start; sleep 0.5; echo x >> count; echo Run $RUN_ID stop\n")


def test_runs_become_tasks(served):
    for run in ("a", "b"):
        stage(served, f"--run-id={run}", "--tag", "dask:foo=5")
    stage(served, "--run-id=c", "--tag", "dask:bar=1")
    stage(served, "--run-id=d", "--tag", "dask:nothing=1")
    stage(served, "--run-id=e", "--tag", "dask:foo=9")
    open_home(served)
    done = served.weir("run-once", "resources=bar=1")
    assert done.returncode == 0, done.stdout
    assert served.runs() == {"a": "completed", "b": "completed", "c": "completed", "d": "staged", "e": "staged"}, done.stdout
    assert f"Dashboard link: {served.weir_server.url}" in done.stdout
    assert done.stdout.count("Run a start\n") == 1 and "Run a completed" in done.stdout
    first, second = sorted("ab", key=lambda run: int(served.attr(run, "started")))
    assert int(served.attr(second, "started")) >= int(served.attr(first, "stopped"))  # 5 + 5 of 7
    assert "Ignorning staged run d (requires resources not defined for cluster: nothing)" in done.stdout
    assert "Ignorning staged run e (" in done.stdout


@pytest.mark.skipif(os.getuid() != 0, reason="only a Weir of root runs tasks as another user")
def test_a_home_that_tasks_cannot_write_leaves_runs_staged(served):
    served.stage("--run-id=a", "sleep=0")
    served.home.chmod(0o700)
    done = served.weir("run-once")
    assert done.returncode == 0 and served.staged("a")
    assert "Ignorning staged run a (its task 1 could not take it; `weir task logs 1` says why)" in done.stdout


def test_sigterm_withdraws_waiting_runs(served):
    for run in ("a", "b"):
        stage(served, f"--run-id={run}", "--tag", "dask:foo=7")
        (served.dir(run) / ".guild/attrs/cmd").write_text("- sh\n- -c\n- echo on; exec sleep 3\n")
    open_home(served)
    process = served.weir_start("watch")
    wait_for(lambda: sum(not served.staged(run) for run in "ab") == 1)
    process.terminate()
    said, _ = process.communicate(timeout=30)
    assert process.returncode == 0, said
    ran = "a" if not served.staged("a") else "b"
    left = "b" if ran == "a" else "a"
    wait_for(lambda: served.attr(ran, "exit_status") is not None)
    assert served.attr(ran, "exit_status") == "0", said
    assert served.staged(left)


def copies(guild, count, prefix):
    """Runs that say how often they have begun and ended."""
    first = f"{prefix}0"
    stage(guild, f"--run-id={first}")
    (guild.dir(first) / ".guild/attrs/cmd").write_text("- sh\n- -c\n- echo x >> starts; sleep 0.3; echo y >> ends\n")
    for number in range(1, count):
        subprocess.run(["cp", "-r", guild.dir(first), guild.dir(f"{prefix}{number}")], check=True)
        (guild.dir(f"{prefix}{number}") / ".guild/attrs/id").write_text(f"{prefix}{number}\n")
    open_home(guild)
    return [f"{prefix}{number}" for number in range(count)]


def lines(guild, run, name):
    path = guild.dir(run) / name
    return len(path.read_text().splitlines()) if path.exists() else 0


def ended(guild, run):
    g = guild.dir(run) / ".guild"
    return (g / "attrs/exit_status").exists() and (g / "attrs/stopped").exists() and not (g / "LOCK").exists()


def test_a_run_gets_the_gpu_of_its_task_unless_it_chose_its_own(weir_factory):
    with guild_of(weir_factory("--fake-gpus", "2")) as guild:
        guild.env.pop("CUDA_VISIBLE_DEVICES", None)
        stage(guild, "--run-id=a")
        stage(guild, "--run-id=b")
        stage(guild, "--run-id=own", "--gpus", "7")
        for run in ("a", "b", "own"):
            wait = "sleep 1" if run == "own" else "until [ -e ../a/here ] && [ -e ../b/here ]; do sleep 0.05; done"
            (guild.dir(run) / ".guild/attrs/cmd").write_text(f"- sh\n- -c\n- touch here; {wait}; echo gpu $CUDA_VISIBLE_DEVICES\n")
        open_home(guild)
        done = guild.weir("run-once", "order=fifo")
        assert done.returncode == 0
        assert {guild.output("a"), guild.output("b")} == {"gpu 0\n", "gpu 1\n"}, done.stdout
        assert guild.output("own") == "gpu 7\n"
        refused = guild.weir("run-once", "devices=0,1")
        assert refused.returncode == 2 and "hands out the GPUs of its nodes itself" in refused.stdout


@pytest.mark.parametrize("whom", ["server", "agent", "command"])
def test_kills_strand_no_run(served, whom):
    """kill -9 of a part of Weir at some moment: each run starts once and is recorded to its end, and the command does what it was told."""
    rng = random.Random(17)
    weir = served.weir_server
    for attempt in range(KILLS):
        runs = copies(served, 5, f"k{attempt}")
        process = served.weir_start("run-once", start_new_session=True)
        time.sleep(rng.uniform(0, 1.0))  # the moment of the kill is the test
        if whom == "command":
            process.kill()
        elif whom == "server":
            weir.kill()
            weir.start()
        else:
            os.kill(weir.pid_of("agent"), signal.SIGKILL)
            weir.stop()
            weir.start()
        said = process.communicate(timeout=120)[0]
        if whom == "command":  # what it had submitted runs, what it had not stays staged
            wait_for(lambda: all(served.staged(run) or ended(served, run) for run in runs))
            again = served.weir("run-once", timeout=120)
            assert again.returncode == 0, again.stdout
        else:
            assert process.returncode == 0, said
        wait_for(lambda: all(ended(served, run) for run in runs))
        for run in runs:
            assert served.attr(run, "exit_status") == "0", (run, said)
            assert lines(served, run, "starts") == lines(served, run, "ends") == 1, (run, said)
