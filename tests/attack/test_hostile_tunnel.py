"""A node with a valid credential lies in its answers to questions and behind the tunnels that the server asks it for.

SPDX-License-Identifier: Apache-2.0
"""

import http.client
import json
import socket
import threading

import pytest
from server_process import FakeAgent
from weir_harness import DEADLINE_S

ODD = [None, True, -1, 2**63 - 1, 2**64, 1e300, "", "\x1b[2J\x07", "n" * 5000, [], [[]], {}, "\r\nSet-Cookie: weir_session=x", "../../etc/passwd", "\ud7ff"]


@pytest.fixture
def running(server, agent):
    """A task that the scripted node says it runs."""
    task = server.submit()[0]
    key = agent.order()["key"]
    assert agent.report(agent.started(key)).status == 200
    return task


def served(server):
    assert server.call("POST", "tasks", {"command": ["true"]}).status == 201
    assert "bug: " not in server.log()


def aside(fn):
    """Runs fn() beside the test; wait() gives its result."""
    result = {}
    thread = threading.Thread(target=lambda: result.update(value=fn()), daemon=True)
    thread.start()

    def wait():
        thread.join(DEADLINE_S)
        assert not thread.is_alive()
        return result["value"]

    return wait


def listing(**changes):
    entry = {"name": "a", "kind": "file", "size": 1, "modified_ms": 1}
    return {"self": {**entry, "kind": "directory"}, "entries": [{**entry, **changes}], "end": True}


def answers():
    for field in ("name", "kind", "size", "modified_ms"):
        for value in ODD:
            yield "files", listing(**{field: value})
    for field in ("self", "entries", "end", "error", "message"):
        for value in ODD:
            yield "files", {**listing(), field: value}
    for field in ("size", "version", "end", "data"):
        for value in ODD:
            yield "file", {"size": 1, "version": "v", "end": True, "data": "eA==", field: value}
    yield "files", {**listing(), "entries": [{"name": "n"}] * 50000}


def test_every_field_of_every_answer_about_files(server, agent, running):
    for route, answer in answers():
        wait = aside(lambda: server.call("GET", f"tasks/{running}/{route}?path=x"))
        order = agent.order()
        assert order["type"] == "ask"
        reply = server.call("POST", f"agent/answers?ask={order['ask']}", answer, token=agent.credential)
        assert reply.status == 200
        got = wait()
        assert got.status in (200, 400, 403, 404, 413, 500), (answer, got.body)
        text = got.body.decode()
        json.loads(text)
        assert "\x1b" not in text and len(text) < 8 << 20
    served(server)


def test_bytes_that_are_no_answer(server, agent, running):
    other = FakeAgent(server, name="n2").join().connect()
    for body in (b"", b"\0" * 1000, b"[" * 100000, b'{"a":' * 1000, b"\xff\xfe", b'"x"'):
        wait = aside(lambda: server.call("GET", f"tasks/{running}/files"))
        ask = agent.order()["ask"]
        # Another node does not answer for this one, and nobody answers twice.
        assert server.call("POST", f"agent/answers?ask={ask}", {}, token=other.credential).status == 404
        assert server.call("POST", f"agent/answers?ask={ask}", body, token=agent.credential, raw=True).status in (200, 400)
        assert wait().status in (200, 500)
        assert server.call("POST", f"agent/answers?ask={ask}", {}, token=agent.credential).status == 404
    other.close()
    served(server)


# ---- tunnels ----


def tunnel_open(server, agent, order, credential=None):
    """The node's side of a tunnel, as a socket; None: refused."""
    stream = socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE_S)
    stream.sendall(
        f"POST /api/v1/agent/tunnels?tunnel={order['tunnel']} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: weir-tunnel\r\n"
        f"Authorization: Bearer {credential or agent.credential}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}".encode()
    )
    head = b""
    while b"\r\n\r\n" not in head:
        piece = stream.recv(1)
        assert piece, head
        head += piece
    if b" 101 " in head:
        return stream
    stream.close()
    return None


def page(server, task, method="GET", body=None):
    port = server.call("POST", f"tasks/{task}/open").json["port"]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
    try:
        connection.request(method, f"/proxy/{task}/", body=body, headers={"Authorization": f"Bearer {server.admin}"})
        answer = connection.getresponse()
        return answer.status, answer.getheaders(), answer.read()
    except (http.client.HTTPException, ConnectionError) as broken:
        return None, [], repr(broken)
    finally:
        connection.close()


HEADS = {
    "nothing": b"",
    "no HTTP": b"SSH-2.0-x\r\n\r\n",
    "zeros": b"\0" * 70000,
    "endless head": b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 100000,
    "endless line": b"HTTP/1.1 200 OK\r\nA: " + b"b" * 1000000,
    "no end of head": b"HTTP/1.1 200 OK\r\nA: b",
    "no status": b"HTTP/1.1\r\n\r\n",
    "status 0": b"HTTP/1.1 000 OK\r\n\r\n",
    "status 99": b"HTTP/1.1 099 OK\r\n\r\n",
    "status 1000": b"HTTP/1.1 1000 OK\r\n\r\n",
    "status of letters": b"HTTP/1.1 2x0 OK\r\n\r\n",
    "interim": b"HTTP/1.1 100 Continue\r\n\r\n",
    "upgrade that nobody asked for": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 9999999999\r\n\r\nabc",
    "length below zero": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc",
    "length of letters": b"HTTP/1.1 200 OK\r\nContent-Length: 0x3\r\n\r\nabc",
    "largest length": b"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nabc",
    "beyond 64 bits": b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\nabc",
    "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "folded": b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\nabc",
    "bare line ends": b"HTTP/1.1 200 OK\nA: b\nSet-Cookie: weir_session=x\n\r\n\r\nabc",
    "carriage returns": b"HTTP/1.1 200 OK\r\nA: b\rSet-Cookie: weir_session=x\r\n\r\nabc",
    "zero in a value": b"HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\nabc",
    "no name": b"HTTP/1.1 200 OK\r\n: b\r\n\r\nabc",
    "many fields": b"HTTP/1.1 200 OK\r\n" + b"".join(b"F%d: x\r\n" % n for n in range(500)) + b"\r\nabc",
    "no content that has one": b"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc",
    "long reason": b"HTTP/1.1 200 " + b"O" * 30000 + b"\r\n\r\nabc",
    "own fields": b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nDate: x\r\nKeep-Alive: 1\r\nTrailer: x\r\n\r\nabc",
}


@pytest.mark.parametrize("name", HEADS)
def test_a_page_whose_answer_is_none(server, agent, running, name):
    wait = aside(lambda: page(server, running))
    order = agent.order()
    assert (order["type"], order["what"]) == ("tunnel", "port")
    stream = tunnel_open(server, agent, order)
    try:
        stream.sendall(HEADS[name])
        stream.shutdown(socket.SHUT_WR)
        stream.recv(65536)
    except OSError:
        pass  # the server has seen enough
    stream.close()
    status, headers, body = wait()
    assert status in (None, 200, 204, 502), (status, body)
    assert not any("weir_session" in value for key, value in headers if key.lower() == "set-cookie"), headers
    assert len([key for key, _ in headers if key.lower() == "content-length"]) <= 1
    served(server)


def test_a_tunnel_belongs_to_the_node_that_was_asked(server, agent, running):
    thief = FakeAgent(server, name="n2").join().connect()
    wait = aside(lambda: page(server, running))
    order = agent.order()
    assert tunnel_open(server, agent, order, credential=thief.credential) is None
    assert tunnel_open(server, agent, {"tunnel": "0" * 32}) is None
    assert tunnel_open(server, agent, {"tunnel": order["tunnel"][:31]}) is None
    stream = tunnel_open(server, agent, order)
    assert tunnel_open(server, agent, order) is None  # once
    stream.sendall(b"HTTP/1.0 200 OK\r\n\r\nhello")
    stream.close()
    assert wait()[::2] == (200, b"hello")
    thief.close()
    served(server)


@pytest.mark.parametrize("failure", ODD + ["x" * 100_000])
def test_why_there_is_no_tunnel(server, agent, running, failure):
    wait = aside(lambda: page(server, running))
    order = agent.order()
    reply = server.call("POST", f"agent/tunnels?tunnel={order['tunnel']}", {"failure": failure}, token=agent.credential)
    if reply.status != 200:  # not understood: the node may say it again
        assert reply.status in (400, 413), reply.body
        assert server.call("POST", f"agent/tunnels?tunnel={order['tunnel']}", {"failure": "no"}, token=agent.credential).status == 200
    status, _, body = wait()
    assert status == 502 and "\x1b" not in body.decode() and len(body) < 4096
    served(server)


def test_a_node_that_goes_away_in_the_middle(server, agent, running):
    wait = aside(lambda: page(server, running))
    stream = tunnel_open(server, agent, agent.order())
    stream.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    stream.close()
    status, _, body = wait()
    assert status in (None, 200) and b"half" not in (body if isinstance(body, bytes) else b"")  # visibly not whole
    wait = aside(lambda: page(server, running, "POST", b"x" * (8 << 20)))
    stream = tunnel_open(server, agent, agent.order())
    stream.close()
    assert wait()[0] in (None, 502)
    served(server)
