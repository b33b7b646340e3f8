"""TLS: who is let in, who is refused, and what the refused are told. Everything stays on loopback.

SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import threading
import time

import pytest

from weir_harness import DEADLINE_S, Weir, weir_bin


def tls_weir(*init):
    """A `weir up` with a certificate of its own."""
    weir = Weir(args=["--slots", "4"])
    weir.weir("tls", "init", "--dir", weir.dir, *init)
    return weir


@pytest.fixture
def weir():
    weir = tls_weir()
    try:
        yield weir.start()
    finally:
        weir.close()


def server_cert(port):
    """The certificate that the server shows, as bytes."""
    return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", port), timeout=DEADLINE_S))


def node_context(weir, pem=None):
    context = ssl.create_default_context(cafile=weir.dir / "tls/server-ca.pem")
    if pem is not None:
        context.load_cert_chain(pem)
    return context


def call(weir, path, body, token, pem=None):
    """One POST as a node, with or without a certificate; the status."""
    with socket.create_connection(("127.0.0.1", weir.port), timeout=DEADLINE_S) as plain:
        with node_context(weir, pem).wrap_socket(plain, server_hostname="127.0.0.1") as sock:
            text = json.dumps(body)
            sock.sendall(
                f"POST /api/v1/agent/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
                f"Content-Length: {len(text)}\r\nConnection: close\r\n\r\n{text}".encode()
            )
            return int(sock.recv(64).split()[1])


# ---- who gets a connection ----


def test_keys_are_closed_and_nothing_is_overwritten(weir):
    for key in ("ca.key", "server.key"):
        assert (weir.dir / "tls" / key).stat().st_mode & 0o777 == 0o600
    assert (weir.dir / "node/node.pem").stat().st_mode & 0o777 == 0o600
    before = {p.name: p.read_bytes() for p in (weir.dir / "tls").iterdir()}
    again = weir.weir("tls", "init", "--dir", weir.dir, check=False)
    assert again.returncode == 5 and "--renew" in again.stderr
    bad = weir.weir("tls", "init", "--dir", weir.dir, "--renew", "no such/name", check=False)
    assert bad.returncode == 2 and "no host name" in bad.stderr
    assert {p.name: p.read_bytes() for p in (weir.dir / "tls").iterdir()} == before
    log = weir.log_text() + (weir.dir / "node/supervisor.log").read_text()
    assert "PRIVATE KEY" not in log and weir.token not in log


def test_a_key_that_everybody_reads_is_refused():
    weir = tls_weir()
    try:
        (weir.dir / "tls/server.key").chmod(0o644)
        with pytest.raises(AssertionError, match="chmod 600"):
            weir.start()
    finally:
        weir.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_plain_http_and_old_tls_get_nothing(weir):
    with socket.create_connection(("127.0.0.1", weir.port), timeout=DEADLINE_S) as plain:
        plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        try:
            assert not plain.recv(4096).startswith(b"HTTP/")
        except ConnectionResetError:
            pass
    for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = version
        with socket.create_connection(("127.0.0.1", weir.port), timeout=DEADLINE_S) as plain:
            with pytest.raises((ssl.SSLError, OSError)):
                context.wrap_socket(plain)
    assert weir.weir("run", "--", "echo", "hello").stdout == "hello\n"


@pytest.mark.parametrize("command", [["server"], ["up", "--port", "0"]])
def test_beyond_loopback_a_certificate_is_needed(command, tmp_path):
    listen = "0.0.0.0:0" if command[0] == "server" else "0.0.0.0"
    result = subprocess.run(
        [weir_bin(), *command, "--dir", tmp_path / "d", "--listen", listen],
        capture_output=True, text=True, timeout=DEADLINE_S, env={"HOME": str(tmp_path)},
    )
    assert result.returncode != 0
    assert "weir tls init" in result.stderr


def test_a_server_that_gets_a_certificate_keeps_its_own_node():
    weir = Weir(args=["--slots", "1"])
    try:
        weir.start()
        assert weir.url.startswith("http:")
        weir.stop()
        weir.weir("tls", "init", "--dir", weir.dir)
        weir.start()
        assert weir.url.startswith("https:")
        assert weir.weir("run", "--", "echo", "hello").stdout == "hello\n"
    finally:
        weir.close()


def answer_status(sock):
    """Reads one whole answer; its status."""
    text = b""
    while b"\r\n\r\n" not in text:
        text += (piece := sock.recv(4096))
        assert piece, text
    head, _, body = text.partition(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", head, re.I)[1])
    while len(body) < length:
        body += sock.recv(4096)
    return head.split()[1]


@pytest.mark.parametrize("size", [1, 4096])
@pytest.mark.parametrize(
    "head", [b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\nX: y\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\0b\r\n\r\n"]
)
def test_heads_are_read_strictly_inside_tls(weir, head, size):
    """libmicrohttpd lets both pass: http_head.c must find them in the library's buffer, however the bytes come."""
    good = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: y\r\n\r\n"
    with socket.create_connection(("127.0.0.1", weir.port), timeout=DEADLINE_S) as plain:
        with node_context(weir).wrap_socket(plain, server_hostname="127.0.0.1") as sock:
            for text, status in ((good, b"200"), (head, b"400")):
                for i in range(0, len(text), size):
                    sock.sendall(text[i : i + size])
                assert answer_status(sock) == status


# ---- a new certificate ----


def test_a_new_certificate_is_taken_without_dropping_a_stream(weir):
    stream = weir.connection()
    stream.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {weir.token}"})
    events = stream.getresponse()
    before = server_cert(weir.port)
    weir.weir("tls", "init", "--dir", weir.dir, "--renew", "extra.example")
    os.kill(weir.pid_of("server"), signal.SIGHUP)
    weir.wait_until(lambda: server_cert(weir.port) != before, "the new certificate")
    assert "extra.example" in weir.weir("tls", "show", "--dir", weir.dir).stdout
    task = weir.weir("submit", "--", "true").stdout.strip()
    while f'"task":{task}' not in (line := events.readline().decode()) and f'"id":{task}' not in line:
        assert line, "the stream has ended"
    stream.close()
    # A damaged file leaves what is served as it is.
    after = server_cert(weir.port)
    (weir.dir / "tls/server.pem").write_text("nothing")
    os.kill(weir.pid_of("server"), signal.SIGHUP)
    weir.wait_until(lambda: "the certificate stays as it is" in weir.log_text(), "the log")
    assert server_cert(weir.port) == after


# ---- somebody in between ----


class Stranger:
    """A TLS server with a certificate of another authority. It keeps what it is sent."""

    def __init__(self, directory):
        subprocess.run([weir_bin(), "tls", "init", "--dir", directory], check=True, capture_output=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(directory / "tls/server.pem", directory / "tls/server.key")
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.heard = b""
        self.calls = 0
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                plain, _ = self.socket.accept()
            except OSError:
                return
            self.calls += 1
            try:
                with self.context.wrap_socket(plain, server_side=True) as sock:
                    self.heard += sock.recv(65536)
            except (ssl.SSLError, OSError):
                pass


@pytest.fixture
def stranger(tmp_path):
    stranger = Stranger(tmp_path / "stranger")
    yield stranger
    stranger.socket.close()


def test_a_man_in_the_middle_learns_nothing_from_commands(weir, stranger):
    token = weir.weir("token", "create", "--scope", "admin").stdout.strip()
    url = f"https://127.0.0.1:{stranger.port}"
    fresh = {"WEIR_CONFIG_HOME": str(weir.root / "fresh"), "WEIR_TOKEN": token}
    # The first contact, with nothing but the token.
    first = weir.weir("login", url, check=False, env=fresh)
    assert first.returncode == 4, first.stderr
    assert "somebody may be in between" in first.stderr and "new token" in first.stderr
    # A login that was made before, whose address now leads elsewhere.
    assert weir.weir("login", weir.url, env=fresh).returncode == 0
    later = weir.weir("--server", url, "whoami", check=False, env=fresh)
    assert later.returncode == 4, later.stderr
    assert "somebody may be in between" in later.stderr
    # A token without a fingerprint is not sent to an unknown authority either.
    bare = dict(fresh, WEIR_TOKEN=weir.token)
    unknown = weir.weir("--server", url, "whoami", check=False, env=bare)
    assert unknown.returncode == 4 and "weir token create" in unknown.stderr
    assert stranger.calls > 0 and stranger.heard == b""


def test_a_man_in_the_middle_learns_nothing_from_an_agent(weir, stranger):
    token = weir.weir("token", "create", "--scope", "join").stdout.strip()
    agent = weir.spawn(
        "agent", "--server", f"https://127.0.0.1:{stranger.port}", "--join-token", token,
        "--name", "n2", "--dir", weir.root / "n2",
    )
    try:
        said = b""
        while b"somebody may be in between" not in said:
            line = agent.stderr.readline()
            assert line, said
            said += line
        assert stranger.heard == b""
    finally:
        agent.terminate()
        agent.communicate()


def test_a_token_of_a_tls_server_is_never_sent_in_the_clear(weir):
    token = weir.weir("token", "create", "--scope", "admin").stdout.strip()
    with socket.create_server(("127.0.0.1", 0)) as ear:
        url = f"http://127.0.0.1:{ear.getsockname()[1]}"
        said = weir.weir("--server", url, "whoami", check=False, env={"WEIR_TOKEN": token})
        assert said.returncode == 4 and "is not https" in said.stderr
        ear.setblocking(False)
        with pytest.raises(BlockingIOError):
            ear.accept()


def test_a_token_carries_all_that_another_machine_needs(weir):
    token = weir.weir("token", "create", "--scope", "admin").stdout.strip()
    fresh = {"WEIR_CONFIG_HOME": str(weir.root / "fresh"), "WEIR_TOKEN": token}
    assert weir.weir("login", weir.url, env=fresh).returncode == 0
    del fresh["WEIR_TOKEN"]
    assert "admin" in weir.weir("whoami", env=fresh).stdout
    ca = hashlib.sha256(ssl.PEM_cert_to_DER_cert((weir.dir / "tls/ca.pem").read_text())).hexdigest()
    assert token.endswith("." + ca)
    assert weir.api("GET", "whoami", token=token).status == 200  # other clients may send it whole
    assert weir.weir_json("tls", "show", "--dir", weir.dir)["ca_fingerprint"] == ca


def test_the_server_renews_its_certificate_with_the_same_key(weir):
    server, tls = weir.pid_of("server"), os.path.join(str(weir.dir), "tls")
    read = lambda name: open(os.path.join(tls, name), encoding="ascii").read()  # noqa: E731
    weir.weir("tls", "init", "--dir", weir.dir, "--renew", "--life", "1s")
    short, key = read("server.pem"), read("server.key")
    os.kill(server, signal.SIGHUP)
    weir.wait_until(lambda: read("server.pem") != short, "the new certificate")
    assert read("server.key") == key
    time.sleep(1.5)  # the old certificate has ended
    assert weir.weir("run", "--", "echo", "still here").stdout == "still here\n"
    shown = json.loads(weir.weir("tls", "show", "--dir", weir.dir, "--json").stdout)
    found = json.loads(weir.weir("doctor", "--json", check=False).stdout)
    assert [f for f in found if f["check"] == "tls" and shown["until"] in f["found"]], (found, shown)


def test_an_expired_certificate_has_a_way_back(weir):
    server = weir.pid_of("server")
    weir.weir("tls", "init", "--dir", weir.dir, "--renew", "--life", "1s")
    authority = os.path.join(str(weir.dir), "tls", "ca.key")
    os.rename(authority, authority + ".away")  # so the server cannot renew the certificate itself
    os.kill(server, signal.SIGHUP)
    refused = lambda: (r := weir.weir("whoami", check=False)).returncode == 4 and r  # noqa: E731
    result = weir.wait_until(refused, "the end of the certificate")
    assert "expired at" in result.stderr and "`weir tls init --renew`" in result.stderr
    os.rename(authority + ".away", authority)
    told = weir.weir("tls", "init", "--dir", weir.dir, "--renew")
    assert f"kill -HUP {server}" in told.stderr
    os.kill(server, signal.SIGHUP)
    weir.wait_until(lambda: weir.weir("whoami", check=False).returncode == 0, "the new certificate")
    assert weir.weir("run", "--", "echo", "back").stdout == "back\n"


# ---- nodes ----


def test_a_credential_counts_only_with_its_certificate(weir):
    node = weir.dir / "node"
    token = (node / "credential").read_text().strip()
    body = {"epoch": 1, "incarnation": 1, "batch": 1, "reports": []}
    assert call(weir, "reports", body, token) == 401
    assert call(weir, "certificate", {"request": "x"}, token) == 401
    # With the certificate the call is let in: what is wrong then is its content.
    assert call(weir, "certificate", {"request": "x"}, token, node / "node.pem") == 400
    other = weir.root / "n2"
    join = weir.weir("token", "create", "--scope", "join").stdout.strip()
    agent = weir.spawn("agent", "--server", weir.url, "--join-token", join, "--name", "n2", "--dir", other)
    try:
        weir.wait_until(lambda: weir.api("GET", "nodes/n2").status == 200, "n2")
        assert call(weir, "reports", body, token, other / "node.pem") == 401
        stolen = (other / "credential").read_text().strip()
        assert call(weir, "reports", body, stolen, node / "node.pem") == 401
        copy = weir.root / "n2.pem"
        copy.write_bytes((other / "node.pem").read_bytes())
    finally:
        agent.terminate()
        agent.communicate()
    assert call(weir, "certificate", {"request": "x"}, stolen, copy) == 400
    weir.wait_until(lambda: weir.api("DELETE", "nodes/n2").status in (200, 204), "the removal of n2")
    assert call(weir, "certificate", {"request": "x"}, stolen, copy) == 401
    assert call(weir, "reports", body, stolen, copy) == 401


def test_a_node_that_is_removed_while_it_is_connected_is_out(weir):
    join = weir.weir("token", "create", "--scope", "join").stdout.strip()
    agent = weir.spawn("agent", "--server", weir.url, "--join-token", join, "--name", "n2", "--dir", weir.root / "n2")
    try:
        weir.wait_until(lambda: weir.api("GET", "nodes/n2").status == 200, "n2")
        assert weir.api("DELETE", "nodes/n2").status == 204
        # Neither its credential nor the join token that it has used lets it back in.
        weir.wait_until(lambda: agent.poll() is not None, "the end of the agent")
        assert weir.api("GET", "nodes/n2").status == 404
    finally:
        if agent.poll() is None:
            agent.terminate()
        agent.communicate()


def test_a_certificate_of_another_authority_is_no_node(weir, stranger, tmp_path):
    token = (weir.dir / "node/credential").read_text().strip()
    pem = tmp_path / "own.pem"
    pem.write_bytes((tmp_path / "stranger/tls/server.pem").read_bytes() + (tmp_path / "stranger/tls/server.key").read_bytes())
    assert call(weir, "certificate", {"request": "x"}, token, pem) == 401
    # The server's own certificate is of the right authority and for another purpose.
    mine = tmp_path / "server.pem"
    mine.write_bytes((weir.dir / "tls/server.pem").read_bytes() + (weir.dir / "tls/server.key").read_bytes())
    assert call(weir, "certificate", {"request": "x"}, token, mine) == 401
