"""Networks of tasks: who reaches whom, as the tasks themselves saw it. SPDX-License-Identifier: Apache-2.0"""

import os
import pathlib
import re
import signal
import socket
import subprocess

import pytest
from test_containers import MISSING, fixture_images  # noqa: F401 - the fixture `images`
from test_ports import PAGE, get, job_text

# A page of the task's number on the port of $1; the answer of such a page, or why there is none.
LISTEN = 'exec /usr/bin/python3 -c "$1" $WEIR_TASK_ID $2'
ASK = """
import socket, sys, urllib.request
try:
    print(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/", timeout=5).read().decode())
except OSError as e:
    print("nobody")
"""
SEES = "import os, socket; print(os.readlink('/proc/self/ns/net'), sorted(n for _, n in socket.if_nameindex()), flush=True)"
PYTHON = "/usr/bin/python3"
PORT = 18081


def able():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(not able(), reason="needs root, and a kernel that lets root make networks")


@pytest.fixture(name="site")
def fixture_site(weir):
    site = weir("--slots", "8")
    for name in ("red", "blue"):
        site.weir("project", "create", name)
    return site


def listening(site, **fields):
    """A task with a page on PORT."""
    task = site.submit("sh", "-c", LISTEN, "-", PAGE, str(PORT), **fields)
    site.wait_until(lambda: ask(site, **fields) == str(task), f"the page of task {task}")
    return task


def ask(site, **fields):
    """What a task with these fields got from the page on PORT."""
    task = site.submit(PYTHON, "-c", ASK, str(PORT), **fields)
    assert site.wait(task)["state"] == "completed"
    return site.weir("logs", task).stdout.strip()


def networks():
    """The networks that some process is in or holds open."""
    found = set()
    for proc in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            found.add(os.readlink(proc / "ns/net"))
            found |= {os.readlink(fd) for fd in (proc / "fd").iterdir()}
        except OSError:
            pass
    return found


def staying(site, **fields):
    """A task that stays, and the network that it is in."""
    task = site.submit("sh", "-c", f'{PYTHON} -c "$1" > seen; exec sleep 600', "-", SEES, **fields)
    return task, re.match(r"net:\[\d+\]", job_text(site, task, "seen")).group(0)


def test_tasks_of_a_project_reach_each_other_and_nobody_else_does(site):
    red = listening(site, project="red", network="isolated")
    blue = listening(site, project="blue", network="isolated")  # the same port, in another network
    assert ask(site, project="red", network="isolated") == str(red)
    assert ask(site, project="blue", network="isolated") == str(blue)
    assert ask(site, project="red") == "nobody"  # from the node's own network
    assert ask(site, network="isolated") == "nobody"  # from a third project
    site.weir("task", "kill", red, "--yes")
    site.wait(red)
    assert ask(site, project="red", network="isolated") == "nobody"


def test_a_named_network_is_shared_by_projects_and_pools(site):
    site.weir("network", "create", "lab", "--range", "10.77.0.0/24")
    red = listening(site, project="red", network="lab")
    assert ask(site, project="blue", network="lab") == str(red)
    assert ask(site, project="red", network="isolated") == "nobody"
    site.weir("pool", "edit", "default", "--network", "lab")
    assert ask(site, project="blue") == str(red)


def test_by_user_the_projects_of_a_user_share_a_network(weir):
    site = weir("--slots", "8", "--isolate-by", "user")
    site.weir("project", "create", "red")
    red = listening(site, project="red", network="isolated")
    assert ask(site, network="isolated") == str(red)


def test_a_task_and_a_program_inside_it_see_only_their_network(site):
    own = os.readlink("/proc/self/ns/net")
    task, inside = staying(site, network="isolated")
    assert inside != own
    seen = site.weir("task", "exec", task, "--", PYTHON, "-c", SEES).stdout.strip()
    assert seen == f"{inside} ['lo']"
    assert own in ask_sees(site)


def ask_sees(site):
    task = site.submit(PYTHON, "-c", SEES)
    site.wait(task)
    return site.weir("logs", task).stdout


def test_a_page_of_a_task_in_a_network_answers_through_the_server(site):
    task = site.submit("sh", "-c", f'exec {PYTHON} -c "$1" right $WEIR_PORT', "-", PAGE, network="isolated")
    site.wait_until(lambda: get(site, task) == (200, "right"), lambda: str(get(site, task)))


def test_an_upload_is_fetched_and_its_task_is_in_the_network(site, tmp_path):
    (tmp_path / "sees.py").write_text(SEES)
    done = site.weir("run", "--network", "isolated", "--upload", tmp_path, "--", PYTHON, "sees.py")
    assert done.stdout.strip().endswith("['lo']")
    assert os.readlink("/proc/self/ns/net") not in done.stdout


def test_a_gang_on_one_node_meets_in_its_network(site):
    meet = """
import os, socket
at = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if os.environ["WEIR_RANK"] == "0":
    s = socket.create_server(at)
    c, _ = s.accept()
    print("met", c.recv(9).decode())
else:
    import time
    for _ in range(600):
        try:
            socket.create_connection(at).sendall(b"rank 1")
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
"""
    task = site.submit(PYTHON, "-c", meet, network="isolated", instances=2, gang=True)
    assert site.wait(task)["state"] == "completed"
    assert "met rank 1" in site.weir("logs", task).stdout


@pytest.mark.parametrize("killed", ["nobody", "agent", "supervisor"])
def test_nothing_is_left_of_a_network(site, killed):
    """The kernel removes a network that nobody is in: no one has to clean up."""
    task, inside = staying(site, network="isolated", repeatable=False)
    other, same = staying(site, network="isolated", repeatable=False)
    assert same == inside and inside in networks()
    if killed == "agent":  # `weir up` ends with it, the supervisor and the tasks stay
        os.kill(site.pid_of("agent"), signal.SIGKILL)
        site.process.wait(60)
        assert inside in networks()
        site.start()
    if killed == "supervisor":
        os.kill(int((site.dir / "node/supervisor.lock").read_text()), signal.SIGKILL)
        assert {site.wait(task)["state"], site.wait(other)["state"]} == {"unknown"}
    else:
        site.weir("task", "kill", task, "--yes")
        site.wait(task)
        assert inside in networks()
        site.weir("task", "kill", other, "--yes")
        site.wait(other)
    site.wait_until(lambda: inside not in networks(), f"{inside} to go")


def test_a_node_that_makes_no_networks_starts_no_task_in_the_wrong_one(weir):
    site = weir("--slots", "2", user=65534)
    assert "networks" not in site.api("GET", "nodes").json["items"][0]["labels"]
    refused = site.api("POST", "tasks", {"command": ["true"], "network": "isolated"})
    assert refused.json["error"]["reason"]["code"] == "no-network"
    assert "makes networks of their own" in refused.json["error"]["message"]


# A container that answers with the task's number on PORT, and one that asks there.
SERVE = f"echo $WEIR_TASK_ID > index.html; exec busybox httpd -f -p {PORT} -h /weir/job"
FETCH = f"""
printf 'GET / HTTP/1.0\\r\\n\\r\\n' | busybox nc -w 5 127.0.0.1 {PORT} > got || echo nobody > got
busybox tail -n 1 got; echo
busybox tail -n +3 /proc/net/dev
"""


def fetch(site, **fields):
    """What a container with these fields got from PORT, and the network devices that it sees."""
    task = site.submit("sh", "-c", FETCH, **fields)
    assert site.wait(task)["state"] == "completed"
    answer, *devices = filter(None, site.weir("logs", task).stdout.splitlines())
    return answer, [line.split(":")[0].strip() for line in devices]


@pytest.mark.skipif(bool(MISSING), reason=f"needs {MISSING}")
@pytest.mark.parametrize("runtime", ["crun", "runc"])
def test_a_container_is_in_the_network_of_its_project(weir, images, runtime):
    site = weir("--slots", "8", "--runtime", runtime, "--image-dirs", str(images))
    for name in ("red", "blue"):
        site.weir("project", "create", name)
    image = f"dir:{images}/rootfs"
    red = site.submit("sh", "-c", SERVE, project="red", network="isolated", image=image)
    own = {"project": "red", "network": "isolated"}
    site.wait_until(lambda: ask(site, **own) == str(red), f"the page of container {red}")  # a plain task of the project
    assert fetch(site, image=image, **own) == (str(red), ["lo"])
    assert fetch(site, image=image, project="blue", network="isolated") == ("nobody", ["lo"])
    assert ask(site, project="blue", network="isolated") == "nobody"
    answer, devices = fetch(site, image=image, project="red")  # from the node's own network
    assert answer == "nobody" and set(devices) == {name for _, name in socket.if_nameindex()}
    inside = site.weir("task", "exec", red, "--", PYTHON, "-c", SEES).stdout  # a program of the node, in the container's network
    assert inside.strip().endswith("['lo']")
    page = listening(site, project="blue", network="isolated")  # blue has the same port to itself
    assert fetch(site, image=image, project="blue", network="isolated") == (str(page), ["lo"])
    assert fetch(site, image=image, **own) == (str(red), ["lo"])
