"""A `weir server` of its own for API tests, and an agent that is only a script: what a node says is then
under the test's control. SPDX-License-Identifier: Apache-2.0
"""

import base64
import hashlib
import http.client
import json
import os
import pathlib
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.parse

from weir_harness import DEADLINE_S, Answer, free_port, weir_bin


class Server:
    """One data directory and the server on it."""

    def __init__(self, config=None, files=None):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="weir-api-"))
        self.dir = self.root / "data"
        self.config = config
        self.files = files  # at most so many open files
        self.process = None
        self.port = free_port()

    def start(self):
        read_fd, write_fd = os.pipe()
        command = [weir_bin(), "server", "--dir", str(self.dir), "--listen", f"127.0.0.1:{self.port}"]
        if self.config is not None:
            path = self.root / "server.yaml"
            path.write_text(self.config)
            command += ["--config", str(path)]
        with open(self.root / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                [*command, "--ready-fd", str(write_fd)],
                preexec_fn=self.files and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (self.files, self.files))),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[write_fd],
            )
        os.close(write_fd)
        ready = select.select([read_fd], [], [], DEADLINE_S)[0]
        line = os.read(read_fd, 4096).decode() if ready else ""
        os.close(read_fd)
        assert line.startswith("http://"), f"not ready: {line!r}\n{self.log()}"
        self.url = line.strip()
        self.port = urllib.parse.urlsplit(self.url).port
        return self

    def log(self):
        return (self.root / "server.log").read_text()

    def stop(self, sig=signal.SIGTERM):
        if self.process is None:
            return None
        self.process.send_signal(sig)
        code = self.process.wait(timeout=DEADLINE_S)
        self.process = None
        return code

    def close(self):
        """Every server must be able to stop cleanly, whatever the test left open."""
        try:
            code = self.stop()
            assert code in (None, 0), f"exit status {code}\n{self.log()}"
        finally:
            if self.process is not None:
                self.process.kill()
                self.process.wait()
            shutil.rmtree(self.root, ignore_errors=True)

    @property
    def admin(self):
        return (self.dir / "admin.token").read_text().strip()

    @property
    def join_token(self):
        return (self.dir / "join.token").read_text().strip()

    def call(self, method, path, body=None, token=None, headers=None, raw=False):
        """One call on a connection of its own. `token` "" sends none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)
        head = dict(headers or {})
        token = self.admin if token is None else token
        if token:
            head.setdefault("Authorization", f"Bearer {token}")
        data = body if raw or body is None else json.dumps(body)
        target = path if path.startswith("/") else "/api/v1/" + path
        try:
            connection.request(method, target, body=data, headers=head)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def get(self, path, **options):
        answer = self.call("GET", path, **options)
        assert answer.status == 200, (path, answer.status, answer.body)
        return answer.json

    def submit(self, task=None, **headers):
        """Submits one task or a list; the ids."""
        answer = self.call("POST", "tasks", task or {"command": ["true"]}, headers=headers)
        assert answer.status == 201, answer.body
        return [t["id"] for t in answer.json["tasks"]]

    def stream(self, path, token=None):
        return Stream(self, "GET", path, None, token or self.admin)


class Stream:
    """An answer that does not end, line by line."""

    def __init__(self, server, method, path, body, token, headers=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE_S)
        head = {"Authorization": f"Bearer {token}", **(headers or {})}
        self.connection.request(method, "/api/v1/" + path, body=body, headers=head)
        self.response = self.connection.getresponse()
        self.status = self.response.status

    def line(self):
        """The next line without its end; None when the stream has ended."""
        line = self.response.readline()
        return line.decode().rstrip("\n") if line else None

    def lines_until(self, found):
        """Lines up to the first for which found(line) holds, that one included."""
        deadline = time.monotonic() + DEADLINE_S
        lines = []
        while time.monotonic() < deadline:
            line = self.line()
            assert line is not None, f"ended after {lines}"
            lines.append(line)
            if found(line):
                return lines
        raise AssertionError(f"not seen in {lines}")

    def event(self):
        """The next event of an event stream: (id, type, data)."""
        fields = {}
        while True:
            line = self.line()
            if line is None:
                return None
            if line == "" and fields:
                return fields.get("id"), fields.get("event"), json.loads(fields["data"])
            if line and not line.startswith(":"):
                key, value = line.split(": ", 1)
                fields[key] = value

    def close(self):
        self.connection.close()


class FakeAgent:
    """Says hello, hears orders, reports what the test wants."""

    def __init__(self, server, name="n1", slots=2, supervisor=None, **resources):
        self.server = server
        self.name = name
        self.supervisor = supervisor or os.urandom(16).hex()
        self.capacity = {
            "slots": slots,
            "cpu": 4,
            "memory": 8 << 30,
            "devices": 0,
            "gpu_memory": 0,
            "resources": resources,
        }
        self.machine = hashlib.md5(name.encode()).hexdigest()  # each name has a machine of its own
        self.batch = 0
        self.stream = None

    def join(self):
        answer = self.server.call(
            "POST", "agent/join", {"name": self.name, "pool": "default", "machine": self.machine}, token=self.server.join_token
        )
        assert answer.status == 201, answer.body
        self.credential = answer.json["credential"]
        return self

    def hello(self, **changes):
        return {
            "type": "hello",
            "protocol_min": 1,
            "protocol_max": 1,
            "build": "0.1.0",
            "name": self.name,
            "pool": "default",
            "boot_id": "boot",
            "supervisor": self.supervisor,
            "epoch_seen": 0,
            "address": "127.0.0.1",
            "labels": {},
            "stop_after_ms": 0,
            "capacity": self.capacity,
            "attempts": [],
            **changes,
        }

    def connect(self, **changes):
        body = json.dumps(self.hello(**changes))
        self.stream = Stream(self.server, "POST", "agent/stream", body, self.credential)
        assert self.stream.status == 200, self.stream.response.read()
        welcome = self.order()
        assert welcome["type"] == "welcome"
        self.epoch = welcome["epoch"]
        self.incarnation = welcome["incarnation"]
        return self

    def order(self):
        """The next order that is not a ping; None at the end."""
        while True:
            line = self.stream.line()
            if line is None:
                return None
            order = json.loads(line)
            if order["type"] != "ping":
                return order

    def report(self, *reports, **changes):
        self.batch += 1
        body = {
            "epoch": self.epoch,
            "incarnation": self.incarnation,
            "batch": self.batch,
            "reports": list(reports),
            **changes,
        }
        return self.server.call("POST", "agent/reports", body, token=self.credential)

    def started(self, key):
        return {"type": "started", "key": key, "at_ms": 1, "pid": 1}

    def ended(self, key, code=0, out=0, err=0):
        return {
            "type": "ended",
            "key": key,
            "at_ms": 2,
            "exit_code": code,
            "out_bytes": out,
            "err_bytes": err,
            "cpu_ms": 1,
            "memory_peak": 1,
        }

    def output(self, key, data, offset=0, stream=1):
        coded = base64.b64encode(data).decode()
        return {"type": "output", "key": key, "stream": stream, "offset": offset, "data": coded}

    def run_next(self, code=0, data=b""):
        """Takes the next start order and reports it started, its output, and its end. The key."""
        order = self.order()
        assert order["type"] == "start", order
        key = order["key"]
        reports = [self.started(key)]
        if data:
            reports.append(self.output(key, data))
        answer = self.report(*reports, self.ended(key, code, out=len(data)))
        assert (answer.status, answer.json) == (200, {"acked": True}), answer.body
        return key

    def close(self):
        if self.stream is not None:
            self.stream.close()
