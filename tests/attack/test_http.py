"""Malformed, slow and many HTTP connections. Nothing is smuggled, and everybody else is served.

SPDX-License-Identifier: Apache-2.0
"""

import select
import socket
import time

import pytest
from server_process import Server

HEAD_S = 10  # a head has this long, and a body this long before its rate counts
SECOND = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
# Each hides the second request from one of two readers.
SMUGGLED = {
    "two lengths": b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n",
    "a blank before the colon": b"Transfer-Encoding : chunked\r\nContent-Length: %d\r\n\r\n",
    "a folded encoding": b"Transfer-Encoding:\r\n chunked\r\nContent-Length: %d\r\n\r\n",
    "an encoding beside a length": b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n",
    "a bare LF": b"X: y\nContent-Length: %d\r\n\r\n",
    "a NUL": b"X: y\0z\r\nContent-Length: %d\r\n\r\n",
    "two hosts": b"Host: b\r\nContent-Length: %d\r\n\r\n",
}


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=30)


def read_all(sock):
    data = b""
    while piece := sock.recv(65536):
        data += piece
    return data


def closed(sock):
    """True: the server has closed the connection."""
    if not select.select([sock], [], [], 0)[0]:
        return False
    try:
        return sock.recv(65536) == b""
    except OSError:
        return True


@pytest.mark.parametrize("how", SMUGGLED)
def test_a_second_request_is_not_smuggled(server, how):
    sock = connect(server)
    sock.sendall(b"POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\n" + SMUGGLED[how] % len(SECOND) + SECOND)
    data = read_all(sock)
    assert data.startswith(b"HTTP/1.1 400 "), data
    assert b"200 OK" not in data
    assert data.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("path", ["/api%2fv1/tasks", "/api/v1/tasks%2F1", "/api/v1/tasks/1%2flogs", "/assets/..%2fadmin.token"])
def test_a_coded_slash_reaches_no_route(server, path):
    assert server.call("GET", path).status == 400


@pytest.mark.parametrize("parameter", [b"&a", b"&a=1", b"&offset=%F1", b"&%00"])
def test_long_queries_end_no_server(server, parameter):
    """A stranger without a token sends queries of all lengths, also longer than the library has room for."""
    for count in (64, 128, 256, 300, 400, 512, 1024, 2048, 4096, 7000):
        sock = connect(server)
        try:
            sock.sendall(b"GET /healthz?x" + parameter * count + b" HTTP/1.1\r\nHost: a\r\n\r\n")
            data = read_all(sock)
            assert data.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 ", b"HTTP/1.1 414 ")), (count, data)
        except (ConnectionResetError, BrokenPipeError):  # closed while more than the memory of a head was still on its way
            assert len(parameter) * count >= 16 * 1024
        finally:
            sock.close()
    assert server.call("GET", "/healthz").status == 200


def test_dripping_connections_are_closed(server):
    """Heads and bodies that come byte by byte, and connections that say nothing."""
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 1000
    kept = [connect(server) for _ in range(10)]
    for sock in kept:  # a second head drips on a connection that was used well before
        sock.sendall(SECOND)
        assert sock.recv(65536).startswith(b"HTTP/1.1 200")
    drips = {sock: iter(head) for sock in kept + [connect(server) for _ in range(40)]}
    for _ in range(5):
        sock = connect(server)
        sock.sendall(b"POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                     b"Content-Length: 100000\r\n\r\n" % server.admin.encode())
        drips[sock] = iter(head)
    silent = [connect(server) for _ in range(20)]
    began = time.monotonic()
    open_socks = set(drips) | set(silent)
    while open_socks and time.monotonic() < began + 2 * HEAD_S + 10:
        for sock in list(open_socks):
            if closed(sock):
                open_socks.remove(sock)
            elif sock in drips:
                try:
                    sock.send(bytes([next(drips[sock])]))
                except OSError:
                    open_socks.remove(sock)
        assert server.call("GET", "/healthz").status == 200
        select.select([], [], [], 0.2)
    assert not open_socks, f"{len(open_socks)} connections live after {time.monotonic() - began:.0f} s"
    assert "connections were closed" in server.log()


def test_idle_connections_do_not_starve_a_user():
    """64 open files, 200 connections that say nothing, and one user who works."""
    server = Server(files=64)
    try:
        server.start()
        idle = [connect(server) for _ in range(200)]
        for _ in range(20):
            began = time.monotonic()
            assert server.call("POST", "tasks", {"command": ["true"]}).status == 201
            assert time.monotonic() - began < 5
        assert "few connections are possible" in server.log()
        deadline = time.monotonic() + 30
        while "connections were closed" not in server.log():
            assert time.monotonic() < deadline, server.log()
            select.select([], [], [], 0.1)
        for sock in idle:
            sock.close()
    finally:
        server.close()
