"""Services: programs that start again and keep their address. SPDX-License-Identifier: Apache-2.0
"""
import http.client
import pathlib
import shutil
import tempfile
import threading

import pytest


def test_a_service_starts_again_as_the_same_task(weir):
    site = weir("--slots", "2")
    task = site.submit("sh", "-c", 'echo "start $WEIR_ATTEMPT"; test "$WEIR_ATTEMPT" = 3 && exec sleep 1000; exit 7',
                       kind="service", restart_delay="100ms")
    site.wait_until(lambda: "start 3" in site.weir("task", "logs", task).stdout, "the third attempt")
    shown = site.wait_state(task, "running")
    assert shown["restart"] == "auto" and shown["restart_delay_ms"] == 100
    assert sorted(one["attempt"] for one in shown["attempts"]) == [1, 2, 3]
    site.weir("kill", "--yes", task)
    assert site.wait_state(task, "killed")["cause"] == "killed"


def test_a_service_fails_after_the_most_starts_in_a_row_and_says_why_it_waits(weir):
    site = weir("--slots", "2")
    task = site.submit("sh", "-c", "echo again; exit 7", kind="service", max_restarts=2, restart_delay="1ms")
    assert site.wait_state(task, "failed")["exit_code"] == 7
    assert site.weir("task", "logs", task).stdout.count("again") == 3
    slow = site.submit("sh", "-c", "exit 7", kind="service", restart_delay="1h")
    site.wait_until(lambda: (site.task(slow)["reason"] or {}).get("code") == "restarts", "the wait")
    assert "its program ended; waits before start 1 in a row" in site.weir("explain", slow).stdout


def test_a_gang_cannot_start_always(weir):
    site = weir("--slots", "2")
    refused = site.weir("submit", "--gang", "--instances", "2", "--restart", "always", "--", "true", check=False)
    assert refused.returncode == 2, refused
    assert "restart: the instances of a gang end together" in refused.stderr


SERVER = """
import http.server, os, threading
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = f"{os.environ['WEIR_INSTANCE_ID']} {os.environ['WEIR_ATTEMPT']}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        if self.path == "/end":
            self.wfile.flush()
            threading.Timer(0.0, os._exit, (3,)).start()
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["WEIR_PORT"])), Answer).serve_forever()
"""


NAMED = """
import http.server, os
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = f"task {os.environ['WEIR_TASK_ID']} {self.path}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["WEIR_PORT"])), Answer).serve_forever()
"""


def ask(port, path, **headers):
    """What a client gets: status, headers and text."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def test_the_address_of_a_name_stays_when_the_service_is_submitted_again(weir):
    site = weir("--slots", "2")
    bearer = {"Authorization": f"Bearer {site.token}"}
    first = site.submit("/usr/bin/python3", "-c", NAMED, kind="service", name="chat")
    opened = site.api("POST", f"tasks/{first}/open").json
    assert opened["path"] == f"/proxy/{first}/" and opened["address"] == "/proxy/default/chat/"
    address = opened["port"], opened["address"] + "page?a=1"
    assert ask(*address, **bearer)[::2] == (200, f"task {first} /page?a=1")
    site.weir("kill", "--yes", first)
    site.wait_state(first, "killed")
    answers = []
    waits = threading.Thread(target=lambda: answers.append(ask(*address, **bearer)[::2]))
    waits.start()  # nobody has the name now
    second = site.submit("/usr/bin/python3", "-c", NAMED, kind="service", name="chat")
    waits.join()
    assert answers == [(200, f"task {second} /page?a=1")]
    other = site.submit("/usr/bin/python3", "-c", NAMED, kind="service", name="other")
    site.wait_until(lambda: ask(address[0], "/proxy/default/other/", **bearer)[2] == f"task {other} /", "the other name")
    assert ask(*address, **bearer)[2] == f"task {second} /page?a=1"


def test_a_name_needs_a_token_or_its_own_link(weir):
    site = weir("--slots", "3")
    task = site.submit("/usr/bin/python3", "-c", NAMED, kind="service", name="chat")
    site.submit("/usr/bin/python3", "-c", NAMED, kind="service", name="other")
    link = site.weir("task", "open", task, "--by-name").stdout.strip()
    assert "/proxy/default/chat/?weir_link=" in link
    port = site.api("POST", f"tasks/{task}/open").json["port"]
    assert ask(port, "/proxy/default/chat/")[0] == 401
    assert ask(port, "/proxy/default/chat/", Authorization="Bearer wrong")[0] == 401
    status, headers, _ = ask(port, link.partition(f":{port}")[2])
    assert status == 303 and "Path=/proxy/default/chat/;" in headers["Set-Cookie"]
    cookie = headers["Set-Cookie"].partition(";")[0]
    assert ask(port, "/proxy/default/chat/", Cookie=cookie)[::2] == (200, f"task {task} /")
    name, _, secret = cookie.partition("=")
    for path in ("/proxy/default/other/", f"/proxy/{task}/"):
        assert ask(port, path, Cookie=cookie)[0] == 401
    assert ask(port, f"/proxy/{task}/", Cookie=f"weir_proxy_{port}_{task}={secret}")[0] == 401
    bearer = {"Authorization": f"Bearer {site.token}"}
    status, _, text = ask(port, "/proxy/nobody/chat/", **bearer)
    assert status == 404 and "there is no project 'nobody'" in text
    assert ask(port, "/proxy/default/", **bearer)[0] == 404


def test_what_has_no_address_by_name(weir):
    site = weir("--slots", "3")
    plain = site.submit("sleep", "1000", name="chat")
    odd = site.submit("sleep", "1000", kind="service", name="a chat")
    for task in (plain, odd):
        assert site.api("POST", f"tasks/{task}/open").json["address"] is None
        refused = site.weir("task", "open", task, "--by-name", check=False)
        assert refused.returncode == 5 and "has an address by its name" in refused.stderr


def address_of(site, task):
    opened = site.api("POST", f"tasks/{task}/open")
    assert opened.status == 201, opened.body
    return opened.json["port"], opened.json["path"]


def get(site, address, path=""):
    """What a client of the service gets: status, instance and attempt."""
    connection = http.client.HTTPConnection("127.0.0.1", address[0], timeout=60)
    try:
        connection.request("GET", address[1] + path, headers={"Authorization": f"Bearer {site.token}"})
        answer = connection.getresponse()
        return answer.status, *answer.read().decode().split()
    finally:
        connection.close()


def test_a_client_of_a_service_that_starts_again_is_never_refused(weir):
    site = weir("--slots", "2")
    task = site.submit("/usr/bin/python3", "-c", SERVER, kind="service", restart_delay="500ms")
    address = address_of(site, task)
    assert get(site, address) == (200, "0", "1")  # asked before the program listens
    for attempt in ("2", "3"):
        assert get(site, address, "end")[0] == 200
        site.wait_until(lambda: get(site, address)[1:] == ("0", attempt), f"attempt {attempt}")
    assert get(site, address) == (200, "0", "3")


def test_instances_of_a_service_take_turns_and_one_that_ended_is_passed_over(weir):
    site = weir("--slots", "3")
    task = site.submit("/usr/bin/python3", "-c", SERVER, kind="service", instances=3, restart_delay="1h")
    address = address_of(site, task)
    site.wait_until(lambda: {get(site, address)[1] for _ in range(6)} == {"0", "1", "2"}, "all three")
    status, ended, attempt = get(site, address, "end")
    assert (status, attempt) == (200, "1")
    left = {"0", "1", "2"} - {ended}
    for _ in range(12):
        status, instance, attempt = get(site, address)
        assert status == 200 and attempt == "1"
        if instance == ended:  # it was still about to end
            site.wait_until(lambda: site.task(task)["counts"]["running"] == 2, "the end of the instance")
    assert {get(site, address)[1] for _ in range(8)} == left


def test_a_service_that_never_listens_is_an_error_in_the_end(weir):
    site = weir("--slots", "2")
    task = site.submit("sleep", "1000", kind="service")
    site.wait_state(task, "running")
    port, path = address_of(site, task)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={"Authorization": f"Bearer {site.token}"})
    answer = connection.getresponse()
    assert answer.status == 502 and b"listens" in answer.read()
    other = site.submit("sleep", "1000")
    site.wait_state(other, "running")
    assert get(site, address_of(site, other))[0] == 502  # no service: its reader wants the error at once


# Answers /healthz by the file `sick` in its directory: none is well, "no" is a refusal, "slow" no answer. Writes each
# check and each other request to files.
CHECKED = """
import http.server, os, pathlib, time
here = pathlib.Path(os.environ["PLACE"]) / os.environ["WEIR_INSTANCE_ID"]
here.mkdir(exist_ok=True)
with open(here / "starts", "a") as out:
    print(os.environ["WEIR_ATTEMPT"], file=out)
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        sick = here / f"sick-{os.environ['WEIR_ATTEMPT']}"
        state = sick.read_text() if sick.exists() else ""
        with open(here / ("checks" if self.path == "/healthz" else "requests"), "a") as out:
            print(self.path, state or "well", self.headers.get("User-Agent"), file=out)
        if self.path == "/healthz" and state == "slow":
            time.sleep(600)
        self.send_response(503 if self.path == "/healthz" and state == "no" else 200)
        text = f"{os.environ['WEIR_INSTANCE_ID']} {os.environ['WEIR_ATTEMPT']}".encode()
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["WEIR_PORT"])), Answer).serve_forever()
"""


@pytest.fixture
def place():
    """A directory where tasks of every user may write."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="weir-test-"))
    path.chmod(0o777)
    yield path
    shutil.rmtree(path, ignore_errors=True)


def checked(site, place, **fields):
    """A service with a health check, whose instances write into `place` what happened."""
    settings = {"health": "/healthz", "health_every": "1s", "health_grace": "60s", "restart_delay": "1ms", "env": {"PLACE": str(place)}}
    return site.submit("/usr/bin/python3", "-c", CHECKED, kind="service", **{**settings, **fields})


def healths(site, task):
    return {one["index"]: one["health"] for one in site.task(task)["attempts"] if one["state"] == "running"}


def test_an_unhealthy_instance_is_passed_over_and_comes_back(weir, place):
    site = weir("--slots", "2")
    task = checked(site, place, instances=2, health_failures=1000)
    address = address_of(site, task)
    site.wait_until(lambda: healths(site, task) == {0: "healthy", 1: "healthy"}, "two healthy instances")
    assert {get(site, address)[1] for _ in range(6)} == {"0", "1"}
    (place / "0" / "sick-1").write_text("no")
    site.wait_until(lambda: healths(site, task)[0] == "unhealthy", "the failed check")
    assert {get(site, address) for _ in range(6)} == {(200, "1", "1")}
    assert "503" in site.weir("events", "--task", task).stdout
    assert "1 of 2 running instances healthy" in site.weir("explain", task).stdout
    assert "unhealthy" in site.weir("task", "show", task).stdout
    (place / "0" / "sick-1").unlink()
    site.wait_until(lambda: healths(site, task)[0] == "healthy", "the good check")
    assert {get(site, address)[1] for _ in range(6)} == {"0", "1"}
    assert (place / "0" / "starts").read_text() == "1\n"  # nobody ended it
    assert "weir-health" in (place / "0" / "checks").read_text()


def test_an_instance_that_stays_unhealthy_starts_again_with_that_reason(weir, place):
    site = weir("--slots", "2")
    task = checked(site, place, health_failures=2)
    address = address_of(site, task)
    assert get(site, address) == (200, "0", "1")
    for attempt, state in (("1", "no"), ("2", "slow")):
        (place / "0" / f"sick-{attempt}").write_text(state)
        site.wait_until(lambda: max(one["attempt"] for one in site.task(task)["attempts"]) == int(attempt) + 1, "the next attempt")
        assert get(site, address) == (200, "0", str(int(attempt) + 1))
    ended = [one for one in site.task(task)["attempts"] if one["attempt"] < 3]
    assert [one["cause"] for one in ended] == ["unhealthy", "unhealthy"]
    assert all("health check failed" in one["message"] for one in ended)
    assert (place / "0" / "starts").read_text() == "1\n2\n3\n"


def test_a_service_that_is_never_healthy_fails_after_its_restarts(weir):
    site = weir("--slots", "2")
    task = site.submit("sleep", "1000", kind="service", health="tcp", health_every="1s", health_grace="0s", health_failures=1,
                       restart_delay="1ms", max_restarts=1)
    shown = site.wait_state(task, "failed")
    assert shown["cause"] == "unhealthy" and shown["exit_code"] != 0
    events = site.weir("events", "--task", task).stdout
    assert "nothing listens on port" in events


def test_a_second_service_of_a_name_takes_over_when_it_is_healthy(weir, place):
    site = weir("--slots", "3")
    first = checked(site, place, name="chat")
    opened = site.api("POST", f"tasks/{first}/open").json
    address = opened["port"], opened["address"]
    assert get(site, address) == (200, "0", "1")
    second = site.submit("sh", "-c", 'while [ ! -e "$PLACE/go" ]; do sleep 0.1; done; exec /usr/bin/python3 -c "$1"', "-", CHECKED,
                         kind="service", name="chat", env={"PLACE": str(place)}, health="/healthz", health_every="1s", array="7-7")
    site.wait_state(second, "running")
    assert [get(site, address)[1] for _ in range(4)] == ["0"] * 4  # the second one does not answer yet
    (place / "go").touch()
    site.wait_until(lambda: get(site, address)[1] == "7", "the second service")
    site.weir("kill", "--yes", first)
    site.wait_state(first, "killed")
    assert {get(site, address)[1] for _ in range(4)} == {"7"}


def test_bad_health_checks_are_refused(weir):
    site = weir("--slots", "2")
    for fields, words in (({"health": "healthz"}, "health: a path like /healthz is wanted"),
                          ({"health": "/a b"}, "health: a path has no spaces"),
                          ({"health": "/", "kind": "command"}, "only a task of kind service"),
                          ({"health": "tcp", "health_every": "10ms"}, "health_every: at least 1 s"),
                          ({"health": "tcp", "health_timeout": "61s"}, "health_timeout: at most 60 s"),
                          ({"health": "tcp", "health_failures": 0}, "health_failures: 1 or more")):
        refused = site.api("POST", "tasks", {"command": ["true"], "kind": "service", **fields})
        assert refused.status == 400 and words in refused.json["error"]["message"], refused.body
    assert site.api("GET", "tasks").json["items"] == []


# Notes that it was asked, and never answers.
SILENT = """
import _signal, _socket, posix
listener = _socket.socket()
listener.bind(("127.0.0.1", int(posix.environ[b"WEIR_PORT"])))
listener.listen(9)
held = listener._accept()
open(posix.environ[b"PLACE"] + b"/asked-" + posix.environ[b"WEIR_INSTANCE_ID"], "w").close()
_signal.pause()
"""


def test_instances_that_do_not_answer_do_not_hold_up_the_checks_of_another_project(weir, place):
    site = weir("--slots", "80")
    for name in ("silent", "well"):
        assert site.api("POST", "projects", {"name": name}).status == 201
    silent = site.submit("/usr/bin/python3", "-S", "-E", "-c", SILENT, kind="service", project="silent", preemptible=True, instances=70, env={"PLACE": str(place)},
                         health="/", health_every="1s", health_timeout="60s", health_grace="60s", health_failures=1000)
    site.wait_until(lambda: len(list(place.glob("asked-*"))) >= 32, "checks that are not answered")
    well = checked(site, place, project="well", preemptible=True)
    site.wait_until(lambda: healths(site, well) == {0: "healthy"}, "the service of the other project")
    # No check of the silent service has come to its end: all are under way, and did not take all there is.
    assert set(healths(site, silent).values()) == {"unknown"}
