"""Ports of tasks: a program of the task answers through the server, and no other program of the node does.

SPDX-License-Identifier: Apache-2.0
"""
import http.client
import os
import socket
import ssl
import struct

import pytest
from weir_harness import DEADLINE_S, Weir

# A page, and at /echo a WebSocket that gives back what came. $1: the answer's text.
PAGE = r"""
import base64, hashlib, http.server, os, sys
class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *words): pass
    def do_GET(self):
        if self.headers.get("Upgrade") == "websocket":
            key = (self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()
            self.send_response(101)
            self.send_header("Upgrade", "websocket"); self.send_header("Connection", "Upgrade")
            self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key).digest()).decode())
            self.end_headers()
            while True:
                head = self.rfile.read(2)
                if len(head) < 2 or head[0] & 15 == 8: break
                mask, data = self.rfile.read(4), self.rfile.read(head[1] & 127)
                plain = bytes(b ^ mask[i % 4] for i, b in enumerate(data))
                self.wfile.write(bytes([head[0], len(plain)]) + plain); self.wfile.flush()
            self.close_connection = True
            return
        text = sys.argv[1].encode()
        self.send_response(200); self.send_header("Content-Length", str(len(text))); self.end_headers()
        self.wfile.write(text)
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Page).serve_forever()
"""
PYTHON = "/usr/bin/python3"




def connect(site, task):
    """A connection to the server's port for pages of tasks."""
    port = site.api("POST", f"tasks/{task}/open").json["port"]
    if site.url.startswith("http:"):
        return http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
    context = ssl.create_default_context(cafile=site.dir / "tls/server-ca.pem")
    return http.client.HTTPSConnection("127.0.0.1", port, timeout=DEADLINE_S, context=context)


def get(site, task):
    """The status and text of the task's page, with the site's token."""
    connection = connect(site, task)
    try:
        connection.request("GET", f"/proxy/{task}/", headers={"Authorization": f"Bearer {site.token}"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def job_text(site, task, name):
    """What the task wrote to a file of its directory, once a whole line is there."""
    files = site.dir / "node/job" / str(task)
    texts = site.wait_until(lambda: [p.read_text() for p in files.glob(f"*/{name}") if p.read_text().endswith("\n")], f"{name} of task {task}")
    return texts[0].strip()


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


@pytest.mark.parametrize("cgroups", ["", "off"])
def test_another_task_on_the_port_is_not_taken_for_the_task(weir, cgroups):
    site = weir("--slots", "4", env={"WEIR_CGROUPS": cgroups} if cgroups else {})
    script = f'echo $WEIR_PORT > port; while [ ! -e go ]; do sleep 0.1; done; {PYTHON} -c "$1" right $WEIR_PORT & wait'
    victim = site.submit("sh", "-c", script, "-", PAGE)
    port = int(job_text(site, victim, "port"))
    site.wait_state(victim, "running")  # the task may write before the server hears that it runs
    status, text = get(site, victim)
    assert status == 502 and f"nothing listens on port {port}" in text
    thief = site.submit(PYTHON, "-c", PAGE, "wrong", str(port))
    site.wait_until(lambda: listens(port), "the other task to listen")
    status, text = get(site, victim)
    assert status == 502 and f"a process that is not the task's listens on port {port}" in text, text
    assert "wrong" not in text
    site.weir("task", "kill", thief)
    site.wait(thief)
    next((site.dir / "node/job" / str(victim)).glob("*/port")).with_name("go").touch()
    site.wait_until(lambda: listens(port), "the task to listen")
    assert get(site, victim) == (200, "right")  # a child of the task's first process listens


def test_programs_pages_and_websockets_over_tls():
    site = Weir(args=["--slots", "2"])
    try:
        site.weir("tls", "init", "--dir", site.dir)
        site.start()
        assert site.url.startswith("https:")
        task = site.submit("sh", "-c", f'exec {PYTHON} -c "$1" right $WEIR_PORT', "-", PAGE)
        site.wait_state(task, "running")
        done = site.weir("task", "exec", task, "--", "sh", "-c", "cat; echo trouble >&2; exit 7", input="x" * 300_000, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (7, "x" * 300_000, "trouble\n")
        site.wait_until(lambda: get(site, task) == (200, "right"), lambda: str(get(site, task)))
        connection = connect(site, task)
        connection.request("GET", f"/proxy/{task}/", headers={"Authorization": f"Bearer {site.token}",
                           "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="})
        stream = connection.sock
        reader = stream.makefile("rb")
        assert reader.readline().startswith(b"HTTP/1.1 101")
        head = b""
        while (line := reader.readline()) != b"\r\n":
            head += line
        assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head  # of RFC 6455
        for text in (b"weir", b"y" * 125):
            mask = os.urandom(4)
            stream.sendall(struct.pack("BB", 0x81, 0x80 | len(text)) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(text)))
            assert reader.read(2 + len(text)) == struct.pack("BB", 0x81, len(text)) + text
        connection.close()
    finally:
        site.close()


def test_an_answer_with_a_name_that_is_none_does_not_reach_the_browser(weir):
    site = weir("--slots", "2")
    serve = (
        "import os, socket\n"
        "door = socket.create_server(('127.0.0.1', int(os.environ['WEIR_PORT'])))\n"
        "for name in (b'A\\tB', b'Set-Cookie ', b'A B', b'Fine'):\n"
        "    conn = door.accept()[0]\n"
        "    conn.recv(65536)\n"
        "    conn.sendall(b'HTTP/1.0 200 OK\\r\\n' + name + b': weir_session=x\\r\\n\\r\\nhello')\n"
        "    conn.close()\n"
    )
    task = site.submit(PYTHON, "-c", serve)
    site.wait_until(lambda: "nothing listens" not in (answer := get(site, task))[1] and answer[0] == 502, "the first answer")
    assert [get(site, task)[0] for _ in range(3)] == [502, 502, 200]
    assert site.api("GET", "tasks").status == 200  # the server is there


def test_nodes_of_one_machine_give_no_port_twice(weir):
    """Each has a supervisor of its own, which knows the ports of its own tasks only; none of these tasks listens."""
    sites = [weir("--slots", "3") for _ in range(2)]
    tasks = [(site, site.submit("sh", "-c", "echo $WEIR_PORT; sleep 600")) for site in sites for _ in range(3)]

    def port(site, task):
        return site.wait_until(lambda: site.weir("task", "logs", task).stdout.strip(), "the port")

    ports = [port(site, task) for site, task in tasks]
    assert len(set(ports)) == 6, ports


# Rank 0 listens at MASTER_PORT until rank 1 and then somebody else has come; both ranks are done then.
MEET = r"""
import os, socket, time
at = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if os.environ["WEIR_RANK"] == "0":
    door = socket.create_server(("", at[1]))
    first, _ = door.accept()
    words = first.recv(99).decode()
    open("met", "w").write(f"{at[1]} {os.environ['WEIR_PORT']} {words}\n")
    door.accept()
else:
    while True:
        try:
            s = socket.create_connection(at)
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    s.sendall(f"rank 1 of {os.environ['WEIR_TASK_ID']}".encode())
    s.recv(1)
"""


def test_gangs_side_by_side_meet_at_ports_of_their_own(weir):
    site = weir("--slots", "6")
    gangs = [site.submit(PYTHON, "-c", MEET, instances=2, gang=True) for _ in range(3)]
    met = {gang: job_text(site, gang, "met").split(" ", 2) for gang in gangs}  # all three listen now
    assert {gang: words for gang, (_, _, words) in met.items()} == {gang: f"rank 1 of {gang}" for gang in gangs}
    masters = {int(master) for master, _, _ in met.values()}
    assert len(masters) == 3 and masters <= set(range(18000, 20000))
    assert all(int(own) >= 20000 for _, own, _ in met.values())
    for master in masters:
        socket.create_connection(("127.0.0.1", master), timeout=DEADLINE_S).close()
    assert [site.wait(gang)["state"] for gang in gangs] == ["completed"] * 3
