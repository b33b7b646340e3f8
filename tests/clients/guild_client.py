"""Real Guild AI in a home of its own. SPDX-License-Identifier: Apache-2.0"""

import os
import pathlib
import signal
import subprocess
import time

PACKAGES = ["guildai==0.9.0", "setuptools<81"]
WEIR = os.path.abspath(os.environ.get("WEIR_BIN", "./weir"))
DEADLINE_S = 60

OP = """
import os, time
sleep = 1.0
number = 0
print("Run %s start" % os.getenv("RUN_ID"))
time.sleep(sleep)
with open("count", "a") as out:
    out.write("x")
print("Run %s stop" % os.getenv("RUN_ID"))
"""


class Guild:
    """A project directory and a Guild home. Every method runs the real `guild` or the real `weir`."""

    def __init__(self, python, root):
        self.bin, self.root = pathlib.Path(python).parent, pathlib.Path(root)
        self.home, self.project = self.root / "home", self.root / "project"
        for directory in (self.home, self.project, self.root / "config"):
            directory.mkdir(parents=True, exist_ok=True)
        self.env = {
            **os.environ,
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "GUILD_HOME": str(self.home),
            "WEIR_CONFIG_HOME": str(self.root / "config"),
        }
        for name in ("WEIR_SERVER", "WEIR_TOKEN", "WEIR_CONTEXT", "LOG_LEVEL"):
            self.env.pop(name, None)
        (self.project / "op.py").write_text(OP)

    def run(self, *argv, cwd=None, timeout=DEADLINE_S, env=None):
        return subprocess.run([str(a) for a in argv], cwd=cwd or self.project, env={**self.env, **(env or {})}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, stdin=subprocess.DEVNULL)

    def guild(self, *argv, check=True, **options):
        done = self.run(self.bin / "guild", *argv, **options)
        assert not check or done.returncode == 0, done.stdout
        return done.stdout

    def stage(self, *argv, op="op.py"):
        self.guild("run", op, *argv, "--stage", "-y")

    def weir(self, *argv, **options):
        return self.run(WEIR, "guild", *argv, **options)

    def weir_start(self, *argv, **options):
        return subprocess.Popen([WEIR, "guild", *argv], cwd=self.project, env=self.env, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL, **options)

    def runs(self):
        """{id: status}, as Guild itself says."""
        import json

        return {run["id"]: run["status"] for run in json.loads(self.guild("runs", "--json"))}

    def dir(self, run):
        return self.home / "runs" / run

    def staged(self, run):
        return (self.dir(run) / ".guild" / "STAGED").exists()

    def attr(self, run, name):
        path = self.dir(run) / ".guild" / "attrs" / name
        return path.read_text().strip() if path.exists() else None

    def output(self, run):
        return (self.dir(run) / ".guild" / "output").read_text()

    def ids(self):
        return sorted(path.name for path in (self.home / "runs").iterdir() if (path / ".guild" / "opref").exists())

    def count(self, run):
        """How often the run's own code ran to its end."""
        path = self.dir(run) / "count"
        return len(path.read_text()) if path.exists() else 0


def wait_for(what, deadline_s=DEADLINE_S, every_s=0.02):
    """Waits until what() is true, and returns its value."""
    until = time.monotonic() + deadline_s
    while True:
        value = what()
        if value:
            return value
        assert time.monotonic() < until, f"{what} stayed false for {deadline_s} s"
        time.sleep(every_s)


def kill_group(process):
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
