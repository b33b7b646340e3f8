"""Runs as tasks of a running Weir. SPDX-License-Identifier: Apache-2.0"""

import os
import subprocess
import tempfile

import pytest
from conftest import environment
from guild_client import PACKAGES, Guild, wait_for


def task_user():
    """Whom tasks of a Weir that root starts run as."""
    return "nobody" if os.getuid() == 0 else None


@pytest.fixture
def served(weir_factory):
    """A Guild whose weir commands find a running Weir. pytest closes its own directories to other users whenever a test run begins."""
    weir = weir_factory("--slots", "3", "--resources", "foo=7")
    with tempfile.TemporaryDirectory(prefix="weir-guild-", ignore_cleanup_errors=True) as place:
        os.chmod(place, 0o755)
        guild = Guild(environment("guild", *PACKAGES), place)
        guild.env.update({"WEIR_SERVER": weir.url, "WEIR_TOKEN": weir.token})
        guild.weir_server = weir
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
