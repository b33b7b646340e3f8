"""What a person sees: screens of a real terminal (tmux) at 80, 100 and 200 columns. SPDX-License-Identifier: Apache-2.0"""

import re
import shlex
import shutil
import subprocess
import tempfile

import golden
import pytest
from test_lists import busy, still  # noqa: F401
from weir_harness import weir_bin

ROWS = 60
WIDTHS = (80, 100, 200)


class Screen:
    """A terminal of tmux with a server of tmux to itself: no other one of this machine is touched."""

    def __init__(self, columns, env, cwd):
        self.dir = tempfile.mkdtemp(prefix="weir-tmux-")  # a socket has a short name
        self.base = ["tmux", "-u", "-S", f"{self.dir}/socket", "-f", "/dev/null"]
        self.env = dict(env, PS1="", LC_ALL="C.UTF-8", SHELL="/bin/sh")
        self.env.pop("TMUX", None)
        options = ["set", "-g", "status", "off", ";", "set", "-g", "history-limit", "0", ";"]
        subprocess.run(
            [*self.base, *options, "new-session", "-d", "-x", str(columns), "-y", str(ROWS), "/bin/sh"], env=self.env, cwd=cwd, check=True, timeout=60
        )

    def tmux(self, *words):
        return subprocess.run([*self.base, *words], env=self.env, capture_output=True, text=True, check=True, timeout=60).stdout

    def run(self, *command):
        """Runs a command to its end, on an empty screen."""
        line = " ".join(map(shlex.quote, map(str, command)))
        self.tmux("respawn-pane", "-k", "-t", "0", f"{line}; {' '.join(map(shlex.quote, self.base))} wait-for -S done; exec sleep 600")
        self.tmux("wait-for", "done")
        return self.text()

    def start(self, *command):
        self.tmux("respawn-pane", "-k", "-t", "0", " ".join(map(shlex.quote, map(str, command))) + "; exec sleep 600")

    def text(self):
        return self.tmux("capture-pane", "-p", "-t", "0").rstrip() + "\n"

    def close(self):
        self.tmux("kill-server")
        shutil.rmtree(self.dir)


@pytest.fixture
def screen(request):
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed here: make deps")
    made = []

    def make(weir, columns):
        made.append(Screen(columns, weir.env(), weir.root))
        return made[-1]

    yield make
    for one in made:
        one.close()


COMMANDS = {
    "task-list": ["task", "list"],
    "queue": ["queue"],
    "pool-list": ["pool", "list"],
    "quota-list": ["quota", "list", "--pool", "default"],
    "task-show": ["task", "show", "3"],
    "explain": ["explain", "2"],
    "explain-pool": ["explain", "default"],
    "dry-run": ["task", "kill", "1", "2", "--dry-run"],
    "accounts": ["project", "list"],
    "problems": ["submit", "-f", "bad.yaml"],
    "refused": ["submit", "--gpus", "9", "--name", "too-large", "--", "true"],
    "help": ["task", "kill", "--help"],
}
STILL = {"problems", "refused", "help"}  # screens without times
BAD = """comand: [python3, train.py]
resources: {gpu: 1e3, memory: 99999999999999999999}
名前: "日本" # a wide line
env: {"日=a": 1}
"""


def marked(text):
    """Without the names and sizes of this machine."""
    text = re.sub(r"(?m)^(workdir +)\S+.*$", r"\1<dir>", text)
    return re.sub(r" +\n", "\n", still(text))


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_screen_is_as_it_was(busy, screen, name, columns):  # noqa: F811
    (busy.root / "bad.yaml").write_text(BAD)
    text = screen(busy, columns).run(weir_bin(), *COMMANDS[name])
    golden.check(f"screen-{name}-{columns}", text if name in STILL else marked(text))


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_line_of_a_waiting_task_takes_one_line(busy, screen, columns):  # noqa: F811
    terminal = screen(busy, columns)
    terminal.start(weir_bin(), "task", "wait", "2")
    busy.wait_until(lambda: "task 2 waits" in terminal.text(), terminal.text)
    golden.check(f"screen-wait-{columns}", terminal.text())
