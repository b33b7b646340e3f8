#!/usr/bin/env python3
"""Time and size of the answers that draw the web interface, from a server with many nodes and tasks.

  bench/pages.py [--nodes N] [--devices D] [--waiting N]        WEIR_BIN names the program

Nodes are scripts (tests/api/server_process.py) that hold their streams open; the scheduler fills them. What a request
costs the loop is its time less that of GET /whoami, which costs the loop next to nothing. SPDX-License-Identifier: Apache-2.0
"""

import argparse
import concurrent.futures
import http.client
import json
import pathlib
import resource
import statistics
import sys
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parents[1] / "tests"
sys.path += [str(TESTS / "harness"), str(TESTS / "api")]

from server_process import FakeAgent, Server  # noqa: E402

THREADS = 16
TASKS_A_CALL = 1000
RUNS = 15
HOME_MS = 10  # the loop draws Home itself: the median of its time
ANSWER_BYTES = 200_000  # of every answer but the map


def agent(server, number, devices):
    node = FakeAgent(server, f"n{number:05}", slots=devices)
    node.capacity.update({"devices": devices, "gpu_memory": 80 << 30})
    return node.join().connect()


def submit(server, count, task):
    for first in range(0, count, TASKS_A_CALL):
        server.submit([task] * min(TASKS_A_CALL, count - first))


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


def figures(server):
    """Prints the figures. True: every bar is reached."""
    reader, reached = Reader(server), True
    for path in ("whoami", "home", "map", "timeline", "usage?by=day", "quotas?limit=1000", "pools"):
        runs = [reader.get(path) for _ in range(RUNS)]
        times = sorted(seconds * 1000 for seconds, _ in runs)
        fine = (path != "home" or statistics.median(times) <= HOME_MS) and (path == "map" or len(runs[0][1]) <= ANSWER_BYTES)
        reached = reached and fine
        print(f"{'ok' if fine else 'SHORT':5} {path:20} {times[0]:8.2f} / {statistics.median(times):8.2f} / {times[-1]:8.2f} ms  {len(runs[0][1]):10,} bytes  others wait at most {others_wait(server, path) * 1000:8.2f} ms", flush=True)
    return reached


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--waiting", type=int, default=10000)
    words = parser.parse_args()
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, soft))
    server = Server().start()
    try:
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            agents = list(pool.map(lambda n: agent(server, n, words.devices), range(words.nodes)))
        print(f"{words.nodes} nodes after {time.monotonic() - begin:.1f} s", flush=True)
        submit(server, words.nodes * words.devices, {"command": ["x"], "resources": {"gpu": 1}})
        submit(server, words.waiting, {"command": ["x"], "resources": {"gpu": 1}})
        home = json.loads(Reader(server).get("home")[1])["pools"][0]
        print(f"{home['nodes']['up']} nodes up, {home['slots']['used']} of {home['slots']['total']} slots used, {home['waiting']} tasks wait; after {time.monotonic() - begin:.1f} s", flush=True)
        print("least / median / most of", RUNS, flush=True)
        reached = figures(server)
        for one in agents:
            one.close()
        return 0 if reached else 1
    finally:
        server.close()


sys.exit(main())
