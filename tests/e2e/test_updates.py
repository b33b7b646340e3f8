"""Updates: a new version takes the place of a service, instance by instance, and no client is refused.

SPDX-License-Identifier: Apache-2.0
"""
import http.client
import json
import threading

import pytest

# Answers with its version and its instance. A page takes a moment, so that some answer is always under way. /healthz is
# refused where BROKEN is set.
SERVER = """
import http.server, os, time
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        check = self.path == "/healthz"
        if not check:
            time.sleep(0.05)
        self.send_response(503 if check and os.environ.get("BROKEN") else 200)
        text = f"{os.environ['VERSION']} {os.environ['WEIR_INSTANCE_ID']}".encode()
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *_):
        pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64
Server(("127.0.0.1", int(os.environ["WEIR_PORT"])), Answer).serve_forever()
"""


def service(site, version, instances, **fields):
    settings = {"health": "/healthz", "health_every": "1s", "restart_delay": "100ms", "name": "chat"}
    task = site.submit("/usr/bin/python3", "-c", SERVER, kind="service", instances=instances,
                       env={"VERSION": version}, **{**settings, **fields})
    site.wait_until(lambda: ready(site, task) == instances, "the first version")
    return task


def ready(site, task):
    return sum(one["health"] == "healthy" for one in site.task(task)["attempts"] if one["state"] == "running")


def update(site, task, *flags):
    done = site.weir("task", "update", task, *flags)
    return int(done.stdout)


def address_of(site, task):
    opened = site.api("POST", f"tasks/{task}/open").json
    return opened["port"], opened["path"], opened["address"]


def get(site, port, path):
    """What a client gets: status and version."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {site.token}"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode().split()[0]
    finally:
        connection.close()


class Client(threading.Thread):
    """Asks for a page again and again, and keeps each answer."""

    def __init__(self, site, port, path):
        super().__init__(daemon=True)
        self.site, self.port, self.path = site, port, path
        self.answers, self.enough = [], threading.Event()

    def run(self):
        while not self.enough.is_set():
            try:
                self.answers.append(get(self.site, self.port, self.path))
            except (OSError, http.client.HTTPException) as e:
                self.answers.append((0, repr(e)))

    def finish(self):
        self.enough.set()
        self.join()
        return self.answers


def served(site, task, paths):
    """The clients of these addresses of the task, each of which has had an answer."""
    port = address_of(site, task)[0]
    clients = [Client(site, port, path) for path in paths for _ in range(2)]
    for client in clients:
        client.start()
    site.wait_until(lambda: all(client.answers for client in clients), "the first answers")
    return clients


def test_no_request_fails_while_a_service_is_replaced(weir):
    site = weir("--slots", "3")
    old = service(site, "v1", 2)
    port, path, name = address_of(site, old)
    clients = served(site, old, (path, name))
    new = update(site, old, "--env", "VERSION=v2", "--drain", "1s")
    assert site.wait(old)["cause"] == "replaced"
    counted = [len(client.answers) for client in clients]
    site.wait_until(lambda: all(len(c.answers) > n + 2 for c, n in zip(clients, counted)), "answers of the new version")
    for client, first in zip(clients, counted):
        answers = client.finish()
        assert {status for status, _ in answers} == {200}, answers
        versions = [version for _, version in answers]
        assert versions[0] == "v1" and set(versions[first + 2:]) == {"v2"}, versions
        assert set(versions) == {"v1", "v2"}
    shown = site.task(new)
    assert shown["state"] == "running" and shown["origin"] == old and shown["update"] is None
    assert shown["counts"]["active"] == 2
    assert get(site, port, path) == (200, "v2")  # the number of the first task is an address still
    third = update(site, new, "--env", "VERSION=v3", "--drain", "0s")
    site.wait(new)
    assert get(site, port, path) == (200, "v3") and get(site, port, name) == (200, "v3")
    assert site.task(third)["origin"] == old


def test_a_version_that_is_never_healthy_stops_and_the_old_one_serves(weir):
    site = weir("--slots", "3")
    old = service(site, "v1", 2)
    clients = served(site, old, [address_of(site, old)[2]])
    new = update(site, old, "--env", "VERSION=bad", "--env", "BROKEN=1", "--within", "3s")
    site.wait_until(lambda: site.task(new)["update"]["phase"] == "stopped", "the stop")
    site.wait_until(lambda: site.task(new)["state"] == "pending", "the end of the bad instance")
    assert "its update has stopped (its next instance was not ready in time)" in site.weir("explain", new).stdout
    shown = site.weir("task", "show", old).stdout
    assert f"task {new} takes the place of task {old}; ready: 0 of 2 instances; it has stopped: not-ready" in shown
    again = site.weir("task", "update", old, "--env", "VERSION=v3", check=False)
    assert again.returncode == 5 and f"an update of task {old} is under way" in again.stderr
    site.weir("task", "update", old, "--back")
    assert site.wait(new)["cause"] == "replaced"
    assert ready(site, old) == 2 and site.task(old)["update"] is None
    for client in clients:
        assert set(client.finish()) == {(200, "v1")}


def test_an_update_goes_on_after_the_server_was_killed(weir):
    site = weir("--slots", "3")
    old = service(site, "v1", 2)
    new = update(site, old, "--env", "VERSION=v2", "--drain", "500ms")
    site.wait_until(lambda: ready(site, new) == 1, "the first new instance")
    site.kill()
    site.start()
    assert site.wait(old)["cause"] == "replaced"
    site.wait_until(lambda: ready(site, new) == 2, "the second new instance")
    port, path, name = address_of(site, new)
    assert {get(site, port, where) for where in (path, name, f"/proxy/{old}/")} == {(200, "v2")}


def test_without_room_for_one_more_an_old_instance_goes_first_if_asked(weir):
    site = weir("--slots", "2")
    old = service(site, "v1", 2)
    new = update(site, old, "--env", "VERSION=v2", "--within", "1s", "--drain", "0s")
    site.wait_until(lambda: site.task(new)["update"]["phase"] == "stopped", "the stop")
    assert site.task(new)["update"]["why"] == "no-place" and ready(site, old) == 2
    site.weir("task", "kill", new)
    assert site.wait(new)["state"] == "killed"
    clients = served(site, old, [address_of(site, old)[2]])
    new = update(site, old, "--env", "VERSION=v2", "--old-first", "--drain", "1s")
    assert site.wait(old)["cause"] == "replaced"
    assert ready(site, new) == 2
    assert {status for client in clients for status, _ in client.finish()} == {200}


def test_a_file_describes_the_new_version(weir, tmp_path):
    site = weir("--slots", "2")
    old = service(site, "v1", 1, description="the first")
    made = tmp_path / "chat.yaml"
    made.write_text(json.dumps({"command": ["/usr/bin/python3", "-c", SERVER], "env": {"VERSION": "file"}}))
    dry = site.weir("task", "update", old, "-f", made, "--dry-run", check=False)
    assert dry.returncode == 8 and "would start now on" in dry.stdout, dry
    assert site.task(old)["update"] is None
    new = update(site, old, "-f", made)
    site.wait(old)
    shown = site.task(new)
    assert (shown["name"], shown["kind"], shown["description"], shown["health"]) == ("chat", "service", "", "")
    assert get(site, *address_of(site, new)[:2]) == (200, "file")


@pytest.mark.parametrize("flags, code, said", [
    ((), 2, "nothing to change"),
    (("--back", "--resume"), 2, "one of --back and --resume"),
    (("--resume",), 5, "no update of it is under way"),
    (("--back",), 5, "no update of it is under way"),
    (("--kind", "command"), 5, "only a service is replaced"),
    (("--env", "A=1", "--gang", "--instances", "2"), 5, "gang"),
    (("--env", "A=1", "--within", "0s"), 2, "within must be at least 1 ms"),
    (("--env", "A=1", "--project", "other"), 2, "no project 'other'"),
])
def test_what_an_update_refuses(weir, flags, code, said):
    site = weir("--slots", "1")
    task = site.submit("sleep", "1000", kind="service")
    refused = site.weir("task", "update", task, *flags, check=False)
    assert refused.returncode == code and said in refused.stderr, refused
    assert site.task(task)["update"] is None


def test_only_a_running_service_is_replaced(weir):
    site = weir("--slots", "1")
    task = site.submit("sleep", "1000")
    for other in (task, 99):
        refused = site.weir("task", "update", other, "--env", "A=1", check=False)
        assert refused.returncode in (3, 5) and site.task(task)["update"] is None
