"""Single runs and homes: what is left staged and why, dependencies, exit codes, output, stop, restart. SPDX-License-Identifier: Apache-2.0"""

import os
import signal
import subprocess
import threading

import pytest
from conftest import environment
from guild_client import PACKAGES, Guild, wait_for

GUILDFILE = """
- model: m
  operations:
    prep:
      exec: "sh -c 'sleep 1; echo data > data.txt; echo prepared'"
    broken:
      exec: "sh -c 'echo data > data.txt; exit 3'"
    train:
      exec: "sh -c 'cat data.txt; echo loss: 0.5; echo acc: 0.25 >&2'"
      requires:
        - operation: prep
          name: prep
          select: data.txt
    train2:
      exec: "sh -c 'cat data.txt'"
      requires:
        - operation: broken
          select: data.txt
    fail:
      exec: "sh -c 'echo out; echo err >&2; exit 3'"
    steps:
      steps:
        - fail
    lines:
      exec: "sh -c 'echo loss: 0.5; echo word: yes; echo acc: 0.25 >&2; echo loss: 0.125; printf last'"
    long:
      exec: "sh -c 'echo on; exec sleep 100'"
"""


@pytest.fixture
def guild(tmp_path):
    made = Guild(environment("guild", *PACKAGES), tmp_path)
    (made.project / "guild.yml").write_text(GUILDFILE)
    return made


def test_bad_amounts_leave_a_run_staged_and_others_run(guild):
    guild.stage("--run-id=text", "--tag", "dask:foo=abc", "sleep=0")
    guild.stage("--run-id=negative", "--tag", "dask:foo=-1", "sleep=0")
    guild.stage("--run-id=quote", "--tag", "dask:'foo=5", "sleep=0")
    guild.stage("--run-id=large", "--tag", "dask:foo=9", "sleep=0")
    guild.stage("--run-id=part", "--tag", "dask:foo=2 bar", "sleep=0")
    guild.stage("--run-id=good", "--tag", "dask:foo=5", "--tag", "other", "sleep=0")
    done = guild.weir("run-once", "resources=foo=7")
    assert done.returncode == 0
    assert guild.runs() == {"text": "staged", "negative": "staged", "quote": "staged", "large": "staged", "part": "completed", "good": "completed"}
    said = done.stdout
    assert "Ignorning staged run text (tag 'dask:foo=abc': foo=abc is not a number; 0 or more would do)" in said
    assert "Ignorning staged run negative (tag 'dask:foo=-1': foo=-1 is below 0; 0 or more would do)" in said
    assert "Ignorning staged run quote (tag \"dask:'foo=5\": no closing quotation)" in said
    assert "Ignorning staged run large (requires foo=9, and the cluster has only foo=7)" in said
    assert "Ignoring invalid dask resources spec 'foo=2 bar': parts must be in format KEY=VAL" in said
    assert "Scheduling run part (requires foo=2)" in said
    assert said.count("Ignorning") == 4


def test_shown_amounts(guild):
    tags = {"plus": ("foo=+5", "foo=5"), "zeros": ("foo=007", "foo=7"), "half": ("foo=.5", "foo=0.5"), "float": ("foo=5.0", "foo=5.0"),
            "thousand": ("foo=1e3", "foo=1000.0"), "small": ("foo=1e-7", "foo=1.0e-07"), "hex": ("foo=0x10", "foo=16"),
            "last": ("foo=5 foo=6", "foo=6"), "zero": ("foo=0", "foo=0")}
    guild.stage("--run-id=merged", "-t", "dask:foo=2", "-t", "dask:foo=3", "-t", "dask:Bar=1", "sleep=0")
    guild.stage("--run-id=base", "sleep=0")
    for name, (spec, _) in tags.items():  # real staging is slow: copies with another tag
        subprocess.run(["cp", "-r", guild.dir("base"), guild.dir(name)], check=True)
        (guild.dir(name) / ".guild/attrs/tags").write_text(f"- 'dask:{spec}'\n")
        (guild.dir(name) / ".guild/attrs/id").write_text(f"{name}\n")
    said = guild.weir("run-once", "resources=foo=1000 Bar=1", "workers=4").stdout
    for name, (_, shown) in tags.items():
        assert f"Scheduling run {name} (requires {shown})\n" in said
    assert "Scheduling run merged (requires Bar=1 foo=3)\n" in said
    assert "Cluster resources: Bar=1 foo=1000\n" in said
    assert set(guild.runs().values()) == {"completed"}


def test_dependent_runs_wait_for_their_inputs(guild):
    guild.stage("--run-id=p", op="prep")
    guild.stage("--run-id=t", "prep=p", op="train")
    guild.stage("--run-id=b", op="broken")
    guild.stage("--run-id=late", "operation:broken=b", op="train2")
    done = guild.weir("run-once", "workers=4")
    assert guild.runs() == {"p": "completed", "t": "completed", "b": "error", "late": "staged"}
    assert "data" in guild.output("t")
    assert "Found staged run t (waiting for runs to finish: p)" in done.stdout
    assert done.stdout.index("Run p completed") < done.stdout.index("Run t started")
    assert "Ignorning staged run late (needs run b, which failed)" in done.stdout
    assert "Run b exited with code 3" in done.stdout


def test_a_run_is_as_if_guild_had_started_it(guild):
    for name in ("ours", "theirs"):
        guild.stage(f"--run-id={name}", op="lines")
    guild.guild("run", "--start", "theirs", "-y")
    assert guild.weir("run-once").returncode == 0
    ours, theirs = (guild.guild("runs", "info", name) for name in ("ours", "theirs"))

    def kept(info, name):
        return [line for line in info.replace(name, "RUN").splitlines() if not line.startswith(("started", "stopped", "id:", "run_dir"))]

    assert kept(ours, "ours") == kept(theirs, "theirs")
    assert "loss: 0.125" in ours and "acc: 0.25" in ours
    sizes = [(guild.dir(name) / ".guild/output.index").stat().st_size for name in ("ours", "theirs")]
    assert sizes[0] == sizes[1] == 5 * 9
    assert sorted(guild.output("ours")) == sorted(guild.output("theirs"))
    assert guild.guild("cat", "--output", "ours") == guild.output("ours")
    files = [{p.name for p in (guild.dir(n) / ".guild").iterdir() if "tfevents" not in p.name} for n in ("ours", "theirs")]
    assert files[0] == files[1]
    attrs = [{p.name for p in (guild.dir(n) / ".guild/attrs").iterdir()} for n in ("ours", "theirs")]
    assert attrs[0] == attrs[1]
    env = [guild.attr(n, "env").splitlines() for n in ("ours", "theirs")]
    assert len(env[0]) > 5


def test_failure_secrets_and_restart(guild):
    guild.run(guild.bin / "guild", "run", "fail", "--run-id=f", "--stage", "-y", env={"MY_TOKEN": "very-secret"})
    done = guild.weir("run-once")
    assert done.returncode == 0 and "ERROR: [guild]" in done.stdout and "Run f exited with code 3" in done.stdout
    assert guild.runs() == {"f": "error"} and guild.attr("f", "exit_status") == "3"
    assert "very-secret" not in guild.attr("f", "env") and "very-secret" in (guild.dir("f") / ".guild/ENV").read_text()
    assert not (guild.dir("f") / ".guild/LOCK").exists()
    restarted = guild.guild("run", "--restart", "f", "-y", check=False)
    assert "out" in restarted and guild.runs() == {"f": "error"}


def test_guild_stop_ends_a_run(guild):
    guild.stage("--run-id=l", op="long")
    process = guild.weir_start("run-once")
    wait_for(lambda: (guild.dir("l") / ".guild/output").exists() and "on" in guild.output("l"))
    assert guild.runs() == {"l": "running"}
    guild.guild("stop", "l", "-y")
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and "Run l exited with code 241" in said
    assert guild.runs() == {"l": "terminated"} and guild.attr("l", "exit_status") == "-15"


def test_runs_that_only_guild_can_start(guild):
    guild.stage("--run-id=s", op="steps")
    guild.guild("run", "op.py", "--run-id=batch", "sleep=[0,0.01]", "--stage", "-y")
    done = guild.weir("run-once", "workers=2", timeout=120)
    statuses = guild.runs()
    assert "batch" not in guild.ids()  # Guild removes a batch that has run its trials
    assert statuses.pop("s") == "error"
    assert sorted(statuses.values()) == ["completed", "completed", "error"], done.stdout  # two trials, and the step


def test_watch_takes_new_runs_and_ends_on_sigterm(guild):
    process = guild.weir_start("watch", "poll-interval=0.1s", "workers=2")
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(process.stdout))
    reader.start()
    wait_for(lambda: any("Waiting for staged runs" in line for line in lines))
    guild.stage("--run-id=one", "sleep=0")
    wait_for(lambda: any("Run one completed" in line for line in lines))
    guild.stage("--run-id=two", op="long")
    wait_for(lambda: guild.dir("two").exists() and any("Run two started" in line for line in lines))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=10) == 0
    reader.join(timeout=10)
    assert lines[-2].endswith("Stopping Dask scheduler\n") and lines[-1].endswith("Stopping Dask cluster\n")
    assert guild.runs() == {"two": "running", "one": "completed"}  # the run goes on
    guild.guild("stop", "two", "-y")
    wait_for(lambda: guild.attr("two", "exit_status") == "-15")


def test_gpu_choice_of_a_queue(guild):
    (guild.project / "gpu.py").write_text("import os\nprint('gpus', os.getenv('CUDA_VISIBLE_DEVICES'))\n")
    guild.stage("--run-id=none", op="gpu.py")
    guild.stage("--run-id=same", "--gpus", "1", op="gpu.py")
    guild.stage("--run-id=other", "--gpus", "2", op="gpu.py")
    said = guild.weir("run-once", "--gpus", "1").stdout
    assert guild.runs() == {"none": "completed", "same": "completed", "other": "staged"}
    assert "gpus 1" in guild.output("none") and "gpus 1" in guild.output("same")
    assert "Ignorning staged run other (GPU spec mismatch: run is 2, queue is 1)" in said


def test_wait_for_running(guild):
    guild.stage("--run-id=l", op="long")
    first = guild.weir_start("run-once")
    wait_for(lambda: (guild.dir("l") / ".guild/output").exists() and "on" in guild.output("l"))
    guild.stage("--run-id=later", "sleep=0")
    done = guild.weir("run-once", "wait-for-running=yes")
    assert done.returncode == 0 and "Found staged run later (waiting for runs to finish: l)" in done.stdout
    assert "processed 0 run(s)" in done.stdout and guild.staged("later")
    os.kill(int((guild.dir("l") / ".guild/LOCK").read_text()), signal.SIGTERM)
    first.communicate(timeout=60)


DAMAGED = [
    ("tags", b"\xff\xfe"), ("tags", b"- " * 300000), ("tags", b"&a [*a, *a]\n"), ("op", b"- not a map\n"), ("cmd", b"{a: b}\n"),
    ("run_params", b"x" * (5 << 20)), ("flags", b"a: 1\na: 2\n"), ("tags", b"just text\n"), ("cmd", b"- [nested]\n"),
]


def test_damaged_attributes_are_no_crash(guild):
    guild.stage("--run-id=good", "sleep=0")
    for number, (name, text) in enumerate(DAMAGED):
        subprocess.run(["cp", "-r", guild.dir("good"), guild.dir(f"bad{number}")], check=True)
        (guild.dir(f"bad{number}") / ".guild/attrs" / name).write_bytes(text)
    done = guild.weir("run-once", "workers=2")
    assert done.returncode == 0, done.stdout
    assert guild.attr("good", "exit_status") == "0"
    for number in (0, 1, 2, 5, 6, 7, 8):  # the others are read as runs that only Guild can start
        assert guild.staged(f"bad{number}"), DAMAGED[number]
        assert f"Ignorning staged run bad{number} (" in done.stdout


def test_the_flags_of_guilds_own_command_line(guild):
    """What stood behind `guild run dask:scheduler` stays as it is."""
    guild.stage("--run-id=one", "sleep=0")
    done = guild.weir("watch", "run-once=yes", "resources=foo=7", "-y")
    assert done.returncode == 0 and guild.runs() == {"one": "completed"}, done.stdout
    again = guild.weir("run-once", "run-once=yes", "workers=1", "dashboard-address=no", "loglevel=warn", "-y")
    assert again.returncode == 0 and "processed 0 run(s)" in again.stdout
    refused = guild.weir("run-once", "run-once=no")
    assert refused.returncode == 2 and "weir guild watch" in refused.stdout


def test_usage(guild):
    assert guild.weir("run-once", "nonsense=1").returncode == 2
    assert guild.weir("run-once", "resources=foo=abc").returncode == 2
    assert guild.weir("run-once", "workers=0").returncode == 2
    assert guild.weir("run-once", "-H", "/nowhere").returncode == 3
    done = guild.weir("run-once", "-H", "/nowhere")
    assert "directory '/nowhere' does not exist" in done.stdout
