"""The page docs/user/several-machines.md, typed on three hosts: network namespaces with their own host name, home and
/var/lib. Nothing touches the machine's own interfaces. SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from weir_harness import DEADLINE_S, REPOSITORY, supervisors_end, weir_bin

PAGE = REPOSITORY / "docs/user/several-machines.md"
ADDRESSES = {"server": "10.77.0.1", "node1": "10.77.0.2", "node2": "10.77.0.3", "laptop": "10.77.0.4"}


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True)


class Host:
    """One machine: commands run in its namespaces, as root there."""

    def __init__(self, net, name, root):
        self.namespace = net.name(name)
        self.root = root / name
        self.lib = self.root / "lib"
        self.home = self.root / "home"
        for directory in (self.lib, self.home):
            directory.mkdir(parents=True)
        for directory in (root, self.root, self.lib):
            directory.chmod(0o711)
        self.name = name
        self.running = []

    def command(self, line):
        inside = f'mount --bind "{self.lib}" /var/lib && hostname {self.name} && exec "$@"'
        return [
            "nsenter", f"--net=/run/netns/{self.namespace}", "unshare", "--mount", "--uts", "--propagation", "private",
            "sh", "-c", inside, "sh", "sh", "-c", line,
        ]

    def env(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith("WEIR_")}
        path = os.path.dirname(weir_bin())
        return dict(env, HOME=str(self.home), PATH=f"{path}:{env['PATH']}", LC_ALL="C.UTF-8")

    def type(self, line, input=None, check=True):
        done = subprocess.run(
            self.command(line), input=input, capture_output=True, text=True, env=self.env(), cwd="/", timeout=DEADLINE_S
        )
        assert not check or done.returncode == 0, f"{self.name}$ {line}\n{done.stdout}{done.stderr}"
        return done

    def leave_running(self, line):
        log = open(self.root / "log", "ab")
        process = subprocess.Popen(
            self.command("exec " + line), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env(), cwd="/",
            start_new_session=True,
        )
        log.close()
        self.running.append(process)
        return process

    def log(self):
        return (self.root / "log").read_text(errors="replace")

    def close(self):
        for process in self.running:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait(timeout=DEADLINE_S)
        supervisors_end(self.root)


class Net:
    """A switch in a namespace of its own, and hosts around it."""

    def __init__(self):
        self.prefix = f"weir{os.getpid()}"
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="weir-net-"))
        self.hosts = {}

    def name(self, host):
        return f"{self.prefix}-{host}"

    def start(self):
        switch = self.name("switch")
        if ip("netns", "add", switch).returncode != 0:
            pytest.skip("network namespaces cannot be made here (needs root)")
        ip("-n", switch, "link", "add", "br0", "type", "bridge")
        ip("-n", switch, "link", "set", "br0", "up")
        for host, address in ADDRESSES.items():
            space = self.name(host)
            assert ip("netns", "add", space).returncode == 0
            made = ip("link", "add", "eth0", "netns", space, "type", "veth", "peer", "name", f"p-{host}", "netns", switch)
            if made.returncode != 0:
                pytest.skip(f"no virtual network cards here: {made.stderr}")
            ip("-n", switch, "link", "set", f"p-{host}", "master", "br0", "up")
            ip("-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
            ip("-n", space, "link", "set", "eth0", "up")
            ip("-n", space, "link", "set", "lo", "up")
            self.hosts[host] = Host(self, host, self.root)
        return self

    def close(self):
        for host in self.hosts.values():
            host.close()
        for name in ("switch", *ADDRESSES):
            ip("netns", "del", self.name(name))
        shutil.rmtree(self.root, ignore_errors=True)


@pytest.fixture
def net():
    net = Net()
    try:
        yield net.start()
    finally:
        net.close()


def wait_for(condition, what):
    deadline = time.monotonic() + DEADLINE_S
    while not (value := condition()):
        assert time.monotonic() < deadline, what()
        time.sleep(0.05)
    return value


def test_the_page_makes_three_machines_of_one(net):
    blocks = re.findall(r"^```sh (\w+)\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    lines = [(host, line) for host, block in blocks for line in block.splitlines()]
    server = net.hosts["server"]
    said, token = {}, None
    for host, line in lines:
        machine = net.hosts[host]
        if line.startswith("weir up "):
            machine.leave_running(line)
            wait_for(lambda: "ready https://" in server.log(), server.log)
        elif line.startswith("weir agent "):
            assert token and token.startswith("weir_join_")
            machine.leave_running(line.replace("TOKEN", token))
        elif line == "weir node list":
            # The agents of the page have joined when a person has typed on.
            wait_for(
                lambda: [n["state"] for n in json.loads(server.type("weir node list --json").stdout)] == ["up"] * 3,
                lambda: "\n".join(h.log() for h in net.hosts.values() if (h.root / "log").exists()),
            )
            said[line] = machine.type(line).stdout
        else:
            done = machine.type(line, input=(token + "\n") if "login" in line else None)
            said[line] = done.stdout
            if line.startswith("weir token create"):
                token = done.stdout.strip()
    first = [line for _, line in lines[:5]]
    assert [line.split()[1] for line in first] == ["tls", "up", "token", "agent", "agent"], "five commands"
    assert re.findall(r"^(\w+) ", said["weir node list"], re.M)[1:] == ["node1", "node2", "server"]
    assert said["weir run --avoid server -- hostname"] in ("node1\n", "node2\n")
    for node, others in {"server": "node1,node2", "node1": "server,node2", "node2": "server,node1"}.items():
        assert server.type(f"weir run --avoid {others} -- hostname").stdout == node + "\n"
    laptop = net.hosts["laptop"]
    assert "https://10.77.0.1:8080" in laptop.type("weir whoami").stdout
    # A node that is removed is out at once, and its machine cannot come back by itself.
    agent = net.hosts["node2"].running[0]
    agent.send_signal(signal.SIGTERM)
    agent.wait(timeout=DEADLINE_S)
    wait_for(lambda: laptop.type("weir node remove node2 --yes", check=False).returncode == 0, server.log)
    again = net.hosts["node2"].type("weir agent --server https://10.77.0.1:8080", check=False)
    assert again.returncode != 0 and "no valid credential" in again.stderr, again.stderr
