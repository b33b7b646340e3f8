"""What the benches share: a Weir of their own, CPU accounting, HTTP, medians."""
import http.client
import json
import os
import re
import shutil
import ssl
import statistics
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.join(ROOT, "weir")
FLOORS = os.path.join(ROOT, "build", "bench")
TICKS = os.sysconf("SC_CLK_TCK")


def median(values):
    return statistics.median(values)


def percentile(values, p):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * p / 100))]


def cpu_seconds(pid):
    """User and system time of the process itself, without its children."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def cpu_ns(pid):
    """CPU time of all threads that the process has now, to the nanosecond."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def rss_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) / 1024


def floor(name, *args):
    return int(subprocess.run([os.path.join(FLOORS, name), *map(str, args)], check=True, capture_output=True,
                              text=True).stdout)


class Weir:
    """`weir up` in a directory of its own; further agents by add_agent()."""

    def __init__(self, *flags, keep=None, tls=False):
        self.dir = keep or tempfile.mkdtemp(prefix="weir-bench-")
        os.chmod(self.dir, 0o711)
        self.env = {**os.environ, "WEIR_CONFIG_HOME": os.path.join(self.dir, "login")}
        self.log = open(os.path.join(self.dir, "up.log"), "ab")
        if tls:
            subprocess.run([BIN, "tls", "init", "--dir", os.path.join(self.dir, "data")], stdout=self.log, check=True)
        begun = time.monotonic()
        self.up = subprocess.Popen([BIN, "up", "--port", "0", "--dir", os.path.join(self.dir, "data"), *flags],
                                   stdout=subprocess.PIPE, stderr=self.log, env=self.env, text=True)
        first = self.up.stdout.readline()
        if not first.startswith("ready "):
            raise SystemExit(f"bench: weir up did not come up; see {self.dir}/up.log")
        self.ready_s = time.monotonic() - begun
        self.url = first.split()[1]
        self.host, self.port = self.url.split("://")[1].rsplit(":", 1)
        with open(os.path.join(self.dir, "data", "admin.token"), encoding="ascii") as file:
            self.token = file.read().strip()
        self.agents = []

    def connection(self):
        if self.url.startswith("https:"):
            trust = ssl.create_default_context(cafile=os.path.join(self.dir, "data", "tls", "server-ca.pem"))
            return http.client.HTTPSConnection(self.host, int(self.port), timeout=120, context=trust)
        return http.client.HTTPConnection(self.host, int(self.port), timeout=120)

    def call(self, method, path, body=None, connection=None):
        link = connection or self.connection()
        data = json.dumps(body) if body is not None and not isinstance(body, (str, bytes)) else body
        link.request(method, "/api/v1" + path, data,
                     {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
        answer = link.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"bench: {method} {path}: {answer.status} {text[:300]!r}")
        return json.loads(text) if text else None

    def add_agent(self, name, *flags):
        self.agents.append(subprocess.Popen(
            [BIN, "agent", "--dir", os.path.join(self.dir, name), "--name", name, "--server", self.url, "--pool", "default",
             "--join-token-file", os.path.join(self.dir, "data", "join.token"), *flags], stderr=self.log))
        deadline = time.monotonic() + 10
        while not any(n["name"] == name and n["state"] == "up" for n in self.call("GET", "/nodes")["items"]):
            if time.monotonic() > deadline:
                raise SystemExit(f"bench: agent {name} did not join")
            time.sleep(0.02)

    def pids(self):
        """Server, agents and supervisors of this Weir, by role."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().decode("utf-8", "replace").split("\0")
            except OSError:
                continue
            if len(words) > 1 and words[1] in ("server", "agent", "supervisor") and any(self.dir in w for w in words):
                found.setdefault(words[1], []).append(int(pid))
        return found

    def cpu(self):
        return {role: sum(cpu_seconds(p) for p in pids) for role, pids in self.pids().items()}

    def count(self, state):
        return self.call("GET", "/status")["tasks"].get(state, 0)

    def stop(self, keep=False):
        subprocess.run([BIN, "down", "--stop-tasks", "--yes", "--dir", os.path.join(self.dir, "data")], env=self.env,
                       stdout=self.log, stderr=self.log, check=False)
        for agent in self.agents:
            agent.terminate()
            agent.wait()
        self.up.terminate()
        self.up.wait()
        self.log.close()
        if not keep:
            shutil.rmtree(self.dir, ignore_errors=True)
