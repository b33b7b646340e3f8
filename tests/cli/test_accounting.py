"""`weir usage`, and `weir task list --ended` as people use sacct. SPDX-License-Identifier: Apache-2.0"""

import csv
import datetime
import io
import re
import shlex

import pytest
from weir_harness import REPOSITORY


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def held(attempt, slots=1):
    return slots * (moment(attempt["ended_at"]) - moment(attempt["allocated_at"]))


@pytest.fixture
def ended(weir_factory):
    """Two GPUs, and tasks that ended in every usual way: 1 completed, 2 failed, 3 evicted for 4 and killed, 5 killed while it waited."""
    weir = weir_factory("--fake-gpus", "2")
    for project in ("nlp", "vision"):
        weir.weir("project", "create", project)
    weir.weir("quota", "set", "nlp", "--pool", "default", "gpu=2")
    weir.submit("true", project="nlp", time_limit="1h")
    weir.wait(1)  # the tests know which of them ended first
    weir.submit("false", project="vision", kind="experiment")
    weir.wait(2)
    weir.submit("sleep", "1000", project="vision", resources={"gpu": 2})
    weir.wait_state(3, "running")
    weir.submit("sleep", "1000", project="nlp", resources={"gpu": 2})
    weir.wait_until(lambda: weir.task(3)["counts"]["preempted"] == 1 and weir.task(3)["state"] == "pending", "the eviction")
    weir.wait_state(4, "running")
    weir.submit("true", project="vision", resources={"gpu": 2})
    for task in (5, 3, 4):
        weir.weir("task", "kill", "--yes", task)
        weir.wait(task)
    return weir


def rows(weir, *flags):
    answer = weir.weir_json("usage", *flags)
    return answer, {row["key"]: row for row in answer["items"]}


def test_sums_are_those_of_the_attempts(ended):
    weir = ended
    answer, by = rows(weir, "--by", "project")
    attempts = {n: weir.task(n)["attempts"] for n in (1, 2, 3, 4, 5)}
    assert [len(attempts[n]) for n in (1, 2, 3, 4, 5)] == [1, 1, 1, 1, 0]
    nlp, vision = by["nlp"], by["vision"]
    assert nlp["tasks"] == {"ended": 2, "completed": 1, "failed": 0, "killed": 1, "unavailable": 0, "unknown": 0}
    assert vision["tasks"] == {"ended": 3, "completed": 0, "failed": 1, "killed": 2, "unavailable": 0, "unknown": 0}
    assert vision["attempts"] == {"ended": 2, "failed": 1, "evicted": 1, "node_lost": 0}
    evicted = attempts[3][0]
    assert nlp["slot_seconds"]["used"] == pytest.approx(held(attempts[1][0]) + held(attempts[4][0], 2), abs=0.0015)
    assert vision["slot_seconds"]["used"] == pytest.approx(held(attempts[2][0]) + held(evicted, 2), abs=0.0015)
    lost = 2 * (moment(evicted["ended_at"]) - moment(evicted["started_at"]))
    assert vision["slot_seconds"]["lost"] == pytest.approx(lost, abs=0.0015) and nlp["slot_seconds"]["lost"] == 0
    # A task with a limit asks for slots times the limit, a task without for what it uses.
    assert nlp["slot_seconds"]["asked"] == pytest.approx(3600 + held(attempts[4][0], 2), abs=0.0015)
    # Task 3 waited a second time, and task 5 never had a place.
    waits = [
        1 * (moment(attempts[2][0]["allocated_at"]) - moment(weir.task(2)["submitted_at"])),
        2 * (moment(evicted["allocated_at"]) - moment(weir.task(3)["submitted_at"])),
        2 * (moment(weir.task(3)["ended_at"]) - moment(evicted["ended_at"])),
        2 * (moment(weir.task(5)["ended_at"]) - moment(weir.task(5)["submitted_at"])),
    ]
    assert vision["slot_seconds"]["waited"] == pytest.approx(sum(waits), abs=0.005)
    assert answer["total"]["tasks"]["ended"] == 5


def test_every_sum_has_the_same_total(ended):
    weir = ended
    totals = []
    for by in ("user", "project", "pool", "kind", "day"):
        answer, _ = rows(weir, "--by", by)
        totals.append(answer["total"])
    assert all(total == totals[0] for total in totals)
    _, kinds = rows(weir, "--by", "kind")
    assert set(kinds) == {"command", "experiment"}
    answer, nodes = rows(weir, "--by", "node")
    assert len(nodes) == 1 and answer["total"]["slot_seconds"]["used"] == totals[0]["slot_seconds"]["used"]
    assert answer["total"]["attempts"] == totals[0]["attempts"]
    _, only = rows(weir, "--by", "user", "--project", "nlp")
    assert [row["tasks"]["ended"] for row in only.values()] == [2]


def test_a_part_of_a_day_is_exact(ended):
    weir = ended
    end = weir.task(2)["ended_at"]
    _, before = rows(weir, "--by", "project", "--until", end)
    _, after = rows(weir, "--by", "project", "--since", end)
    assert before.get("vision", {"tasks": {"failed": 0}})["tasks"]["failed"] == 0
    assert after["vision"]["tasks"]["failed"] == 1
    _, whole = rows(weir, "--by", "project")
    used = [part["vision"]["slot_seconds"]["used"] for part in (before, after)]
    assert sum(used) == pytest.approx(whole["vision"]["slot_seconds"]["used"], abs=0.002)


def test_what_was_counted_outlives_a_restart(ended):
    weir = ended
    until = weir.task(4)["ended_at"]
    before, _ = rows(weir, "--since", "2020-01-01", "--until", until)
    weir.stop()
    weir.start()
    after, _ = rows(weir, "--since", "2020-01-01", "--until", until)
    assert before == after


def test_a_person_reads_what_the_sums_cover(ended):
    weir = ended
    table = weir.weir("usage", "--by", "project", "--since", "2020-01-01")
    lines = table.stdout.splitlines()
    assert lines[0].split()[:7] == ["PROJECT", "USED", "ASKED", "LOST", "WAITED", "TASKS", "COMPLETED"]
    assert [line.split()[0] for line in lines[1:]] == ["vision", "nlp", "total"] or [
        line.split()[0] for line in lines[1:]
    ] == ["nlp", "vision", "total"]
    assert "slot hours from 2020-01-01T00:00:00.000Z to " in table.stderr
    assert "the records begin with 20" in table.stderr and "count when they end" in table.stderr
    narrow = weir.terminal("usage", "--by", "project", "--color", "never", columns=80).finish()[1]
    assert all(len(line) <= 80 for line in narrow.splitlines() if not line.startswith("weir: "))
    assert "TASKS" in narrow and "WAITED" in narrow and "FAILED" in narrow
    empty = weir.weir("usage", "--until", "2020-01-01", "--since", "2019-12-01")
    assert empty.stdout == "" and "no use between 2019-12-01T" in empty.stderr


def test_csv_has_a_line_a_row(ended):
    table = list(csv.DictReader(io.StringIO(ended.weir("usage", "--by", "project", "--csv").stdout)))
    by = {row["project"]: row for row in table}
    assert set(by) == {"nlp", "vision"}
    assert by["nlp"]["asked_slot_hours"].startswith("1.0") and by["vision"]["killed"] == "2"
    nodes = ended.weir("usage", "--by", "node", "--csv").stdout.splitlines()
    assert nodes[0] == "node,used_slot_hours,lost_slot_hours,attempts,failed,evicted,node_lost"


def test_costs_are_slot_hours_by_the_price_of_the_pool(weir):
    """Two pools with prices in two currencies; the pool `default` has none."""
    weir.weir("flavor", "create", "small", "--slots", "2", "--price", "720000", "--currency", "EUR")
    weir.weir("flavor", "create", "large", "--slots", "4", "--price", "36", "--currency", "USD")
    for pool, flavor in (("cheap", "small"), ("dear", "large")):
        weir.weir("pool", "create", pool, "--provider", "local", "--max", "1", "--flavor", flavor)
    assert "COST" not in weir.weir("usage").stdout
    attempts = {}
    for pool, slots in (("cheap", 2), ("cheap", 1), ("dear", 3), ("default", 0)):
        task = weir.submit("sleep", "0.2", pool=pool, resources={"slots": slots})
        weir.wait(task)
        attempts.setdefault(pool, []).append((weir.task(task)["attempts"][0], slots))
    euros = sum(held(attempt, slots) for attempt, slots in attempts["cheap"]) * 720000 / 2 / 3600
    dollars = sum(held(attempt, slots) for attempt, slots in attempts["dear"]) * 36 / 4 / 3600
    assert euros > 50 and dollars > 0.001
    for by in ("user", "project", "kind", "day"):
        answer, rows_by = rows(weir, "--by", by)
        (row,) = rows_by.values()
        assert row["costs"] == answer["total"]["costs"]
        assert {c["currency"]: c["amount"] for c in row["costs"]} == {"EUR": pytest.approx(euros, abs=0.3), "USD": pytest.approx(dollars, abs=0.002)}
    answer, by_pool = rows(weir, "--by", "pool")
    assert [c["amount"] > 0 for c in by_pool["cheap"]["costs"]] == [True, False]
    assert [c["amount"] > 0 for c in by_pool["dear"]["costs"]] == [False, True]
    assert sum(c["amount"] for row in by_pool.values() for c in row["costs"]) == pytest.approx(sum(c["amount"] for c in answer["total"]["costs"]), abs=0.01)
    by_node = rows(weir, "--by", "node")[0]
    assert [c["amount"] for c in by_node["total"]["costs"]] == pytest.approx([c["amount"] for c in answer["total"]["costs"]], abs=0.01)
    table = weir.weir("usage", "--by", "pool").stdout
    paid = f"{by_pool['cheap']['costs'][0]['amount']:.2f} EUR"
    assert "COST" in table.splitlines()[0] and paid in table
    (line,) = csv.DictReader(io.StringIO(weir.weir("usage", "--csv").stdout))
    assert float(line["cost_EUR"]) == answer["total"]["costs"][0]["amount"] and float(line["cost_USD"]) == answer["total"]["costs"][1]["amount"]
    by_pool_lines = list(csv.DictReader(io.StringIO(weir.weir("usage", "--by", "pool", "--csv").stdout)))
    assert all(re.fullmatch(r"\d+\.\d{3}", row[cost]) for row in by_pool_lines for cost in ("cost_EUR", "cost_USD")) and len(by_pool_lines) >= 2


@pytest.mark.parametrize(
    "flags, said",
    [
        (["--by", "moon"], "user, project, pool, node, kind or day"),
        (["--since", "yesterday"], "2026-11-15"),
        (["--since", "1h", "--until", "2h"], "'since' must not be after 'until'"),
        (["--by", "node", "--user", "ann"], "leave 'user' out"),
    ],
)
def test_a_wrong_question_names_what_would_do(weir, flags, said):
    result = weir.weir("usage", *flags, check=False)
    assert result.returncode == 2 and said in result.stderr, result.stderr


def test_ended_tasks_between_two_moments(ended):
    weir = ended
    cut = weir.task(2)["ended_at"]
    first = weir.task(1)["ended_at"]
    old = weir.weir("task", "list", "--until", cut, "-q").stdout.split()
    new = weir.weir("task", "list", "--ended", "--since", cut, "-q").stdout.split()
    assert set(old) <= {"1"} and {"2", "3", "4", "5"} <= set(new) and sorted(old + new) == ["1", "2", "3", "4", "5"]
    assert weir.weir("task", "list", "--ended", "--until", first, "--since", "2020-01-01", "-q").stdout == ""
    table = weir.weir("task", "list", "--ended", "--since", "2020-01-01").stdout.splitlines()
    assert "ENDED" in table[0] and "EXIT" in table[0] and len(table) == 6
    assert "ENDED" not in weir.weir("task", "list").stdout
    weir.submit("sleep", "1000")
    assert weir.weir("task", "list", "--until", "0s", "--state", "pending,running", "-q").stdout == ""


def test_every_command_of_the_page_works(ended):
    page = (REPOSITORY / "docs" / "user" / "usage.md").read_text()
    commands = [line for block in re.findall(r"^```\n(.*?)^```", page, re.M | re.S) for line in block.splitlines()]
    assert len(commands) >= 7 and all(line.startswith("weir ") for line in commands)
    for line in commands:
        words = shlex.split(line.split(" > ")[0])[1:]
        assert ended.weir(*words).returncode == 0, line
