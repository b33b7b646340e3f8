"""A real `weir up` for tests: started on its own directory, stopped by process id.

SPDX-License-Identifier: Apache-2.0
"""

import fcntl
import http.client
import json
import os
import pathlib
import pty
import random
import select
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import termios
import time
import urllib.parse

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
SUPERVISOR_S = 20  # it gives its tasks ten seconds
DEADLINE_S = float(os.environ.get("WEIR_TEST_DEADLINE", "60"))


def weir_bin():
    """The program under test: $WEIR_BIN, else ./weir of the repository."""
    return os.path.abspath(os.environ.get("WEIR_BIN") or REPOSITORY / "weir")


def supervisor_fd(lock):
    """A descriptor of the supervisor that holds this lock; None: nobody does. Its number alone may be somebody else's by now."""
    try:
        pid = int(lock.read_text())
        fd = os.pidfd_open(pid)
    except (OSError, ValueError):
        return None
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        words = []
    if b"supervisor" in words and os.fsencode(lock.parent) in words:
        return fd
    os.close(fd)
    return None


def supervisors_end(root):
    """Ends the supervisors below a directory and what they still run: they outlive `weir up` on purpose, but not the test."""
    fds = [fd for fd in map(supervisor_fd, root.rglob("supervisor.lock")) if fd is not None]
    for fd in fds:
        signal.pidfd_send_signal(fd, signal.SIGTERM)
    for fd in fds:
        if not select.select([fd], [], [], SUPERVISOR_S)[0]:
            signal.pidfd_send_signal(fd, signal.SIGKILL)
            select.select([fd], [], [])
        os.close(fd)


def free_port():
    """A port that is free, and below the ports which the kernel gives to connections: it stays free while a server is down."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as ranges:
        end = int(ranges.read().split()[0])
    while True:
        port = random.randrange(10000, max(end, 20000))
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Answer:
    """What the API said: status, headers, bytes, and the JSON where it is one."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)


class Weir:
    """One data directory, and the `weir up` that serves it."""

    def __init__(self, args=(), base=None, env=None, user=None):
        # Tasks run as another user when the tests run as root: they must be able to enter.
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="weir-test-", dir=base))
        self.root.chmod(0o711)
        self.dir = self.root / "data"
        self.home = self.root / "home"
        self.home.mkdir()
        self.as_user = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        for path in [self.root, self.home] if user is not None else []:
            os.chown(path, user, user)
        self.args = list(args)
        self.extra_env = dict(env or {})
        self.process = None
        self.url = None
        self.port = free_port()

    # ---- life ----

    def start(self, args=None, port=None):
        """Starts `weir up` and waits for its ready line. A restart takes the port it had."""
        if self.process is not None and self.process.poll() is None:
            raise AssertionError("weir up is running already")
        port = self.port if port is None else port
        command = [weir_bin(), "up", "--dir", str(self.dir), "--port", str(port)]
        command += self.args if args is None else list(args)
        self.log = open(self.root / "up.log", "ab")
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=self.env(),
            cwd=self.root,
            start_new_session=True,
            **self.as_user,
        )
        line = self._first_line()
        if not line.startswith(("ready http://", "ready https://")):
            self.kill()
            raise AssertionError(f"weir up said {line!r}; its log:\n{self.log_text()}")
        self.url = line.split()[1]
        self.port = urllib.parse.urlsplit(self.url).port
        return self

    def _first_line(self):
        deadline = time.monotonic() + DEADLINE_S
        data = b""
        fd = self.process.stdout.fileno()
        while b"\n" not in data:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([fd], [], [], left)[0]:
                break
            piece = os.read(fd, 4096)
            if not piece:
                break
            data += piece
        return data.decode(errors="replace").split("\n")[0]

    def stop(self, sig=signal.SIGTERM):
        """Ends `weir up` (the tasks go on) and returns its exit status."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(sig)
        code = self.process.wait(timeout=DEADLINE_S)
        self.process.stdout.close()
        self.log.close()
        self.process = None
        return code

    def kill(self):
        """kill -9 of `weir up`; server and agent follow it by themselves."""
        return self.stop(signal.SIGKILL)

    def close(self):
        """Ends tasks, `weir up` and supervisors, and removes the directory."""
        try:
            if self.process is not None and self.process.poll() is None:
                self.tasks_end()
            self.stop()
        finally:
            if self.process is not None:
                self.process.kill()
                self.process.wait()
            supervisors_end(self.root)
            shutil.rmtree(self.root, ignore_errors=True)

    def tasks_end(self):
        """The last thing asked of a server that runs."""
        self.weir("down", "--dir", str(self.dir), "--stop-tasks", "--yes", check=False)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    # ---- its command line ----

    def env(self, **more):
        """The environment of its commands: nothing of the caller's Weir shines through."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("WEIR_")}
        env.update(
            HOME=str(self.home),
            WEIR_CONFIG_HOME=str(self.root / "config"),
            LC_ALL="C.UTF-8",
            TZ="UTC",
        )
        env.pop("NO_COLOR", None)
        env.update(self.extra_env)
        env.update(more)
        return env

    def weir(self, *args, check=True, input=None, env=None, timeout=None, cwd=None):
        """Runs `weir ARGS…`; a text result. `check`: a status other than 0 fails the test."""
        result = subprocess.run(
            [weir_bin(), *map(str, args)],
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            text=True,
            env=self.env(**(env or {})),
            timeout=timeout or DEADLINE_S,
            cwd=cwd or self.root,
        )
        if check and result.returncode != 0:
            raise AssertionError(
                f"weir {' '.join(map(str, args))} exited {result.returncode}\n"
                f"stdout: {result.stdout}\nstderr: {result.stderr}"
            )
        return result

    def weir_json(self, *args, **options):
        """The JSON that `weir ARGS… --json` prints."""
        return json.loads(self.weir(*args, "--json", **options).stdout)

    def spawn(self, *args, env=None, **options):
        """Starts `weir ARGS…` with pipes and leaves it running."""
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(
            [weir_bin(), *map(str, args)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env(**(env or {})),
            cwd=self.root,
            **options,
        )

    def terminal(self, *args, columns=80, rows=24, env=None):
        """Starts `weir ARGS…` on a terminal of its own."""
        return Terminal([weir_bin(), *map(str, args)], self.env(**(env or {})), self.root, columns, rows)

    # ---- its API ----

    @property
    def token(self):
        return (self.dir / "admin.token").read_text().strip()

    def connection(self):
        """A connection to the server, by TLS where the server speaks it."""
        if not self.url.startswith("https:"):
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)
        context = ssl.create_default_context(cafile=self.dir / "tls/server-ca.pem")
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=DEADLINE_S, context=context)

    def api(self, method, path, body=None, token=None, headers=None):
        """One call of /api/v1 (or of `path` as it is when it starts with a slash)."""
        target = path if path.startswith("/") else "/api/v1/" + path
        connection = self.connection()
        head = {"Authorization": f"Bearer {self.token if token is None else token}"}
        if token == "":
            head = {}
        head.update(headers or {})
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            head.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, target, body=body, headers=head)
            reply = connection.getresponse()
            return Answer(reply.status, dict(reply.headers), reply.read())
        finally:
            connection.close()

    def submit(self, *command, **fields):
        """Submits one task by the API and returns its id."""
        task = {"command": list(command), **fields}
        answer = self.api("POST", "tasks", task)
        assert answer.status == 201, (answer.status, answer.body)
        return answer.json["tasks"][0]["id"]

    def task(self, task):
        answer = self.api("GET", f"tasks/{task}")
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json

    def wait(self, task):
        """Waits until the task has ended; the task."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            answer = self.api("GET", f"tasks/{task}/wait?timeout=10")
            assert answer.status == 200, (answer.status, answer.body)
            if answer.json["state"] in ("completed", "failed", "killed", "unknown"):
                return answer.json
        raise AssertionError(f"task {task} has not ended: {self.task(task)}")

    def wait_until(self, condition, what="the condition"):
        """Looks again and again, with a deadline, until `condition()` is true; its value. `what` is a text or gives one."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > deadline:
                what = what() if callable(what) else what
                raise AssertionError(f"waited {DEADLINE_S:.0f} s for {what}; log:\n{self.log_text()}")
            select.select([], [], [], 0.01)

    def wait_state(self, task, *states):
        return self.wait_until(
            lambda: self.task(task)["state"] in states and self.task(task), f"task {task} to be {states}"
        )

    # ---- what lies around it ----

    def pid_of(self, role):
        """The process id of its `server` or `agent`, as `weir up` wrote them down."""
        for line in (self.dir / "up.pid").read_text().splitlines():
            key, _, value = line.partition(": ")
            if key == role:
                return int(value)
        raise AssertionError(f"no {role} in up.pid")

    def log_text(self):
        try:
            return (self.root / "up.log").read_text(errors="replace")[-8000:]
        except FileNotFoundError:
            return ""


class Terminal:
    """A command on a pseudo terminal: what a person would see."""

    def __init__(self, command, env, cwd, columns, rows):
        env = dict(env, TERM="xterm-256color")
        env.pop("COLUMNS", None)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(cwd)
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                os.execve(command[0], command, env)
            finally:
                os._exit(127)
        self.text = ""
        self.status = None

    def _read(self, left):
        if not select.select([self.fd], [], [], max(left, 0))[0]:
            return False
        try:
            piece = os.read(self.fd, 65536)
        except OSError:
            piece = b""
        self.text += piece.decode(errors="replace").replace("\r\n", "\n")
        return bool(piece)

    def expect(self, text):
        """Reads until `text` has been seen."""
        deadline = time.monotonic() + DEADLINE_S
        while text not in self.text:
            assert self._read(deadline - time.monotonic()), f"no {text!r} in {self.text!r}"
        return self.text

    def send(self, text):
        os.write(self.fd, text.encode())

    def finish(self):
        """Reads to the end; (exit status, everything it wrote). A command that does not end is killed."""
        deadline = time.monotonic() + DEADLINE_S
        while self._read(deadline - time.monotonic()):
            pass
        if self.status is None:
            if time.monotonic() >= deadline:
                os.kill(self.pid, signal.SIGKILL)
            _, status = os.waitpid(self.pid, 0)
            self.status = os.waitstatus_to_exitcode(status)
            os.close(self.fd)
        return self.status, self.text
