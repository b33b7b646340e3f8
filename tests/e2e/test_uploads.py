"""`--upload DIR`: what runs is what was sent; a restart loses nothing acknowledged. SPDX-License-Identifier: Apache-2.0"""

import hashlib
import os
import tarfile
import io


def tree(weir):
    """A directory to send, with files that .weirignore leaves out; its path."""
    top = weir.root / "project"
    (top / "src/deep").mkdir(parents=True, exist_ok=True)
    (top / "run.sh").write_text("#!/bin/sh\ncat src/deep/data.txt; ls -A; pwd\n")
    (top / "run.sh").chmod(0o755)
    (top / "src/deep/data.txt").write_text("forty-two\n")
    (top / "big.bin").write_bytes(os.urandom(9 * 1024 * 1024))
    (top / "secret.key").write_text("no")
    (top / "build").mkdir(exist_ok=True)
    (top / "build/out.o").write_text("no")
    (top / ".weirignore").write_text("# what stays here\n*.key\nbuild/\n")
    return top


def test_a_directory_arrives_as_it_was_sent_and_without_what_is_left_out(weir_shared):
    weir = weir_shared
    top = tree(weir)
    done = weir.weir("run", "--upload", top, "--", "./run.sh")
    lines = done.stdout.splitlines()
    assert lines[0] == "forty-two"
    assert sorted(lines[1:-1]) == [".weirignore", "big.bin", "run.sh", "src"]
    assert "/job/" in lines[-1]
    task = weir.weir("submit", "--upload", top, "--", "true").stdout.strip()
    weir.wait(task)
    weir.weir("task", "get", task, "big.bin", "-o", weir.root / "back")
    assert (weir.root / "back/big.bin").read_bytes() == (top / "big.bin").read_bytes()


def test_an_attempt_finds_what_an_earlier_one_made_of_the_upload(weir_shared):
    weir = weir_shared
    top = weir.root / "again"
    top.mkdir()
    (top / "state").write_text("0\n")
    count = 'n=$(cat state); echo $((n + 1)) > state; [ "$n" -ge 2 ]'
    task = weir.weir("submit", "--upload", top, "--retries", "3", "--", "sh", "-c", count).stdout.strip()
    assert weir.wait(task)["state"] == "completed"
    weir.weir("task", "get", task, "state", "-o", weir.root / "kept")
    assert (weir.root / "kept/state").read_text() == "3\n"


def test_links_and_pipes_are_refused_by_name_before_anything_is_submitted(weir_shared):
    weir = weir_shared
    top = weir.root / "linked"
    top.mkdir()
    (top / "to-shadow").symlink_to("/etc/shadow")
    last = max((t["id"] for t in weir.api("GET", "tasks").json["items"]), default=0)
    refused = weir.weir("submit", "--upload", top, "--", "true", check=False)
    assert refused.returncode != 0
    assert "'to-shadow' is a link" in refused.stderr
    (top / "to-shadow").unlink()
    os.mkfifo(top / "queue")
    refused = weir.weir("submit", "--upload", top, "--", "true", check=False)
    assert "'queue' is a pipe" in refused.stderr
    assert max((t["id"] for t in weir.api("GET", "tasks").json["items"]), default=0) == last


def archive(**files):
    """A tar archive and its digest."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue(), hashlib.sha256(out.getvalue()).hexdigest()


def put(weir, digest, offset, size, piece):
    return weir.api("PUT", f"uploads?digest={digest}&offset={offset}&size={size}", body=piece)


def test_an_upload_goes_on_after_a_restart_and_a_whole_one_is_kept(weir_factory):
    weir = weir_factory("--slots", "1")
    data, digest = archive(hello=b"x" * 3_000_000)
    first = put(weir, digest, 0, len(data), data[:1_000_000])
    assert first.json == {"digest": digest, "have": 1_000_000, "complete": False}
    weir.kill()
    weir.start()
    have = weir.api("GET", f"uploads?digest={digest}").json["have"]
    assert have == 1_000_000
    # A piece that comes again changes nothing, one from the wrong place neither.
    assert put(weir, digest, 0, len(data), data[:1_000_000]).json["have"] == have
    assert put(weir, digest, 2_000_000, len(data), data[2_000_000:]).json["have"] == have
    assert put(weir, digest, have, len(data), data[have:]).json["complete"]
    weir.kill()
    weir.start()
    task = weir.submit("sh", "-c", "wc -c < hello", upload=digest)
    weir.wait(task)
    assert weir.weir("task", "logs", task).stdout.strip() == "3000000"
