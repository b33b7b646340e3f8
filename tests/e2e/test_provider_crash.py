"""The server is killed at every step of a launch and of the end of a node: afterwards there is one machine for each launch, and none that nobody knows.

The steps inside the server are named points (src/server/crash.h). The steps outside are programs that kill the server before or after they have done what
they were asked. WEIR_LONG=1 takes every step with every provider, otherwise each provider takes a few.
SPDX-License-Identifier: Apache-2.0
"""
import collections
import os
import pathlib
import shutil
import sys

import pytest

from weir_harness import REPOSITORY, weir_bin

sys.path.insert(0, str(REPOSITORY / "bench"))
import slurm as private_slurm  # noqa: E402

LONG = bool(os.environ.get("WEIR_LONG"))
INSIDE = ["provider-order", "provider-launch", "provider-launched", "provider-said:1", "provider-told:1", "provider-said:2", "provider-told:2",
          "provider-order:2", "provider-terminate", "provider-terminated"]
OUTSIDE = ["launch before", "launch after", "terminate before", "terminate after"]

# Runs beside the real thing. A file `when` ("launch after") makes it kill the server once, before or after the call.
KILLER = """
def server_kill(moment):
    when = HERE / "when"
    if when.exists() and when.read_text() == moment:
        when.unlink()
        os.kill(int((HERE / "server").read_text()), signal.SIGKILL)
        time.sleep(0.2)

def note(key):
    with open(HERE / "made", "a", encoding="ascii") as made:
        made.write(key + "\\n")
"""
EXEC = """#!/usr/bin/env python3
import importlib.machinery, importlib.util, json, os, pathlib, signal, sys, time
HERE = pathlib.Path(__file__).resolve().parent
""" + KILLER + """
loader = importlib.machinery.SourceFileLoader("weir_nodes", str(HERE / "weir-nodes"))
nodes = importlib.util.module_from_spec(importlib.util.spec_from_loader("weir_nodes", loader))
loader.exec_module(nodes)
call, order = sys.argv[1], json.load(sys.stdin)
server_kill(call + " before")
if call == "launch" and not nodes.is_up(nodes.MACHINES / order["key"]):
    note(order["key"])
answer = nodes.CALLS[call](order)
server_kill(call + " after")
print(json.dumps(answer))
"""
SLURM = """#!/usr/bin/env python3
import os, pathlib, signal, subprocess, sys, time
HERE = pathlib.Path(__file__).resolve().parent
""" + KILLER + """
call = {"sbatch": "launch", "scancel": "terminate"}[pathlib.Path(sys.argv[0]).name]
server_kill(call + " before")
run = subprocess.run(["/usr/bin/" + pathlib.Path(sys.argv[0]).name, *sys.argv[1:]], capture_output=True, text=True, input=sys.stdin.read())
if call == "launch" and run.returncode == 0:
    note(next(word for word in sys.argv if word.startswith("--job-name=")))
server_kill(call + " after")
sys.stdout.write(run.stdout)
sys.stderr.write(run.stderr)
sys.exit(run.returncode)
"""


class Local:
    steps = INSIDE if LONG else ["provider-told:1", "provider-terminate"]
    flags = ["--provider", "local"]
    env = {}

    def __init__(self, tools):
        pass

    def left(self, w):
        return list((w.dir / "local").iterdir())


class Exec:
    steps = [*INSIDE, *OUTSIDE] if LONG else ["provider-launched", "provider-told:1", "launch after", "terminate after"]

    def __init__(self, tools):
        self.tools = tools
        shutil.copy(REPOSITORY / "docs/user/examples/weir-nodes", tools)
        program(tools / "nodes", EXEC)
        self.flags = ["--provider", "exec", "--command", tools / "nodes"]
        self.env = {}

    def left(self, w):
        return list((self.tools / "machines").iterdir()) if (self.tools / "machines").exists() else []


class Slurm:
    steps = [*INSIDE, *OUTSIDE] if LONG else ["launch after"]
    flags = ["--provider", "slurm"]

    def __init__(self, tools):
        if not private_slurm.installed():
            pytest.skip("SLURM IS NOT INSTALLED: apt-get install slurmctld slurmd slurm-client munge")
        self.cluster = private_slurm.Slurm(nodes=3, cpus=2)
        for name in ("sbatch", "scancel"):
            program(tools / name, SLURM)
        self.env = {"SLURM_CONF": self.cluster.env["SLURM_CONF"]}

    def left(self, w):
        return self.cluster.run("squeue", "-h", "-o", "%i %j %T").splitlines()

    def close(self):
        for line in self.left(None):
            self.cluster.run("scancel", line.split()[0])
        self.cluster.stop()


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture(params=[Local, Exec, Slurm], ids=["local", "exec", "slurm"])
def engine(request, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "weir").symlink_to(weir_bin())
    for path in (tmp_path, *tmp_path.parents[:2]):
        path.chmod(path.stat().st_mode | 0o711)
    made = request.param(tools)
    made.tools = tools
    yield made
    if hasattr(made, "close"):
        made.close()


def crash(w, engine, step, submit):
    """Starts the server so that it dies at this step, and waits until it is dead. The task is submitted meanwhile."""
    outside = step in OUTSIDE
    w.extra_env = {"PATH": f"{engine.tools}:{os.environ['PATH']}", **engine.env, **({} if outside else {"WEIR_CRASH_AT": step})}
    w.start()
    if outside:
        (engine.tools / "server").write_text(str(w.pid_of("server")))
        (engine.tools / "when").write_text(step)
    submit()
    w.process.wait(timeout=60)
    w.stop()
    w.extra_env.pop("WEIR_CRASH_AT", None)
    w.start()


def test_the_server_is_killed_at_every_step(weir, engine):
    w = weir(env={"PATH": f"{engine.tools}:{os.environ['PATH']}", **engine.env})
    w.weir("pool", "create", "burst", "--max", "2", "--idle", "300ms", *engine.flags)
    out = w.root / "out"
    out.mkdir()
    out.chmod(0o777)
    for number, step in enumerate(engine.steps):
        w.stop()
        # The key makes a repeated submission the same: the server may die before it has answered.
        body = {"command": ["sh", "-c", f"echo ran >> {out}/{number}"], "pool": "burst"}
        tell = lambda n=number, b=body: w.api("POST", "tasks", b, headers={"Idempotency-Key": f"step-{n}"})

        def submit(tell=tell):
            try:
                tell()
            except OSError:
                pass

        crash(w, engine, step, submit)
        task = tell().json["tasks"][0]["id"]
        assert w.wait(task)["state"] == "completed", step
        launches = lambda: w.api("GET", "pools/burst").json["launches"]
        w.wait_until(lambda: engine.left(w) == [] and launches()["live"] + launches()["ending"] == 0,
                     lambda s=step: f"nothing is left after {s}: {engine.left(w)} {launches()}")
        assert (out / str(number)).read_text() == "ran\n", step
    made = engine.tools / "made"
    if made.exists():
        twice = [key for key, times in collections.Counter(made.read_text().split()).items() if times > 1]
        assert not twice, f"made twice: {twice}"
