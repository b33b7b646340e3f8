"""NVIDIA GPUs by the real code that loads their library, with a library of the tests (harness/nvml) that reads a file.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "harness" / "nvml" / "fake_nvml.c"
MIB = 1 << 20


class Gpus:
    def __init__(self, weir, directory):
        self.file = directory / "gpus"
        self.say(["H100 81920 0 0 0 0"] * 2)
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", directory / "libnvidia-ml.so.1", SOURCE], check=True)
        self.w = weir(env={"LD_LIBRARY_PATH": str(directory), "WEIR_FAKE_NVML": str(self.file)})

    def say(self, lines):
        other = self.file.with_suffix(".new")
        other.write_text("\n".join(lines) + "\n")
        other.rename(self.file)

    def node(self):
        [node] = self.w.api("GET", "nodes").json["items"]
        return node

    def wait_trouble(self, word):
        return self.w.wait_until(lambda: word in self.node()["trouble"] and self.node()["trouble"], f"trouble with {word}")


@pytest.fixture
def gpus(weir, tmp_path):
    return Gpus(weir, tmp_path)


def test_gpus_are_found_and_their_use_is_shown(gpus):
    w = gpus.w
    assert gpus.node()["resources"]["slots"]["total"] == 2
    assert gpus.node()["labels"]["gpu.model"] == "H100"
    task = int(w.weir("submit", "--gpus", "1", "--", "sleep", "600").stdout)
    device = w.wait_state(task, "running")["attempts"][0]["devices"][0]
    lines = ["H100 81920 0 0 0 0"] * 2
    lines[device] = "H100 81920 4096 37 0 0"
    gpus.say(lines)
    use = w.wait_until(lambda: ((w.task(task)["attempts"][0]["use"] or {}).get("gpu") or None) and w.task(task)["attempts"][0]["use"], "its use")
    assert (use["gpu"], use["gpu_memory"]) == (0.37, 4096 * MIB)
    assert "0.37 of 1 gpu" in w.weir("task", "show", str(task)).stdout


def test_a_lost_gpu_takes_the_node_out_of_service(gpus):
    w = gpus.w
    assert gpus.node()["trouble"] == ""
    gpus.say(["H100 81920 0 0 0 0", "H100 81920 0 0 15 0"])
    assert gpus.wait_trouble("GPU 1") == "GPU 1 is out of service: the driver has lost it"
    task = int(w.weir("submit", "--gpus", "1", "--", "true").stdout)
    w.wait_until(lambda: (w.task(task)["reason"] or {}).get("code") not in (None, "next"), "a reason to wait")
    assert w.task(task)["state"] == "pending"


def test_a_bad_xid_does_likewise_and_a_harmless_one_does_not(gpus):
    gpus.say(["H100 81920 0 0 0 13", "H100 81920 0 0 0 0"])
    gpus.w.weir("run", "--gpus", "1", "--", "true")
    assert gpus.node()["trouble"] == ""
    gpus.say(["H100 81920 0 0 0 0", "H100 81920 0 0 0 79"])
    assert gpus.wait_trouble("XID") == "GPU 1 is out of service: the driver reports XID 79"
