"""A server of the agent protocol, scripted by a test: it says what it is told to say and keeps what it hears.

SPDX-License-Identifier: Apache-2.0
"""

import base64
import http.server
import json
import queue
import threading
import time

DEADLINE_S = 30


class FakeServer:
    """One listening address. `stop()` and `start()` make it a server that goes and comes back."""

    def __init__(self):
        self.epoch = 1
        self.incarnation = 1
        self.port = 0
        self.hellos = []
        self.reports = []
        self.batches = 0
        self.joins = []
        self.credential = "weir_node_secret"
        self.unknown_status = 401  # to who is not known
        self.join_status = 201
        self.refuse_reports = 0  # answer so many batches with 503
        self.changed = threading.Condition()
        self.streams = []
        self.httpd = None

    def start(self):
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                server.handle(self, json.loads(body) if body else {})

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

        self.httpd = Server(("127.0.0.1", self.port), Handler)
        self.port = self.httpd.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def stop(self):
        self.httpd.shutdown()
        self.httpd.server_close()
        self.end_streams()

    def end_streams(self):
        with self.changed:
            for stream in self.streams:
                stream.put(None)
            self.streams = []

    # ---- what the agent asks ----

    def answer(self, handler, status, value):
        body = json.dumps(value).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def handle(self, handler, body):
        token = handler.headers.get("Authorization", "").removeprefix("Bearer ")
        if handler.path == "/api/v1/agent/join":
            self.joins.append((token, body))
            self.answer(handler, self.join_status, {"node": body["name"], "credential": self.credential})
        elif token != self.credential:
            self.answer(handler, self.unknown_status, {"error": {"code": "denied", "message": "who are you"}})
        elif handler.path == "/api/v1/agent/stream":
            self.stream(handler, body)
        elif handler.path == "/api/v1/agent/reports":
            self.report(handler, body)

    def report(self, handler, body):
        with self.changed:
            if self.refuse_reports > 0:
                self.refuse_reports -= 1
                status, value = 503, {"error": {"code": "busy", "message": "later"}}
            elif body["epoch"] != self.epoch or body["incarnation"] != self.incarnation:
                status, value = 409, {"error": {"code": "stale", "message": "stale"}}
            else:
                self.batches += 1
                self.reports += body["reports"]
                status, value = 200, {"acked": True}
            self.changed.notify_all()
        self.answer(handler, status, value)

    def stream(self, handler, hello):
        orders = queue.Queue()
        with self.changed:
            if self.hellos and self.hellos[-1]["supervisor"] != hello["supervisor"]:
                self.incarnation += 1
            self.hellos.append(hello)
            welcome = {"type": "welcome", "protocol": 1, "epoch": self.epoch, "incarnation": self.incarnation,
                       "node": hello["name"], "now_ms": int(time.time() * 1000), "heartbeat_ms": 10000,
                       "lost_after_ms": 300000, "limits": {"report_bytes": 4194304}}
            orders.put(welcome)
            self.streams.append(orders)
            self.changed.notify_all()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/x-ndjson")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        try:
            while (order := orders.get()) is not None:
                line = json.dumps(order).encode() + b"\n"
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                handler.wfile.flush()
            handler.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass
        handler.close_connection = True

    # ---- what a test does ----

    def order(self, type, **fields):
        with self.changed:
            message = {"type": type, "epoch": self.epoch, "incarnation": self.incarnation, **fields}
            self.streams[-1].put(message)

    def start_task(self, task, *argv, attempt=1, **fields):
        order = {"key": f"{task}.0:{attempt}", "task": task, "instance": 0, "argv": list(argv), "env": [],
                 "workdir": "", "job_user": "", "slots": 1, "devices": [], "cpu": 1, "memory": 1 << 20,
                 "pool": "default", "node": "n1", "rank": 0, "world_size": 1, "master_addr": "", "master_port": 0,
                 "grace_ms": 30000, "output_max": 1 << 26, **fields}
        self.order("start", **order)

    def stop_task(self, task, attempt=1, grace_ms=0):
        self.order("stop", key=f"{task}.0:{attempt}", grace_ms=grace_ms, cause="killed")

    def wait(self, condition, what):
        """The first true value of condition(), looked at after each thing heard."""
        until = time.monotonic() + DEADLINE_S
        with self.changed:
            while not (value := condition()):
                left = until - time.monotonic()
                assert left > 0, f"waited in vain for {what}; heard {self.reports[-20:]}"
                self.changed.wait(left)
            return value

    def wait_hello(self, count):
        return self.wait(lambda: len(self.hellos) >= count and self.hellos[-1], f"hello {count}")

    def find(self, type, key):
        return next((r for r in self.reports if r["type"] == type and r["key"] == key), None)

    def wait_report(self, type, key):
        return self.wait(lambda: self.find(type, key), f"{type} of {key}")

    def output(self, key, stream=1):
        """All output of an attempt, put together by offset, as the server would."""
        data = b""
        chunks = {(r["offset"], r["data"]) for r in self.reports
                  if r["type"] == "output" and r["key"] == key and r["stream"] == stream}
        for offset, text in sorted(chunks):
            piece = base64.b64decode(text)
            assert offset <= len(data), f"a gap before {offset}"
            data = data[:offset] + piece if offset + len(piece) > len(data) else data
        return data
