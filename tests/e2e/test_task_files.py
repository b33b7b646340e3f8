"""`weir task files` and `weir task get` against a real node: what arrives is what the task wrote, and nothing else can be had.

SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import os

# A directory, a file of several pieces, an empty file, a strange name, and everything that must not be followed.
WRITE = r"""
mkdir -p out/deep
printf hello > out/deep/a.txt
: > out/empty
seq 1 900000 > big
printf odd > 'a b"c'
ln -s /etc/passwd link
ln -s / root
ln -s out/deep inside
mkfifo pipe
"""


def wrote(weir, **fields):
    """A task that has written its files and ended; its id."""
    task = weir.submit("sh", "-c", WRITE, **fields)
    assert weir.wait(task)["state"] == "completed"
    return task


def test_files_of_an_ended_task_arrive_as_they_were_written(weir_shared):
    weir = weir_shared
    task = wrote(weir)
    listed = weir.weir("task", "files", task).stdout
    assert [line.split()[0] for line in listed.splitlines()[1:]] == ["file", "file", "link", "link", "dir", "other", "link"]
    got = weir.root / "got"
    weir.weir("task", "get", task, ".", "-o", got)
    assert (got / "out/deep/a.txt").read_text() == "hello"
    assert (got / "out/empty").read_bytes() == b""
    assert (got / 'a b"c').read_text() == "odd"
    big = "".join(f"{n}\n" for n in range(1, 900001)).encode()
    assert hashlib.sha256((got / "big").read_bytes()).digest() == hashlib.sha256(big).digest()
    # Links and pipes are left out, not followed.
    assert sorted(os.listdir(got)) == ['a b"c', "big", "out"]


def test_files_of_a_running_instance(weir_shared):
    weir = weir_shared
    task = weir.submit("sh", "-c", "echo $INSTANCE_ID > mine; while [ ! -e stop ]; do sleep 0.05; done", instances=2)
    weir.wait_until(lambda: "mine" in weir.weir("task", "files", f"{task}.1", check=False).stdout, "the file of instance 1")
    weir.weir("task", "get", f"{task}.1", "mine", "-o", weir.root / "one")
    assert (weir.root / "one/mine").read_text() == "1\n"
    weir.weir("task", "kill", "--yes", task)
    weir.wait(task)


def test_paths_out_of_the_directory_are_refused_by_name(weir_shared):
    weir = weir_shared
    task = wrote(weir)
    for path, word in {
        "../../admin.token": "leads out",
        "/etc/passwd": "absolute",
        "link": "link",
        "root/etc/passwd": "not followed",
        "inside/a.txt": "not followed",
        "pipe": "neither a file nor a directory",
        "absent": "No such file",
        "out/deep/a.txt/x": "Not a directory",
    }.items():
        answer = weir.api("GET", f"tasks/{task}/file?path=" + path.replace("/", "%2F"))
        assert answer.status >= 400, (path, answer.body)
        assert word in answer.json["error"]["message"], (path, answer.body)


def test_a_task_that_wrote_nothing_and_one_that_is_not_there(weir_shared):
    weir = weir_shared
    task = weir.submit("true")
    weir.wait(task)
    missing = weir.weir("task", "files", task, check=False)
    assert missing.returncode == 3
    assert "wrote no file" in missing.stderr
    assert weir.weir("task", "files", 999999, check=False).returncode == 3
    assert weir.weir("task", "files", f"{task}.7", check=False).returncode == 3
    assert weir.weir("task", "get", f"{task}.0:1", "x", check=False).returncode == 2


def test_files_of_ended_tasks_go_after_their_time_and_those_of_others_stay(weir_factory):
    weir = weir_factory("--slots", "2", "--keep-files", "1s")
    runs = weir.submit("sh", "-c", "echo mine > kept; while [ ! -e stop ]; do sleep 0.1; done")
    ended = wrote(weir)
    job = weir.dir / "node/job"
    assert (job / str(ended) / "0/big").exists()
    weir.wait_until(lambda: not (job / str(ended)).exists(), "the end of the files")
    weir.wait_until(lambda: not any((job / ".gone").iterdir()), "the disk to be free again")
    assert (job / str(runs) / "0/kept").read_text() == "mine\n"
    answer = weir.api("GET", f"tasks/{ended}/files")
    assert answer.status == 404 and "cleaned up" in answer.json["error"]["message"]
    weir.weir("task", "kill", "--yes", runs)
