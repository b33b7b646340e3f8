"""One byte of a data directory changes while the server is down. Then the server refuses to start and says why, or serves
exactly what was written; it never aborts. `weir db check` finds every change that shows. `tests/unit/store/test_flips.c`
does the same inside one process, by the thousand; here are the real programs and the real state.

WEIR_FLIPS: changes for each kind of file. SPDX-License-Identifier: Apache-2.0
"""

import http.client
import json
import os
import random
import shutil
import signal
import struct
import subprocess

import pytest
from server_process import FakeAgent, Server
from test_data_directory import run
from weir_harness import weir_bin

FLIPS = int(os.environ.get("WEIR_FLIPS", "4"))
TASKS = 6


@pytest.fixture(scope="module", params=["closed", "killed"])
def written(request):
    """A directory with ended tasks, output, a waiting task and snapshots, and what the API says of it."""
    server = Server().start()
    agent = FakeAgent(server).join().connect()
    for n in range(TASKS):
        server.submit({"command": ["echo", "x" * 500], "name": f"t{n}"})
        agent.run_next(data=b"output %d\n" % n * 20, code=n % 3)
        if n == 2:
            agent.close()
            assert server.stop() == 0  # writes a snapshot
            server.start()
            agent.connect()
    server.submit({"command": ["sleep", "1"], "name": "waits", "resources": {"slots": 2}})
    agent.close()
    server.stop(signal.SIGTERM if request.param == "closed" else signal.SIGKILL)
    if request.param == "killed":
        unacknowledged_cut(server.dir)
    kept = server.root / "kept"
    shutil.copytree(server.dir, kept, ignore=shutil.ignore_patterns("*.sock"))
    server.start()
    truth = read_all(server)
    assert truth["tasks/1"]["exit_code"] == 0 and truth["tasks/2"]["exit_code"] == 1 and len(truth) == 2 * TASKS + 1
    server.stop()
    yield server, kept, truth
    server.close()


def unacknowledged_cut(directory):
    """A killed server may have stored a batch that it had not noted yet. Without it, every byte of the log was acknowledged."""
    frames = struct.unpack_from("<I", (directory / "acknowledged").read_bytes(), 20)[0]
    assert frames > 0
    os.truncate(directory / "weir.db-wal", 32 + frames * (24 + 4096))


def read_all(server):
    """What the API says; None where it refuses."""
    found = {}
    for n in range(1, TASKS + 1):
        answer = server.call("GET", f"tasks/{n}")
        found[f"tasks/{n}"] = answer.json if answer.status == 200 else None
        body = server.call("GET", f"tasks/{n}/logs").body
        found[f"logs/{n}"] = None if b'{"error":' in body else body
    answer = server.call("GET", f"tasks/{TASKS + 1}")
    found["waits"] = [answer.json[k] for k in ("name", "state", "submitted_at")] if answer.status == 200 else None
    return found


def refusal(server):
    """Starts the server; what it says when it does not start, or None."""
    try:
        server.start()
        return None
    except AssertionError:
        code = server.process.wait(timeout=10)
        server.process = None
        assert code > 0, f"ended by signal {-code}\n{server.log()}"
        return server.log()


def flip(path, rng):
    data = bytearray(path.read_bytes())
    at = rng.randrange(len(data))
    data[at] ^= rng.randrange(1, 256)
    path.write_bytes(data)
    return f"{path.name} at byte {at}"


@pytest.mark.parametrize("kind", ["weir.db", "weir.db-wal", "acknowledged", "log/*.seg", "log/identity", "snapshot/*.snap"])
def test_a_changed_byte_is_found_and_never_served(written, kind):
    server, kept, truth = written
    files = sorted(kept.glob(kind))
    if not files:
        pytest.skip("a server that was closed has no write-ahead log")
    rng = random.Random(f"20261116 {kind}")
    for _ in range(FLIPS):
        shutil.rmtree(server.dir)
        shutil.copytree(kept, server.dir)
        (server.root / "server.log").write_text("")
        where = flip(server.dir / rng.choice(files).relative_to(kept), rng)
        check = run("db", "check", "--dir", server.dir)
        assert check.returncode in (0, 1), (where, check)
        said = refusal(server)
        found = None if said else read_all(server)
        assert server.stop() in (None, 0), (where, server.log())
        assert "bug: " not in server.log(), (where, server.log())
        if said:
            assert "weir db" in said or "damaged" in said, (where, said)
            assert check.returncode == 1, (where, said)
        else:
            wrong = {k: v for k, v in found.items() if v is not None and v != truth[k]}
            assert not wrong, (where, wrong)
            assert found == truth or check.returncode == 1, (where, found)


def test_a_damaged_fact_is_named_and_the_way_back_works(written):
    """The message of the server leads to a directory that starts."""
    server, kept, _ = written
    shutil.rmtree(server.dir)
    shutil.copytree(kept, server.dir)
    (server.root / "server.log").write_text("")
    wal = server.dir / "weir.db-wal"
    place = wal if wal.exists() and b"waits" in wal.read_bytes() else server.dir / "weir.db"
    data = place.read_bytes()
    at = data.index(b"waits")  # in a page with the fact of the last submission
    place.write_bytes(data[:at] + b"WAITS" + data[at + 5:])
    assert run("db", "check", "--dir", server.dir).returncode == 1
    said = refusal(server)
    if place == wal:
        assert said and "weir db restore" in said, said
    else:
        assert said is None  # a snapshot has the effect of the fact, and nobody reads it
        server.stop()
    new = server.root / "new"
    shutil.rmtree(new, ignore_errors=True)
    result = run("db", "restore", "--dir", new, server.dir)
    assert result.returncode == 0, result.stderr
    assert "what can be proven: the state after fact" in result.stderr
    assert run("db", "check", "--dir", new).returncode == 0
    for file in ("admin.token", "join.token"):
        shutil.copy(server.dir / file, new / file)
    shutil.rmtree(server.dir)
    new.rename(server.dir)
    server.start()
    assert server.get("tasks/1")["state"] == "completed"
    assert b"output 0" in server.call("GET", "tasks/1/logs").body
    assert server.stop() == 0


def test_damaged_output_does_not_look_like_the_end(written):
    server, kept, truth = written
    shutil.rmtree(server.dir)
    shutil.copytree(kept, server.dir)
    segment = server.dir / "log" / "00000001.seg"
    data = segment.read_bytes()
    at = data.rindex(b"output 5")
    segment.write_bytes(data[:at] + b"OUTPUT 5" + data[at + 8:])
    server.start()
    assert read_all(server) == {**truth, "logs/6": None}
    last = server.call("GET", "tasks/6/logs?follow=true").body.splitlines()[-1]
    assert "the checksum differs" in json.loads(last)["error"]["message"]
    with pytest.raises(http.client.IncompleteRead):
        server.call("GET", "tasks/6/logs?format=raw")
    env = {**os.environ, "WEIR_SERVER": server.url, "WEIR_TOKEN": server.admin}
    shown = subprocess.run([weir_bin(), "logs", "6"], capture_output=True, text=True, timeout=20, env=env)
    assert shown.returncode != 0 and "the checksum differs" in shown.stderr, shown
    assert server.stop() == 0
