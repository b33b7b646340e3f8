"""weir project, department, quota. SPDX-License-Identifier: Apache-2.0"""

import json

import golden
import pytest


def runs(weir, task):
    """Returns when the task has written its first line."""
    logs = weir.spawn("task", "logs", "-f", task)
    assert logs.stdout.readline() == b"up\n"
    logs.terminate()
    logs.communicate()


def test_projects_and_departments(weir):
    assert weir.weir("project", "list", "-q").stdout == "default\n"
    weir.weir("department", "create", "ml", "--title", "Learning")
    weir.weir("project", "create", "vision", "--department", "ml")
    golden.check("project-list-pipe", weir.weir("project", "list").stdout)
    golden.check("department-list-pipe", weir.weir("department", "list").stdout)
    assert json.loads(weir.weir("project", "show", "vision", "--json").stdout)["department"] == "ml"
    assert weir.weir("project", "create", "vision", check=False).returncode == 5
    assert weir.weir("project", "show", "nobody", check=False).returncode == 3
    assert weir.weir("project", "create", "x", "--department", "nowhere", check=False).returncode == 2
    weir.weir("department", "create", "lab", "--parent", "ml")
    below = weir.weir("department", "edit", "ml", "--parent", "lab", check=False)
    assert (below.returncode, "below itself" in below.stderr) == (2, True)
    assert weir.weir("department", "delete", "ml", "--yes", check=False).returncode == 5
    weir.weir("project", "edit", "vision", "--department", "default", "--description", "about")
    weir.weir("department", "delete", "lab", "--yes")
    weir.weir("department", "delete", "ml", "--yes")
    weir.weir("project", "delete", "vision", "--yes")
    assert weir.weir("project", "list", "-q").stdout == "default\n"


def test_quotas(weir):
    weir.weir("department", "create", "ml")
    weir.weir("project", "create", "vision", "--department", "ml")
    weir.weir("quota", "set", "vision", "gpu=1", "--limit", "gpu=2", "--weight", "2", "--rank", "7")
    weir.weir("quota", "set", "--department", "ml", "gpu=1.5")
    weir.weir("quota", "set", "vision", "--limit", "gpu=unlimited")
    task = weir.weir("submit", "--project", "vision", "--slots", "2", "--", "sh", "-c", "echo up; sleep 100").stdout.strip()
    weir.weir("submit", "--project", "vision", "--", "true")
    runs(weir, task)
    golden.check("quota-list-pipe", weir.weir("quota", "list").stdout)
    [line] = json.loads(weir.weir("quota", "list", "--project", "vision", "--columns", "account", "--json").stdout)[:1]
    assert (line["resource"], line["guaranteed"], line["limit"], line["weight"], line["rank"]) == ("slots", 1, None, 2, 7)
    weir.weir("quota", "set", "vision", "gpu=0", "--limit", "gpu=0.5")
    [line] = [item for item in json.loads(weir.weir("quota", "list", "--project", "vision", "--json").stdout) if item["resource"] == "slots"]
    assert (line["borrowed"], line["overhang"], line["demand"]) == (2, 1.5, 2)
    weir.weir("quota", "set", "vision", "--limit", "memory=1Gi,cpu=8")
    limits = {item["resource"]: item["limit"] for item in json.loads(weir.weir("quota", "list", "--project", "vision", "--json").stdout)}
    assert limits == {"slots": 0.5, "memory": 2**30, "cpu": 8}
    assert " 1Gi " in weir.weir("quota", "list").stdout


def test_mistakes_name_the_place_and_change_nothing(weir):
    before = weir.weir("quota", "list", "--all", "--json").stdout
    for words, code, says in [
        (["default", "gpu=-1"], 2, "'gpu=-1': "),
        (["default", "gpu=many"], 2, "'gpu=many': "),
        (["default", "gpu=1.2345"], 2, "'gpu=1.2345': "),
        (["default", "memory=5Q"], 2, "'memory=5Q': "),
        (["default", "--limit", "cpu=-5"], 2, "--limit: 'cpu=-5': "),
        (["default", "--limit", "gpu=default"], 2, "--limit: 'gpu=default': "),
        (["default", "--limit", "nothing=1"], 9, "nothing"),
        (["default", "--weight", "-1"], 2, "--weight: '-1': "),
        (["default", "--weight", "cpu=x"], 2, "--weight: 'cpu=x': "),
        (["default", "--weight", "1001"], 2, "weight"),
        (["default", "--rank", "-1"], 2, "--rank"),
        (["--department", "nobody", "gpu=1"], 3, "nobody"),
        (["default", "gpu=1", "--pool", "nowhere"], 3, "nowhere"),
        (["nobody", "gpu=1"], 3, "nobody"),
        (["default", "nothing=1"], 9, "nothing"),
        (["default", "gpu"], 2, "gpu=5"),
        (["default", "gpu=1", "slots=2"], 2, "twice"),
        (["default"], 2, "nothing to set"),
        (["gpu=1"], 2, "--department"),
    ]:
        result = weir.weir("quota", "set", *words, check=False)
        assert (result.returncode, says in result.stderr) == (code, True), (words, result.stderr)
    assert weir.weir("quota", "list", "--all", "--json").stdout == before


def test_a_guarantee_that_cannot_be_met_is_set_with_a_warning(weir_factory):
    weir = weir_factory("--fake-gpus", "4")
    weir.weir("department", "create", "ml")
    weir.weir("project", "create", "a", "--department", "ml")
    weir.weir("project", "create", "b", "--department", "ml")
    assert weir.weir("quota", "set", "a", "gpu=4").stderr == ""
    over = "weir: warning: the guarantees in pool 'default' promise 17 slots, and the pool has 4: not all of them can be met at once\n"
    dry = weir.weir("quota", "set", "b", "gpu=13", "--dry-run", check=False)
    assert (dry.returncode, dry.stderr) == (8, over)
    assert weir.weir("quota", "set", "b", "gpu=13").stderr == over
    below = "weir: warning: the guarantees below department 'ml' in pool 'default' promise 17 slots, and the department is guaranteed 3: not all of them can be met at once\n"
    assert weir.weir("quota", "set", "--department", "ml", "gpu=3").stderr == ""
    assert weir.weir("quota", "set", "b", "gpu=13").stderr == below
    weir.weir("quota", "set", "a", "gpu=1")
    assert weir.weir("quota", "set", "b", "gpu=2").stderr == ""
    weir.weir("pool", "create", "empty")
    none = "weir: warning: no node has joined pool 'empty': what it guarantees can be met once nodes have joined\n"
    dry = weir.weir("quota", "set", "b", "--pool", "empty", "gpu=13", "--dry-run", check=False)
    assert (dry.returncode, dry.stderr) == (8, none)
    assert weir.weir("quota", "set", "b", "--pool", "empty", "gpu=13").stderr == none
    assert weir.weir("quota", "set", "b", "--pool", "empty", "gpu=0", "--limit", "gpu=4").stderr == ""
    weir.weir("pool", "create", "grows", "--provider", "local", "--max", "2")  # its nodes come when tasks wait
    assert weir.weir("quota", "set", "b", "--pool", "grows", "gpu=1").stderr == ""


def test_a_guarantee_that_waits_for_another_guarantee_is_explained(weir_factory):
    weir = weir_factory("--fake-gpus", "4")
    for project, guaranteed in (("a", 2), ("b", 3)):
        weir.weir("project", "create", project)
        weir.weir("quota", "set", project, f"gpu={guaranteed}")
    for _ in range(2):
        weir.wait_state(weir.weir("submit", "--project", "a", "--gpus", "2", "--", "sleep", "600").stdout.strip(), "running")
    owed = weir.weir("submit", "--project", "b", "--gpus", "3", "--", "sleep", "600").stdout.strip()
    more = "the guarantees below department 'default' in pool 'default' promise 5 slots, and the department is guaranteed 4: not all of them can be met at once"
    weir.wait_until(lambda: weir.weir_json("explain", owed)["reason"] is not None, "a reason")
    assert f"guarantees       {more}\n" in weir.weir("explain", owed).stdout
    weir.weir("quota", "set", "a", "gpu=1", "--yes")  # now both can be met, and the pool takes back what it lent
    weir.wait_state(owed, "running")
    waits = next(task["id"] for task in weir.weir_json("task", "list", "--state", "pending"))
    assert more not in weir.weir("explain", waits).stdout


def slots_of(weir, name, kind="project"):
    lines = json.loads(weir.weir("quota", "list", "--json").stdout)
    return next(line for line in lines if (line["account"], line["kind"], line["resource"]) == (name, kind, "slots"))


def test_demand_ends_at_the_limit(weir_factory):
    weir = weir_factory("--fake-gpus", "4")
    weir.weir("department", "create", "ml")
    for project in "ab":
        weir.weir("project", "create", project, "--department", "ml")
    weir.weir("quota", "set", "a", "--limit", "gpu=3")
    weir.weir("submit", "--project", "a", "--array", "0-15", "--gpus", "1", "--", "sleep", "600")
    weir.weir("submit", "--project", "b", "--array", "0-4", "--gpus", "1", "--", "sleep", "600")
    weir.wait_until(lambda: slots_of(weir, "ml", "department")["allocated"] == 4, "four tasks run")
    asks = {name: (line["demand"], line["above_limit"]) for name in "ab" for line in [slots_of(weir, name)]}
    assert asks == {"a": (3, 13), "b": (5, 0)}
    assert [slots_of(weir, "ml", "department")[key] for key in ("demand", "above_limit")] == [8, 13]
    weir.weir("quota", "set", "--department", "ml", "--limit", "gpu=6")
    assert [slots_of(weir, "ml", "department")[key] for key in ("demand", "above_limit")] == [6, 15]
    shown = weir.weir("quota", "list", "--project", "a", "--columns", "account,limit,demand,above-limit").stdout
    assert shown.splitlines()[-1].split() == ["ml/a", "3", "3", "13"]


def test_the_shares_of_the_list_add_up(weir_factory):
    weir = weir_factory("--fake-gpus", "4")
    for department, projects in (("ml", "ab"), ("ops", "c")):
        weir.weir("department", "create", department)
        for project in projects:
            weir.weir("project", "create", project, "--department", department)
            weir.weir("quota", "set", project, "gpu=8", *(["--limit", "gpu=1"] if project == "c" else []))
            weir.submit("sleep", "1000", project=project, instances=6, resources={"gpu": 1})
    share = {line["account"]: line["share"] for line in weir.weir_json("quota", "list")}
    assert share["a"] + share["b"] == pytest.approx(share["ml"]) and share["c"] == share["ops"]
    assert share["ml"] + share["ops"] + share["default"] == pytest.approx(4)
