#!/usr/bin/env python3
"""What a scheduler costs a run of Guild AI: `weir guild run-once` beside Guild's own Dask scheduler, both real, in the same run.

Stages one no-op run with real Guild, copies it, and lets each scheduler run all copies one after another (workers=1). The cost of a run is the
time from the scheduler's start to its end, divided by the runs, less the time that the run's own command takes alone.

  bench/guild_bench.py [RUNS]        Guild and Dask come from PyPI, into .cache/bench/guild

SPDX-License-Identifier: Apache-2.0"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENV = ROOT / ".cache" / "bench" / "guild"
PACKAGES = ["guildai==0.9.0", "setuptools<81", "dask[distributed]==2022.12.1"]
WEIR = os.environ.get("WEIR_BIN", str(ROOT / "weir"))
MOST = 1 / 3
OPERATION = """
- model: m
  operations:
    nothing:
      exec: "true"
"""


def venv():
    if not (VENV / "done").exists():
        shutil.rmtree(VENV, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([VENV / "bin/pip", "install", "-q", *PACKAGES], check=True)
        (VENV / "done").touch()
    return VENV / "bin"


def staged(env, work, name, runs):
    home = work / name
    home.mkdir()
    env = {**env, "GUILD_HOME": str(home)}
    subprocess.run(["guild", "run", "nothing", "--run-id=r000", "--stage", "-y"], cwd=work / "project", env=env, check=True, capture_output=True)
    for number in range(1, runs):
        copy = home / "runs" / f"r{number:03}"
        shutil.copytree(home / "runs" / "r000", copy)
        (copy / ".guild/attrs/id").write_text(f"r{number:03}\n")
    return env


def timed(argv, work, env, runs):
    began = time.monotonic()
    done = subprocess.run(argv, cwd=work / "project", env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    took = time.monotonic() - began
    home = pathlib.Path(env["GUILD_HOME"])
    ended = [home / "runs" / f"r{n:03}" / ".guild/attrs/exit_status" for n in range(runs)]
    if done.returncode != 0 or not all(p.exists() and p.read_text().strip() == "0" for p in ended):
        sys.exit(f"not all runs completed: {argv}\n{done.stdout}")
    return took


def own_command(runs):
    """The time that the command of a run takes alone."""
    began = time.monotonic()
    for _ in range(runs):
        subprocess.run(["true"], check=True)
    return (time.monotonic() - began) / runs


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    bin_dir = venv()
    with tempfile.TemporaryDirectory(prefix="guild-bench-") as place:
        work = pathlib.Path(place)
        (work / "project").mkdir()
        (work / "project/guild.yml").write_text(OPERATION)
        env = {**os.environ, "PATH": f"{bin_dir}:{os.environ['PATH']}", "WEIR_CONFIG_HOME": str(work / "config")}
        for name in ("WEIR_SERVER", "WEIR_TOKEN", "WEIR_CONTEXT"):
            env.pop(name, None)
        ours, theirs = staged(env, work, "weir", runs), staged(env, work, "dask", runs)
        own = own_command(runs)
        weir = timed([WEIR, "guild", "run-once", "workers=1"], work, ours, runs) / runs
        dask = timed(["guild", "run", "dask:scheduler", "run-once=yes", "workers=1", "dashboard-address=no", "-y"], work, theirs, runs) / runs
    ratio = max(weir - own, 0) / (dask - own)
    print(f"{runs} no-op runs, one at a time; a run's own command takes {own * 1000:.1f} ms")
    print(f"{'scheduler':28}{'a run':>10}{'overhead':>11}")
    for name, took in (("weir guild run-once", weir), ("guild run dask:scheduler", dask)):
        print(f"{name:28}{took * 1000:7.1f} ms{(took - own) * 1000:8.1f} ms")
    print(f"overhead of Weir: {ratio:.3f} of Guild's; at most {MOST:.3f} is wanted: {'ok' if ratio <= MOST else 'TOO MUCH'}")
    return 0 if ratio <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
