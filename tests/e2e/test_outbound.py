"""Networks with a way out: what their tasks reach, what reaches them, and that nothing is left of them.

Each test has a network namespace of its own: in it the site, and beyond it a machine outside that knows no way to the tasks but by the
node's own address. SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import os
import re
import shutil
import signal
import subprocess

import pytest
from test_containers import MISSING, fixture_images  # noqa: F401 - the fixture `images`
from test_ports import job_text
from weir_harness import DEADLINE_S

NODE, OUTSIDE, PORT = "198.51.100.1", "198.51.100.2", 18081
PYTHON = "/usr/bin/python3"
CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


def able():
    tools = all(shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") for name in ("ip", "iptables-save", "iptables-restore"))
    probe = "ip link add name one type veth peer name two && iptables -t nat -A POSTROUTING -j MASQUERADE && iptables -A FORWARD -m conntrack --ctstate RELATED -j ACCEPT"
    return os.geteuid() == 0 and tools and subprocess.run(["unshare", "-n", "sh", "-c", probe], capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(not able(), reason="needs root, iproute2, iptables, and a kernel with virtual Ethernet and NAT")

# Says to each visitor who it is. $1: the address, $2: the port, $3: a word.
SAY = r"""
import socket, sys
door = socket.create_server((sys.argv[1], int(sys.argv[2])))
open("listens", "w").write("yes\n")
while True:
    visitor, peer = door.accept()
    visitor.sendall(f"{sys.argv[3]} to {peer[0]}".encode())
    visitor.close()
"""
# What each ADDRESS:PORT says.
ASK = r"""
import socket, sys
for at in sys.argv[1:]:
    try:
        s = socket.create_connection(at.split(":"), timeout=3)
        print(s.recv(99).decode() or "nothing")
    except OSError:
        print("nobody")
"""
ADDRESS = r"""
import fcntl, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
print(socket.inet_ntoa(fcntl.ioctl(s, 0x8915, struct.pack("256s", b"eth0"))[20:24]))
"""


def run(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout


class World:
    """The machine outside, and what it says and asks."""

    def __init__(self, directory):
        self.dir = directory
        self.holder = subprocess.Popen(["unshare", "-n", "sleep", "1000"])
        self.inside = ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net"]
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.holder.pid}/ns/net") == own:
            assert self.holder.poll() is None
        run("ip", "link", "add", "up0", "type", "veth", "peer", "name", "up0", "netns", str(self.holder.pid))
        for inside, address in (([], NODE), (self.inside, OUTSIDE)):
            run(*inside, "ip", "link", "set", "lo", "up")
            run(*inside, "ip", "addr", "add", f"{address}/24", "dev", "up0")
            run(*inside, "ip", "link", "set", "up0", "up")
        self.said = [self.say("outside", *self.inside), self.say("node")]

    def say(self, word, *inside):
        """A program that listens at all addresses of the machine."""
        place = self.dir / word
        place.mkdir()
        program = subprocess.Popen([*inside, PYTHON, "-c", SAY, "", str(PORT), word], cwd=place)
        while not (place / "listens").exists():
            assert program.poll() is None
        return program

    def close(self):
        for program in (*self.said, self.holder):
            program.kill()
            program.wait(DEADLINE_S)


@pytest.fixture(name="world")
def fixture_world(tmp_path):
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    assert LIBC.unshare(CLONE_NEWNET) == 0
    try:
        world = World(tmp_path)
        yield world
        world.close()
    finally:
        assert LIBC.setns(home, CLONE_NEWNET) == 0
        os.close(home)


def forwarding(on):
    with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as file:
        file.write(on)


@pytest.fixture(name="site")
def fixture_site(world, weir):
    forwarding("1")
    site = weir("--slots", "8")
    site.weir("network", "create", "red", "--range", "10.77.0.0/24", "--outbound")
    site.weir("network", "create", "blue", "--range", "10.78.0.0/24", "--outbound")
    site.weir("network", "create", "shut", "--range", "10.79.0.0/24")
    return site


def ask(site, *places, **fields):
    task = site.submit(PYTHON, "-c", ASK, *[f"{place}:{PORT}" for place in places], **fields)
    assert site.wait(task)["state"] == "completed"
    return site.weir("logs", task).stdout.splitlines()


def ask_from_outside(world, *places):
    return run(*world.inside, PYTHON, "-c", ASK, *[f"{place}:{PORT}" for place in places]).splitlines()


def saying(site, word, **fields):
    """A task that listens in its network, and the address that it has there."""
    task = site.submit("sh", "-c", f'{PYTHON} -c "$1" > address; exec {PYTHON} -c "$2" "" {PORT} {word}', "-", ADDRESS, SAY, **fields)
    job_text(site, task, "listens")
    return task, job_text(site, task, "address")


def left():
    """What the node has of networks: devices and rules."""
    links = re.findall(r"\b(weir[0-9a-f]{8}|wtry\w+)", run("ip", "-o", "link"))
    return sorted(set(links)), [line for line in run("iptables-save").splitlines() if "weir" in line]


def test_a_network_with_a_way_out_is_closed_to_all_but_its_tasks(site, world):
    red, address = saying(site, "red", network="red")
    assert address.startswith("10.77.0.")
    # The outside sees the node's address. The node itself, and what says who a machine is in a cloud, answer nobody.
    run(*world.inside, "ip", "addr", "add", "169.254.169.254/32", "dev", "lo")
    run("ip", "route", "add", "169.254.169.254/32", "via", OUTSIDE)
    assert ask(site, OUTSIDE, NODE, "10.77.0.1", "169.254.169.254", network="red") == [f"outside to {NODE}", "nobody", "nobody", "nobody"]
    # Another task of the network reaches the first, at its address and at 127.0.0.1.
    assert ask(site, address, "127.0.0.1", network="red") == [f"red to {address}", "red to 127.0.0.1"]
    # Tasks of other networks reach nothing of it, and those of a network without a way out reach nobody.
    assert ask(site, address, OUTSIDE, network="blue") == ["nobody", f"outside to {NODE}"]
    assert ask(site, address, OUTSIDE, NODE, network="shut") == ["nobody"] * 3
    assert ask(site, address, OUTSIDE, network="isolated") == ["nobody"] * 2
    # Neither the node nor the outside reaches the task, though both know a way.
    assert ask(site, address, NODE) == ["nobody", f"node to {NODE}"]
    run(*world.inside, "ip", "route", "add", "10.77.0.0/24", "via", NODE)
    assert ask_from_outside(world, address, NODE) == ["nobody", f"node to {OUTSIDE}"]
    # Neither end has the other protocol, for which there are no rules.
    six = site.submit("cat", "/proc/net/if_inet6", network="red")
    site.wait(six)
    assert "eth0" not in site.weir("logs", six).stdout
    assert "weir" not in run("cat", "/proc/net/if_inet6")
    site.weir("task", "kill", red, "--yes")
    site.wait(red)
    site.wait_until(lambda: left() == ([], []), lambda: str(left()))


def test_a_task_that_was_moved_in_and_a_program_in_it_go_out_too(site, tmp_path):
    (tmp_path / "ask.py").write_text(ASK)
    done = site.weir("run", "--network", "red", "--upload", tmp_path, "--", PYTHON, "ask.py", f"{OUTSIDE}:{PORT}")
    assert done.stdout.strip().endswith(f"outside to {NODE}")
    task, _ = saying(site, "red", network="red")
    inside = site.weir("task", "exec", task, "--", PYTHON, "-c", ASK, f"{OUTSIDE}:{PORT}", f"{NODE}:{PORT}").stdout
    assert inside.split("\n")[:2] == [f"outside to {NODE}", "nobody"]


@pytest.mark.skipif(bool(MISSING), reason=f"needs {MISSING}")
@pytest.mark.parametrize("runtime", ["crun", "runc"])
def test_a_container_goes_out(world, weir, images, runtime):
    forwarding("1")
    site = weir("--slots", "4", "--runtime", runtime, "--image-dirs", str(images))
    site.weir("network", "create", "red", "--range", "10.77.0.0/24", "--outbound")
    _, address = saying(site, "red", network="red")
    fetch = "; ".join(f"busybox nc -w 3 {place} {PORT} || echo nobody; echo" for place in (OUTSIDE, NODE, address))
    done = site.weir("run", "--network", "red", "--image", f"dir:{images}/rootfs", "--", "sh", "-c", fetch)
    assert [line for line in done.stdout.splitlines() if line] == [f"outside to {NODE}", "nobody", f"red to {address}"]


@pytest.mark.parametrize("killed", ["agent", "supervisor"])
def test_nothing_is_left_after_a_kill(site, killed):
    red, _ = saying(site, "red", network="red", repeatable=False)
    links, rules = left()
    assert len(links) == 1 and len(rules) == 7
    if killed == "agent":  # the supervisor and the task go on, and so does the way out
        os.kill(site.pid_of("agent"), signal.SIGKILL)
        site.process.wait(DEADLINE_S)
        assert left() == (links, rules)
        site.start()
        assert ask(site, OUTSIDE, network="red") == [f"outside to {NODE}"]
        assert left() == (links, rules)
        site.weir("task", "kill", red, "--yes")
    else:
        os.kill(int((site.dir / "node/supervisor.lock").read_text()), signal.SIGKILL)
    site.wait(red)
    site.wait_until(lambda: left() == ([], []), lambda: str(left()))
    assert ask(site, OUTSIDE, network="red") == [f"outside to {NODE}"]  # and it is made again
    site.wait_until(lambda: left() == ([], []), lambda: str(left()))
    site.wait_until(lambda: not (site.dir / "node/outbound").exists(), "the supervisor to know that nothing is left")


def test_rules_of_others_stay(site):
    run("iptables", "-I", "FORWARD", "1", "-i", "weird0", "-j", "DROP")  # the name is no link's
    run("iptables", "-t", "nat", "-A", "POSTROUTING", "-s", "192.0.2.0/24", "-j", "MASQUERADE")
    before = left()
    assert len(before[1]) == 1 and ask(site, OUTSIDE, network="red") == [f"outside to {NODE}"]
    site.wait_until(lambda: left() == before, lambda: str(left()))
    assert "192.0.2.0/24" in run("iptables-save", "-t", "nat")


def test_two_nodes_of_a_machine_have_the_network_side_by_side(site, weir):
    other = weir("--slots", "4")
    other.weir("network", "create", "red", "--range", "10.77.0.0/24", "--outbound")
    _, first = saying(site, "one", network="red")
    _, second = saying(other, "two", network="red")
    assert (first, second) == ("10.77.0.2", "10.77.0.6")
    assert ask(site, first, second, OUTSIDE, network="red") == [f"one to {first}", "nobody", f"outside to {NODE}"]
    assert ask(other, first, second, OUTSIDE, network="red") == ["nobody", f"two to {second}", f"outside to {NODE}"]


def test_a_range_that_the_node_has_itself_is_named(site):
    site.weir("network", "create", "own", "--range", "198.51.0.0/16", "--outbound")
    task = site.submit("true", network="own")
    node = site.wait_until(lambda: next((n for n in site.api("GET", "nodes").json["items"] if "198.51.0.0/16" in str(n)), None), "the node to say why")
    assert "the node itself has addresses of the range 198.51.0.0/16, on up0" in str(node)
    site.weir("task", "kill", task, "--yes")
    assert left() == ([], [])


def test_a_node_that_forwards_nothing_says_so(world, weir):
    forwarding("0")
    site = weir("--slots", "2")
    labels = site.api("GET", "nodes").json["items"][0]["labels"]
    assert labels["networks"] == "yes" and "outbound" not in labels
    site.weir("network", "create", "red", "--range", "10.77.0.0/24", "--outbound")
    refused = site.api("POST", "tasks", {"command": ["true"], "network": "red"})
    assert refused.json["error"]["reason"]["code"] == "no-outbound"
    assert "net.ipv4.ip_forward is off" in site.log_text()
