"""A cloud for tests: the real `moto` server on loopback, a faulty door in front of it, and machines that are agents.

    server ──▶ Door (faults, client tokens) ──▶ moto (wire form, signatures, instances)
                                                 ▲ looked at by Machines: starts the user data that moto recorded, ends what moto has ended

SPDX-License-Identifier: Apache-2.0
"""
import base64
import http.client
import http.server
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import boto3
import botocore.config

from weir_harness import DEADLINE_S, free_port, supervisors_end, weir_bin

IMAGE = "ami-12c6146b"  # one of those that moto knows
DEAD = ("shutting-down", "terminated")


class Moto:
    """The moto server. From its fourth request on it checks the signature of every request."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="weir-moto-"))
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = open(self.root / "moto.log", "wb")
        program = pathlib.Path(sys.executable).parent / "moto_server"
        env = dict(os.environ, INITIAL_NO_AUTH_ACTION_COUNT="3")
        self.process = subprocess.Popen([sys.executable, str(program), "-H", "127.0.0.1", "-p", str(self.port)], env=env,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)
        deadline = time.monotonic() + DEADLINE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, (self.root / "moto.log").read_text()
                select.select([], [], [], 0.05)
        self.keys = {"aws_access_key_id": "first", "aws_secret_access_key": "first"}
        iam = self.client("iam", "us-east-1")
        iam.create_user(UserName="weir")
        made = iam.create_access_key(UserName="weir")["AccessKey"]
        iam.put_user_policy(UserName="weir", PolicyName="all", PolicyDocument='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}')
        self.keys = {"aws_access_key_id": made["AccessKeyId"], "aws_secret_access_key": made["SecretAccessKey"]}

    @property
    def env(self):
        return {key.upper(): value for key, value in self.keys.items()}

    def role_keys(self):
        """Keys of a role, with a session token. Moto checks both."""
        every = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}'
        iam = self.client("iam", "us-east-1")
        trust = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}]}'
        role = iam.create_role(RoleName="weir-role", AssumeRolePolicyDocument=trust)["Role"]
        iam.put_role_policy(RoleName="weir-role", PolicyName="all", PolicyDocument=every)
        made = self.client("sts", "us-east-1").assume_role(RoleArn=role["Arn"], RoleSessionName="weir")["Credentials"]
        return {"aws_access_key_id": made["AccessKeyId"], "aws_secret_access_key": made["SecretAccessKey"], "session": made["SessionToken"]}

    def client(self, service, region):
        config = botocore.config.Config(retries={"max_attempts": 0}, proxies={})
        return boto3.client(service, region_name=region, endpoint_url=self.url, config=config, **self.keys)

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.root, ignore_errors=True)


class Fault:
    """What happens to requests of one action. `where(form)` chooses among them; `times` of them, then no more.

    error: (status, code, message) in place of an answer · lose: 'before' or 'after' moto has acted · twice: moto acts twice ·
    body: bytes in place of the answer · hide: machines are left out of the list · hold: 'before' or 'after', until release()
    """

    def __init__(self, action, times=1, where=None, **what):
        self.action = action
        self.times = times
        self.where = where or (lambda form: True)
        self.what = what
        self.seen = 0
        self.held = threading.Event()
        self.acted = threading.Event()  # moto has done what it was asked, as often as the fault says
        self.go = threading.Event()

    def release(self):
        self.go.set()

    def stage(self, name):
        """Waits here where the fault says so; False: the connection is to be closed."""
        if self.what.get("hold") == name:
            self.held.set()
            self.go.wait(DEADLINE_S)
        return self.what.get("lose") != name


NO_FAULT = Fault("", times=0)
ERROR = '<?xml version="1.0" encoding="UTF-8"?>\n<Response><Errors><Error><Code>{}</Code><Message>{}</Message></Error></Errors><RequestID>r-1</RequestID></Response>'


class Door:
    """In front of moto: hands out faults, and remembers client tokens as EC2 does (`tokens=False`: as a careless cloud)."""

    def __init__(self, moto, tokens=True):
        door = self
        self.moto = moto
        self.tokens = {} if tokens else None
        self.faults = []
        self.calls = []  # (region, form)
        self.lock = threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = door.answer(dict(self.headers), body)
                if answer is None:
                    self.close_connection = True
                    return
                try:
                    self.send_response(answer[0])
                    self.send_header("Content-Length", str(len(answer[1])))
                    self.end_headers()
                    self.wfile.write(answer[1])
                except OSError:
                    self.close_connection = True  # the server was killed meanwhile

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def fault(self, action, **what):
        made = Fault(action, **what)
        self.faults.append(made)
        return made

    def count(self, action):
        return sum(form["Action"] == action for _, form in self.calls)

    def _fault_of(self, form):
        with self.lock:
            for fault in self.faults:
                if fault.action == form["Action"] and fault.seen < fault.times and fault.where(form):
                    fault.seen += 1
                    return fault
        return NO_FAULT

    def _forward(self, headers, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.moto.port, timeout=DEADLINE_S)
        connection.request("POST", "/", body, headers)
        reply = connection.getresponse()
        answer = reply.status, reply.read()
        connection.close()
        return answer

    def _act(self, headers, body, form, fault):
        """The cloud acts: once for each client token."""
        token = form.get("ClientToken")
        with self.lock:
            known = self.tokens.get(token) if self.tokens is not None and token else None
            if known is not None and known[0] != form:
                return 400, ERROR.format("IdempotentParameterMismatch", "The client token has been used with other parameters").encode()
            if known is not None:
                return known[1]
            answer = self._forward(headers, body)
            for _ in range("twice" in fault.what):
                answer = self._forward(headers, body)
            if self.tokens is not None and token and answer[0] == 200:
                self.tokens[token] = form, answer
            return answer

    def answer(self, headers, body):
        form = dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))
        region = re.search(r"Credential=[^/]+/[0-9]+/([^/]+)/", headers["Authorization"]).group(1)
        self.calls.append((region, form))
        fault = self._fault_of(form)
        if not fault.stage("before"):
            return None
        if "error" in fault.what:
            status, code, message = fault.what["error"]
            return status, ERROR.format(code, message).encode()
        answer = self._act(headers, body, form, fault)
        fault.acted.set()
        if not fault.stage("after"):
            return None
        if "hide" in fault.what:
            return 200, re.sub(rb"<reservationSet>.*</reservationSet>", b"<reservationSet/>", answer[1], flags=re.S)
        return (200, fault.what["body"]) if "body" in fault.what else answer

    def close(self):
        for fault in self.faults:
            fault.release()
        self.server.shutdown()
        self.server.server_close()


class Machines:
    """Runs what moto's instances would run: the user data that moto recorded, as a process of this machine each."""

    def __init__(self, moto, regions):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="weir-ec2-"))
        self.root.chmod(0o711)
        self.clients = {region: moto.client("ec2", region) for region in regions}
        self.running = {}  # instance id -> process
        self.scripts = {}  # instance id -> user data
        self.held = set()  # machines of these pools boot for ever; "": those without a pool
        self.stop = threading.Event()
        bin_dir = self.root / "bin"
        bin_dir.mkdir()
        (bin_dir / "weir").symlink_to(weir_bin())
        self.path = f"{bin_dir}:{os.environ['PATH']}"
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()

    def instances(self, region=None):
        """All instances that have not ended: {id: instance}."""
        found = {}
        for name, client in self.clients.items():
            pages = client.get_paginator("describe_instances").paginate() if region in (None, name) else []
            found.update({one["InstanceId"]: one for page in pages for r in page["Reservations"] for one in r["Instances"] if one["State"]["Name"] not in DEAD})
        return found

    def tags(self, region=None):
        return [{tag["Key"]: tag["Value"] for tag in one["Tags"]} for one in self.instances(region).values()]

    def _watch(self):
        while not self.stop.wait(0.1):
            for region, client in self.clients.items():
                self._look(client, self.instances(region))

    def _look(self, client, alive):
        for name in [one for one in self.running if self.running[one][0] is client and one not in alive]:
            self._end(name)
        for name, one in alive.items():
            pool = next((tag["Value"] for tag in one.get("Tags", []) if tag["Key"] == "weir:pool"), "")
            if name not in self.running and pool not in self.held:
                data = client.describe_instance_attribute(InstanceId=name, Attribute="userData")["UserData"]["Value"]
                self.scripts[name] = base64.b64decode(data).decode()
                self._boot(client, name)

    def _boot(self, client, name):
        (self.root / name).mkdir(mode=0o711)
        log = open(self.root / name / "log", "wb")
        env = {"PATH": self.path, "WEIR_AGENT_DIR": str(self.root / name / "agent"), "HOME": str(self.root / name)}
        process = subprocess.Popen(["sh", "-c", self.scripts[name]], env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        log.close()
        self.running[name] = client, process

    def _end(self, name):
        _, process = self.running.pop(name)
        process.kill()
        process.wait()
        supervisors_end(self.root / name)

    def close(self):
        self.stop.set()
        self.thread.join()
        for name in list(self.running):
            self._end(name)
        shutil.rmtree(self.root, ignore_errors=True)
