"""`weir pool try`: the last day of a pool, played again with other settings. SPDX-License-Identifier: Apache-2.0"""

import json

import pytest


@pytest.fixture(scope="module")
def weir(weir_shared):
    """A pool of one node in which three tasks ran one after another, and whose node has gone."""
    weir_shared.weir("pool", "create", "burst", "--provider", "local", "--max", 1, "--idle", "1s", "--node-slots", 1)
    weir_shared.weir("submit", "--pool", "burst", "-n", 3, "--slots", 1, "--", "sleep", "0.5")
    weir_shared.weir("submit", "--pool", "burst", "--slots", 1, "--", "sleep", "0.5")
    for task in (1, 2):
        weir_shared.wait(task)
    weir_shared.wait_until(lambda: weir_shared.weir_json("node", "list", "--pool", "burst") == [], "the node to go")
    return weir_shared


def test_more_nodes_make_shorter_waits(weir):
    before = weir.api("GET", "status").json["seq"]
    tried = json.loads(weir.weir("pool", "try", "burst", "--max", 3, "--json").stdout)
    assert weir.api("GET", "status").json["seq"] == before
    assert tried["pool"] == "burst" and tried["tasks"] == 2 and not tried["tasks_cut"] and tried["node_start_known"]
    really, present, other = tried["really"], tried["present"], tried["tried"]
    assert [figures["tasks_started"] for figures in (really, present, other)] == [2, 2, 2]
    assert [figures["nodes_most"] for figures in (really, present, other)] == [1, 1, 3]
    assert really["nodes_launched"] == 1 and really["node_hours"] >= 0
    # The second task waits until the three instances of the first have run on the only node.
    assert really["wait_p90_s"] > 1 and present["wait_p90_s"] > 1
    assert other["wait_p90_s"] < present["wait_p90_s"]


def test_the_table_says_what_is_assumed(weir):
    said = weir.weir("pool", "try", "burst", "--idle", "1h", "--headroom", 1, "--last", "2h").stdout
    lines = said.splitlines()
    assert lines[0].startswith("pool burst, 2 tasks in the last ")
    assert lines[2].split() == ["REALLY", "PRESENT", "TRIED"]
    assert [line.rsplit(None, 3)[0] for line in lines[3:10]] == [
        "node-hours", "nodes launched", "most at once", "tasks started", "tasks waiting", "wait, mean", "wait, p90"]
    assert "PRESENT and TRIED are simulated" in said and "the mean of this time" in said
    assert "Projects and quotas are those of now. Left out: dependencies" in said


@pytest.mark.parametrize("words, code, says", [
    (["burst"], 2, "nothing to try: give --min, --max, --idle or --headroom"),
    (["nowhere", "--max", "2"], 3, "no pool 'nowhere'"),
    (["default", "--max", "2"], None, "pool 'default' has no provider"),
    (["burst", "--min", "5", "--max", "2"], 2, "min"),
])
def test_what_cannot_be_tried(weir, words, code, says):
    result = weir.weir("pool", "try", *words, check=False)
    assert result.returncode == code or (code is None and result.returncode not in (0, 8)), result.stderr
    assert says in result.stderr and result.stdout == ""


@pytest.fixture(scope="module")
def flavored(weir):
    """A pool with a flavor that has a price, in which a task ran."""
    weir.weir("flavor", "create", "small", "--slots", 1, "--zones", "a,b", "--price", "3600", "--currency", "EUR")
    weir.weir("pool", "create", "fl", "--provider", "local", "--max", 2, "--idle", "1s", "--flavor", "small")
    weir.weir("submit", "--pool", "fl", "-n", 2, "--slots", 1, "--", "sleep", "0.5")
    weir.wait(weir.weir_json("task", "list", "--pool", "fl")[0]["id"])
    return weir


def test_a_pool_with_a_flavor(flavored):
    result = flavored.weir("pool", "try", "fl", "--max", 1)
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert lines[2].split() == ["REALLY", "PRESENT", "TRIED"]
    rows = {line[:16].strip(): line[16:].split() for line in lines[3:11]}
    assert rows["most at once"][1:] == ["2", "1"] and rows["tasks started"] == ["1", "1", "1"]
    assert all(float(price) > 0 for price in rows["price"])
    assert "The price is that of now: 3600 EUR for each node-hour." in lines
    tried = json.loads(flavored.weir("pool", "try", "fl", "--max", 1, "--json").stdout)
    assert tried["currency"] == "EUR"
    for column in ("really", "present", "tried"):
        assert tried[column]["cost"] == pytest.approx(tried[column]["node_hours"] * 3600, abs=3.7), column  # thousandths of an hour


def test_a_pool_without_prices_has_no_price(weir):
    tried = json.loads(weir.weir("pool", "try", "burst", "--max", 3, "--json").stdout)
    assert tried["tried"]["cost"] is None and tried["currency"] == ""


@pytest.fixture(scope="module")
def fixed(weir):
    weir.weir("pool", "create", "fixed", "--provider", "local", "--nodes", 2)
    return weir


@pytest.mark.parametrize("pool, flags, says", [
    ("burst", ["--min", "4", "--max", "2"], "min: it is 4 and max is 2; a min up to the max would do"),
    ("burst", ["--max", "99999999"], "max: a whole number from 0 to 10000 is wanted, not 99999999"),
    ("fixed", ["--max", "1"], "min: it is 2 and max is 1; a min up to the max would do"),
])
def test_settings_are_refused_as_by_edit(fixed, pool, flags, says):
    edited = fixed.weir("pool", "edit", pool, *flags, "--dry-run", check=False)
    assert edited.returncode == 2 and edited.stderr.strip() == f"weir: provider.{says}"
    tried = fixed.weir("pool", "try", pool, *flags, check=False)
    assert tried.returncode == 2 and tried.stdout == ""
    assert tried.stderr.strip() == f"weir: {' '.join(flags)}: {says}"


def test_new_bounds_end_a_fixed_size(fixed):
    """As `weir pool edit` does: the fixed number stays as the min."""
    tried = json.loads(fixed.weir("pool", "try", "fixed", "--max", 8, "--json").stdout)
    assert tried["present"]["nodes_most"] == 2 and tried["tried"]["nodes_most"] == 2


def test_quotas_hold_in_the_played_day(weir):
    """The tasks of a project that may hold one slot run one after another, however many nodes there are."""
    weir.weir("department", "create", "rd")
    weir.weir("project", "create", "nlp", "--department", "rd")
    weir.weir("pool", "create", "shared", "--provider", "local", "--max", 3, "--idle", "1s", "--node-slots", 1)
    weir.weir("quota", "set", "nlp", "--pool", "shared", "slots=1", "--limit", "slots=1", "--yes")
    for _ in range(3):
        weir.weir("submit", "--pool", "shared", "--project", "nlp", "--slots", 1, "--", "sleep", "0.5")
    for task in weir.weir_json("task", "list", "--pool", "shared"):
        weir.wait(task["id"])
    tried = json.loads(weir.weir("pool", "try", "shared", "--max", 2, "--json").stdout)
    assert tried["tried"]["tasks_started"] == 3 and tried["present"]["tasks_started"] == 3
    assert tried["present"]["nodes_most"] == 1 and tried["tried"]["nodes_most"] == 1, tried
