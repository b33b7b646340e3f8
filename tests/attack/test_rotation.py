"""Certificates of nodes, renewed again and again while tasks run and report: nothing is lost, nothing doubled. The long form
(WEIR_LONG=1, make test-long) renews 20 times under 200 tasks. SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import signal
import ssl
import subprocess
import time

import pytest

from weir_harness import DEADLINE_S, Weir, weir_bin

LONG = os.environ.get("WEIR_LONG") == "1"
TASKS, RENEWALS = (200, 20) if LONG else (20, 3)
LIFE_S = 4  # a node renews after half of it


class Site(Weir):
    """A server by its file, with short certificates, and one agent."""

    def start(self):
        self.weir("tls", "init", "--dir", self.dir)
        config = self.root / "server.yaml"
        config.write_text(f"listen: 127.0.0.1:0\ndata: {self.dir}\ntls: {{node_life: {LIFE_S}s}}\n")
        ready, write = os.pipe()
        self.log = open(self.root / "up.log", "ab")
        self.process = subprocess.Popen(
            [weir_bin(), "server", "--config", config, "--ready-fd", str(write)], pass_fds=[write], stderr=self.log,
            env=self.env(), start_new_session=True,
        )
        os.close(write)
        with os.fdopen(ready) as file:
            self.url = file.readline().strip()
        self.port = int(self.url.rsplit(":", 1)[1])
        self.extra_env.update(WEIR_SERVER=self.url, WEIR_TOKEN=f"{self.token}.{self.fingerprint()}")
        self.node = self.root / "n1"
        self.agent = None
        return self

    def fingerprint(self):
        return self.weir_json("tls", "show", "--dir", self.dir)["ca_fingerprint"]

    def agent_start(self, *args):
        self.agent = subprocess.Popen(
            [weir_bin(), "agent", "--server", self.url, "--dir", self.node, "--name", "n1", "--slots", str(TASKS), *args],
            stderr=self.log, env=self.env(), start_new_session=True,
        )
        self.wait_until(self.is_up, "the node")

    def is_up(self):
        node = self.api("GET", "nodes/n1")
        return node.status == 200 and node.json["state"] == "up"

    def agent_stop(self):
        self.agent.send_signal(signal.SIGTERM)
        self.agent.wait(timeout=DEADLINE_S)

    def stop(self, sig=signal.SIGTERM):
        if self.agent is not None and self.agent.poll() is None:
            self.agent_stop()
        if self.process is not None:
            self.process.send_signal(sig)
            self.process.wait(timeout=DEADLINE_S)
            self.log.close()
            self.process = None

    def tasks_end(self):
        pass

    def serial(self):
        return ssl.PEM_cert_to_DER_cert((self.node / "node.pem").read_text().split("-----BEGIN PRIVATE")[0])


@pytest.fixture
def site():
    site = Site()
    try:
        yield site.start()
    finally:
        site.close()


def test_nothing_is_lost_while_certificates_change(site):
    join = site.weir("token", "create", "--scope", "join").stdout.strip()
    site.agent_start("--join-token", join)
    # Each task writes a line a second and goes on until the file is there; then it ends with its own number.
    flag = site.root / "end"
    script = f"i=0; while [ ! -e {flag} ]; do echo $i; i=$((i+1)); sleep 1; done; echo last $i; exit $(($1 % 7))"
    tasks = [site.submit("sh", "-c", script, "sh", str(n)) for n in range(TASKS)]
    seen = {site.serial()}
    while len(seen) <= RENEWALS:
        before = len(seen)
        site.wait_until(lambda: seen.add(site.serial()) or len(seen) > before, "the next certificate")
    assert site.api("GET", "nodes/n1").json["incarnation"] == 1, "the stream was dropped"
    flag.touch()
    for n, task in enumerate(tasks):
        ended = site.wait(task)
        assert ended["state"] == ("completed" if n % 7 == 0 else "failed")
        assert ended["exit_code"] == n % 7
        pieces = site.api("GET", f"tasks/{task}/logs").body.decode().splitlines()
        lines = "".join(json.loads(piece)["data"] for piece in pieces).split("\n")
        count = len(lines) - 2
        assert lines == [*map(str, range(count)), f"last {count}", ""], f"task {task}"
        assert len(ended.get("attempts", [])) <= 1
    log = pathlib.Path(site.root / "up.log").read_text()
    assert "does not take a report" not in log and "is not renewed" not in log


def test_a_node_that_was_off_for_longer_than_its_certificate_comes_back_by_itself(site):
    join = site.weir("token", "create", "--scope", "join").stdout.strip()
    site.agent_start("--join-token", join)
    site.agent_stop()
    until = ssl.cert_time_to_seconds(
        subprocess.run(["openssl", "x509", "-noout", "-enddate"], input=(site.node / "node.pem").read_text(),
                       capture_output=True, text=True, check=True).stdout.strip().split("=")[1]
    )
    site.wait_until(lambda: time.time() > until + 1, "the end of the certificate")
    old = site.serial()
    site.agent_start()  # without a join token
    assert site.serial() != old
    task = site.submit("true")
    assert site.wait(task)["state"] == "completed"
