"""Somebody takes away, cuts, overwrites, exchanges or write-protects the certificates of a living node, or of a node that is off. The node works
again, or says which file is wrong and what helps; no task is lost meanwhile.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import os
import signal
import ssl
import subprocess
import time

import pytest

from test_rotation import Site
from test_upkeep import check_truth, damage
from weir_harness import DEADLINE_S, Weir, weir_bin

HARMS = ["delete", "truncate", "overwrite", "exchange"]
NAME = "n2"


@pytest.fixture(scope="module")
def harmed():
    weir = Weir(["--slots", "2"])
    weir.weir("tls", "init", "--dir", weir.dir)
    try:
        yield weir.start()
    finally:
        weir.close()


class Node:
    """A second node of a Weir, which has no join token once it has joined."""

    def __init__(self, weir):
        self.weir = weir
        self.dir = weir.root / NAME
        self.agent = None
        token = weir.weir("token", "create", "--scope", "join").stdout.strip()
        self.start("--join-token", token)
        self.stop()
        self.start()

    def start(self, *args, up=True):
        self.log = open(self.weir.root / "n2.log", "ab")
        self.from_ms = self.log.tell()
        self.agent = subprocess.Popen(
            [weir_bin(), "agent", "--server", self.weir.url, "--name", NAME, "--dir", self.dir, *args],
            stderr=self.log, env=self.weir.env(), start_new_session=True,
        )
        if up:
            self.wait_up()

    def wait_up(self):
        self.weir.wait_until(lambda: self.weir.api("GET", f"nodes/{NAME}").json.get("state") == "up", "n2")
        return self.run()

    def run(self):
        """A task that can only run here."""
        others = [node["name"] for node in self.weir.api("GET", "nodes").json["items"] if node["name"] != NAME]
        task = self.weir.wait(self.weir.submit("true", avoid=others))
        assert task["state"] == "completed", task

    def said(self):
        with open(self.weir.root / "n2.log", "rb") as log:
            log.seek(self.from_ms)
            return log.read().decode()

    def stop(self):
        if self.agent.poll() is None:
            self.agent.send_signal(signal.SIGTERM)
        code = self.agent.wait(timeout=DEADLINE_S)
        self.log.close()
        return code

    def ended(self):
        code = self.agent.wait(timeout=DEADLINE_S)
        self.log.close()
        return code


@pytest.fixture
def node(weir_factory):
    weir = weir_factory("--slots", "2", start=False)
    weir.weir("tls", "init", "--dir", weir.dir)
    node = Node(weir.start())
    yield node
    node.stop()


def harm(path, how, other):
    if how == "exchange":
        path.write_bytes(other)
    else:
        damage(path, how)


def foreign_pem(directory, name):
    """The certificate and the key of another authority's server, as one file; or that authority."""
    subprocess.run([weir_bin(), "tls", "init", "--dir", directory], check=True, capture_output=True)
    files = ["ca.pem"] if name == "ca.pem" else ["server.pem", "server.key"]
    return b"".join((directory / "tls" / file).read_bytes() for file in files)


@pytest.mark.parametrize("how", HARMS)
def test_the_certificate_of_a_living_node(harmed, tmp_path, how):
    path = harmed.dir / "node/node.pem"
    before = path.read_bytes().strip()
    check_truth(harmed, f"{how}-node.pem", lambda home: harm(path, how, foreign_pem(tmp_path, "node.pem")))
    harmed.wait_until(lambda: path.exists() and path.read_bytes().strip() == before, "the certificate to be written anew")
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["node.pem", "ca.pem"])
@pytest.mark.parametrize("how", HARMS)
def test_a_node_that_connects_again_with_harmed_files(node, tmp_path, name, how):
    """The server goes away, the files are harmed, the server comes back: the node connects with what the server took before."""
    weir, path = node.weir, node.dir / name
    before = path.read_bytes().strip()
    weir.stop()
    harm(path, how, foreign_pem(tmp_path, name))
    weir.start()
    node.wait_up()
    weir.wait_until(lambda: path.read_bytes().strip() == before, f"{name} to be written anew")
    assert "was gone or changed and is written anew" in node.said()


@pytest.mark.parametrize("how", ["delete", "truncate", "overwrite"])
def test_a_node_that_starts_with_a_harmed_certificate_says_so_and_keeps_its_credential(node, how):
    node.stop()
    path = node.dir / "node.pem"
    before, credential = path.read_bytes(), (node.dir / "credential").read_bytes()
    damage(path, how)
    if how == "overwrite":
        path.write_bytes(os.urandom(len(before)))
    node.start(up=False)
    assert node.ended() == 1
    assert "node.pem' cannot be used" in node.said() and "weir node rejoin" in node.said()
    assert (node.dir / "credential").read_bytes() == credential
    path.write_bytes(before)
    node.start()


def test_a_node_that_starts_with_a_harmed_certificate_joins_with_a_new_token(node):
    node.stop()
    (node.dir / "node.pem").unlink()
    token = node.weir.weir("node", "rejoin", NAME).stdout.strip()
    node.start("--join-token", token)
    assert (node.dir / "node.pem").stat().st_mode & 0o777 == 0o600


@contextlib.contextmanager
def read_only(path):
    if subprocess.run(["mount", "--bind", path, path], check=False, capture_output=True).returncode != 0:
        pytest.skip("only root can mount")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", path], check=True)
        yield
    finally:
        subprocess.run(["umount", path], check=True)


def end_of(pem):
    found = subprocess.run(["openssl", "x509", "-noout", "-enddate"], input=pem, capture_output=True, text=True, check=True).stdout
    return ssl.cert_time_to_seconds(found.strip().split("=")[1])


@pytest.fixture
def site():
    """Nodes get certificates of four seconds."""
    site = Site()
    try:
        site.start()
        site.agent_start("--join-token", site.weir("token", "create", "--scope", "join").stdout.strip())
        yield site
    finally:
        site.close()


def test_a_certificate_that_cannot_be_renewed_because_its_file_is_read_only(site):
    """The node says so, runs what it has, and renews the certificate once it can, though the old one has ended."""
    gate = site.root / "gate"
    task = site.submit("sh", "-c", f"until [ -e {gate} ]; do sleep 0.05; done; exit 7")
    site.wait_state(task, "running")
    path = site.node / "node.pem"
    with read_only(path):
        old = path.read_text()
        site.wait_until(lambda: "the node's certificate is not renewed" in site.log_text(), "the node to say so")
        until = end_of(old)
        site.wait_until(lambda: time.time() > until + 1, "the end of the certificate")
        assert path.read_text() == old
    gate.touch()
    assert site.wait(task)["exit_code"] == 7
    site.wait_until(lambda: end_of(path.read_text()) > time.time(), "a new certificate")
    assert site.wait(site.submit("true"))["state"] == "completed"


def test_an_ended_certificate_that_is_put_into_a_living_node(site):
    path = site.node / "node.pem"
    old = path.read_text()
    site.wait_until(lambda: path.read_text() != old and time.time() > end_of(old) + 1, "the end of the first certificate")
    path.write_text(old)
    site.wait_until(lambda: end_of(path.read_text()) > time.time(), "a certificate that has not ended")
    assert site.wait(site.submit("true"))["state"] == "completed"
