"""How much disk the files of a task may take: counted on the real disk, and ended where it is too much.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import shutil

import pytest

MIB = 1 << 20
SAID = "killed: used more than its 8Mi of disk"
# Writes steadily, so that it can be caught at any moment, and says what it wrote.
FILL = """
import os, sys
os.chdir(sys.argv[1])
if sys.argv[2] == "one": # one file that grows
    with open("large", "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 65536)
            print(file.tell(), flush=True)
if sys.argv[2] == "gone": # a file without a name
    file = open("gone", "wb", buffering=0)
    os.unlink("gone")
    while file.tell() < 64 << 20:
        file.write(b"x" * 65536)
    print("written", flush=True)
    import time
    time.sleep(600)
if sys.argv[2] == "mapped": # a file without a name and without a descriptor: a mapping holds it
    import ctypes, time
    file = os.open("mapped", os.O_RDWR | os.O_CREAT)
    os.unlink("mapped")
    os.posix_fallocate(file, 0, 16 << 20)
    libc = ctypes.CDLL(None)
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_size_t]
    libc.mmap(None, 4096, 1, 2, file, 0)
    os.close(file)
    print("mapped", flush=True)
    time.sleep(600)
if sys.argv[2] == "many": # files without content, each of which takes room for its name
    for i in range(5000):
        os.mkdir(f"{i}")
    import time
    time.sleep(600)
if sys.argv[2] == "deep": # more directories below each other than anybody needs
    for i in range(210):
        os.mkdir("d")
        os.chdir("d")
    import time
    time.sleep(600)
"""


def attempt(w, task):
    return w.api("GET", f"tasks/{task}").json["attempts"][-1]


def fill(w, where, how):
    """Runs a task that fills its disk until it is ended."""
    end = w.weir("run", "--name", how, "--", "sh", "-c", f'exec python3 -c "$1" "{where}" {how}', "sh", FILL, check=False)
    [task] = [t for t in w.api("GET", "tasks").json["items"] if t["name"] == how]
    return end, task


def test_more_disk_than_allowed_ends_the_task_and_says_so(weir):
    w = weir("--slots", "4", "--task-disk", "8Mi")
    gate = w.root / "gate"
    neighbour = int(w.weir("submit", "--", "sh", "-c", f"cd $WEIR_JOB_DIR; head -c 4000000 /dev/zero > mine; until [ -e {gate} ]; do sleep 0.1; done; wc -c < mine").stdout)
    w.wait_state(neighbour, "running")
    for how in ("one", "many", "deep"):
        end, task = fill(w, "$WEIR_JOB_DIR", how)
        assert end.returncode == 137, (how, end.stderr)
        assert f"weir: {SAID}" in end.stderr
        assert (task["state"], task["cause"], task["exit_code"]) == ("failed", "out-of-disk", 137)
        ended = attempt(w, task["id"])
        assert (ended["cause"], ended["message"]) == ("out-of-disk", "killed: used more disk than its node allows a task")
        assert ended["message"] in w.weir("task", "show", str(task["id"])).stdout
        assert "out-of-disk" in w.weir("events", "--task", str(task["id"])).stdout
    assert w.task(neighbour)["state"] == "running"
    gate.touch()
    assert w.wait(neighbour)["state"] == "completed"
    assert w.weir("logs", str(neighbour)).stdout == "4000000\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give each task a user")
def test_temporary_files_and_files_without_a_name_count(weir):
    w = weir("--slots", "4", "--task-disk", "8Mi", "--task-uids", "320000-320999")
    temporary = pathlib.Path("/tmp") / f"weir-disk-{os.getpid()}"
    try:
        for where, how in ((f"$(mkdir {temporary} && echo {temporary})", "one"), ("$WEIR_JOB_DIR", "gone"), ("$WEIR_JOB_DIR", "mapped")):
            end, task = fill(w, where, how)
            assert (end.returncode, task["cause"]) == (137, "out-of-disk"), (how, end.stdout[-300:], end.stderr)
            assert f"weir: {SAID}" in end.stderr
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def test_links_to_large_files_and_second_names_are_not_counted(weir):
    """What a task only names, or names twice, takes no room."""
    w = weir("--slots", "2", "--task-disk", "8Mi")
    large, gate = w.root / "large", w.root / "gate"
    large.write_bytes(b"x" * 30 * MIB)
    large.chmod(0o644)
    script = (f"cd $WEIR_JOB_DIR; ln -s {large} link; ln -s / root; head -c 5000000 /dev/zero > a; for i in 1 2 3 4 5; do ln a b$i; done; echo made; "
              f"until [ -e {gate} ]; do sleep 0.1; done; ls | wc -l")
    task = int(w.weir("submit", "--", "sh", "-c", script).stdout)
    w.wait_until(lambda: w.weir("logs", str(task)).stdout, "the links")
    for how in ("one", "many"):  # attempts are looked at in turn: an end of another one says that this one was looked at
        assert fill(w, "$WEIR_JOB_DIR", how)[1]["cause"] == "out-of-disk"
    gate.touch()
    assert w.wait(task)["state"] == "completed"
    assert w.weir("logs", str(task)).stdout == "made\n8\n"


def test_without_the_flag_there_is_no_limit(weir):
    w = weir("--slots", "2")
    assert w.weir("run", "--", "sh", "-c", "cd $WEIR_JOB_DIR; head -c 30000000 /dev/zero > a; wc -c < a").stdout == "30000000\n"


def test_the_limit_must_be_an_amount(weir):
    w = weir("--slots", "1")
    done = w.weir("agent", "--server", w.url, "--dir", str(w.root / "other"), "--task-disk", "much", check=False)
    assert done.returncode != 0 and "--task-disk" in done.stderr
