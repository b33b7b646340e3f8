"""`weir top` on real terminals: what a person sees, what is written, and what is left behind.

SPDX-License-Identifier: Apache-2.0
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

import golden
import pytest
from test_screens import Screen
from weir_harness import DEADLINE_S, weir_bin

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "api"))
from server_process import FakeAgent, Server  # noqa: E402


class Fleet:
    """A server with two GPU nodes, one of them draining, tasks that run and tasks that wait."""

    def __init__(self):
        self.server = Server().start()
        self.root = self.server.root
        self.agents = []
        for name in ("gpu-1", "gpu-2"):
            agent = FakeAgent(self.server, name, slots=4)
            agent.capacity.update(devices=4, gpu_memory=80 << 30)
            self.agents.append(agent.join().connect())
        assert self.server.call("POST", "projects", {"name": "vision", "department": "default"}).status in (200, 201)
        self.running = self.submit("train", 3, "default")
        key = self.agents[0].order()["key"]
        self.agents[0].report(self.agents[0].started(key), self.agents[0].output(key, b"epoch 1\n\x1b[31mred\x1b]0;evil\x07\nepoch 2\n"))
        assert self.server.call("PATCH", "nodes/gpu-2", {"draining": True}).status == 200
        self.waiting = self.submit("a sweep with a long name", 4, "vision")

    def submit(self, name, gpus, project):
        task = {"command": ["python", "train.py"], "name": name, "project": project, "resources": {"gpu": gpus}}
        return self.server.submit(task)[0]

    def env(self):
        env = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
        return {**env, "WEIR_SERVER": self.server.url, "WEIR_TOKEN": self.server.admin, "WEIR_CONFIG_HOME": str(self.root / "cfg"), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}

    def close(self):
        for agent in self.agents:
            agent.close()
        self.server.close()


@pytest.fixture
def fleet():
    fleet = Fleet()
    try:
        yield fleet
    finally:
        fleet.close()


@pytest.fixture
def screen(fleet):
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed here: make deps")
    made = []

    def make(columns, rows):
        made.append(Screen(columns, fleet.env(), fleet.root))
        made[-1].tmux("resize-window", "-x", str(columns), "-y", str(rows))
        return made[-1]

    yield make
    for one in made:
        one.close()


def until(screen, text):
    deadline = time.monotonic() + DEADLINE_S
    while text not in screen.text():
        assert time.monotonic() < deadline, f"{text!r} is not in\n{screen.text()}"
        time.sleep(0.05)
    return screen.text()


def steady(text):
    """Ages and addresses as marks; what stands behind them moves with their length."""
    text = re.sub(r"\b\d+(\.\d+)?(ms|s)\b *|\b\d+m\d\ds\b *", "<age> ", text)
    return re.sub(r" +http://127\.0\.0\.1:\d+", " <url>", text)


def picture(terminal, name, mark):
    """Waits until the screen is the golden picture: a terminal shows a frame in pieces, and a slow one rests between two of them."""
    text = until(terminal, mark)
    if os.environ.get("WEIR_GOLDEN_WRITE"):
        time.sleep(1)
    deadline = time.monotonic() + DEADLINE_S
    while golden.differs(name, steady(text)) and time.monotonic() < deadline:
        time.sleep(0.05)
        text = terminal.text()
    golden.check(name, steady(text))
    return text


@pytest.mark.parametrize("columns,rows", [(80, 24), (200, 60)])
def test_screens(fleet, screen, columns, rows):
    terminal = screen(columns, rows)
    terminal.start(weir_bin(), "top")
    shown = [picture(terminal, f"top-pools-{columns}", " ok")]
    for name, key, text in (("map", "2", "gpu-2~"), ("queue", "3", "a sweep"), ("mine", "4", "train")):
        terminal.tmux("send-keys", "-t", "0", key)
        shown.append(picture(terminal, f"top-{name}-{columns}", text))
    terminal.tmux("send-keys", "-t", "0", "j")
    terminal.tmux("send-keys", "-t", "0", "Enter")
    shown.append(picture(terminal, f"top-task-{columns}", "epoch 2"))
    terminal.tmux("send-keys", "-t", "0", "3")
    until(terminal, "j k choose")
    terminal.tmux("send-keys", "-t", "0", "Enter")
    shown.append(picture(terminal, f"top-waits-{columns}", "NO OUTPUT YET"))
    assert re.search(r"\x1b\[[0-9;]*33m *pending", terminal.tmux("capture-pane", "-p", "-e", "-t", "0"))  # yellow, as in the lists
    assert all(len(line) <= columns for text in shown for line in text.splitlines())
    terminal.tmux("send-keys", "-t", "0", "Escape")
    until(terminal, "j k choose")


def test_a_change_shows_by_itself_and_output_stays_inert(fleet, screen):
    terminal = screen(100, 30)
    terminal.start(weir_bin(), "top")
    until(terminal, "1 running")
    fleet.server.call("POST", f"tasks/{fleet.waiting}/kill")
    until(terminal, "0 waiting")
    terminal.tmux("send-keys", "-t", "0", "4")
    until(terminal, "train")
    terminal.tmux("send-keys", "-t", "0", "Enter")
    assert r"\x1b[31mred" in until(terminal, "epoch 2")
    assert "evil" not in terminal.tmux("display-message", "-p", "#{pane_title}")


def test_a_lost_server_is_told_and_heals(fleet, screen):
    terminal = screen(80, 24)
    terminal.start(weir_bin(), "top")
    until(terminal, "1 running")
    fleet.server.stop(signal.SIGKILL)
    until(terminal, "connection lost")
    fleet.server.start()
    deadline = time.monotonic() + DEADLINE_S
    while "connection lost" in terminal.text():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert "running" in terminal.text()


class Pty:
    """`weir top` on a terminal of which every byte is seen."""

    def __init__(self, fleet, columns=80, rows=24):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(theirs)
        self.theirs = theirs
        self.process = subprocess.Popen([weir_bin(), "top"], env=fleet.env(), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        self.seen = b""

    def read(self, seconds):
        end = time.monotonic() + seconds
        count = 0
        while (left := end - time.monotonic()) > 0:
            if select.select([self.ours], [], [], left)[0]:
                piece = os.read(self.ours, 65536)
                self.seen += piece
                count += len(piece)
        return count

    def until(self, text):
        deadline = time.monotonic() + DEADLINE_S
        while text not in self.seen:
            assert time.monotonic() < deadline, self.seen[-2000:]
            self.read(0.05)

    def end(self):
        code = self.process.wait(timeout=DEADLINE_S)
        self.read(0.2)
        after = termios.tcgetattr(self.theirs)
        os.close(self.ours)
        os.close(self.theirs)
        return code, after


@pytest.mark.parametrize("how", ["q", signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGABRT, signal.SIGQUIT], ids=str)
def test_the_terminal_is_as_before_however_it_ends(fleet, how):
    top = Pty(fleet)
    top.until(b"1 pools")
    during = termios.tcgetattr(top.theirs)
    assert not during[3] & termios.ICANON and not during[3] & termios.ECHO
    if how == "q":
        os.write(top.ours, b"q")
    else:
        top.process.send_signal(how)
    code, after = top.end()
    assert after == top.before
    assert top.seen.count(b"\x1b[?1049h") == top.seen.count(b"\x1b[?1049l") == 1
    assert b"\x1b[?25h" in top.seen
    expected = {"q": 0, signal.SIGABRT: -signal.SIGABRT, signal.SIGQUIT: -signal.SIGQUIT}
    assert code == expected.get(how, 128 + int(how) if how != "q" else 0)


def test_a_slow_line_is_enough(fleet):
    """Nothing changes: only ages are written. Much changes on a large screen: at most 5 KB a second, but for the first picture."""
    top = Pty(fleet)
    top.until(b"1 pools")
    top.read(1.0)
    quiet = top.read(4)
    assert quiet < 4 * 200, quiet
    os.write(top.ours, b"q")
    top.end()
    top = Pty(fleet, 200, 60)
    top.until(b"1 pools")
    os.write(top.ours, b"3")
    top.read(1.0)
    busy = 0
    for _ in range(3):
        fleet.server.submit([{"command": ["x"], "name": os.urandom(12).hex(), "resources": {"gpu": 4}} for _ in range(60)])
        os.write(top.ours, b"1")
        busy += top.read(1.0)
        os.write(top.ours, b"3")
        busy += top.read(1.0)
    assert busy <= 6 * 5000 + 2500, busy
    os.write(top.ours, b"q")
    assert top.end()[0] == 0


def test_without_a_terminal_it_says_what_prints_the_same(fleet):
    result = subprocess.run([weir_bin(), "top"], env=fleet.env(), capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (2, "")
    assert "weir status" in result.stderr


def test_an_earlier_moment(fleet, screen):
    """The map, the queue and the pools as they were: before the draining node was resumed and the task that waited was killed."""
    time_then = fleet.server.get("status")["time"]
    while fleet.server.get("status")["time"] == time_then:
        pass  # a change in the same millisecond belongs to the moment
    assert fleet.server.call("PATCH", "nodes/gpu-2", {"draining": False}).status == 200
    assert fleet.server.call("POST", f"tasks/{fleet.waiting}/kill", {}).status == 200
    terminal = screen(80, 24)
    terminal.start(weir_bin(), "top", "--at", time_then)
    assert " 1 waiting " in until(terminal, f"as it was at {time_then[:19]}Z")
    terminal.tmux("send-keys", "-t", "0", "2")
    until(terminal, "gpu-2~")
    terminal.tmux("send-keys", "-t", "0", "3")
    until(terminal, "a sweep")
    terminal.tmux("send-keys", "-t", "0", "{")
    until(terminal, "are not kept")
    until(terminal, "nothing to show of that time")
    terminal.tmux("send-keys", "-t", "0", "}", "}")
    until(terminal, " 0 waiting ")
    assert "as it was" not in terminal.text()
    terminal.tmux("send-keys", "-t", "0", "2")
    until(terminal, "gpu-2 ")
    assert "gpu-2~" not in terminal.text()
