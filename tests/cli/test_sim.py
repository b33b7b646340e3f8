"""weir sim from the outside: what it prints, writes and refuses. The rules themselves are in tests/sim."""

import csv
import json
import subprocess

import pytest

from weir_harness import weir_bin

SCENARIO = """
name: three teams
projects: [{name: vision}, {name: speech}]
quotas: [{project: vision, pool: default, resources: {gpu: 8}}]
nodes: [{name: n, count: 3, gpus: 4}]
streams:
  - {name: v, project: vision, every: 5m, until: 1d, runs: {mean: 1h}, resources: {gpu: 1}}
  - {name: s, project: speech, every: 20m, until: 1d, runs: {mean: 30m}, resources: {gpu: 4}}
faults: {crash_every: 2d, repair: 1h}
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "teams.yaml"
    path.write_text(SCENARIO)
    return path


def sim(*words):
    return subprocess.run([weir_bin(), "sim", *map(str, words)], capture_output=True, text=True, timeout=60, check=False)


def test_the_same_seed_gives_the_same_bytes_and_another_one_does_not(scenario):
    first, second, other = sim(scenario), sim(scenario), sim(scenario, "--seed", 7)
    assert first.returncode == 0
    assert first.stdout == second.stdout
    assert first.stdout != other.stdout
    assert "events/s" in first.stderr and "events/s" not in first.stdout
    assert sim(scenario, "--quiet").stderr == ""


def test_json_tasks_and_summary_say_the_same(scenario, tmp_path):
    tasks = tmp_path / "tasks.csv"
    found = json.loads(sim(scenario, "--json", "--tasks", tasks).stdout)
    with open(tasks, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == found["tasks"]["submitted"] == found["tasks"]["completed"]
    waits = sorted(float(row["wait"]) for row in rows)
    assert waits[-1] == found["wait"]["max"]
    assert waits[len(waits) * 9 // 10] == found["wait"]["p90"]
    assert sum(waits) / len(waits) == pytest.approx(found["wait"]["mean"], abs=0.001)
    assert {a["name"] for a in found["accounts"]} == {row["account"] for row in rows}
    assert 0 < found["allocated_mean"] <= found["slots_mean"] <= 12
    assert f"{found['tasks']['submitted']:,} submitted" in sim(scenario).stdout


def test_the_report_is_one_page_that_needs_nothing_else(scenario, tmp_path):
    report = tmp_path / "report.html"
    assert sim(scenario, "--report", report).returncode == 0
    page = report.read_text()
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
    assert page.count("<svg") == page.count("</svg>") == 4
    assert "three teams" in page and "prefers-color-scheme:dark" in page
    assert "http" not in page and "<script" not in page


def test_names_in_a_report_cannot_become_markup(tmp_path):
    path = tmp_path / "evil.yaml"
    path.write_text("name: '<script>alert(1)</script>'\nnodes: [{name: n, slots: 1}]\ntasks: [{runs: 1m}]\n")
    report = tmp_path / "report.html"
    assert sim(path, "--report", report).returncode == 0
    assert "<script" not in report.read_text()


def test_a_comparison_of_a_scenario_with_itself_shows_no_difference(scenario):
    done = sim("compare", scenario, scenario, "--seeds", "1-2", "--quiet")
    assert done.returncode == 0
    line = next(line for line in done.stdout.splitlines() if "wait, mean" in line)
    assert line.endswith("0.00 %   0s to 0s")
    more = json.loads(sim("compare", scenario, scenario, "--seeds", "1-2", "--quiet", "--json").stdout)
    assert len(more) == 2 and len(more[0]["wait, mean"]) == 2


def test_a_state_of_a_server_is_played_on(tmp_path):
    task = {"id": 3, "name": "a", "state": "pending", "kind": "command", "project": "default", "pools": ["default"],
            "resources": {"gpu": 2}, "devices": [], "instances": 1, "gang": False, "priority": 50, "preemptible": True,
            "repeatable": True, "command": ["true"], "max_retries": 0, "time_limit_ms": 600000, "grace_ms": 30000,
            "depends_on": [], "started_at": None, "counts": {"waiting": 1, "active": 0}}
    running = {**task, "id": 2, "state": "running", "started_at": "2026-11-15T14:00:00.000Z"}
    node = {"name": "n1", "pool": "default", "state": "up", "draining": False, "labels": {},
            "resources": {"slots": {"total": 2}, "cpu": {"total": 8}, "memory": {"total": 1 << 30}}, "devices": [{}, {}]}
    state = {"version": 1, "seq": 9, "time": "2026-11-15T14:05:00.000Z", "pools": [{"name": "default", "patience_ms": 5000}],
             "departments": [], "projects": [], "quotas": [], "nodes": [node], "tasks": [task, running]}
    path = tmp_path / "state.json"
    path.write_text(json.dumps(state))
    done = sim("--state", path, "--events", "--no-summary", "--quiet")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["5m", "completed", "1", "#2", "a"] in lines  # ten minutes of limit, five of them gone
    assert ["15m", "completed", "2", "#3", "a"] in lines


@pytest.mark.parametrize("words, message", [
    ((), "one scenario file is wanted"),
    (("--trace", "x.csv"), "a trace needs nodes"),
    (("--frobnicate",), "unknown flag '--frobnicate'"),
    (("--seed", "many", "x.yaml"), "a seed is a number"),
    (("--nodes", "8", "--trace", "x.csv"), "NODESxGPUS"),
    (("compare", "one.yaml"), "two or more scenario files"),
    (("openb",), "--nodes FILE and --tasks FILE are wanted"),
])
def test_wrong_words_are_usage_errors(words, message):
    done = sim(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_problems_have_their_place_and_files_their_name(tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text("nodes: [{name: n, gpu: 8}]\n")
    done = sim(bad)
    assert done.returncode == 2
    assert "bad.yaml:1:24: nodes[0].gpu: unknown field; did you mean 'gpus'?" in done.stderr
    assert sim(tmp_path / "none.yaml").returncode == 3


@pytest.mark.parametrize("words, message", [
    ("tasks: [{name: a, runs: 1h, after: [b]}]", "task 'a' comes after 'b', which has not been submitted"),
    ("tasks: [{runs: 1h}]\nevents: [{at: 1m, crash: m}]", "events (line 3): there is no node 'm' at that time"),
])
def test_names_that_mean_nothing_end_the_run_with_their_name(tmp_path, words, message):
    bad = tmp_path / "bad.yaml"
    bad.write_text(f"nodes: [{{name: n, gpus: 8}}]\n{words}\n")
    done = sim(bad)
    assert done.returncode == 2
    assert message in done.stderr
