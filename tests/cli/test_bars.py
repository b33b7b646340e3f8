"""Long work shows how far it has come, and a server that does not answer is named at once. SPDX-License-Identifier: Apache-2.0"""

import http.server
import json
import os
import socket
import subprocess
import threading
import time

import pytest
from weir_harness import DEADLINE_S, Terminal, weir_bin

SHOWN_AFTER_S = 1.2  # work of less than a second shows no bar


class SlowServer:
    """Answers the first POST after more than a second, and each further POST when the test says so."""

    def __init__(self):
        self.posts = 0
        self.go = threading.Semaphore(0)
        slow = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                slow.posts += 1
                if slow.posts == 1:
                    time.sleep(SHOWN_AFTER_S)
                else:
                    slow.go.acquire(timeout=DEADLINE_S)
                ids = asked["ids"] if "ids" in asked else range(len(asked))
                body = json.dumps({"tasks": [{"id": i, "killed": True} for i in ids]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *words):
                pass

        self.httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.httpd.serve_forever)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.httpd.server_port}"

    def close(self):
        self.httpd.shutdown()
        self.thread.join()
        self.httpd.server_close()


@pytest.fixture
def slow():
    server = SlowServer()
    yield server
    server.close()


def env_of(url, home):
    return dict(os.environ, WEIR_SERVER=url, WEIR_TOKEN="weir_user_x", WEIR_CONFIG_HOME=str(home), HOME=str(home))


def refuses(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def bar_of(text):
    """The last line that was drawn over."""
    return text.split("\r")[-1].replace("\x1b[K", "")


@pytest.mark.parametrize("words, what", ((["submit", "-f", "tasks.json"], "submitted"), (["task", "kill", "--yes"], "told to end:")))
def test_uploads_and_kills_have_a_bar_with_rate_and_remaining_time(slow, tmp_path, words, what):
    (tmp_path / "tasks.json").write_text(json.dumps([{"command": ["true"]}] * 3000))
    ids = [] if words[0] == "submit" else [str(i) for i in range(1, 3001)]
    terminal = Terminal([weir_bin(), *words, *ids], env_of(slow.url, tmp_path), tmp_path, 100, 24)
    terminal.expect(f"] {what} 1,000 of 3,000, ")
    terminal.expect(" left")
    assert bar_of(terminal.text).startswith("[#########                     ] ")
    slow.go.release(2)
    status, text = terminal.finish()
    assert status == 0
    assert bar_of(text).split("\n")[0] == ""  # the bar is gone when the work is done


def test_there_is_no_bar_in_a_pipe(slow, tmp_path):
    (tmp_path / "tasks.json").write_text(json.dumps([{"command": ["true"]}] * 3000))
    slow.go.release(2)
    done = subprocess.run(
        [weir_bin(), "submit", "-f", "tasks.json"], env=env_of(slow.url, tmp_path), cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE_S
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_server_without_a_connection_is_named_at_once(tmp_path):
    """A full queue of connections drops every further one: the way a dead machine behaves, on loopback."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        full = []
        for _ in range(4):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(deaf.getsockname())
            full.append(one)
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        for words in (["pool", "create", "p"], ["task", "list"]):
            process = subprocess.Popen([weir_bin(), *words], env=env_of(url, tmp_path), stderr=subprocess.PIPE, text=True)
            # The connection is given up after ten seconds: this line comes before the end of the command.
            assert process.stderr.readline() == f"weir: no connection to {url} yet; still trying\n"
            assert process.poll() is None
            process.kill()
            process.wait()
            process.stderr.close()
        for one in full:
            one.close()


def test_a_dead_server_is_named_with_its_context_and_the_retries_are_told(weir):
    weir.weir("login", weir.url, "--as", "here", "--token-file", weir.dir / "admin.token")
    weir.kill()
    weir.wait_until(lambda: refuses(weir.port), "the end of the server")
    process = weir.spawn("pool", "create", "p", "--retry", "12s")
    lines = [process.stderr.readline().decode() for _ in range(3)]
    assert f"cannot reach {weir.url}: " in lines[0] and lines[0].endswith("trying for up to 12 s\n")
    assert lines[1] == f"      this command talks to {weir.url} (context here); `weir context list` shows other logins\n"
    assert "; still trying for up to " in lines[2]
    weir.start()
    _, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0
    assert err.decode().endswith(f"weir: {weir.url} answers again\n")
