#!/usr/bin/python3
"""Instructions of the server for each task, counted by callgrind: hardly moved by other work on the machine, so that two builds can be compared.

  bench/instructions.py [PROGRAM …]      default: ./weir

  one      a task a request, one connection      many     the same over 64 connections
  batch    1,000 tasks a request                 run      no-op tasks on one node, from the submission to the recorded end

Work of the kernel is not in the figures. `rep stosb`, by which libc clears memory, counts as one instruction a byte.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TASK = {"command": ["/bin/true"], "resources": {"slots": 1}}
WAIT_S = 300


class Counted:
    """A server under callgrind."""

    def __init__(self, program):
        self.program = program
        self.dir = tempfile.mkdtemp(prefix="weir-bench-")
        os.chmod(self.dir, 0o711)
        self.out = os.path.join(self.dir, "callgrind")
        self.log = open(os.path.join(self.dir, "log"), "wb")
        ready, write = os.pipe()
        self.server = subprocess.Popen(
            ["valgrind", "--tool=callgrind", "-q", f"--callgrind-out-file={self.out}", "--instr-atstart=no", program, "server",
             "--dir", os.path.join(self.dir, "data"), "--listen", "127.0.0.1:0", "--ready-fd", str(write)], pass_fds=[write], stderr=self.log)
        os.close(write)
        with os.fdopen(ready) as file:
            self.url = file.readline().strip()
        self.port = int(self.url.rsplit(":", 1)[1])
        with open(os.path.join(self.dir, "data", "admin.token"), encoding="ascii") as file:
            self.token = file.read().strip()
        self.connections = [self.connect()]

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)

    def send(self, connection, method, path, body=""):
        connection.sendall(f"{method} /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: application/json\r\n"
                           f"Authorization: Bearer {self.token}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

    @staticmethod
    def answer(connection):
        text = b""
        while b"\r\n\r\n" not in text:
            text += connection.recv(1 << 16)
        head, body = text.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 2"):
            raise SystemExit(f"instructions: {text[:300]!r}")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += connection.recv(1 << 16)
        return json.loads(body)

    def call(self, method, path, body=""):
        self.send(self.connections[0], method, path, body)
        return self.answer(self.connections[0])

    def count(self, on):
        subprocess.run(["callgrind_control", "-i", "on" if on else "off", str(self.server.pid)], check=True, capture_output=True)

    def counted(self, work, tasks):
        """Instructions of `work` for each of its tasks. The server ends then."""
        self.count(True)
        work()
        self.count(False)
        self.server.terminate()
        self.server.wait()
        with open(self.out, encoding="utf-8") as file:
            total = [line for line in file if line.startswith(("totals:", "summary:"))][-1]
        return int(total.split()[1]) / tasks

    def remove(self):
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def submitted(program, connections, size, times):
    weir = Counted(program)
    weir.connections += [weir.connect() for _ in range(connections - 1)]
    body = json.dumps([TASK] * size if size > 1 else TASK)

    def submit(count):
        for _ in range(count):
            for connection in weir.connections:
                weir.send(connection, "POST", "/tasks", body)
            for connection in weir.connections:
                weir.answer(connection)

    submit(2)
    figure = weir.counted(lambda: submit(times), times * connections * size)
    weir.remove()
    return figure


def wait_until(condition):
    end = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("instructions: waited too long")
        time.sleep(0.3)


def run(program, count):
    weir = Counted(program)
    node = os.path.join(weir.dir, "n1")
    agent = subprocess.Popen([program, "agent", "--dir", node, "--name", "n1", "--server", weir.url, "--pool", "default", "--slots", "64",
                              "--join-token-file", os.path.join(weir.dir, "data", "join.token")], stderr=weir.log)
    wait_until(lambda: any(node["state"] == "up" for node in weir.call("GET", "/nodes")["items"]))

    def go(tasks):
        done = weir.call("GET", "/status")["tasks"].get("completed", 0) + tasks
        weir.call("POST", "/tasks", json.dumps([TASK] * tasks))
        wait_until(lambda: weir.call("GET", "/status")["tasks"].get("completed", 0) >= done)

    go(100)
    with open(os.path.join(node, "supervisor.lock"), encoding="ascii") as file:
        supervisor = int(file.read())
    figure = weir.counted(lambda: go(count), count)
    agent.terminate()
    agent.wait()
    ended = os.pidfd_open(supervisor)
    os.kill(supervisor, signal.SIGTERM)
    select.select([ended], [], [], WAIT_S)
    os.close(ended)
    weir.remove()
    return figure


MODES = {"one": lambda program: submitted(program, 1, 1, 400), "many": lambda program: submitted(program, 64, 1, 20),
         "batch": lambda program: submitted(program, 1, 1000, 5), "run": lambda program: run(program, 1500)}


def main():
    programs = [os.path.abspath(program) for program in sys.argv[1:]] or [os.path.join(ROOT, "weir")]
    for mode, count in MODES.items():
        figures = [count(program) for program in programs]
        rows = [f"{figure:10,.0f} ({figure / figures[0]:.3f} x)" for figure in figures]
        print(f"{mode:6} instructions a task {' '.join(rows)}", flush=True)


if __name__ == "__main__":
    main()
