"""Quotas that are wrong change nothing; quotas below what is in use stop nothing and break nothing.

SPDX-License-Identifier: Apache-2.0
"""
import re
import signal
import subprocess

import pytest

from weir_harness import DEADLINE_S, weir_bin

GOOD = """pools:
  - {name: default, scheduler: {preemption: on}}
departments:
  - {name: ml}
  - {name: lab, parent: ml}
projects:
  - {name: vision, department: lab}
quotas:
  - {project: vision, pool: default, resources: {gpu: {guaranteed: 2, limit: 4, weight: 2}}}
"""

# What is put in the place of a line of GOOD; the line, the column and the path of what is refused there.
WRONG = [
    ("guaranteed: 2", "guaranteed: -2", 9, "quotas[0].resources.gpu.guaranteed"),
    ("limit: 4", "limit: -1", 9, "quotas[0].resources.gpu.limit"),
    ("limit: 4", "limit: 4.0001", 9, "quotas[0].resources.gpu.limit"),
    ("weight: 2", "weight: -2", 9, "quotas[0].resources.gpu.weight"),
    ("weight: 2", "weight: heavy", 9, "quotas[0].resources.gpu.weight"),
    ("weight: 2", "weight: 1e99", 9, "quotas[0].resources.gpu.weight"),
    ("weight: 2", "wight: 2", 9, "quotas[0].resources.gpu.wight"),
    ("gpu: {", "'g p u': {", 9, "quotas[0].resources.g p u"),
    ("project: vision,", "project: visoin,", 9, "quotas[0].project"),
    ("vision, pool: default", "vision, pool: v100", 9, "quotas[0].pool"),
    ("{name: ml}", "{name: ml, parent: lab}", 4, "departments[0].parent"),
    ("department: lab", "department: bal", 7, "projects[0].department"),
]


def state(s):
    """All that an administrator set, and what it amounts to."""
    return [s.api("GET", path).json for path in ("pools", "departments", "projects", "quotas?all=true")]


@pytest.mark.parametrize("right, wrong, line, path", WRONG)
def test_a_server_file_is_refused_with_the_place(tmp_path, right, wrong, line, path):
    assert right in GOOD
    file = tmp_path / "server.yaml"
    file.write_text(GOOD.replace(right, wrong, 1))
    checked = subprocess.run([weir_bin(), "config", "check", str(file)], capture_output=True, text=True, timeout=DEADLINE_S)
    assert checked.returncode == 2
    place = re.search(rf"server\.yaml:{line}:(\d+): {re.escape(path)}: ", checked.stderr)
    assert place, checked.stderr
    column = int(place.group(1))
    assert 1 <= column <= len(file.read_text().splitlines()[line - 1])
    started = subprocess.run([weir_bin(), "server", "--config", str(file), "--dir", str(tmp_path / "data"), "--listen", "127.0.0.1:0"],
                             capture_output=True, text=True, timeout=DEADLINE_S)
    assert started.returncode != 0 and f"server.yaml:{line}:{column}: {path}: " in started.stderr


def test_a_wrong_file_at_sighup_changes_nothing(site):
    s = site(GOOD)
    before = state(s)
    for right, wrong, line, _ in WRONG:
        (s.root / "server.yaml").write_text(GOOD.replace(right, wrong, 1))
        log = s.root / "up.log"
        said = len(log.read_text())
        s.process.send_signal(signal.SIGHUP)
        s.wait_until(lambda: f"server.yaml:{line}:" in log.read_text()[said:], "the server to say what is wrong")
        assert state(s) == before


def test_departments_that_changed_places_go_back_to_what_the_file_says(site):
    """Each alone would close a circle with what is there; together they are what the file says, and every step between is a tree."""
    s = site(GOOD)
    before = state(s)
    assert s.api("PATCH", "departments/ml", {"parent": "lab"}).status == 400
    assert state(s) == before
    assert s.api("PATCH", "departments/lab", {"parent": ""}).status == 200
    assert s.api("PATCH", "departments/ml", {"parent": "lab"}).status == 200
    s.process.send_signal(signal.SIGHUP)
    s.wait_until(lambda: state(s) == before, "the file to be read again")


def test_a_quota_below_use_leaves_overhang_until_tasks_end(site):
    s = site(GOOD.split("quotas:")[0])  # what a file sets, it sets again at the next start
    s.quota("vision", "default", 2, 2, 4)
    s.nodes("n1", gpus=4)
    [soft] = s.stay("vision", gpus=2)
    [firm] = s.stay("vision", gpus=2, kind="notebook")
    s.settled(vision=4)
    s.quota("vision", "default", 1, 1, 1)

    def overhang():
        return s.quotas()["vision"]["overhang"]

    assert overhang() == 3  # four held, one allowed
    s.still()
    [more] = s.stay("vision", gpus=1)
    assert s.reason(more)["code"] == "over-limit"
    s.kill()
    s.start()
    s.wait_until(lambda: s.nodes_ready("default") == {"n1"}, "the node to come back")
    assert overhang() == 3
    assert "3" in s.weir("quota", "list", "--project", "vision", "--columns", "overhang").stdout.split()
    s.settled(vision=4)
    assert s.evictions() == []
    s.end(soft)
    s.settled(vision=2)
    assert overhang() == 1
    s.end(firm)
    s.settled(vision=1)  # there is room for the third now
    assert overhang() == 0
    assert set(s.running()) == {more}
