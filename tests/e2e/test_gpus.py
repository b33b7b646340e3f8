"""GPUs as they are asked for on the command line: whole, chosen, shared, by memory, parts of several; and tasks without any.

SPDX-License-Identifier: Apache-2.0
"""
import pytest

GIB = 1 << 30
STAYS = ("sh", "-c", 'echo "$CUDA_VISIBLE_DEVICES $WEIR_SLOTS"; exec sleep 600')


class Gpus:
    def __init__(self, w):
        self.w = w

    def runs(self, *flags):
        """(GPUs, slots) that the task has, as it sees them itself."""
        task = int(self.w.weir("submit", *flags, "--", *STAYS).stdout)
        self.w.wait_until(lambda: " " in self.w.weir("task", "logs", str(task)).stdout, f"a word of task {task}")
        devices, slots = self.w.weir("task", "logs", str(task)).stdout.split()
        return devices, float(slots)

    def waits(self, *flags):
        task = int(self.w.weir("submit", *flags, "--", *STAYS).stdout)
        return self.w.wait_until(
            lambda: (self.w.task(task)["reason"] or {}).get("code") not in (None, "next") and self.w.task(task)["reason"],
            f"a reason for task {task}")

    def refused(self, *flags):
        answer = self.w.weir("submit", *flags, "--", "true", check=False)
        assert answer.returncode == 9, answer.stderr
        return answer.stderr


@pytest.fixture
def gpus(weir):
    return Gpus(weir("--fake-gpus", "4", "--resources", "gpu_memory=40Gi"))


def test_whole_and_chosen_ones(gpus):
    assert gpus.runs("--devices", "1,3") == ("1,3", 2)
    assert gpus.runs("--gpus", "1") == ("0", 1)
    assert gpus.waits("--devices", "1")["code"] == "devices-busy"
    assert gpus.runs("--gpus", "1", "--gpu-memory", "40Gi") == ("2", 1)
    assert "the highest index there is 3" in gpus.refused("--devices", "4")


def test_parts_by_share_and_by_memory_fill_one_gpu(gpus):
    assert gpus.runs("--gpus", "0.5") == ("0", 0.5)
    assert gpus.runs("--gpu-memory", "10Gi") == ("0", 0.25)
    assert gpus.runs("--gpu-memory", "10Gi") == ("0", 0.25)
    assert gpus.runs("--gpu-memory", "1Gi") == ("1", 0.025)


def test_a_wait_for_memory_says_what_would_start(gpus):
    for _ in range(4):
        gpus.runs("--gpu-memory", "30Gi")
    reason = gpus.waits("--gpu-memory", "20Gi")
    assert (reason["code"], reason["resource"]) == ("no-room", "gpu_memory")
    assert (reason["wanted"], reason["available"], reason["smallest"]) == (20 * GIB, 10 * GIB, 10 * GIB)
    assert "waits for 20Gi of GPU memory" in reason["message"]
    assert gpus.runs("--gpu-memory", str(reason["smallest"])) == ("0", 0.25)
    assert "40Gi" in gpus.refused("--gpu-memory", "41Gi")


def test_parts_of_several_are_of_different_ones(gpus):
    assert gpus.runs("--gpus", "0.25", "--gpu-devices", "3") == ("0,1,2", 0.75)
    assert gpus.runs("--gpu-memory", "30Gi", "--gpu-devices", "2") == ("0,1", 1.5)
    assert gpus.runs("--gpus", "0.5", "--devices", "2,3") == ("2,3", 1)
    assert "no node" in gpus.refused("--gpus", "0.25", "--gpu-devices", "5")
    wrong = gpus.w.weir("submit", "--gpus", "2", "--gpu-devices", "2", "--", "true", check=False)
    assert wrong.returncode == 2 and "resources.gpu_devices" in wrong.stderr


def test_a_task_file_asks_for_the_same(gpus, tmp_path):
    file = tmp_path / "task.yaml"
    file.write_text("command: [sleep, '600']\nresources: {gpu_memory: 10Gi, gpu_devices: 2}\n")
    task = int(gpus.w.weir("submit", "-f", str(file)).stdout)
    shown = gpus.w.wait_state(task, "running")
    assert shown["resources"] == {"gpu_memory": 10 * GIB, "gpu_devices": 2}
    assert gpus.w.weir("task", "edit", str(task), "--gpu-memory", "5Gi", check=False).returncode == 5  # it runs


def test_labels_of_nodes_are_asked_for(gpus):
    assert gpus.runs("--gpus", "1", "--node-label", "gpu.model=fake") == ("0", 1)
    assert "with the labels it asks for hold 0 of 1" in gpus.refused("--gpus", "1", "--node-label", "gpu.model=A100")
    [node] = gpus.w.api("GET", "nodes").json["items"]
    gpus.w.weir("node", "label", node["name"], "rack=7")
    assert gpus.runs("--gpus", "1", "--node-label", "rack=7", "--node-label", "gpu.model=fake") == ("1", 1)
    assert "node labels" in gpus.w.weir("task", "show", "2").stdout
    assert gpus.w.weir("submit", "--node-label", "rack", "--", "true", check=False).returncode == 2


def test_a_node_without_gpus_has_slots_and_gives_each_its_part(weir):
    w = weir("--slots", "2", "--resources", "cpu=3")
    first = w.wait_state(int(w.weir("submit", "--slots", "1", "--", *STAYS).stdout), "running")
    w.wait_state(int(w.weir("submit", "--slots", "1", "--", *STAYS).stdout), "running")
    assert first["resources"] == {"slots": 1}
    [node] = w.api("GET", "nodes").json["items"]
    assert node["resources"]["slots"] == {"total": 2, "free": 0}
    assert node["resources"]["cpu"] == {"total": 3, "free": 0}
    assert Gpus(w).waits("--slots", "1")["code"] == "no-room"


def test_tasks_without_slots_stop_at_the_cap_of_their_node(weir):
    w = weir("--fake-gpus", "1", "--resources", "foo=10")
    w.weir("pool", "edit", "default", "--aux-tasks", "2")
    gpus = Gpus(w)
    for _ in range(2):
        w.wait_state(int(w.weir("submit", "--resources", "foo=1", "--", *STAYS).stdout), "running")
    assert gpus.waits("--resources", "foo=1")["code"] == "aux-full"
    assert gpus.runs("--gpus", "1") == ("0", 1)
