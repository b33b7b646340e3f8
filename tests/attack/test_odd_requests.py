"""Thousands of requests that no client sends: odd paths, queries, heads, bodies and ways to end, by strangers and by people with a
token. No request ends the server or fails inside it, and everybody else is served.

The requests are made from the table of routes and from openapi.yaml, so that a new route or field is tried, too. WEIR_SEED repeats a
run, WEIR_ODD says how many requests are made; the message of a failure has the last requests, whole. SPDX-License-Identifier: Apache-2.0
"""

import collections
import json
import os
import pathlib
import random
import re
import select
import socket

import pytest
import yaml
from server_process import FakeAgent

ROOT = pathlib.Path(__file__).parents[2]
COUNT = int(os.environ.get("WEIR_ODD", "800"))
SEED = int(os.environ.get("WEIR_SEED", "20261119"))
FORM = r'ROUTE\((\w+),\s+"([^"]*)",.*"([^"]*)"\)'
ROUTES = [
    (method, mount + pattern, query.split())
    for file, mount in (("src/api/routes.def", ""), ("src/compat/qarnot/routes.def", "/qarnot"))
    for method, pattern, query in re.findall(FORM, (ROOT / file).read_text())
]
SPEC = yaml.safe_load((ROOT / "docs/api/openapi.yaml").read_text())

NUMBERS = [-1, 0, 1, 2, 255, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), 10**40,
           0.5, 1e-9, 1e300, -0.0]  # fmt: skip
TEXTS = ["", "x", "default", "1", "n1", "0", "-1", "1.0:1", "18446744073709551615", "99999999999999999999", "1e5", "0x1", "5m", "-5m", "999999999d", "64Gi",
         "99999999Ei", "../../etc/passwd", "a/b", "..", ".", "%s%n%x", "\x1b[2J", "\r\nA: b", "\x7f", "é", "\ud7ff", "\U0010ffff", "n" * 64, "n" * 300,
         "n" * 5000, "a,b,,c", ",", "true", "null", "all", "2026-11-19T00:00:00Z", "9999-12-31T23:59:60Z", "0000-00-00T00:00:00Z", "-9223372036854775808",
         "00000000-0000-0000-0000-000000000000", "{}", "[]", "f" * 64, "*", "%", "_", "'", '"', "\\", "a=b", "&&&", "0-4294967296", "9-1"]  # fmt: skip
CODED = ["%00", "%ff", "%F1", "%", "%2", "%zz", "%2f", "%2e%2e", "%0d%0a", "%C0%80", "%ED%A0%80", "+", "%25", "&", "&&", "=", ";", "%20"]
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "G", "M" * 2000, "G\x01T", ""]
VERSIONS = ["HTTP/1.1"] * 12 + ["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/1.10", "HTTP/1.1 ", "http/1.1", "HTTP/99999999999.1", "", "X"]
TAKES = ["application/json", "application/yaml", "text/plain", "application/json; charset=\xff", "", "a" * 500, "multipart/form-data; boundary=x"]


def field_names():
    """Every name of a field that the API or the facade knows."""
    names = set(re.findall(r"^ +(\w+):", (ROOT / "docs/api/openapi.yaml").read_text(), re.M))
    for file in (ROOT / "src/compat/qarnot").glob("*.c"):
        names |= set(re.findall(r'"([a-z]\w{2,30})"', file.read_text()))
    return sorted(names)


NAMES = field_names()


LAYERS = ["path", "query", "head", "frame", "body", "body", "bytes"]


class Maker:
    """Makes requests from one seed. Most are odd in one layer only, because whatever is odd outside hides what is odd inside."""

    def __init__(self, seed, tokens):
        self.rng = random.Random(seed)
        self.tokens = tokens
        self.layers = set(LAYERS)

    def is_odd(self, layer, chance=1.0):
        return layer in self.layers and self.rng.random() < chance

    def one(self, *choices):
        return self.rng.choice(choices)

    def odd(self, depth=0):
        kind = self.rng.randrange(8 if depth < 4 else 6)
        if kind < 2:
            return self.rng.choice(NUMBERS)
        if kind < 5:
            return self.rng.choice(TEXTS)
        if kind == 5:
            return self.one(None, True, False, [], {}, [[]], [{}])
        if kind == 6:
            return [self.odd(depth + 1) for _ in range(self.one(1, 2, 3, 300 if depth == 0 else 1))]
        return {self.rng.choice(NAMES): self.odd(depth + 1) for _ in range(self.rng.randrange(6))}

    def of_schema(self, schema, depth=0):
        """A value that the schema allows, but for odd parts here and there."""
        while "$ref" in schema:
            schema = SPEC["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        if depth > 6 or self.is_odd("body", 0.15):
            return self.odd(depth)
        for joint in ("oneOf", "anyOf"):
            if joint in schema:
                return self.of_schema(self.rng.choice(schema[joint]), depth + 1)
        if "allOf" in schema:
            parts = [self.of_schema(part, depth + 1) for part in schema["allOf"]]
            return {k: v for part in parts if isinstance(part, dict) for k, v in part.items()}
        if "enum" in schema:
            return self.rng.choice(schema["enum"])
        kind = schema.get("type", "object")
        if kind == "object":
            fields = {k: self.of_schema(v, depth + 1) for k, v in schema.get("properties", {}).items() if self.rng.random() < 0.5 or k in schema.get("required", [])}
            extra = schema.get("additionalProperties")
            if isinstance(extra, dict):
                fields.update({self.one("a", "gpu", "cpu", self.rng.choice(TEXTS)): self.of_schema(extra, depth + 1) for _ in range(self.rng.randrange(3))})
            return fields
        if kind == "array":
            return [self.of_schema(schema.get("items", {}), depth + 1) for _ in range(self.rng.randrange(4))]
        if kind in ("integer", "number"):
            return self.one(schema.get("minimum", 0), schema.get("maximum", 1), self.rng.randrange(10))
        return self.one(True, False) if kind == "boolean" else self.one("default", "true", "a", "1")

    def body(self, method, pattern):
        kind = self.rng.random() if self.is_odd("body") else 0
        operation = SPEC["paths"].get(pattern, {}).get(method.lower(), {})
        content = operation.get("requestBody", {}).get("content", {})
        if kind < 0.6 and "application/json" in content:
            return json.dumps(self.of_schema(content["application/json"]["schema"])).encode("utf-8", "surrogatepass")
        if kind < 0.75 or not content:
            return json.dumps(self.odd()).encode("utf-8", "surrogatepass")
        if kind < 0.85:
            return self.one(b"", b"{", b"[" * 5000, b'{"a":' * 5000, b"\xff\xfe", b"\0" * 100, b'"\\ud800"', b"1e999999", b"-", b"nul", b'{"a":1,"a":2}', b"x" * 70000,
                            b"a: &a [*a]\n", b"--- !!python\n", b"{}" * 1000, b'[{"command":["true"]}]' * 2, b"\xef\xbb\xbf{}")  # fmt: skip
        data = bytearray(json.dumps(self.odd()).encode())
        for _ in range(min(len(data), self.rng.randrange(1, 5))):
            data[self.rng.randrange(len(data))] = self.rng.randrange(256)
        return bytes(data)

    def segment(self, layer):
        if not self.is_odd(layer, 0.7):
            return self.one("1", "default", "n1", "2")
        return self.one("b1", self.rng.choice(CODED), quoted(self.rng.choice(TEXTS)), str(self.rng.choice(NUMBERS)))

    def target(self, pattern, query):
        path = re.sub(r"\{[^}]*\}", lambda _: self.segment("path"), pattern)
        if self.is_odd("path", 0.3):
            at = self.rng.randrange(len(path) + 1)
            path = path[:at] + self.one("/", "//", "/..", "?", "#", "%2f", " ", "\t", "*", self.rng.choice(CODED)) + path[at:]
        if self.is_odd("path", 0.1):
            path = self.one("*", "http://x" + path, "//" + path, "/" * 9000, "", "\\", "/\xff")
        asked = []
        for _ in range(self.one(1, 1, 2, 3, 200 if self.rng.random() < 0.2 else 1) if self.is_odd("query") else 0):
            name = self.rng.choice(query) if query and self.rng.random() < 0.9 else quoted(self.rng.choice(NAMES))
            asked.append(name + self.one("", "=", "=" + self.segment("query"), "=1", "=true", "=" + self.rng.choice(CODED)))
        return path + ("?" + self.one("&", "&", "&", ";", "&&").join(asked) if asked else "")

    def token(self):
        if not self.is_odd("head", 0.3):
            return f"Bearer {self.rng.choice(self.tokens)}"
        return self.one("Bearer", "Bearer ", "bearer x", "Basic eDp5", "Basic \xff", "x" * 3000, "Bearer " + "x" * 200)

    def fields(self):
        odd = {
            "Content-Type": lambda: self.rng.choice(TAKES),
            "Idempotency-Key": lambda: self.one("k", "k" * 300, "", "\xff", "a b"),
            "Last-Event-ID": lambda: str(self.rng.choice(NUMBERS + TEXTS[:8])),
            "Accept-Encoding": lambda: self.one("gzip", "gzip;q=0", "*", ",,,", "gzip, " * 300),
            "Connection": lambda: self.one("close", "keep-alive", "Upgrade", "Upgrade, close", "x", ",", ""),
            "Upgrade": lambda: self.one("weir-tunnel", "websocket", "h2c", ""),
            "Cookie": lambda: self.one("weir=x", "weir_session=" + "a" * 100, ";" * 500, "=", "weir_session", "a=b; " * 200, "\xff=\xfe"),
            "Expect": lambda: self.one("100-continue", "x"),
            "If-None-Match": lambda: self.one("*", '"x"', "W/", '"' * 300),
            "Origin": lambda: self.one("null", "http://evil", "http://localhost", "x", "http://[::1"),
            "Referer": lambda: self.one("http://evil/", "\xff"),
            "Sec-Fetch-Site": lambda: self.one("cross-site", "same-origin", "none", ""),
            "Sec-Fetch-Mode": lambda: self.one("navigate", "cors", "x"),
            "X-Request-Id": lambda: self.one("1", "\x01", "r" * 5000),
            "X-Weir-Request": lambda: "1",
            "Range": lambda: self.one("bytes=0-", "bytes=5-1", "x"),
            "X" * self.one(1, 300): lambda: "y" * self.one(1, 3000),
        }
        chosen = self.rng.sample(sorted(odd), self.one(0, 1, 2, 3, 6))
        fields = [(name, odd[name]()) for name in chosen]
        if not self.is_odd("head"):
            return [("Host", "localhost"), ("Authorization", self.token())]
        if self.rng.random() < 0.95:
            fields.insert(0, ("Host", self.one("localhost", "localhost", "localhost", "localhost", "127.0.0.1", "evil", "", "[::1]:1", "a" * 300, "localhost:99999999999")))
        if self.rng.random() < 0.8:
            fields.append(("Authorization", self.token()))
        fields += fields[:1] * self.is_odd("head", 0.05)
        fields += [(f"h{n}", "") for n in range(self.one(50, 150, 900))] * self.is_odd("head", 0.05)
        return fields

    def framed(self, body):
        """Header lines that say where the body ends, and the body: mostly true."""
        kind = self.rng.random()
        if kind < 0.3 or not self.is_odd("frame"):
            return f"Content-Length: {len(body)}\r\n", body
        if kind < 0.7:
            size = self.one(1, 7, 4096)
            pieces = [body[at:at + size] for at in range(0, len(body), size)][:2000]
            coded = b"".join(b"%x%s\r\n%s\r\n" % (len(p), self.one(b"", b";a=b", b";" + b"x" * 200), p) for p in pieces)
            return "Transfer-Encoding: chunked\r\n", coded + self.one(b"0\r\n\r\n", b"0\r\nA: b\r\n\r\n", b"fffffffffffffffff\r\n", b"-1\r\n\r\n", b"zz\r\n", b"")
        length = self.one("-1", "+5", "0x10", "18446744073709551616", "99999999999", "", " ", "1,1", "5 5", str(len(body) + 9), str(max(0, len(body) - 1)))
        return f"Content-Length: {length}\r\n", body

    def request(self):
        self.layers = {self.rng.choice(LAYERS)} if self.rng.random() < 0.9 else set(LAYERS)
        method, pattern, query = self.rng.choice(ROUTES)
        named = self.rng.choice(METHODS) if self.is_odd("path", 0.2) else method
        takes = "requestBody" in SPEC["paths"].get(pattern, {}).get(method.lower(), {}) or "/qarnot" in pattern and method in ("POST", "PUT")
        body = self.body(method, pattern) if takes or self.is_odd("body", 0.1) else b""
        lines, body = self.framed(body) if body or self.rng.random() < 0.5 else ("", b"")
        version = self.rng.choice(VERSIONS) if self.is_odd("head", 0.2) else VERSIONS[0]
        head = f"{named} {self.target(pattern, query)} {version}\r\n"
        head += "".join(f"{name}{self.one(': ', ': ', ': ', ':', ':  ')}{value}\r\n" for name, value in self.fields()) + lines + "\r\n"
        data = head.encode("latin-1", "replace") + body
        for _ in range(self.one(1, 2, 5) if self.is_odd("bytes", 0.7) else 0):
            at = self.rng.randrange(len(data))
            data = data[:at] + bytes([self.rng.randrange(256)]) * self.one(0, 1, 1, 40) + data[at + 1:]
        return data


def quoted(text):
    return "".join(c if c.isalnum() and ord(c) < 128 else "".join(f"%{b:02x}" for b in c.encode("utf-8", "surrogatepass")) for c in text)


def answers(sock, seconds):
    """What comes within so many seconds of silence."""
    data = b""
    while len(data) < 1 << 20 and select.select([sock], [], [], seconds)[0]:
        try:
            piece = sock.recv(1 << 16)
        except OSError:
            break
        if not piece:
            break
        data += piece
    return data


def sent(server, rng, data):
    """Sends one or several requests on a connection, in pieces, and ends the connection in one of several ways. What came back."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as sock:
        try:
            at = 0
            while at < len(data):
                step = rng.choice([1, 50, 1 << 20, 1 << 20, 1 << 20])
                sock.sendall(data[at:at + step])
                at += step
            if rng.random() < 0.1:  # goes away without a word
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                return b""
            if rng.random() < 0.5:
                sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        return answers(sock, rng.choice([0.001, 0.02, 0.02]))


def prepared(server):
    """Objects that the routes can reach, and tokens of every scope."""
    agent = FakeAgent(server).join().connect()
    server.submit({"command": ["true"], "name": "runs"})
    assert agent.report(agent.started(agent.order()["key"])).status == 200
    server.submit([{"command": ["true"], "resources": {"slots": 2}}] * 3)
    read = server.call("POST", "tokens", {"scope": "read", "name": "reader"})
    assert read.status == 201, read.body
    return agent, [server.admin] * 8 + [read.json["token"], server.join_token, agent.credential]


@pytest.mark.parametrize("turn", range(2))
def test_odd_requests_end_no_server(server, turn):
    agent, tokens = prepared(server)
    maker = Maker(f"{SEED} {turn}", tokens)
    last = collections.deque(maxlen=40)
    statuses = collections.Counter()
    for number in range(COUNT // 2):
        data = b"".join(maker.request() for _ in range(maker.one(1, 1, 1, 2, 5)))
        last.append(data)
        back = sent(server, maker.rng, data)
        statuses.update(re.findall(rb"^HTTP/1\.1 (\d+) ", back, re.M))
        assert statuses[b"500"] == 0, (number, data, back)
        if number % 50 == 49:
            assert server.process.poll() is None and server.call("GET", "/healthz").status == 200, ([*last], server.log()[-5000:])
    # The requests went deep: most kinds of answers were seen.
    assert {b"200", b"400", b"401", b"403", b"404", b"405"} <= set(statuses), statuses
    assert server.call("POST", "tasks", {"command": ["true"]}, token=server.admin).status in (201, 503, 429), server.log()[-5000:]
    assert "bug" not in server.log() and "commit failed" not in server.log(), server.log()[-5000:]
    agent.close()
