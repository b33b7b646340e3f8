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
        return self.w.wait_until(lambda: word in self.node()["device_trouble"] and self.node()["device_trouble"], f"trouble with {word}")


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


def devices(task):
    return task["attempts"][-1]["devices"]


def test_a_lost_gpu_is_out_of_service_alone_and_comes_back(gpus):
    w = gpus.w
    assert gpus.node()["device_trouble"] == ""
    ids = [int(w.weir("submit", "--name", name, "--gpus", "1", "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES; sleep 600").stdout) for name in ("a", "b")]
    held = {devices(w.wait_state(task, "running"))[0]: task for task in ids}
    gpus.say(["H100 81920 0 0 0 0", "H100 81920 0 0 15 0"])
    assert gpus.wait_trouble("GPU 1") == "GPU 1: the driver has lost it"
    node = gpus.node()
    assert node["trouble"] == "" and [d["out"] for d in node["devices"]] == [False, True]
    # What ran there has lost its device and waits; its neighbour runs on, and the next task gets the good device.
    waits = w.wait_until(lambda: (t := w.task(held[1]))["state"] == "pending" and t, "the task of the lost device waits")
    assert waits["counts"]["lost"] == 1 and waits["attempts"][0]["cause"] == "device-lost", waits
    assert w.task(held[0])["state"] == "running" and devices(w.task(held[0])) == [0]
    w.weir("task", "kill", "--yes", str(held[0]))
    assert devices(w.wait_state(held[1], "running")) == [0]
    w.wait_until(lambda: w.weir("logs", str(held[1])).stdout.split() == ["1", "0"], "what both attempts saw")

    big = int(w.weir("submit", "--gpus", "2", "--", "true").stdout)
    w.wait_until(lambda: "GPU 1 out of service" in w.weir("explain", str(big)).stdout, "explain names the device")
    shown = w.weir("node", "show", node["name"]).stdout
    assert "GPU 1: the driver has lost it" in shown and "1 GPU out" in shown
    assert "1 GPU out" in w.weir("node", "list").stdout
    [row] = w.api("GET", "map").json["nodes"]
    assert row[3] & 128 and row[8:] == [2, 0]

    gpus.say(["H100 81920 0 0 0 0"] * 2)
    w.wait_until(lambda: gpus.node()["device_trouble"] == "", "the device is back")
    w.weir("task", "kill", "--yes", str(held[1]))
    w.wait_state(big, "completed")
    assert len(w.api("GET", "map").json["nodes"][0]) == 8


def test_a_bad_xid_does_likewise_and_a_harmless_one_does_not(gpus):
    w = gpus.w
    gpus.say(["H100 81920 0 0 0 13", "H100 81920 0 0 0 0"])
    w.weir("run", "--gpus", "1", "--", "true")
    assert gpus.node()["device_trouble"] == ""
    runs = int(w.weir("submit", "--devices", "1", "--", "sleep", "600").stdout)
    w.wait_state(runs, "running")
    gpus.say(["H100 81920 0 0 0 0", "H100 81920 0 0 0 63"])
    assert gpus.wait_trouble("XID") == "GPU 1: the driver reports XID 63"
    # After this error what runs goes on, and nothing new gets the device.
    assert w.weir("run", "--gpus", "1", "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES").stdout.split() == ["0"]
    assert w.task(runs)["state"] == "running"
    w.weir("task", "kill", "--yes", str(runs))
    w.wait_until(lambda: not gpus.node()["tasks"], "nothing runs")
    assert gpus.node()["resources"]["slots"]["free"] == 1
