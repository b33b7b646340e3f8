"""AMD GPUs by the real code that reads /sys, with a tree made by hand from the kernel's documentation: no machine with such a GPU wrote it.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib

import pytest

GIB = 1 << 30
NODES = pathlib.Path("sys/class/kfd/kfd/topology/nodes")


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_text(f"{text}\n")
    new.rename(path)  # a reader sees the old text or the new one


class Amd:
    def __init__(self, weir, root):
        self.root = root
        put(root / NODES / "0/gpu_id", 0)
        for i, minor in enumerate((128, 129)):
            put(root / NODES / f"{i + 1}/gpu_id", 51000 + i)
            put(root / NODES / f"{i + 1}/properties", f"simd_count 440\ndrm_render_minor {minor}\nunique_id {7 + i}")
            put(self.device(i) / "product_name", "AMD Instinct MI210")
            put(self.device(i) / "mem_info_vram_total", 64 * GIB)
            self.use(i, 0, 0)
        self.w = weir(env={"WEIR_SYSFS_ROOT": str(root)})

    def device(self, i):
        return self.root / f"sys/class/drm/renderD{128 + i}/device"

    def use(self, i, percent, used):
        put(self.device(i) / "mem_info_vram_used", used)
        put(self.device(i) / "gpu_busy_percent", percent)

    def node(self):
        [node] = self.w.api("GET", "nodes").json["items"]
        return node


@pytest.fixture
def amd(weir, tmp_path):
    return Amd(weir, tmp_path / "tree")


def test_amd_gpus_are_found_and_tasks_see_theirs(amd):
    w = amd.w
    assert amd.node()["resources"]["slots"]["total"] == 2
    assert amd.node()["labels"]["gpu.model"] == "AMD Instinct MI210"
    say = "echo $ROCR_VISIBLE_DEVICES / $HIP_VISIBLE_DEVICES / $CUDA_VISIBLE_DEVICES"
    assert w.weir("run", "--devices", "1", "--", "sh", "-c", say).stdout.split() == ["1", "/", "0", "/", "0"]
    assert w.weir("run", "--gpus", "2", "--", "sh", "-c", say).stdout.split() == ["0,1", "/", "0,1", "/", "0,1"]
    assert w.weir("run", "--slots", "0", "--", "sh", "-c", say).stdout.split() == ["-1", "/", "-1", "/"]
    half = w.weir("submit", "--gpu-memory", "32Gi", "--", "sleep", "600")
    assert w.wait_state(int(half.stdout), "running")["attempts"][0]["holds"]["slots"] == 0.5


def test_their_use_is_shown_and_one_that_is_gone_is_out_of_service(amd):
    w = amd.w
    task = int(w.weir("submit", "--devices", "1", "--", "sleep", "600").stdout)
    w.wait_state(task, "running")
    amd.use(1, 37, 4 * GIB)
    use = w.wait_until(lambda: (u := w.task(task)["attempts"][0]["use"]) and u["gpu"] and u, "its use")
    assert (use["gpu"], use["gpu_memory"]) == (0.37, 4 * GIB)
    amd.device(1).rename(amd.root / "away")
    w.wait_until(lambda: amd.node()["device_trouble"] == "GPU 1: the driver has lost it", "the GPU is out of service")
    assert w.weir("run", "--gpus", "1", "--", "sh", "-c", "echo $ROCR_VISIBLE_DEVICES").stdout.split() == ["0"]
    (amd.root / "away").rename(amd.device(1))
    w.wait_until(lambda: amd.node()["device_trouble"] == "", "the GPU is back")
    assert w.wait_state(task, "running")["attempts"][-1]["devices"] == [1]
