"""What Guild's own tests say of queues, staging, GPUs and trials, and what Weir adds: with real Guild staging, and Weir in the place of the queue.

SPDX-License-Identifier: Apache-2.0"""

import os
import pathlib
import re
import signal
import subprocess
import time

import pytest
from conftest import environment
from guild_client import PACKAGES, Guild, kill_group, wait_for

DEVICES = "CUDA_VISIBLE_DEVICES="
GUILDFILE = """
- model: m
  operations:
    slow:
      exec: "sh -c 'sleep 1; echo slow'"
    gpus:
      exec: "sh -c 'env | grep ^CUDA_VISIBLE_DEVICES= || echo unset; sleep 0.5'"
    quick:
      exec: "true"
    needs-file:
      exec: "cat data.txt"
      requires:
        - file: data.txt
    background:
      exec: "sh -c '(while :; do echo still here; sleep 0.1; done) & echo $! > child; echo first; sleep 1; exit 5'"
    long:
      exec: "sh -c 'echo on; exec sleep 100'"
"""


@pytest.fixture
def guild(tmp_path):
    made = Guild(environment("guild", *PACKAGES), tmp_path)
    (made.project / "guild.yml").write_text(GUILDFILE)
    return made


def copies(guild, op, *names, tags=()):
    """Stages one run really, and copies it under the other names."""
    guild.stage(f"--run-id={names[0]}", *(word for tag in tags for word in ("--tag", tag)), op=op)
    for name in names[1:]:
        subprocess.run(["cp", "-r", guild.dir(names[0]), guild.dir(name)], check=True)
        (guild.dir(name) / ".guild/attrs/id").write_text(f"{name}\n")


def times(guild, run):
    return int(guild.attr(run, "started")), int(guild.attr(run, "stopped"))


def overlaps(guild, runs):
    spans = sorted(times(guild, run) for run in runs)
    return [(a, b) for a, b in zip(spans, spans[1:]) if b[0] < a[1]]


def test_code_is_frozen_at_staging_and_runs_go_oldest_first(guild, tmp_path):
    (guild.project / "say.py").write_text("print('v1')\n")
    guild.stage("--run-id=zzz", op="say.py")
    (guild.project / "say.py").write_text("print('v2')\n")
    guild.stage("--run-id=aaa", op="say.py")
    done = guild.weir("run-once", "workers=1", cwd=tmp_path)  # from any directory
    assert guild.output("zzz") == "v1\n" and guild.output("aaa") == "v2\n"
    assert done.stdout.index("Run zzz completed") < done.stdout.index("Run aaa started")


def test_ten_workers_run_ten_runs_at_once(guild):
    runs = [f"r{number}" for number in range(10)]
    copies(guild, "slow", *runs)
    done = guild.weir("run-once", "workers=10")
    assert "Initializing Dask cluster with 10 workers\n" in done.stdout
    assert done.stdout.count(" started\n") == done.stdout.count(" completed\n") == 10
    assert max(times(guild, run)[0] for run in runs) < min(times(guild, run)[1] for run in runs), "all ten ran side by side"
    one = guild.weir("run-once", "workers=1", "dashboard-address=no").stdout
    assert "Initializing Dask cluster with 1 worker\n" in one and "Dashboard link: <disabled>\n" in one


def test_trials_staged_by_guild_run(guild):
    guild.guild("run", "op.py", "sleep=[0,0.01,0.02]", "--stage-trials", "-y")
    assert sorted(guild.runs().values()) == ["staged"] * 3
    assert guild.weir("run-once", "workers=3").returncode == 0
    assert sorted(guild.runs().values()) == ["completed"] * 3


def test_gpu_choices_of_the_staging(guild):
    copies(guild, "gpus", "unset")
    guild.stage("--run-id=none", "--no-gpus", op="gpus")
    guild.stage("--run-id=two", "--gpus", "0,1", op="gpus")
    guild.env.pop("CUDA_VISIBLE_DEVICES", None)
    assert guild.weir("run-once").returncode == 0
    assert [guild.output(run) for run in ("unset", "none", "two")] == ["unset\n", f"{DEVICES}\n", f"{DEVICES}0,1\n"]


def test_gpus_of_the_queue_are_kept_in_the_run(guild):
    copies(guild, "gpus", "free")
    assert guild.weir("run-once", "gpus=1").returncode == 0
    assert guild.output("free") == f"{DEVICES}1\n"
    assert re.search(r"^gpus: '1'$", guild.attr("free", "run_params"), re.M)
    assert re.search(r"CUDA_VISIBLE_DEVICES: '1'$", guild.attr("free", "env"), re.M)


def test_a_dependency_that_is_missing_at_the_start_ends_as_under_guild(guild):
    (guild.project / "data.txt").write_text("data\n")
    for name in ("d", "theirs"):
        guild.stage(f"--run-id={name}", op="needs-file")
    (guild.project / "data.txt").unlink()
    guild.guild("run", "--start", "theirs", "-y", check=False)
    done = guild.weir("run-once")
    statuses = guild.runs()
    assert done.returncode == 0 and statuses["d"] == statuses["theirs"] != "staged"
    assert ("Run d completed" in done.stdout) == (statuses["d"] == "completed")
    assert ("Run d exited with code 1" in done.stdout) == (statuses["d"] == "error")


def test_status_filters_of_guild_see_weirs_runs(guild):
    copies(guild, "quick", "done")
    assert guild.weir("run-once").returncode == 0
    guild.stage("--run-id=later", op="quick")
    copies(guild, "long", "long", tags=["dask:foo=1"])
    process = guild.weir_start("run-once", "resources=foo=1", "order=fifo", "workers=1", start_new_session=True)
    wait_for(lambda: (guild.dir("long") / ".guild/output").exists() and "on" in guild.output("long"))
    listed = {flag: guild.guild("runs", flag, "--json") for flag in ("--running", "--completed", "--staged", "--pending", "--error")}
    assert '"long"' in listed["--running"] and '"done"' in listed["--completed"]
    assert listed["--pending"].strip() == "[]" and '"long"' not in listed["--staged"]
    guild.guild("stop", "long", "-y")
    process.communicate(timeout=60)
    assert '"long"' in guild.guild("runs", "--terminated", "--json")


def test_restart_of_a_run_that_weir_ran(guild):
    copies(guild, "quick", "again")
    assert guild.weir("run-once").returncode == 0
    first = times(guild, "again")
    guild.guild("run", "--restart", "again", "-y")
    assert guild.runs() == {"again": "completed"} and times(guild, "again")[0] > first[1]


def test_wait_for_running_starts_one_run_at_a_time(guild):
    runs = ["a", "b", "c"]
    copies(guild, "slow", *runs)
    guild.stage("--run-id=never", "--tag", "dask:foo=9", op="quick")
    done = guild.weir("run-once", "wait-for-running=yes", "workers=3", "resources=foo=1")
    assert done.returncode == 0
    assert {guild.attr(run, "exit_status") for run in runs} == {"0"} and guild.staged("never")
    assert not overlaps(guild, runs), "two runs ran side by side"
    assert "Found staged run b (waiting for runs to finish: a)" in done.stdout


def test_wait_for_running_holds_between_two_schedulers(guild):
    runs = [f"r{number}" for number in range(4)]
    copies(guild, "slow", *runs)
    both = [guild.weir_start("watch", "wait-for-running=yes", "workers=3", "poll-interval=0.05s") for _ in range(2)]
    wait_for(lambda: all(guild.attr(run, "stopped") for run in runs))
    for process in both:
        process.terminate()
    said = [process.communicate(timeout=30)[0] for process in both]
    assert not overlaps(guild, runs), said
    assert any("waiting for runs to finish: r" in text for text in said)


def test_every_bad_part_is_warned_of_once(guild):
    guild.stage("--run-id=two", "--tag", "dask:foo", "--tag", "dask:bar=1 baz", "--tag", "other", op="quick")
    said = guild.weir("run-once", "resources=bar=1").stdout
    for spec in ("foo", "bar=1 baz"):
        assert said.count(f"Ignoring invalid dask resources spec '{spec}': parts must be in format KEY=VAL") == 1
    assert "Scheduling run two (requires bar=1)" in said and guild.runs() == {"two": "completed"}


def starters(process):
    """{pid: name} of what records runs below a `weir guild`."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/comm"):
        try:
            if path.read_text().strip() in ("guild-starter", "guild-guard") and f"GUILD_HOME={process.home}" in \
                    (path.parent / "environ").read_text():
                found[int(path.parent.name)] = path.read_text().strip()
        except OSError:
            continue
    return found


def test_output_of_a_process_in_the_background_does_not_keep_a_run(guild):
    copies(guild, "background", "b")
    done = guild.weir("run-once")
    child = int((guild.dir("b") / "child").read_text())
    os.kill(child, signal.SIGKILL)
    assert "Run b exited with code 5" in done.stdout and guild.attr("b", "exit_status") == "5"
    assert guild.output("b").startswith("first\n") or "first\n" in guild.output("b")


def test_the_guard_follows_the_run_and_not_what_it_left_in_the_background(guild):
    copies(guild, "background", "b")
    process = guild.weir_start("run-once", start_new_session=True)
    wait_for(lambda: (guild.dir("b") / "child").exists() and "first" in guild.output("b"))
    [starter] = [pid for pid, name in starters(guild).items() if name == "guild-starter"]
    os.kill(starter, signal.SIGKILL)
    said = process.communicate(timeout=60)[0]
    os.kill(int((guild.dir("b") / "child").read_text()), signal.SIGKILL)
    assert "Run b exited with code 5" in said and guild.attr("b", "exit_status") == "5"


def test_devices_are_handed_out(guild):
    runs = ["a", "b", "c"]
    copies(guild, "gpus", *runs, tags=["dask:gpu=1"])
    guild.stage("--run-id=both", "--tag", "dask:gpu=2", op="gpus")
    guild.stage("--run-id=own", "--gpus", "7", "--tag", "dask:gpu=1", op="gpus")
    guild.stage("--run-id=part", "--tag", "dask:gpu=0.5", op="gpus")
    done = guild.weir("run-once", "devices=3,5", "workers=8")
    assert "Cluster resources: gpu=2\n" in done.stdout
    assert guild.output("both") == f"{DEVICES}3,5\n" and guild.output("own") == f"{DEVICES}7\n"
    given = {run: guild.output(run) for run in runs}
    assert set(given.values()) == {f"{DEVICES}3\n", f"{DEVICES}5\n"}
    for device in (f"{DEVICES}3\n", f"{DEVICES}5\n"):
        assert not overlaps(guild, [run for run in runs if given[run] == device] + ["both"])
    assert guild.staged("part") and "Ignorning staged run part (requires gpu=0.5; with devices= a whole number would do)" in done.stdout
    assert guild.weir("run-once", "devices=0,0").returncode == 2
    assert guild.weir("run-once", "devices=0", "resources=gpu=1").returncode == 2


def orphan(guild, run, age_s):
    """Leaves a run as a queue does that is killed when it has taken the run."""
    (guild.dir(run) / ".guild/STAGED").unlink()
    marker = guild.dir(run) / ".guild/PENDING"
    marker.touch()
    os.utime(marker, (time.time() - age_s, time.time() - age_s))


def test_orphans_are_named_and_staged_again_on_request(guild):
    copies(guild, "quick", "old", "young")
    orphan(guild, "old", 100)
    orphan(guild, "young", 1)
    done = guild.weir("run-once")
    assert guild.runs() == {"old": "pending", "young": "pending"}
    assert "Run old is pending and no queue has it; restage=yes makes it staged again" in done.stdout and "young" not in done.stdout
    done = guild.weir("run-once", "restage=yes")
    assert guild.runs() == {"old": "completed", "young": "pending"}
    assert "Run old was pending without a queue and is staged again" in done.stdout


def test_pending_runs_of_a_live_queue_are_left(guild):
    copies(guild, "quick", "taken")
    orphan(guild, "taken", 100)
    queue = subprocess.Popen([guild.bin / "guild", "run", "queue", "-y"], cwd=guild.project, env=guild.env, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_for(lambda: "running" in guild.runs().values(), every_s=0.2)
        done = guild.weir("run-once", "restage=yes")
        assert guild.attr("taken", "exit_status") is None and (guild.dir("taken") / ".guild/PENDING").exists(), done.stdout
    finally:
        kill_group(queue)


def test_nothing_is_left_behind(guild, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    guild.env.update({"TMPDIR": str(temporary), "HOME": str(tmp_path / "person")})
    copies(guild, "quick", "a", "b", "c")
    before = {path for path in tmp_path.rglob("*") if "runs" not in path.parts}
    assert guild.weir("run-once", "workers=2").returncode == 0
    after = {path for path in tmp_path.rglob("*") if "runs" not in path.parts}
    assert {str(path.relative_to(tmp_path)) for path in after - before} <= {"home/locks", "home/locks/run-status"}
    assert not [path for path in guild.home.rglob(".weir*")]
    wait_for(lambda: not starters(guild))


def test_a_wide_run_is_not_passed_for_ever(guild):
    """Small runs go on coming: the run that needs everything gets its turn nevertheless."""
    copies(guild, "slow", *[f"s{number:02}" for number in range(3)], tags=["dask:foo=1"])
    guild.stage("--run-id=wide", "--tag", "dask:foo=3", op="quick")
    process = guild.weir_start("watch", "resources=foo=3", "workers=8", "poll-interval=0.1s")
    number = 3
    until = time.monotonic() + 50
    while guild.attr("wide", "exit_status") is None and time.monotonic() < until:
        if sum(guild.staged(run) for run in guild.ids()) < 4:
            name = f"s{number:02}"
            number += 1
            source = guild.dir("s00")
            subprocess.run(["cp", "-r", source, guild.root / "draft"], check=True)
            for gone in ("output", "output.index", "attrs/exit_status", "attrs/stopped", "LOCK"):
                (guild.root / "draft/.guild" / gone).unlink(missing_ok=True)
            (guild.root / "draft/.guild/attrs/id").write_text(f"{name}\n")
            (guild.root / "draft/.guild/attrs/started").write_text(f"{int(time.time() * 1e6)}\n")
            (guild.root / "draft/.guild/STAGED").touch()
            (guild.root / "draft").rename(guild.dir(name))
        time.sleep(0.1)
    process.terminate()
    said = process.communicate(timeout=30)[0]
    assert guild.attr("wide", "exit_status") == "0", said
