"""Somebody removes or exchanges parts of a data directory. Nothing is taken for new, and nothing is overwritten.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import shutil
import sqlite3
import struct
import subprocess
from contextlib import closing

import pytest
from server_process import FakeAgent, Server
from weir_harness import weir_bin


def filled(server, tasks=3):
    """A server whose directory has facts, output and a snapshot; stopped."""
    server.start()
    agent = FakeAgent(server).join().connect()
    for _ in range(tasks):
        server.submit()
        agent.run_next(data=b"kept\n")
    server.submit()  # one that still waits
    agent.close()
    assert server.stop() == 0
    assert list((server.dir / "log").glob("*.seg")) and list((server.dir / "snapshot").glob("*.snap"))
    return server


@pytest.fixture
def made():
    servers = []

    def make():
        servers.append(Server())
        return servers[-1]

    yield make
    for server in servers:
        server.close()


def run(*args):
    return subprocess.run([weir_bin(), *map(str, args)], capture_output=True, text=True, timeout=10)


def refused(server):
    """The server does not start; what it says."""
    result = run("server", "--dir", server.dir, "--listen", "127.0.0.1:0")
    assert result.returncode != 0
    for way in ("weir db restore", "weir db adopt", "another --dir"):
        assert way in result.stderr, result.stderr
    return result.stderr


def db_remove(server):
    for file in server.dir.glob("weir.db*"):
        file.unlink()


def sum_of(*texts):
    """CRC-32C of texts, as docs/dev/formats/data-directory.md says under "Checksums"."""
    crc = 0xFFFFFFFF
    for text in texts:
        data = text.encode()
        for byte in struct.pack("<qq", 3, len(data)) + data:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def bytes_of(directory):
    return {p.name: p.read_bytes() for p in pathlib.Path(directory).iterdir()}


def test_a_missing_database_is_not_taken_for_a_new_one(made):
    server = filled(made())
    before = bytes_of(server.dir / "log")
    db_remove(server)
    assert "weir.db is missing" in refused(server)
    assert "1 log segments and 1 snapshots" in refused(server)
    assert bytes_of(server.dir / "log") == before
    assert not (server.dir / "weir.db").exists()
    (server.dir / "weir.db").touch()
    assert "weir.db is missing" in refused(server)


def test_a_missing_database_is_noticed_without_output(made):
    """Also a directory that has only its identity: acknowledged tasks are gone."""
    server = made().start()
    server.submit()
    server.stop()
    db_remove(server)
    for snapshot in (server.dir / "snapshot").glob("*.snap"):
        snapshot.unlink()
    refused(server)


@pytest.mark.parametrize("part", ["log", "snapshot"])
def test_a_part_of_another_directory_is_refused(made, part):
    mine, other = filled(made()), filled(made())
    shutil.rmtree(mine.dir / part)
    shutil.copytree(other.dir / part, mine.dir / part)
    assert "does not belong to weir.db" in refused(mine)
    assert "does not belong" in run("db", "check", "--dir", mine.dir).stdout
    (mine.dir / part / "identity").unlink()
    assert "(none, not" in refused(mine)
    assert run("db", "adopt", "--dir", mine.dir, "--yes").returncode == 0
    mine.start()
    assert mine.get("tasks/4")["state"] in ("pending", "starting")


def test_missing_output_is_not_taken_for_none(made):
    """log/ is gone. The server refuses; after `weir db adopt` a task's output reads as lost, not as empty."""
    server = filled(made())
    shutil.rmtree(server.dir / "log")
    assert "weir.db names 1 segments" in refused(server)
    assert not list((server.dir / "log").glob("*.seg"))
    assert run("db", "adopt", "--dir", server.dir, "--yes").returncode == 0
    server.start()
    assert server.get("tasks/1")["state"] == "completed"
    assert b"log segment" in server.call("GET", "tasks/1/logs").body
    agent = FakeAgent(server).join().connect()
    agent.run_next(data=b"new\n")
    agent.close()
    assert b"new" in server.call("GET", "tasks/4/logs").body
    assert "is missing" in run("db", "check", "--dir", server.dir).stdout


def test_what_is_left_can_be_adopted(made):
    server = filled(made())
    old = {k: v for k, v in bytes_of(server.dir / "log").items() if k.endswith(".seg")}
    db_remove(server)
    result = run("db", "adopt", "--dir", server.dir, "--yes")
    assert result.returncode == 0, result.stderr
    server.start()
    assert server.get("tasks/4")["state"] in ("pending", "starting")
    assert server.submit() == [5]
    agent = FakeAgent(server).join().connect()
    agent.run_next(data=b"new\n")
    agent.close()
    assert {k: v for k, v in bytes_of(server.dir / "log.left-1").items() if k.endswith(".seg")} == old
    server.stop()
    assert run("db", "check", "--dir", server.dir).returncode == 0
    server.start()


def test_a_backup_has_the_identity_and_is_restored(made, tmp_path):
    server = filled(made())
    assert run("db", "backup", "--dir", server.dir, tmp_path / "b").returncode == 0
    shutil.rmtree(server.dir)
    assert run("db", "restore", "--dir", server.dir, tmp_path / "b").returncode == 0
    server.start()
    assert server.get("tasks/4")["state"] in ("pending", "starting")
    assert b"kept" in server.call("GET", "tasks/1/logs").body


def test_a_crash_between_database_and_parts_is_no_mismatch(made):
    """The state of a directory whose first start was killed before the parts had their identity."""
    server = filled(made())
    with closing(sqlite3.connect(server.dir / "weir.db")) as db:
        db.execute("DELETE FROM meta WHERE key='identity_given'")
        rows = "\n".join(f"{k}={v}" for k, v in db.execute("SELECT key, value FROM meta WHERE key <> 'sum' ORDER BY key"))
        schema = "\n".join(f"{t} {n} {of} {sql or ''}" for t, n, of, sql in db.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"))
        db.execute("UPDATE meta SET value = ? WHERE key = 'sum'", (str(sum_of(rows, schema)),))
        db.commit()
    (server.dir / "log" / "identity").unlink()
    server.start()
    assert len((server.dir / "log" / "identity").read_text()) == 33
