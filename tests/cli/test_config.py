"""`weir config diff` and `weir config apply`: the server's file as code. SPDX-License-Identifier: Apache-2.0"""

import json

import pytest

FILE = """
defaults: {gpu_pool: gpu, cpu_pool: default}
pools:
  - {name: gpu, title: GPUs, scheduler: {policy: fifo}}
departments:
  - {name: vision-lab, parent: ml}
  - {name: ml}
projects:
  - {name: nlp, department: ml}
quotas:
  - {project: nlp, pool: gpu, resources: {gpu: {guaranteed: 4, limit: 8}}}
"""


@pytest.fixture
def config(weir):
    def put(text):
        path = weir.root / "server.yaml"
        path.write_text(text)
        return path

    return put


def test_a_file_is_shown_applied_and_then_changes_nothing(weir, config):
    path = config(FILE)
    diff = weir.weir("config", "diff", path, check=False)
    assert diff.returncode == 8
    marks = [line for line in diff.stdout.splitlines() if not line.startswith("    ")]
    assert marks == ["+ pool gpu", "~ defaults", "+ department ml", "+ department vision-lab", "+ project nlp", "~ quota nlp in pool gpu"]
    assert "    gpu_pool: \"default\" -> \"gpu\"\n" in diff.stdout
    assert weir.api("GET", "pools/gpu").status == 404, "a diff changes nothing"
    done = weir.weir("config", "apply", path)
    assert done.stdout == diff.stdout and "6 changes made" in done.stderr
    pool = weir.api("GET", "pools/gpu").json
    assert pool["title"] == "GPUs" and pool["scheduler"]["policy"] == "fifo"
    assert weir.api("GET", "departments/vision-lab").json["parent"] == "ml"
    again = weir.weir("config", "diff", path)
    assert again.stdout == "" and "nothing would change" in again.stderr
    assert "nothing to change" in weir.weir("config", "apply", path).stderr


def test_drift_is_named_field_by_field(weir, config):
    path = config(FILE)
    weir.weir("config", "apply", path)
    weir.weir("pool", "edit", "gpu", "--title", "mine")
    weir.weir("quota", "set", "nlp", "--pool", "gpu", "gpu=2")
    diff = weir.weir("config", "diff", path, check=False)
    assert diff.returncode == 8
    assert diff.stdout.splitlines() == [
        "~ pool gpu",
        '    title: "mine" -> "GPUs"',
        "~ quota nlp in pool gpu",
        "    resources.slots.guaranteed: 2 -> 4",
    ]
    first, second = weir.api("POST", "config?dry_run=true", path.read_text()).json["changes"]
    assert json.loads(weir.weir("config", "diff", path, "--json", check=False).stdout)["changes"] == [first, second]
    assert (first["do"], first["kind"], first["before"]["title"], first["after"]["title"]) == ("change", "pool", "mine", "GPUs")
    assert second["pool"] == "gpu" and second["refusal"] is None
    weir.weir("config", "apply", path)
    assert weir.weir("config", "diff", path).stdout == ""


def test_what_the_file_does_not_name_stays_unless_pruned(weir, config):
    path = config(FILE)
    weir.weir("config", "apply", path)
    weir.weir("pool", "create", "spare")
    weir.weir("project", "create", "old", "--department", "ml")
    weir.weir("quota", "set", "old", "--pool", "gpu", "gpu=1")
    diff = weir.weir("config", "diff", path)
    assert diff.stdout == "" and diff.returncode == 0
    assert "not in the file, stays: quota old in pool gpu, project old, pool spare; --prune" in " ".join(diff.stderr.split())
    weir.weir("config", "apply", path)
    assert weir.api("GET", "pools/spare").status == 200
    pruned = weir.weir("config", "diff", path, "--prune", check=False)
    assert pruned.returncode == 8 and pruned.stdout.splitlines() == ["- quota old in pool gpu", "- project old", "- pool spare"]
    refused = weir.weir("config", "apply", path, "--prune", check=False)
    assert refused.returncode == 2 and "--yes" in refused.stderr
    assert weir.api("GET", "pools/spare").status == 200
    weir.weir("config", "apply", path, "--prune", "--yes")
    assert weir.api("GET", "projects/old").status == 404 and weir.api("GET", "pools/default").status == 200
    assert weir.weir("config", "diff", path, "--prune").stdout == ""


def test_a_file_brings_a_deleted_pool_back(weir, config):
    path = config("pools: [{name: default}, {name: lab, title: Lab}]\n")
    weir.weir("config", "apply", path)
    task = weir.weir("submit", "--pool", "lab", "--", "true").stdout.strip()
    weir.weir("pool", "delete", "lab", "--force", "--yes")
    assert weir.task(task)["state"] == "unavailable"
    path = config("pools: [{name: default}, {name: lab, title: The lab}]\n")
    assert "pool lab" in weir.weir("config", "diff", path, check=False).stdout
    weir.weir("config", "apply", path)
    pool = weir.weir_json("pool", "show", "lab")
    assert (pool["title"], pool["restore_until"], weir.task(task)["state"]) == ("The lab", None, "pending")
    assert weir.weir("config", "diff", path).stdout == ""


def test_all_or_nothing_where_the_server_refuses(weir, config):
    weir.weir("project", "create", "busy")
    weir.submit("sleep", "1000", project="busy")
    path = config("pools:\n  - {name: new}\n")
    diff = weir.weir("config", "diff", path, "--prune", check=False)
    assert diff.returncode == 5 and "! project busy (1 task)\n    refused: busy " in diff.stdout
    done = weir.weir("config", "apply", path, "--prune", "--yes", check=False)
    assert done.returncode == 5 and "nothing was changed" in done.stderr
    assert weir.api("GET", "pools/new").status == 404
    answer = weir.api("POST", "config?prune=true", path.read_text())
    assert answer.status == 409 and "project 'busy'" in answer.json["error"]["message"]
    assert weir.api("GET", "pools/new").status == 404


def test_tasks_that_the_change_would_stop_are_named_first(weir_factory, tmp_path):
    weir = weir_factory("--fake-gpus", "2")
    for project in ("nlp", "vision"):
        weir.weir("project", "create", project)
    weir.submit("sleep", "1000", project="vision", name="holder", resources={"gpu": 2})
    weir.wait_state(1, "running")
    weir.weir("submit", "--project", "nlp", "--gpus", 2, "--no-preempt", "--", "sleep", "1000")
    path = tmp_path / "server.yaml"
    path.write_text("projects: [{name: nlp}, {name: vision}]\nquotas:\n  - {project: nlp, pool: default, resources: {gpu: 2}}\n")
    diff = weir.weir("config", "diff", path, check=False)
    assert diff.returncode == 8
    assert "this stops task 1 (holder, of " in diff.stderr and "this starts task 2" in diff.stderr
    refused = weir.weir("config", "apply", path, check=False)
    assert refused.returncode == 2 and "--yes" in refused.stderr and weir.task(1)["state"] == "running"
    weir.weir("config", "apply", path, "--yes")
    weir.wait_state(2, "running")


def test_a_wrong_file_names_its_places_and_is_not_sent(weir, config):
    path = config("pools:\n  - {name: gpu, titel: x}\n  - {name: gpu}\n")
    for command in ("diff", "apply"):
        result = weir.weir("config", command, path, check=False)
        assert result.returncode == 2 and f"{path}:2:" in result.stderr and "titel" in result.stderr
    answer = weir.api("POST", "config", "pools: [{name: 7, x: 1}]")
    assert answer.status == 400 and "file:1:" in answer.json["error"]["message"]
    assert weir.weir("config", "diff", weir.root / "missing.yaml", check=False).returncode == 3


def test_show_says_what_the_server_runs_with_and_from_where(weir):
    shown = weir.weir("config", "show")
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert lines[0] == ["KIND", "NAME", "VALUE", "FROM"]
    assert ["setting", "retention.tasks", "90d", "default"] in lines
    assert ["pool", "default", "built", "in"] in lines
    assert any(line[:2] == ["setting", "data"] and line[2:] == [str(weir.dir), "command", "line"] for line in lines), shown.stdout
    assert "the server has no file" in shown.stderr
    answer = json.loads(weir.weir("config", "show", "--json").stdout)
    assert {i["name"] for i in answer["items"] if i["kind"] == "setting"} == {line[1] for line in lines if line[0] == "setting"}
    status, text = weir.terminal("config", "show", "--color", "never", columns=80).finish()
    assert status == 0 and all(len(line) <= 80 for line in text.splitlines()), text
    weir.weir("pool", "create", "burst")
    assert ["pool", "burst", "API"] in [line.split() for line in weir.weir("config", "show").stdout.splitlines()]


def test_a_program_that_cannot_be_run_is_named_with_its_place(weir, weir_alone, tmp_path):
    file = tmp_path / "server.yaml"
    program = tmp_path / "machines"
    file.write_text(
        "pools:\n  - name: burst\n    provider:\n      type: exec\n      command: " + str(program) + "\n      max: 2\n"
    )
    missing = weir_alone("config", "check", str(file))
    assert missing.returncode == 0 and "is valid: 1 pool" in missing.stdout
    assert f"{file}:5:16: pools[0].provider.command: warning: '{program}' is not on this machine" in missing.stderr
    (warning,) = json.loads(weir_alone("config", "check", "--json", str(file)).stdout)["problems"]
    assert warning["line"] == 5 and "brings no node up" in warning["message"]
    program.write_text("#!/bin/sh\n")
    assert "cannot be run: `chmod +x`" in weir_alone("config", "check", str(file)).stderr
    weir.weir("pool", "create", "burst", "--provider", "exec", "--command", str(program), "--max", "2", "--node-slots", "1")
    trouble = weir.weir("doctor", check=False)
    assert trouble.returncode == 1 and "TROUBLE  program  pool burst brings no node up: " in trouble.stdout
    program.chmod(0o755)
    assert weir_alone("config", "check", str(file)).stderr == ""
    assert "TROUBLE  program" not in weir.weir("doctor", check=False).stdout
