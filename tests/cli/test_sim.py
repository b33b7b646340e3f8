"""weir sim from the outside: what it prints, writes and refuses. The rules themselves are in tests/sim."""

import csv
import html
import json
import re
import signal
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
    assert waits[(len(waits) * 90 + 99) // 100 - 1] == found["wait"]["p90"]
    assert sum(waits) / len(waits) == pytest.approx(found["wait"]["mean"], abs=0.001)
    assert {a["name"] for a in found["accounts"]} == {row["account"] for row in rows}
    assert 0 < found["allocated_mean"] <= found["slots_mean"] <= 12
    assert f"{found['tasks']['submitted']:,} submitted" in sim(scenario).stdout


EVICTED = """
nodes: [{name: n, count: 2, gpus: 4}]
tasks:
  - {name: low, project: p2, runs: 2h, resources: {gpu: 8}, priority: 10}
  - {name: high, project: p2, at: 1h, runs: 1h, resources: {gpu: 4}, priority: 90}
  - {name: tenth, project: p10, at: 4h, runs: 5s, resources: {gpu: 8}}
"""


def test_time_after_an_eviction_is_waiting_and_its_work_is_not_useful(tmp_path):
    """`low` does an hour of eight slots, waits an hour for `high`, and does two hours."""
    path, tasks = tmp_path / "evicted.yaml", tmp_path / "tasks.csv"
    path.write_text(EVICTED)
    found = json.loads(sim(path, "--json", "--tasks", tasks).stdout)
    low = next(csv.DictReader(tasks.open()))
    assert [float(low[key]) for key in ("started", "ended", "wait", "requeued", "work_lost")] == [0, 14400, 3600, 3600, 8 * 3600]
    assert found["wait"]["max"] == 3600 and found["sizes"][1]["wait"]["mean"] == 1800
    assert found["tasks"]["work_lost_slot_hours"] == 8 and found["tasks"]["work_lost_percent"] == pytest.approx(100 * 8 / 28.011, abs=0.01)
    assert found["useful_mean"] == pytest.approx(20.011 * 3600 / found["span"], abs=0.002)
    assert [one["lost"] for one in found["samples"] if one["at"] < 3600] == [8] * sum(one["at"] < 3600 for one in found["samples"])
    assert all(one["lost"] == 0 for one in found["samples"] if one["at"] >= 3600)
    # low takes 4 h instead of 2; high and tenth, which counts as 10 s long, are not slowed down.
    assert found["slowdown"] == {"count": 3, "mean": 1.333, "p50": 1, "p90": 2, "p99": 2, "max": 2}
    text = sim(path).stdout
    assert "\nslowdown    1.3 on average; p50 1.0, p99 2.0, max 2.0\n" in text
    assert "\nlost        8.0 slot-hours of work, 28.56 % of what was done\n" in text and "\nuseful      62.5" in text


def test_the_report_shows_dates_and_settings(tmp_path):
    trace, path, report = tmp_path / "t.csv", tmp_path / "s.yaml", tmp_path / "r.html"
    trace.write_text("submit,duration,gpus\n2017-10-01 20:00:00,7200,4\n2017-10-04 12:00:00,3600,4\n")
    path.write_text("pools: [{name: default, patience: 4d, scheduler: {policy: priority}}, {name: other}]\nnodes: [{name: n, gpus: 4}]\n")
    done = sim(path, "--trace", trace, "--report", report)
    assert "\ndates       2017-10-01 20:00 to 2017-10-04 13:00 UTC\n" in done.stdout
    page = report.read_text()
    assert "; 2017-10-01 20:00 to 2017-10-04 13:00 UTC" in page and ">2 Oct</span>" in page and ">12:00</span>" in page
    chart = json.loads(html.unescape(re.search(r'<data value="([^"]*)">', page)[1]))
    assert chart["begins"] == 1506888000
    assert json.loads(sim(path, "--trace", trace, "--json").stdout)["begins"] == "2017-10-01T20:00:00.000Z"
    settings = page.split("<h2>Settings of the pools</h2>")[1]
    rows = dict(re.findall(r'<tr><td>([^<]+)</td><td class="(\w+ ?)', settings))
    assert rows["patience"] == "own" and rows["policy"] == "own" and rows["placement"] == "plain"
    assert '<td>patience</td><td class="own">4d</td>' in settings and '<td>idle_for_waiting</td><td class="plain">2 %</td>' in settings


def test_patience_is_given_for_all_pools_or_for_one(tmp_path):
    path, report = tmp_path / "s.yaml", tmp_path / "r.html"
    path.write_text("pools: [{name: gpu, patience: 4d}, {name: cpu}]\nnodes: [{name: n, gpus: 1}]\ntasks: [{runs: 1m}]\n")
    for given, patience in (("auto", "auto auto auto"), ("90s", "1m30s 1m30s 1m30s"), ("gpu=auto", "auto auto auto"),
                            ("60s,gpu=auto", "1m auto 1m"), ("cpu=5m", "auto 4d 5m"), ("default=0s", "0s 4d auto")):
        assert sim(path, "--patience", given, "--report", report).returncode == 0
        row = re.search(r"<tr><td>patience</td>(.*?)</tr>", report.read_text())[1]
        assert " ".join(re.findall(r">([^<]+)<", row)) == patience
    for given, said in (("now", "--patience: a duration like 60s, auto, or POOL=auto is wanted"), ("60s,", "not ''"),
                        ("=auto", "not '=auto'"), ("tpu=auto", "--patience: there is no pool 'tpu' in the scenario")):
        done = sim(path, "--patience", given)
        assert done.returncode == 2 and said in done.stderr


def test_slots_kept_for_a_waiting_task_are_a_band(tmp_path):
    """A gang of the whole pool beside small tasks: while places are kept for it they idle, and the budget pays exactly that."""
    path, report = tmp_path / "gang.yaml", tmp_path / "r.html"
    path.write_text("until: 20h\npools: [{name: default, scheduler: {policy: fifo}}]\nnodes: [{name: n, count: 4, gpus: 4}]\ntasks:\n"
                    "  - {name: long, runs: 12h, resources: {gpu: 1}}\n  - {name: gang, at: 25m, runs: 1h, resources: {gpu: 4}, instances: 4, gang: true}\n"
                    "streams: [{name: s, every: 4m, until: 14h, runs: {from: 30m, to: 50m}, resources: {gpu: 1}}]\n")
    found = json.loads(sim(path, "--json", "--report", report).stdout)
    kept = [one["kept"] for one in found["samples"]]
    step_h = found["samples"][1]["at"] / 3600
    assert sum(kept) * step_h == pytest.approx(found["budgets"]["idle_slot_hours"], rel=0.15) and max(kept) == 15
    assert all(one["kept"] <= one["capacity"] - one["allocated"] for one in found["samples"])
    bands = json.loads(html.unescape(re.search(r'<data value="([^"]*)">', report.read_text())[1]))["series"]
    assert next(one["values"] for one in bands if one["name"] == "kept for waiting tasks") == kept
    assert "idle, kept for waiting tasks" in report.read_text()


def test_accounts_are_sorted_as_people_sort(tmp_path):
    path = tmp_path / "many.yaml"
    path.write_text("nodes: [{name: n, gpus: 8}]\ntasks:\n" + "".join(f"  - {{runs: 1h, project: p{i}}}\n" for i in (10, 2, 1, 21)))
    assert [one["name"] for one in json.loads(sim(path, "--json").stdout)["accounts"]] == ["p1", "p2", "p10", "p21"]


def test_the_report_is_one_page_that_needs_nothing_else(scenario, tmp_path):
    report = tmp_path / "report.html"
    assert sim(scenario, "--report", report).returncode == 0
    page = report.read_text()
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
    assert page.count("<svg") == page.count("</svg>") == 8  # allocation, queue, waits and slowdown over time, waits, shares together and of two
    assert "three teams" in page and "prefers-color-scheme: dark" in page and "@media print" in page
    assert "http:" not in page and "https:" not in page and "src=" not in page and "url(" not in page
    assert "default-src 'none'" in page.split("</head>")[0]  # nor could it ask anybody
    assert page.count("<script") == 1


def test_the_report_shows_the_numbers_of_the_summary(scenario, tmp_path):
    """Values under the pointer are the samples; the figures on top and the tables are those of the text."""
    report = tmp_path / "report.html"
    found = json.loads(sim(scenario, "--report", report, "--json").stdout)
    page = report.read_text()
    charts = [json.loads(html.unescape(value)) for value in re.findall(r'<data value="([^"]*)">', page)]
    bands = {one["name"]: one["values"] for one in charts[0]["series"]}
    assert set(bands) <= {"in use", "in use, work lost later", "kept for waiting tasks", "idle, too small", "there"}
    nothing = [0] * len(found["samples"])
    lost, kept = bands.get("in use, work lost later", nothing), bands.get("kept for waiting tasks", nothing)
    assert lost == [one["lost"] for one in found["samples"]] != nothing  # nodes crash
    assert [sum(pair) for pair in zip(bands["in use"], lost)] == pytest.approx([one["allocated"] for one in found["samples"]])
    idle = [max(0, one["capacity"] - one["allocated"]) for one in found["samples"]]
    assert kept == [min(one["kept"], free) for one, free in zip(found["samples"], idle)]
    assert all(piece + keep <= free + 0.001 for piece, keep, free in zip(bands["idle, too small"], kept, idle))
    assert bands["there"] == [one["capacity"] for one in found["samples"]]
    assert charts[0]["step"] == found["samples"][1]["at"] and charts[0]["max"] == found["span"]
    assert charts[1]["series"][0]["values"] == [one["waiting"] for one in found["samples"]]
    waits, slow = charts[2]["series"], charts[3]["series"]
    assert sum(waits[2]["values"]) == found["wait"]["count"] and sum(slow[2]["values"]) == found["slowdown"]["count"]
    assert all(half <= most for half, most in zip(waits[1]["values"], waits[0]["values"]))
    assert max(slow[0]["values"]) <= found["slowdown"]["max"]
    for at, one_account in enumerate(charts[4]["series"]):  # who used most comes first
        place = found["sample_accounts"].index(one_account["name"])
        used, share = charts[5 + at]["series"][:2]
        assert used["values"] == one_account["values"] == [one["used"][place] for one in found["samples"]]
        assert share["values"] == [one["share"][place] for one in found["samples"]]
    cards = re.findall(r'<div class="card"><b>([^<]*)</b><span>([^<]*)</span>', page)
    text = sim(scenario).stdout
    assert (re.search(r"  all +[\d,]+ +(\S+)", text)[1], "mean wait") in cards
    assert (f"{100 * found['allocated_mean'] / found['slots_mean']:.2f} %", "of the slots allocated") in cards
    for title, head in (("Waits by size and account", "wait"), ("Completion times", "completion")):
        rows = re.findall(r"<tr><td>([^<]+)</td>" + r"<td>([^<]*)</td>" * 6, page.split(f"<h2>{title}</h2>")[1].split("</table>")[0])
        lines = text.split(f"\n{head} ")[1].split("\n\n")[0].splitlines()[1:]
        assert [list(row) for row in rows] == [re.split(r"  +| (?=[\d,]+ )", line.strip()) for line in lines]


def test_the_summary_has_the_run_in_slices(scenario):
    found = json.loads(sim(scenario, "--json").stdout)
    slices = [[one for one in found["samples"] if min(6, int(one["at"] * 7 // found["span"])) == i] for i in range(7)]
    rows = {line[:17].strip(): line[17:].split() for line in sim(scenario).stdout.split("\nup to ")[1].split("\n\n")[0].splitlines()[1:]}
    percent = [100 * sum(one["allocated"] for one in part) / sum(one["capacity"] for one in part) for part in slices]
    assert [float(cell) for cell in rows["allocated, %"]] == pytest.approx(percent, abs=0.011)
    assert [float(cell) for cell in rows["tasks waiting"]] == pytest.approx([sum(one["waiting"] for one in part) / len(part) for part in slices], abs=0.051)
    assert set(rows) == {"allocated, %", "in pieces, %", "tasks waiting"}
    assert all(len(line) <= 80 for line in sim(scenario).stdout.splitlines())


def test_the_report_shows_those_who_used_most(tmp_path):
    path = tmp_path / "many.yaml"
    tasks = "".join(f"  - {{runs: {i}h, project: p{i:02}, resources: {{gpu: 1}}}}\n" for i in range(1, 41))
    path.write_text("nodes: [{name: n, count: 5, gpus: 8}]\ntasks:\n" + tasks)
    report = tmp_path / "report.html"
    found = json.loads(sim(path, "--report", report, "--json").stdout)
    assert len(found["sample_accounts"]) == 32 and found["sample_accounts"][31] is None  # 31 by name, and the rest
    charts = [json.loads(html.unescape(value)) for value in re.findall(r'<data value="([^"]*)">', report.read_text())]
    assert [one["name"] for one in charts[4]["series"]] == [f"p{i}" for i in range(31, 24, -1)] + ["the others"]
    total = [sum(one["values"][i] for one in charts[4]["series"]) for i in range(len(found["samples"]))]
    assert total == [one["allocated"] for one in found["samples"]]


def test_pools_are_told_apart(tmp_path):
    """Slots of one pool say nothing of those of another: neither how full it is nor what is too small."""
    path = tmp_path / "pools.yaml"
    path.write_text("pools: [{name: cpu}]\nnodes: [{name: g, gpus: 4}, {name: c, slots: 8, pool: cpu}]\ntasks:\n"
                    "  - {name: train, count: 4, runs: 1h, resources: {gpu: 1}}\n  - {name: prep, runs: 30m, pool: cpu, resources: {slots: 4}}\n")
    report = tmp_path / "report.html"
    found = json.loads(sim(path, "--json", "--report", report).stdout)
    assert [(one["name"], one["slots_mean"], one["allocated_mean"], one["fragmented_mean"]) for one in found["pools"]] == \
        [("default", 4, 4, 0), ("cpu", 8, 2, 0)]  # four idle slots are no piece too small for who asks for four
    assert [one["wait"]["count"] for one in found["pools"]] == [4, 1]
    assert re.search(r"^  cpu +8\.0 +25\.00 +0\.00 +1 +0s", sim(path).stdout, re.M)
    page = report.read_text()
    assert "<h3>Pool default</h3>" in page and "<h3>Pool cpu</h3>" in page


def test_who_never_started_is_not_forgotten(tmp_path):
    """Waits are of tasks that started; the longest ones may be those of tasks that did not."""
    path = tmp_path / "late.yaml"
    path.write_text("until: 1h\nnodes: [{name: n, slots: 1}]\ntasks: [{name: a, runs: 2h}, {name: b, at: 10m, runs: 1m, count: 2}]\n")
    tasks = tmp_path / "tasks.csv"
    found = json.loads(sim(path, "--json", "--tasks", tasks).stdout)
    assert found["wait"] == {"count": 1, "mean": 0, "p50": 0, "p90": 0, "p99": 0, "max": 0}
    assert (found["not_started"]["count"], found["not_started"]["max"]) == (2, 3000)
    assert [row["state"] for row in csv.DictReader(tasks.open())] == ["running", "pending", "pending"]
    assert "\nnot started 2 of them, after 50m00s on average, 50m00s at most" in sim(path).stdout
    report = tmp_path / "report.html"
    assert sim(path, "--report", report).returncode == 0
    assert "<b>50m00s</b><span>longest wait, not over yet</span>" in report.read_text()


def test_the_first_row_left_out_is_shown(tmp_path):
    trace = tmp_path / "t.csv"
    trace.write_text("submit,duration,gpus\n0,x,1\n0,5,1\n0,5,1,9\n")
    done = sim("--trace", trace, "--nodes", "1x8", "--skip-bad")
    assert f"rows        2 left out; the first: {trace}:2:3: duration: a number of 0 or more is wanted, not 'x'\n" in done.stdout
    found = json.loads(sim("--trace", trace, "--nodes", "1x8", "--skip-bad", "--json").stdout)
    assert found["rows_left_out"] == 2 and found["row_left_out_first"].endswith(":2:3: duration: a number of 0 or more is wanted, not 'x'")


def test_a_trace_keeps_projects_apart_and_says_which_names_it_changed(tmp_path):
    trace = tmp_path / "t.csv"
    trace.write_text("submit,duration,gpus,project\n0,5,1,team \x1b[31mred\n0,5,1,a b\n0,5,1,a-b\n0,5,1,a/b\n")
    done = sim("--trace", trace, "--nodes", "1x8")
    assert "names       3 changed; the first: project 'team \\x1b[31mred' is 'team---31mred' here\n" in done.stdout
    found = json.loads(sim("--trace", trace, "--nodes", "1x8", "--json").stdout)
    assert len(found["accounts"]) == 4 and found["names_changed"] == 3


def test_a_trace_with_a_column_twice_is_refused(tmp_path):
    trace = tmp_path / "t.csv"
    trace.write_text("submit,duration,gpus,Duration\n0,5,1,7\n")
    done = sim("--trace", trace, "--nodes", "1x8")
    assert done.returncode == 2 and f"{trace}:1:22: the header names the column 'duration' twice; --columns duration=#2" in done.stderr
    assert json.loads(sim("--trace", trace, "--nodes", "1x8", "--columns", "duration=#4", "--json").stdout)["completion"]["max"] == 7


def test_a_wide_job_of_a_trace_runs_where_the_same_task_of_a_scenario_does(tmp_path):
    """249 slots have no equal parts that 32 nodes of 8 hold."""
    trace = tmp_path / "t.csv"
    trace.write_text("submit,duration,gpus,name\n0,600,249,wide\n0,600,257,wider\n")
    found = json.loads(sim("--trace", trace, "--nodes", "32x8", "--json").stdout)
    assert found["tasks"]["completed"] == 1 and [one["task"] for one in found["refusals"]] == ["wider"]
    path = tmp_path / "s.yaml"
    path.write_text("nodes: [{name: n, count: 32, gpus: 8}]\ntasks: [{name: wide, runs: 10m, resources: {gpu: 249}}]\n")
    assert json.loads(sim(path, "--json").stdout)["tasks"]["completed"] == 1


def test_arrivals_of_a_trace_are_stretched(tmp_path):
    """The factor of the command line and that of a scenario file mean the same."""
    trace = tmp_path / "t.csv"
    trace.write_text("submit,duration,gpus\n0,100,8\n100,100,8\n")
    path = tmp_path / "stretched.yaml"
    path.write_text("nodes: [{name: n, gpus: 8}]\ntrace: {file: t.csv, arrivals: 0.25}\n")
    for done in (sim("--trace", trace, "--nodes", "1x8", "--arrivals", "0.25", "--json"), sim(path, "--json")):
        assert json.loads(done.stdout)["wait"]["max"] == 75
    assert json.loads(sim("--trace", trace, "--nodes", "1x8", "--json").stdout)["wait"]["max"] == 0
    done = sim("--trace", trace, "--nodes", "1x8", "--arrivals", "0")
    assert done.returncode == 2 and "--arrivals: a factor above 0" in done.stderr
    done = sim(path, "--arrivals", "2")
    assert done.returncode == 2 and "--arrivals needs --trace FILE" in done.stderr


def test_the_report_says_what_was_promised_and_not_there(scenario, tmp_path):
    """The strips of the page are the times of the summary."""
    scenario.write_text(SCENARIO.replace("name: three teams", "name: three teams\npools: [{name: default, scheduler: {preemption: off}}]"))
    report = tmp_path / "report.html"
    found = json.loads(sim(scenario, "--report", report, "--json").stdout)
    [vision] = [one for one in found["accounts"] if one["name"] == "vision"]
    page = report.read_text().split("<h2>Guarantees</h2>")[1]
    widths = [float(width) for width in re.findall(r'class="short s\d" style="left:[\d.]+%;width:([\d.]+)%', page)]
    assert vision["shortfall_time"] > 0 and widths
    assert sum(widths) >= 100 * vision["shortfall_time"] / found["span"] - 0.5  # a shade covers more than its time
    assert vision["below_guarantee"] > 0 and 'class="below s' in page
    cells = re.findall(r"<td>([^<]*)</td>", page)
    assert cells[:2] == ["vision", "8.0"]
    assert f"owed for {cells[5]}" in page  # nobody gives back: preemption is off
    plain = tmp_path / "plain.yaml"
    plain.write_text("nodes: [{name: n, slots: 1}]\ntasks: [{runs: 1m}]\n")
    assert sim(plain, "--report", report).returncode == 0
    assert "Guarantees" not in report.read_text()


def test_tasks_that_are_refused_are_named(tmp_path):
    path = tmp_path / "large.yaml"
    path.write_text("nodes: [{name: n, gpus: 4}]\ntasks:\n  - {name: big, count: 7, runs: 1m, resources: {gpu: 9}}\n  - {name: ok, runs: 1m}\n")
    lines = sim(path).stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("refused"))
    assert lines[at].split(": ", 1) == ["refused     big1", "asks for 9 slots; the nodes of pool 'default' together have 4; with 4 slots it would be accepted"]
    assert [line.split(":")[0].strip() for line in lines[at + 1:at + 5]] == ["big2", "big3", "big4", "big5"]
    assert lines[at + 5].strip() == "and 2 more; --events shows all"
    found = json.loads(sim(path, "--json").stdout)
    assert [(one["task"], one["code"]) for one in found["refusals"]] == [(f"big{i}", "too-large") for i in range(1, 6)]
    assert found["tasks"]["refused"] == 7


def test_what_depends_on_a_refused_task_is_refused_and_the_run_goes_on(tmp_path):
    path = tmp_path / "chain.yaml"
    path.write_text("nodes: [{name: n, gpus: 1}]\ntasks:\n  - {name: big, runs: 1m, resources: {gpu: 5}}\n"
                    "  - {name: behind, runs: 1m, after: big}\n  - {name: ok, runs: 1m}\n")
    done = sim(path, "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert [(one["task"], one["code"]) for one in found["refusals"]] == [("big", "too-large"), ("behind", "unknown-task")]
    assert found["refusals"][1]["message"] == "depends on task 'big', which was refused"
    assert found["tasks"]["completed"] == 1


def test_a_run_that_ends_with_an_error_shows_what_happened_before_it(tmp_path):
    path = tmp_path / "late.yaml"
    path.write_text("nodes: [{name: n, gpus: 1}]\ntasks: [{name: a, count: 2, runs: 1m}]\nevents: [{at: 90s, remove: n}]\n")
    done = sim(path, "--events", "--quiet")
    assert done.returncode == 2
    assert "1m  completed  1 a1" in done.stdout
    assert "late.yaml:3:10: events: node 'n': 'n' is still in use" in done.stderr


def test_a_comparison_tells_differences_from_chance(scenario, tmp_path):
    """Twice the nodes: waits are shorter with every seed. One seed alone tells nothing of the spread."""
    other = tmp_path / "twice.yaml"
    other.write_text(SCENARIO.replace("count: 3", "count: 6"))
    text = sim("compare", scenario, other, "--seeds", "1-3", "--quiet").stdout
    assert all(len(line) <= 80 for line in text.splitlines() if not line.startswith((" A: ", " B: ")))
    assert re.search(r"^ wait, mean .* -\d.* % \* -\S+ to -\S+$", text, re.M)
    assert "short, slots" in text and " *: less with every seed" in text
    alone = sim("compare", scenario, other, "--seeds", "1", "--quiet").stdout
    assert " * " not in alone and "--seeds 42-51" in alone


def test_a_comparison_has_a_page(scenario, tmp_path):
    other, report = tmp_path / "<b>.yaml", tmp_path / "page.html"
    other.write_text(SCENARIO.replace("count: 3", "count: 6"))
    found = json.loads(sim("compare", scenario, other, "--seeds", "1-3", "--quiet", "--json", "--report", report).stdout)
    page = report.read_text()
    assert "teams.yaml and &lt;b&gt;.yaml" in page and "<b>.yaml" not in page
    assert "http:" not in page and "default-src 'none'" in page and page.endswith("</html>\n")
    mean = [sum(one["allocated_percent"]) / 3 for one in found]
    bars = page.split("<h3>allocated, %</h3>")[1]
    assert [float(one) for one in re.findall(r'<span class="(?:own|plain)">([\d.]+)', bars)[:2]] == pytest.approx(mean, abs=0.006)
    [slots, queue] = [json.loads(html.unescape(value)) for value in re.findall(r'<data value="([^"]*)">', page)]
    assert [one["name"] for one in slots["series"]] == ["A", "B"] and slots["max"] == pytest.approx(max(one["span"][0] for one in found))
    alone = json.loads(sim(scenario, "--seed", "1", "--json").stdout)
    at = [one["at"] for one in alone["samples"]].index(round(slots["step"] * 9, 3))  # steps are equal or one is twice the other
    assert slots["series"][0]["values"][9] == alone["samples"][at]["allocated"]
    assert queue["series"][0]["values"][9] == alone["samples"][at]["waiting"]
    rows = dict(re.findall(r"<tr><td>([^<]+)</td><td>([^<]+)</td>", page.split("<h2>All figures</h2>")[1]))
    assert len(rows) == len(found[0]) - 2 and rows["completed"] == f"{sum(found[0]['completed']) // 3:,}"


def test_a_comparison_names_the_file_and_the_place_of_an_error(scenario, tmp_path):
    other = tmp_path / "other.yaml"
    for text, said in (("nodes: [{name: n, gpuz: 3}]\n", ":1:19: nodes[0].gpuz: unknown field"),
                       ("nodes: [{name: n}]\ntasks: [{runs: 1h}]\nevents: [{at: 1m, crash: m}]\n", ":3:10: events: there is no node 'm'")):
        other.write_text(text)
        done = sim("compare", scenario, other, "--quiet")
        assert done.returncode == 2 and f"{other}{said}" in done.stderr


def test_names_in_a_report_cannot_become_markup(tmp_path):
    path = tmp_path / "evil.yaml"
    path.write_text("name: '<script>alert(1)</script>'\nnodes: [{name: n, slots: 1}]\ntasks: [{runs: 1m}]\n")
    report = tmp_path / "report.html"
    assert sim(path, "--report", report).returncode == 0
    page = report.read_text()
    assert page.count("<script") == 1 and "&lt;script&gt;alert(1)" in page

def test_a_comparison_of_a_scenario_with_itself_shows_no_difference(scenario):
    done = sim("compare", scenario, scenario, "--seeds", "1-2", "--quiet")
    assert done.returncode == 0
    line = next(line for line in done.stdout.splitlines() if "wait, mean" in line)
    assert line.endswith("0.00 %  the same")
    more = json.loads(sim("compare", scenario, scenario, "--seeds", "1-2", "--quiet", "--json").stdout)
    assert len(more) == 2 and len(more[0]["wait_mean"]) == 2
    assert more[0]["seeds"] == [1, 2] and all(re.fullmatch(r"[a-z0-9_]+", key) for key in more[0])


def test_a_state_of_a_server_is_played_on(tmp_path):
    task = {"id": 3, "name": "a", "state": "pending", "kind": "command", "project": "default", "pools": ["default"],
            "resources": {"gpu": 2}, "devices": [], "instances": 1, "gang": False, "priority": 50, "preemptible": True,
            "repeatable": True, "command": ["true"], "max_retries": 0, "time_limit_ms": 600000, "grace_ms": 30000,
            "depends_on": [], "started_at": None, "counts": {"waiting": 1, "active": 0}}
    started = "2026-11-15T14:00:00.000Z"
    running = {**task, "id": 2, "state": "running", "started_at": started, "submitted_at": started, "attempts": [
        {"index": 0, "state": "running", "node": "n1", "devices": [0, 1], "started_at": started}]}
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
    (("-q", "x.yaml"), "unknown flag '-q'; `weir sim --help` lists them"),
    (("-quiet", "x.yaml"), "unknown flag '-quiet'; did you mean --quiet?"),
    (("--evnts", "x.yaml"), "unknown flag '--evnts'; did you mean --events?"),
    (("compare", "a.yaml", "b.yaml", "--events"), "--events is a flag of weir sim, not of weir sim compare"),
    (("x.yaml", "--ratio", "2"), "--ratio is a flag of weir sim openb, not of weir sim"),
    (("x.yaml", "--seeds", "1-3"), "--seeds is a flag of weir sim compare, not of weir sim"),
    (("x.yaml", "--seed", "1-3"), "a seed is a number, not '1-3'; several are for weir sim compare"),
    (("x.yaml", "--format", "swf"), "--format needs --trace FILE"),
    (("x.yaml", "--runs", "2h"), "--runs needs --state FILE"),
    (("x.yaml", "--json", "--events"), "cannot be combined"),
    (("conpare", "a.yaml", "b.yaml"), "there is no 'conpare'; did you mean weir sim compare?"),
    (("a.yaml", "b.yaml"), "several are for weir sim compare"),
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
    assert "bad.yaml:1:19: nodes[0].gpu: unknown field; did you mean 'gpus'?" in done.stderr
    assert sim(tmp_path / "none.yaml").returncode == 3


def test_all_problems_of_a_scenario_are_shown_at_once(tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text(
        "nodes: [{name: n, gpu: 8, slots: 1e3}]\n"
        "tasks: [{name: a, rans: 3m, priority: 1e3}]\n"
        "streams:\n"
        "  - {every: 0s, count: 3, runs: 1h, comand: [x]}\n"
        "  - {every: 0s, count: 3, runs: 1h}\n"
    )
    done = sim(bad)
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert [line.removeprefix(str(bad)) for line in lines if not line.startswith(" ")] == [
        ":1:19: nodes[0].gpu: unknown field; did you mean 'gpus'?",
        ":1:34: nodes[0].slots: a whole number from 0 to 1000000 is wanted, not 1e3",
        ":2:19: tasks[0].rans: unknown field; did you mean 'runs'?",
        ":2:39: tasks[0].priority: a whole number from 1 to 100 is wanted, not 1e3",
        ":2:9: tasks[0].runs: it is missing: how long the task runs, like 10m or forever",
        ":4:13: streams[0].every: more than 0s is wanted: the mean time between two tasks",
        ":4:37: streams[0].comand: unknown field; did you mean 'command'?",
        ":5:13: streams[1].every: more than 0s is wanted: the mean time between two tasks",
        f"weir sim: {bad} cannot be used; see above",
    ]
    for i, line in enumerate(lines):
        if line.endswith("^"):
            column = int(lines[i - 2].removeprefix(str(bad)).split(":")[2])
            assert line == " " * (4 + column - 1) + "^"
    bad.write_text("nodes:\n  - {name: n\n")
    assert f"{bad}:3:1: " in sim(bad).stderr and "line" not in sim(bad).stderr.replace("newline", "")


@pytest.mark.parametrize("words, message", [
    ("tasks: [{name: a, runs: 1h, after: [b]}]", ":2:37: task 'a' comes after 'b', and no task of that name is submitted before it"),
    ("tasks: [{runs: 1h}]\nevents: [{at: 1m, crash: m}]", ":3:10: events: there is no node 'm'; there are: n"),
    ("events: [{at: 90d, drain: m}]", ":2:10: events: there is no node 'm'; there are: n"),  # also where nobody is there any more
    ("tasks: [{name: a, runs: 1h}]\nevents: [{at: 1m, kill: b}]", ":3:10: events: there is no task 'b' in this scenario"),
    ("tasks: [{name: a, at: 2m, runs: 1h}]\nevents: [{at: 1m, kill: a}]", ":3:10: events: there is no task 'a' at that time"),
    ("tasks: [{runs: 1h}]\nevents: [{at: 1m, remove: n}]", ":3:10: events: node 'n': 'n' is still in use by 1 instance: 1.0"),
    ("quotas: [{project: default, pool: default, resources: {gpu: 1, bogus: 1}}]", ":2:71: quotas[0]: no node has the resource 'bogus'"),
])
def test_names_that_mean_nothing_end_the_run_with_their_name(tmp_path, words, message):
    bad = tmp_path / "bad.yaml"
    bad.write_text(f"nodes: [{{name: n, gpus: 8}}]\n{words}\n")
    done = sim(bad)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_trace_without_rows_and_a_task_without_a_name(tmp_path):
    trace = tmp_path / "t.csv"
    trace.write_text("submit,duration,gpus\n")
    assert re.search(r"^tasks +0 submitted\nslots +8.0 on 2 nodes, 0.00 % allocated", sim("--trace", trace, "--nodes", "2x4").stdout, re.M)
    trace.write_text("submit,duration,gpus\n0,5,77\n")
    done = sim("--trace", trace, "--nodes", "1x4", "--events", "--quiet")
    assert done.stdout.startswith("        0s  refused    no name: ") and "\nrefused     no name: " in done.stdout


def test_a_scenario_may_come_from_standard_input():
    done = subprocess.run([weir_bin(), "sim", "-", "--quiet"], input="nodes: [{name: n}]\ntasks: [{runs: 1m}]\n",
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "1 submitted, 1 completed" in done.stdout


def test_help_may_stand_anywhere():
    done = sim("x.yaml", "--trace", "t.csv", "--nodes", "4x8", "--help")
    assert done.returncode == 0 and done.stdout.startswith("weir sim: try a cluster")


def test_what_cannot_be_written_is_told_before_the_run(tmp_path):
    path = tmp_path / "forever.yaml"  # a run that would take its time
    path.write_text("until: 100000d\nnodes: [{name: n}]\nstreams: [{every: 1s, count: 5000000, runs: 1s}]\n")
    for target, why in ((tmp_path / "none" / "r.html", "No such file or directory"), (tmp_path, "Is a directory")):
        for flag in ("--report", "--tasks"):
            done = sim(path, flag, target)
            assert (done.returncode, done.stdout) == (1, "")
            assert done.stderr == f"weir sim: cannot write '{target}': {why}\n"


def test_one_output_that_fails_keeps_no_other_back(scenario, tmp_path):
    report = tmp_path / "r.html"
    done = sim(scenario, "--tasks", "/dev/full", "--report", report, "--quiet")
    assert done.returncode == 1 and done.stderr == "weir sim: cannot write '/dev/full': No space left on device\n"
    assert "three teams" in done.stdout and report.read_text().endswith("</html>\n")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([weir_bin(), "sim", scenario, "--quiet"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, "weir sim: cannot write to standard output: No space left on device\n")


def test_tasks_may_go_to_standard_output_alone(scenario):
    done = sim(scenario, "--no-summary", "--tasks", "-", "--quiet")
    assert done.returncode == 0
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert rows and {row["account"] for row in rows} == {"vision", "speech"}


def test_ctrl_c_ends_a_run_and_shows_what_there_is(tmp_path):
    """The story so far, the summary and the files are as of that moment; a second one would end the program."""
    path = tmp_path / "long.yaml"
    path.write_text("name: long\nnodes: [{name: n, count: 20, gpus: 8}]\n"
                    "streams: [{name: s, every: 1s, count: 1000000, runs: {mean: 2m}, resources: {gpu: 1}}]\n")
    report = tmp_path / "r.html"
    with subprocess.Popen([weir_bin(), "sim", path, "--quiet", "--json", "--report", report],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        while "SigCgt" not in (status := open(f"/proc/{run.pid}/status", encoding="ascii").read()) or \
                not int(re.search(r"SigCgt:\s+(\w+)", status)[1], 16) & 2:  # SIGINT is caught from the moment it runs
            assert run.poll() is None
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert (run.returncode, err) == (130, "")
    found = json.loads(out)
    assert found["stopped"] and found["tasks"]["submitted"] < 1000000
    assert "; stopped before the end" in report.read_text()


def test_a_comparison_reads_all_files_before_it_runs_one(scenario, tmp_path):
    done = sim("compare", scenario, tmp_path / "none.yaml", "--seeds", "42-51")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"weir sim: cannot open '{tmp_path / 'none.yaml'}': No such file or directory\n"  # no word of runs


def test_the_placement_experiment_speaks_json(tmp_path):
    nodes, tasks = tmp_path / "nodes.csv", tmp_path / "tasks.csv"
    nodes.write_text("sn,cpu_milli,memory_mib,gpu,model\nn1,64000,262144,2,T4\nn2,64000,262144,2,T4\n")
    tasks.write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n" + "".join(f"t{i},4000,1024,1,500,\n" for i in range(12)))
    words = ("openb", "--nodes", nodes, "--tasks", tasks, "--seeds", "1-2", "--quiet")
    found = json.loads(sim(*words, "--json").stdout)
    assert (found["nodes"], found["gpus"], found["tasks"], found["seeds"]) == (2, 4, 12, [1, 2])
    assert found["points"][-1] == {"asked_percent": 130, "unallocated": [0, 0], "fragmented": [0, 0]}  # halves fill all of it
    assert re.search(r"^  130 % +0\.00 \[0\.00-0\.00\]", sim(*words).stdout, re.M)
    nodes.write_text("x,sn,cpu_milli,memory_mib,gpu,model\n0,n1,64000,262144,2,T4\n0,n2,64000,262144,2\n")
    assert f"{nodes}:3:20: the row ends here, with 5 of the 6 columns" in sim(*words).stderr
