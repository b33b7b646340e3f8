#!/usr/bin/env python3
"""The web interface of a large site: time and size of the answers that draw it, the pages in Chromium, and what open pages cost.

  bench/pages.py [--nodes N] [--devices D] [--waiting N] [--finished N] [--streams N] [--data DIR]

WEIR_BIN names the program, HISTORY_FILL the generator of ended tasks (bench/history.c). Nodes are scripts
(tests/api/server_process.py) that hold their streams open and say now and then that they live; the scheduler fills them. What a request costs the loop is its time
less that of GET /whoami, which costs the loop next to nothing. Without Chromium the pages are left out.
SPDX-License-Identifier: Apache-2.0
"""

import argparse
import concurrent.futures
import http.client
import json
import os
import pathlib
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "tests" / "harness"), str(ROOT / "tests" / "api")]

from server_process import FakeAgent, Server, Stream  # noqa: E402

THREADS = 16
CONFIG = "lost_after: 1d\npools: [{name: default}]\n"  # on a busy machine the scripts of thousands of nodes speak late
HEART_S = 12
HEARTS_A_WRITE = 50
TASKS_A_CALL = 1000
RUNS = 15
HOME_MS = 10  # the loop draws Home itself: the median of its time
ANSWER_BYTES = 200_000  # of every answer but the map
DRAWN_S = 1.5  # a page is drawn
SEEN_S = 1.0  # a change is seen
IDLE_PART = 0.10  # of a core, for all streams together
IDLE_S = 20
PATHS = ("whoami", "home", "map", "tasks?limit=100", "tasks?limit=100&state=failed", "tasks?limit=100&user=user7", "queue?limit=200",
         "nodes?limit=200", "timeline", "timeline?by=user", "usage?by=day", "usage?by=user", "quotas?limit=300", "pools?limit=200")


def agent(server, number, devices, hearts=None):
    node = FakeAgent(server, f"n{number:05}", slots=devices)
    node.capacity.update({"devices": devices, "gpu_memory": 80 << 30})
    node.join().connect()
    if hearts is not None:
        hearts.agents.append(node)
    return node


class Hearts(threading.Thread):
    """An empty report of each node each HEART_S, so that the server does not take the nodes for silent."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.agents, self.done = server, [], threading.Event()

    def request(self, node):
        node.batch += 1
        body = json.dumps({"epoch": node.epoch, "incarnation": node.incarnation, "batch": node.batch, "reports": []})
        return (f"POST /api/v1/agent/reports HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\nAuthorization: Bearer {node.credential}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode()

    def beat(self, wire, some):
        """Reports of some nodes on one connection; False: the server has closed the connection."""
        wire.sendall(b"".join(self.request(node) for node in some))
        heard = b""
        while heard.count(b"HTTP/1.1 ") < len(some):
            piece = wire.recv(1 << 16)
            if not piece:
                return False
            heard += piece
        return True

    def run(self):
        wire = None
        while not self.done.is_set():
            begin, agents = time.monotonic(), list(self.agents)
            for first in range(0, len(agents), HEARTS_A_WRITE):
                wire = wire or socket.create_connection(("127.0.0.1", self.server.port), timeout=60)
                if not self.beat(wire, agents[first:first + HEARTS_A_WRITE]):
                    wire = wire.close()
            self.done.wait(max(0.1, begin + HEART_S - time.monotonic()))
        if wire:
            wire.close()


def submit(server, count, task):
    for first in range(0, count, TASKS_A_CALL):
        server.submit([task] * min(TASKS_A_CALL, count - first))


def history(server, count):
    """Lets one task run, and stores its like `count` times while the server is away."""
    node = agent(server, 0, 1)
    [task] = server.submit({"command": ["python", "train.py", "--epochs", "10"], "name": "train", "resources": {"gpu": 1}})
    node.run_next(data=b"done\n")
    text = server.call("GET", f"tasks/{task}/wait?timeout=30").json
    node.close()
    assert text["state"] == "completed", text
    text.update(id="@ID", user="@USER", project="@PROJECT")
    server.stop()
    body = json.dumps(text, separators=(",", ":")).replace('"@ID"', "@ID")
    program = os.environ.get("HISTORY_FILL", ROOT / "build" / "bench" / "history_fill")
    subprocess.run([program, server.dir, str(count)], input=body, text=True, check=True)
    server.start()


class Reader:
    """One connection, as a browser keeps it."""

    def __init__(self, server):
        self.head = {"Authorization": f"Bearer {server.admin}"}
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)

    def get(self, path):
        """Seconds, and the bytes of the answer."""
        begin = time.monotonic()
        self.connection.request("GET", "/api/v1/" + path, headers=self.head)
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status == 200, (path, answer.status, body)
        return time.monotonic() - begin, body


def others_wait(server, path):
    """The longest answer to GET /whoami while `path` is answered again and again: how long others wait."""
    done, longest = threading.Event(), [0.0]

    def ask():
        reader = Reader(server)
        while not done.is_set():
            longest[0] = max(longest[0], reader.get("whoami")[0])

    thread = threading.Thread(target=ask)
    thread.start()
    reader = Reader(server)
    for _ in range(RUNS):
        reader.get(path)
    done.set()
    thread.join()
    return longest[0]


def told(fine, text):
    print(f"{'ok' if fine else 'SHORT':5} {text}", flush=True)
    return fine


def answers(server):
    """Prints the figures of the answers. True: every bar is reached."""
    reader, reached = Reader(server), True
    print("answers, least / median / most of", RUNS, flush=True)
    for path in PATHS:
        runs = [reader.get(path) for _ in range(RUNS)]
        times = sorted(seconds * 1000 for seconds, _ in runs)
        fine = (path != "home" or statistics.median(times) <= HOME_MS) and (path == "map" or len(runs[0][1]) <= ANSWER_BYTES)
        reached = told(fine, f"{path:28} {times[0]:8.2f} / {statistics.median(times):8.2f} / {times[-1]:8.2f} ms  {len(runs[0][1]):10,} bytes  "
                             f"others wait at most {others_wait(server, path) * 1000:8.2f} ms") and reached
    return reached


def pages(server):
    """Home and the map in Chromium, from the click on the address until they are drawn, and until a change is seen."""
    from playwright.sync_api import sync_playwright

    reached = True
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(viewport={"width": 1280, "height": 860})
        answer = context.request.post(server.url + "/api/v1/session", headers={"Authorization": f"Bearer {server.admin}", "X-Weir-Request": "1"})
        assert answer.status == 201, answer.text()
        sizes = {}
        for name, address, drawn in (("home", "/", "[data-pool=default]"), ("map", "/map", "canvas[data-drawn]:not([data-drawn='0'])")):
            took, cost = [], []
            for number in range(4):  # the first brings the files of the pages
                page = context.new_page()
                page.on("response", lambda r: "/api/v1/" in r.url and "/events" not in r.url and sizes.update({r.url.split("/api/v1/")[1]: int(r.headers.get("content-length", 0))}))
                begin, before = time.monotonic(), processors()
                page.goto(f"{server.url}/#{address}", wait_until="commit")
                page.wait_for_selector(drawn, timeout=60000)
                took.append(time.monotonic() - begin)
                cost.append(worked(before, processors()))
                if number < 3:
                    page.close()
            reached = told(min(took) <= DRAWN_S, f"{name} is drawn after {took[0]:.2f} s, then after {min(took[1:]):.2f} to {max(took[1:]):.2f} s; server and browser work for {min(cost):.2f} to {max(cost):.2f} s") and reached
            seen = [change_seen(server, page, name) for _ in range(5)]
            reached = told(statistics.median(seen) <= SEEN_S, f"{name}: a change is seen after {min(seen):.2f} / {statistics.median(seen):.2f} / {max(seen):.2f} s") and reached
            page.close()
        large = {path: size for path, size in sizes.items() if size > ANSWER_BYTES}
        reached = told(all(path.startswith("map") for path in large), f"answers above {ANSWER_BYTES:,} bytes: {large or 'none'}") and reached
        browser.close()
    return reached


def processors():
    """How long the server and each process of the browser have worked, in seconds: hardly more when others use the machine, too."""
    parents, spent_by = {}, {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
        parents[int(path.parent.name)] = int(fields[1])
        spent_by[int(path.parent.name)] = int(fields[11]) + int(fields[12])
    ours, below = os.getpid(), {}
    for pid, ticks in spent_by.items():
        above = parents[pid]
        while above not in (ours, 0) and above in parents:
            above = parents[above]
        if above == ours:
            below[pid] = ticks / os.sysconf("SC_CLK_TCK")
    return below


def worked(before, after):
    """Seconds between two answers of processors(); what has ended meanwhile is left out."""
    return sum(seconds - before.get(pid, 0) for pid, seconds in after.items())


def change_seen(server, page, name):
    """One more task waits: Home says so. One less runs: the map is drawn again."""
    reader = Reader(server)
    if name == "home":
        before = page.inner_text("[data-pool=default]")
        begin = time.monotonic()
        server.submit({"command": ["x"], "resources": {"gpu": 1}})
        page.wait_for_function("t => document.querySelector('[data-pool=default]').innerText !== t", arg=before, polling=20)
        return time.monotonic() - begin
    node = json.loads(reader.get("nodes?limit=1")[1])["items"][0]
    before = page.get_attribute("canvas", "data-drawn")
    begin = time.monotonic()
    answer = server.call("PATCH", f"nodes/{node['name']}", {"draining": not node["draining"]})
    assert answer.status == 200, answer.body
    page.wait_for_function("d => document.querySelector('canvas').dataset.drawn !== d", arg=before, polling=20)
    return time.monotonic() - begin


def spent(server):
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def streams(server, count):
    """What the server spends while nothing changes, without and with open event streams."""
    def idle():
        before = spent(server)
        time.sleep(IDLE_S)
        return (spent(server) - before) / IDLE_S

    alone = idle()
    opened = [Stream(server, "GET", "events", None, server.admin) for _ in range(count)]
    together = idle()
    for stream in opened:
        stream.close()
    return told(together - alone <= IDLE_PART, f"{count} event streams while nothing changes: {100 * together:.2f} % of a core, {100 * alone:.2f} % without them")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--waiting", type=int, default=10000)
    parser.add_argument("--finished", type=int, default=0)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--data", type=pathlib.Path, help="go on with this data directory, which is kept: filling one with ended tasks takes long")
    words = parser.parse_args()
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, soft))
    server = Server(CONFIG)
    server.dir = words.data or server.dir
    server.start()
    try:
        begin = time.monotonic()
        if words.finished and not words.data:
            history(server, words.finished)
            print(f"{words.finished:,} ended tasks after {time.monotonic() - begin:.1f} s", flush=True)
        there = json.loads(Reader(server).get("home")[1])["pools"][0]
        submit(server, words.nodes * words.devices + words.waiting - there["waiting"] - there["running"], {"command": ["x"], "resources": {"gpu": 1}})
        print(f"the tasks are submitted after {time.monotonic() - begin:.1f} s", flush=True)
        hearts = Hearts(server)
        hearts.start()
        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            agents = list(pool.map(lambda n: agent(server, n, words.devices, hearts), range(words.nodes)))
        print(f"{words.nodes:,} nodes after {time.monotonic() - begin:.1f} s", flush=True)
        while (home := json.loads(Reader(server).get("home")[1])["pools"][0])["slots"]["used"] < 0.99 * words.nodes * words.devices:  # a node may be draining
            time.sleep(0.5)
        print(f"{home['nodes']['up']:,} nodes up, {home['slots']['used']:,} of {home['slots']['total']:,} slots used, {home['waiting']:,} tasks wait; after {time.monotonic() - begin:.1f} s", flush=True)
        reached = streams(server, words.streams)
        reached = answers(server) and reached
        if shutil.which("chromium"):
            reached = pages(server) and reached
        hearts.done.set()
        hearts.join()
        for one in agents:
            one.close()
        return 0 if reached else 1
    finally:
        server.close()


sys.exit(main())
