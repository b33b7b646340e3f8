"""The socket on the server's own machine: the kernel says who asks. SPDX-License-Identifier: Apache-2.0"""

import os
import socket
import subprocess
import sys

import pytest

from weir_harness import DEADLINE_S, Weir

ROOT = os.geteuid() == 0
NOBODY = 65534
ASK = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
except PermissionError:
    sys.exit("refused by the kernel")
s.sendall(b"GET /api/v1/whoami HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n")
print(s.recv(4096).split()[1].decode())
"""


def ask_as(uid, path):
    """What the server answers to a process of this account: a status, or that it was not let in."""
    drop = (lambda: (os.setgid(uid), os.setuid(uid))) if uid != os.geteuid() else None
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(path)], capture_output=True, text=True, preexec_fn=drop, cwd="/", timeout=DEADLINE_S
    )
    return done.stdout.strip() or done.stderr.strip()


@pytest.fixture
def weir():
    weir = Weir(args=["--slots", "2"])
    try:
        yield weir.start()
    finally:
        weir.close()


@pytest.mark.skipif(not ROOT, reason="only root's server has the socket unasked")
def test_root_needs_no_token_and_others_get_nothing(weir):
    path = weir.dir / "weir.sock"
    assert path.stat().st_mode & 0o777 == 0o600
    bare = {"WEIR_CONFIG_HOME": str(weir.root / "bare")}
    assert weir.weir("--server", f"unix:{path}", "run", "--", "echo", "hello", env=bare).stdout == "hello\n"
    weir.weir("login", f"unix:{path}", env=bare)
    assert "scope   admin" in weir.weir("whoami", env=bare).stdout
    assert ask_as(0, path) == "200"
    assert ask_as(NOBODY, path) == "refused by the kernel"
    # Even where the mode of the file is lost, the account counts.
    path.chmod(0o666)
    assert ask_as(NOBODY, path) == "401"
    # A token that is sent is judged, by whomever.
    assert weir.weir("--server", f"unix:{path}", "whoami", check=False, env=dict(bare, WEIR_TOKEN="no")).returncode == 4
    weir.stop()
    assert not path.exists()


@pytest.mark.skipif(not ROOT, reason="needs another account")
def test_a_task_does_not_become_an_administrator(weir):
    path = weir.dir / "weir.sock"
    task = weir.weir("run", "--", sys.executable, "-c", ASK, path, check=False)
    assert "refused by the kernel" in task.stdout + task.stderr


def test_strict_heads_hold_on_the_socket_too(weir):
    path = weir.dir / "weir.sock"
    if not path.exists():
        pytest.skip("no socket: the server is not root's")
    with socket.socket(socket.AF_UNIX) as raw:
        raw.settimeout(DEADLINE_S)
        raw.connect(str(path))
        raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n")
        assert raw.recv(4096).split()[1] == b"400"
