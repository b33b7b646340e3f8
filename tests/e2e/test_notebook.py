"""`weir notebook start`: real Jupyter in a task, in a real browser, through the server.

Jupyter comes from PyPI (tests/requirements-jupyter.txt) into .cache/jupyter, once. SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import filecmp
import http.client
import json
import os
import pathlib
import shutil
import subprocess
import time
import urllib.parse

import pytest
from browser import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / ".cache/jupyter"
LOCK = ROOT / "tests/requirements-jupyter.txt"

# Runs in the page: starts a kernel, speaks to it over the WebSocket, gives what the cell printed.
CELL = """
(async () => {
  const base = location.origin + '%(prefix)s';
  const head = {Authorization: 'token %(token)s', 'Content-Type': 'application/json'};
  const kernel = await (await fetch(base + 'api/kernels', {method: 'POST', headers: head, body: '{}'})).json();
  const socket = new WebSocket(base.replace('http', 'ws') + 'api/kernels/' + kernel.id + '/channels?token=%(token)s');
  const header = {msg_id: 'one', msg_type: 'execute_request', username: 'w', session: 's', date: new Date().toISOString(), version: '5.3'};
  socket.onopen = () => socket.send(JSON.stringify({header, parent_header: {}, metadata: {}, channel: 'shell', buffers: [],
    content: {code: 'import os; print(6 * 7, os.environ["WEIR_TASK_ID"])', silent: false, store_history: false, user_expressions: {}, allow_stdin: false}}));
  return await new Promise((done) => {
    socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.msg_type === 'stream') { done(message.content.text); }
    };
    socket.onclose = () => done('closed');
    setTimeout(() => done('nothing came'), 40000);
  });
})()
"""


@pytest.fixture(scope="module")
def jupyter():
    """The directory of Jupyter's programs."""
    (ROOT / ".cache").mkdir(exist_ok=True)
    with open(ROOT / ".cache/jupyter.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = VENV / "requirements.done"
        if not (done.exists() and filecmp.cmp(done, LOCK, shallow=False)):
            shutil.rmtree(VENV, ignore_errors=True)
            subprocess.run(["/usr/bin/python3", "-m", "venv", VENV], check=True)
            pip = subprocess.run([VENV / "bin/pip", "install", "-q", "--no-deps", "-r", LOCK])
            if pip.returncode != 0:
                pytest.skip("no Jupyter: PyPI cannot be reached")
            shutil.copy(LOCK, done)
    return VENV / "bin"


def get(url, **headers):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    try:
        connection.request("GET", parts.path + ("?" + parts.query if parts.query else ""), headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.headers), answer.read()
    finally:
        connection.close()


def value_of(page, expression):
    result = page.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
    assert "exceptionDetails" not in result, result
    return result["result"].get("value")


def test_a_notebook_answers_in_a_browser_and_a_kernel_runs_a_cell(weir, jupyter, tmp_path):
    site = weir("--slots", "2")
    started = site.weir("notebook", "start", "--env", f"PATH={jupyter}:/usr/bin:/bin", timeout=150)
    link = started.stdout.strip()
    parts = urllib.parse.urlsplit(link)
    token = urllib.parse.parse_qs(parts.query)["token"][0]
    plain = f"http://{parts.netloc}{parts.path}"
    assert parts.port != site.port  # another origin than the web interface
    for path in ("", "api", "api/kernels"):  # refused without the token, whatever Jupyter itself would say
        status, _, body = get(f"{plain}{path}?token={token}")
        assert status == 401 and b"a token is needed" in body, (path, body)
    other = site.api("POST", "tokens", {"scope": "read", "name": "ann"}).json["token"]
    assert get(f"{plain}api?token={token}", Authorization=f"Bearer {other}")[0] == 401
    assert get(f"{plain}api", Authorization=f"Bearer {site.token}")[0] == 200
    with browser(tmp_path) as page:
        page.open(link, 1200)
        assert value_of(page, "location.pathname").startswith("/proxy/1/lab")
        assert "weir_link" not in value_of(page, "location.href")
        deadline = time.monotonic() + 60
        while not value_of(page, "document.querySelector('.jp-Launcher, #jp-main-dock-panel') !== null"):
            assert time.monotonic() < deadline, value_of(page, "document.body.innerText")
            value_of(page, "new Promise((done) => setTimeout(done, 200))")
        assert value_of(page, CELL % {"prefix": parts.path, "token": token}) == "42 1\n"
        assert "weir_proxy" not in value_of(page, "document.cookie")  # the page's scripts cannot read it
    assert get(link)[0] == 401  # the link was used
    socket = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    kernels = json.loads(get(f"{plain}api/kernels?token={token}", Authorization=f"Bearer {site.token}")[2])
    assert get(f"{plain}api/kernels/{kernels[0]['id']}/channels?token={token}", **socket)[0] == 401
    site.weir("task", "kill", 1)
    assert site.wait(1)["state"] == "killed"


@pytest.mark.skipif(not os.environ.get("WEIR_LONG"), reason="Jupyter looks at its idle time once a minute: make test-long")
def test_an_idle_notebook_ends_by_itself(weir, jupyter):
    site = weir("--slots", "2")
    site.weir("notebook", "start", "--idle", "2s", "--env", f"PATH={jupyter}:/usr/bin:/bin", timeout=150)
    deadline = time.monotonic() + 180
    while site.task(1)["state"] == "running":
        assert time.monotonic() < deadline
        site.api("GET", "tasks/1/wait?timeout=10")
    assert site.wait(1)["state"] == "completed"
    assert "No activity" in site.weir("task", "logs", 1).stdout + site.weir("task", "logs", 1).stderr


def test_what_to_install_is_said(weir):
    site = weir("--slots", "2")
    for command in (["notebook", "start"], ["tensorboard", "start", "/tmp"]):
        refused = site.weir(*command, "--env", "PATH=/usr/bin:/bin", check=False, timeout=100)
        assert refused.returncode == 5 and "has ended: failed" in refused.stderr
    assert "pip install jupyterlab" in site.weir("task", "logs", 1).stderr
    assert "pip install tensorboard" in site.weir("task", "logs", 2).stderr
