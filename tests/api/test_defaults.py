"""Where a task goes that names no pool: the server and the simulator agree, because the core decides.
SPDX-License-Identifier: Apache-2.0
"""

import csv
import json
import subprocess

import pytest
import yaml
from server_process import Server
from weir_harness import DEADLINE_S, weir_bin

POOLS = {"defaults": {"gpu_pool": "big", "cpu_pool": "small"}, "pools": [{"name": "big"}, {"name": "small"}]}
TASKS = {
    "nothing": ({}, "big"),
    "slots": ({"resources": {"slots": 2}}, "big"),
    "gpu": ({"resources": {"gpu": 1}}, "big"),
    "share": ({"resources": {"gpu": 0.5}}, "big"),
    "gpu-memory": ({"resources": {"gpu_memory": "1Gi", "cpu": 1}}, "big"),
    "cpu": ({"resources": {"cpu": 1}}, "small"),
    "memory": ({"resources": {"memory": "1Gi"}}, "small"),
    "no-slots": ({"resources": {"slots": 0}}, "small"),
    "board": ({"kind": "tensorboard"}, "small"),
    "named": ({"pools": ["default"]}, "default"),
}
WANTED = {name: pool for name, (_, pool) in TASKS.items()}


@pytest.fixture(scope="module")
def configured():
    server = Server(config=yaml.safe_dump({"listen": "127.0.0.1:0", **POOLS}))
    try:
        yield server.start()
    finally:
        server.close()


def simulated(tmp_path, scenario, *flags):
    """The pool of each task by name, as `weir sim` has it."""
    path, out = tmp_path / "scenario.yaml", tmp_path / "tasks.csv"
    path.write_text(yaml.safe_dump(scenario))
    command = [weir_bin(), "sim", str(path), *flags, "--quiet", "--no-summary", "--tasks", str(out)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert run.returncode == 0, run.stderr
    with open(out, encoding="utf-8") as file:
        return {row["name"]: row["pool"] for row in csv.DictReader(file)}


def scenario_tasks():
    return [{"name": name, "runs": "1m", **task} for name, (task, _) in TASKS.items()]


def test_server_and_simulator_choose_the_same_pool(configured, tmp_path):
    for name, (task, _) in TASKS.items():
        (task_id,) = configured.submit({"command": ["true"], "name": name, **task})
        shown = configured.get(f"tasks/{task_id}")
        assert (shown["pool"], shown["pools"]) == (WANTED[name], [WANTED[name]]), name
    assert simulated(tmp_path, {**POOLS, "tasks": scenario_tasks()}) == WANTED


def test_an_exported_state_brings_them_along(configured, tmp_path):
    state = configured.get("state")
    assert state["defaults"] == POOLS["defaults"]
    state["tasks"] = []
    exported = tmp_path / "state.json"
    exported.write_text(json.dumps(state))
    assert simulated(tmp_path, {"tasks": scenario_tasks()}, "--state", str(exported)) == WANTED


def test_without_a_word_there_is_one_pool(tmp_path):
    tasks = [task for task in scenario_tasks() if "pools" not in task]
    assert set(simulated(tmp_path, {"tasks": tasks}).values()) == {"default"}


def test_an_unknown_default_of_a_scenario_has_its_place(tmp_path):
    path = tmp_path / "scenario.yaml"
    path.write_text("defaults: {gpu_pool: nix}\ntasks: []\n")
    run = subprocess.run([weir_bin(), "sim", str(path)], capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert run.returncode != 0
    assert ":1:" in run.stderr and "nix" in run.stderr


def test_they_follow_the_file_over_restarts_and_do_not_outlive_it(tmp_path):
    server = Server(config=yaml.safe_dump({"listen": "127.0.0.1:0", **POOLS}))
    try:
        server.start()
        server.stop()
        server.start()
        assert server.get("state")["defaults"] == POOLS["defaults"]
        server.stop()
        server.config = yaml.safe_dump({"listen": "127.0.0.1:0", "pools": POOLS["pools"]})
        server.start()
        assert server.get("state")["defaults"] == {"gpu_pool": "default", "cpu_pool": "default"}
        (task_id,) = server.submit()
        assert server.get(f"tasks/{task_id}")["pool"] == "default"
    finally:
        server.close()
