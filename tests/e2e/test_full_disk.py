"""A full disk: reads go on, writes are refused with the reason, and it heals by itself.

SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess

import pytest

from weir_harness import Weir


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 16 MiB, where this machine lets a test mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=0711", "tmpfs", str(place)], capture_output=True,
                          text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"cannot mount a small file system here: {made.stderr.strip()}")
    os.chmod(tmp_path, 0o711)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_refuses_writes_serves_reads_and_heals(small_disk):
    w = Weir(["--slots", "2"], base=small_disk)
    w.start()
    try:
        first = w.submit("true")
        assert w.wait(first)["state"] == "completed"
        ballast = small_disk / "ballast"
        with open(ballast, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 65536)
            except OSError:
                pass
        big = {"command": ["true", "x" * 100000], "stage": True}
        refused = w.wait_until(lambda: (a := w.api("POST", "tasks", big)).status == 503 and a, "a refused write")
        message = refused.json["error"]["message"]
        assert "disk" in message or "full" in message or "space" in message, message
        for _ in range(20):  # also while the state is being read again after a failed write
            w.api("POST", "tasks", big)
            seen = w.api("GET", f"tasks/{first}")
            assert (seen.status, seen.json.get("state")) == (200, "completed"), seen.json
        # A probe may find room for its own few bytes and open the server until the next large write.
        w.wait_until(lambda: w.api("POST", "tasks", big).status == 503 and w.api("GET", "/readyz", token="").status == 503,
                     "a server that says it is not ready")
        assert w.api("GET", "/healthz", token="").status == 200
        before = w.api("GET", "status").json["tasks"]
        ballast.unlink()
        healed = w.wait_until(lambda: (a := w.api("POST", "tasks", {"command": ["true"]})).status == 201 and a, "an accepted write")
        assert w.wait(healed.json["tasks"][0]["id"])["state"] == "completed"
        assert w.api("GET", "/readyz", token="").status == 200
        # What was refused has left no trace.
        assert w.api("GET", "status").json["tasks"].get("staged", 0) == before.get("staged", 0)
    finally:
        w.close()
