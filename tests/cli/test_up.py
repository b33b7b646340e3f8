"""`weir up` and `weir down`: ready, alone, clean. SPDX-License-Identifier: Apache-2.0"""

import json
import os
import re
import signal
import socket
import stat
import struct

import pytest


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_ready_is_the_one_line_and_the_login_is_private(weir):
    login = weir.root / "config" / "login"
    assert stat.S_IMODE(login.stat().st_mode) == 0o600
    assert stat.S_IMODE((weir.dir / "admin.token").stat().st_mode) == 0o600
    assert f"server: {weir.url}" in login.read_text()
    assert weir.weir("status").returncode == 0
    os.set_blocking(weir.process.stdout.fileno(), False)
    assert weir.process.stdout.read() in (None, b"")


def test_its_processes_go_by_its_name(weir):
    for role in ("server", "agent"):
        with open(f"/proc/{weir.pid_of(role)}/comm") as file:
            assert file.read() == "weir\n"


def test_only_loopback_is_listened_on(weir):
    listening = [line.split() for line in open("/proc/net/tcp").readlines()[1:]]
    ours = [row[1] for row in listening if row[3] == "0A" and int(row[1].split(":")[1], 16) == weir.port]
    assert ours == [f"0100007F:{weir.port:04X}"]


def test_a_second_up_on_the_directory_names_the_first(weir):
    result = weir.weir("up", "--dir", weir.dir, "--port", "0", check=False)
    assert result.returncode == 5
    assert str(weir.process.pid) in result.stderr and weir.url in result.stderr


def test_a_taken_port_names_who_has_it(weir, weir_factory):
    result = weir.weir("up", "--dir", weir.root / "second", "--port", weir.port, check=False)
    assert result.returncode == 5
    assert f"port {weir.port} is in use by weir on {weir.dir} (process {weir.pid_of('server')})" in result.stderr
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = weir.weir("up", "--dir", weir.root / "second", "--port", port, check=False)
        assert result.returncode == 5
        assert f"port {port} is in use by" in result.stderr and str(os.getpid()) in result.stderr


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_ending_up_keeps_the_tasks_and_says_so(weir, sig):
    task = weir.submit("sleep", "1000")
    weir.wait_state(task, "running")
    server, agent = weir.pid_of("server"), weir.pid_of("agent")
    assert weir.stop(sig) == 0
    assert "1 task runs on" in weir.log_text()
    assert gone(server) and gone(agent)
    weir.start()
    assert weir.task(task)["state"] == "running"
    weir.weir("task", "kill", task)
    assert weir.wait(task)["state"] == "killed"


@pytest.mark.parametrize("role", ["server", "agent"])
def test_a_child_that_dies_is_named_and_ends_up(weir, role):
    other = weir.pid_of("agent" if role == "server" else "server")
    os.kill(weir.pid_of(role), signal.SIGKILL)
    assert weir.process.wait(timeout=60) == 1
    assert f"the {role} was killed by signal 9 (Killed)" in weir.log_text()
    weir.wait_until(lambda: gone(other), "the other child to end")
    weir.start()
    assert weir.weir("run", "--", "echo", "again").stdout == "again\n"


def test_kill_9_of_up_takes_the_children_along(weir):
    children = [weir.pid_of("server"), weir.pid_of("agent")]
    weir.kill()
    weir.start()  # waits for them by itself
    assert all(gone(pid) for pid in children)
    assert weir.weir("run", "--", "echo", "again").stdout == "again\n"


def test_down_ends_it_and_down_again_finds_nothing(weir):
    pid = weir.process.pid
    weir.weir("down")
    assert weir.process.wait(timeout=60) == 0
    assert gone(pid)
    result = weir.weir("down", "--dir", weir.dir, check=False)
    assert result.returncode == 3
    assert "no `weir up` runs on" in result.stderr
    result = weir.weir("status", check=False)
    assert result.returncode == 6
    assert re.search(r"is `weir up --dir \S+` running\?", result.stderr)


def test_a_later_up_holds_the_directory_too(weir):
    weir.stop()
    weir.start()
    result = weir.weir("up", "--dir", weir.dir, "--port", "0", check=False)
    assert result.returncode == 5
    assert str(weir.process.pid) in result.stderr
    weir.weir("down", "--dir", weir.dir)
    assert weir.process.wait(timeout=60) == 0


def test_a_free_port_is_the_same_again_on_the_same_directory(weir_factory):
    """Nodes and saved logins know the port of a server that was started with --port 0."""
    weir = weir_factory(start=False)
    weir.start(port=0)
    was = weir.url
    weir.stop()
    weir.start(port=0)
    assert weir.url == was


def test_down_stop_tasks_ends_all(weir):
    tasks = [weir.submit("sleep", "1000") for _ in range(5)]
    weir.wait_state(tasks[0], "running")
    weir.weir("down", "--dir", weir.dir, "--stop-tasks", "--yes")
    assert weir.process.wait(timeout=60) == 0
    weir.start()
    assert {weir.task(task)["state"] for task in tasks} == {"killed"}


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_a_snapshot_that_says_nothing_is_found_and_passed_over(weir):
    weir.weir("run", "--", "echo", "kept")
    weir.weir("down", "--dir", weir.dir)
    weir.stop()
    data = b"whole, but no state"
    head = b"WEIRSNP1" + struct.pack("<QQI", 3, len(data), crc32c(data))
    bad = weir.dir / "snapshot" / "3.snap"
    bad.write_bytes(head + struct.pack("<I", crc32c(head)) + data)
    check = weir.weir("db", "check", "--dir", weir.dir, check=False)
    assert check.returncode == 1
    assert str(bad) in check.stdout and "does not decode" in check.stdout
    report = json.loads(weir.weir("db", "check", "--dir", weir.dir, "--json", check=False).stdout)
    assert report["dir"] == str(weir.dir) and str(bad) in report["findings"][0]
    weir.start(port=0)
    assert weir.weir("task", "logs", "1").stdout == "kept\n"


def test_db_check_and_backup_and_restore(weir):
    weir.weir("run", "--", "echo", "kept")
    backup = weir.root / "backup"
    weir.weir("db", "backup", "--dir", weir.dir, backup)
    assert weir.weir("db", "check", "--dir", backup).stdout == ""
    weir.weir("down", "--dir", weir.dir)
    weir.stop()
    weir.weir("db", "check", "--dir", weir.dir)
    assert weir.weir("db", "restore", "--dir", weir.dir, backup, check=False).returncode != 0  # not empty
    weir.dir = weir.root / "restored"
    weir.weir("db", "restore", "--dir", weir.dir, backup)
    weir.start([*weir.args, "--login"], port=0)  # the login of the old directory would stay in use
    assert weir.weir("task", "logs", "1").stdout == "kept\n"


def test_without_a_login_the_usual_places_token_is_found(weir_factory):
    weir = weir_factory(start=False)
    if os.geteuid() == 0:
        pytest.skip("root's usual place is /var/lib/weir, which is not the test's")
    weir.dir = weir.home / ".local/share/weir"
    weir.start()
    (weir.root / "config" / "login").unlink()
    assert weir.weir("status").returncode == 0
