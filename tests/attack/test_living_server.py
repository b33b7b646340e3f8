"""Somebody deletes, cuts, replaces or write-protects the files of a server that runs. Nothing is acknowledged that a restart would
not find, the server says what is wrong, and it works again once the files are back.

SPDX-License-Identifier: Apache-2.0
"""

import os
import select
import shutil
import signal
import subprocess
import time

import pytest
from server_process import FakeAgent
from test_data_directory import run
from test_flipped_bytes import refusal

PARTS = ["weir.db", "weir.db-wal", "weir.db-shm", "acknowledged", "log/00000001.seg", "log/identity", "log", "snapshot/identity", "snapshot", "admin.token",
         "join.token"]  # fmt: skip


@pytest.fixture
def lived(server):
    """A server with ended tasks and their output, a snapshot and tasks that wait."""
    agent = FakeAgent(server).join().connect()
    for n in range(3):
        server.submit()
        agent.run_next(data=b"output %d\n" % n)
    agent.close()
    assert server.stop() == 0
    server.start()
    agent.connect()
    server.submit()
    agent.run_next(data=b"output 3\n")
    server.submit()
    server.key = agent.order()["key"]
    assert agent.report(agent.started(server.key)).status == 200
    server.agent = agent
    server.token = server.admin
    yield server
    agent.close()


def harm(path, how):
    if how == "delete":
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    elif how == "replace":
        copy = path.with_name(path.name + ".copy")
        shutil.copytree(path, copy) if path.is_dir() else shutil.copy2(path, copy)
        path.rename(path.with_name(path.name + ".old"))
        copy.rename(path)
    else:
        os.truncate(path, 0)


def submitted(server, count=4):
    """What is acknowledged of so many submissions; every refusal has a reason."""
    ids = []
    for _ in range(count):
        answer = server.call("POST", "tasks", {"command": ["true"]}, token=server.token)
        if answer.status == 201:
            ids.append(answer.json["tasks"][0]["id"])
        else:
            assert answer.status == 503 and answer.json["error"]["message"], answer.body
    return ids


def until_stored(server):
    """Tries until a submission is acknowledged: the server heals by itself."""
    deadline = time.monotonic() + 30
    while not (ids := submitted(server, 1)):
        assert time.monotonic() < deadline, server.log()[-2000:]
        select.select([], [], [], 0.1)
    return ids


def stored(server, ids):
    return [n for n in ids if server.call("GET", f"tasks/{n}", token=server.token).status == 200]


@pytest.mark.parametrize("how", ["delete", "truncate", "replace"])
@pytest.mark.parametrize("part", PARTS)
def test_what_is_acknowledged_is_found_again(lived, part, how):
    server, path = lived, lived.dir / part
    if how == "truncate" and path.is_dir():
        return
    harm(path, how)
    if (part, how) == ("weir.db-shm", "truncate"):  # SQLite has it in memory: the process is ended by the kernel
        with pytest.raises(OSError):
            submitted(server)
        server.process.wait(timeout=20)
        server.process = None
        after = []
    else:
        after = submitted(server)
        assert server.call("GET", "/healthz", token="").status == 200
        answer = server.call("GET", "tasks/1", token=server.token)
        assert answer.status in (200, 503) or answer.json["error"]["code"] == "corrupt", answer.body
        server.agent.close()
        server.stop(signal.SIGKILL)
    said = refusal(server)
    if said is not None:
        assert "weir db" in said, said
        if part.startswith("weir.db"):
            assert after == [], (after, said)
            return
        assert run("db", "adopt", "--dir", server.dir, "--yes").returncode == 0
        server.start()
    known = list(range(1, 6)) + after
    assert stored(server, known) == known
    until_stored(server)


@pytest.mark.parametrize("part", ["weir.db", "weir.db-wal", "log/00000001.seg", "log"])
def test_files_that_are_put_back_are_taken_again(lived, part):
    server, path = lived, lived.dir / part
    aside = path.with_name(path.name + ".aside")
    path.rename(aside)
    refused = server.call("POST", "tasks", {"command": ["true"]}, token=server.token)
    if part.startswith("weir.db"):
        assert refused.status == 503
        assert f"{part}' was deleted or replaced while the server runs" in server.log()
        assert server.call("GET", "tasks/1", token=server.token).status == 200  # reads go on
    if path.exists():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    aside.rename(path)
    after = until_stored(server)
    server.agent.close()
    assert server.stop() == 0
    server.start()
    assert stored(server, list(range(1, 6)) + after) == list(range(1, 6)) + after
    assert server.call("GET", "tasks/4/logs", token=server.token).body.count(b"output 3") == 1


@pytest.mark.parametrize("how", ["delete", "truncate"])
def test_output_goes_on_in_a_new_segment(lived, how):
    """The open segment is harmed: its output reads as lost, what a task writes afterwards is kept."""
    server = lived
    harm(server.dir / "log/00000001.seg", how)
    agent = server.agent
    deadline = time.monotonic() + 30
    while (answer := agent.report(agent.output(server.key, b"new\n"))).status != 200 and time.monotonic() < deadline:
        if answer.status == 409:
            agent.connect(attempts=[{"key": server.key, "state": "running"}])
        select.select([], [], [], 0.1)
    assert answer.status == 200, (answer.body, server.log()[-3000:])
    assert b"new" in server.call("GET", "tasks/5/logs").body
    assert b"error" in server.call("GET", "tasks/1/logs").body
    assert "was deleted, replaced or cut while the server runs" in server.log()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a file on itself")
@pytest.mark.parametrize("part", ["weir.db", "log", "snapshot", "acknowledged", "."])
def test_a_part_that_cannot_be_written_heals(lived, part):
    server, path = lived, lived.dir / part
    subprocess.run(["mount", "--bind", path, path], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", path], check=True)
        after = submitted(server)
        assert server.call("GET", "/healthz", token="").status == 200
        assert server.call("GET", "tasks/1", token=server.token).status == 200
    finally:
        subprocess.run(["umount", "-l", path], check=True)
    after += until_stored(server)
    server.agent.close()
    server.stop(signal.SIGKILL)
    server.start()
    assert stored(server, list(range(1, 6)) + after) == list(range(1, 6)) + after
