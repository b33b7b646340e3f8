"""A running cluster, exported and played on: what runs stays where it is, and as old as it is.

SPDX-License-Identifier: Apache-2.0
"""
import csv
import io


def test_an_exported_state_is_played_on_from_where_it_is(weir):
    w = weir("--fake-gpus", "4")
    w.weir("pool", "edit", "default", "--patience", "10m")  # nothing is kept for the task that wants all
    first = w.submit("sleep", "600", resources={"gpu": 1})
    gap = w.submit("sleep", "600", resources={"gpu": 1})
    second = w.submit("sleep", "600", resources={"gpu": 2})
    for task in (first, gap, second):
        w.wait_state(task, "running")
    w.weir("task", "kill", str(gap))
    w.wait(gap)
    whole = w.submit("true", resources={"gpu": 4})
    small = w.submit("sleep", "600", resources={"gpu": 1})  # takes the device between the two
    w.wait_state(small, "running")
    held = {task: w.task(task)["attempts"][0]["devices"] for task in (first, second, small)}
    w.weir("state", "export", "-o", "state.json")
    played = w.weir("sim", "--state", "state.json", "--runs", "1h", "--events", "--no-summary", "--quiet", "--check").stdout

    starts = [line for line in played.splitlines() if " starts " in line]
    before = [line for line in starts if line.lstrip().startswith("-")]
    assert len(before) == 3 and len(starts) == 4
    for task, devices in held.items():
        wanted = f"#{task} on {w.task(task)['attempts'][0]['node']} gpu {','.join(map(str, devices))}"
        assert any(line.endswith(wanted) for line in before), (wanted, before)
    assert f"#{whole} on " in starts[-1] and starts[-1].endswith("gpu 0,1,2,3")

    table = w.weir("sim", "--state", "state.json", "--runs", "1h", "--quiet", "--no-summary", "--tasks", "-").stdout
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(table))}
    assert len(rows) == 4
    for task in held:
        row = rows[f"#{task}"]
        assert float(row["started"]) <= 0 < float(row["ended"]) < 3600
        assert abs(float(row["ended"]) - float(row["started"]) - 3600) < 0.002
    last_end = max(float(rows[f"#{task}"]["ended"]) for task in held)
    assert float(rows[f"#{whole}"]["started"]) == last_end


def test_a_deleted_pool_in_an_exported_state(weir):
    """Within its 24 hours the pool is in the state, with a task that is unavailable. Both are read; nothing starts there."""
    w = weir()
    w.weir("pool", "create", "gone", "--provider", "local", "--max", "1", "--idle", "1s")
    lost = w.weir("submit", "--pool", "gone", "--stage", "--", "sleep", "600").stdout.strip()
    w.weir("task", "start", lost)
    w.wait_state(lost, "running")
    w.weir("pool", "delete", "gone", "--force", "--yes")
    w.wait_until(lambda: w.api("GET", "pools/gone").json["state"] == "pending-delete", "the deletion")
    w.wait_state(lost, "unavailable")
    here = w.submit("sleep", "600")
    w.wait_state(here, "running")
    w.weir("state", "export", "-o", "state.json")
    played = w.weir("sim", "--state", "state.json", "--runs", "1h", "--events", "--no-summary", "--quiet", "--check").stdout
    assert f"#{here} on " in played
    assert not [line for line in played.splitlines() if f"#{lost} " in line and " starts " in line], played
