"""weir sim with flavors and prices: what elastic pools cost beside nodes that are always up. SPDX-License-Identifier: Apache-2.0"""

import json
import subprocess

import pytest

from weir_harness import weir_bin

MARKET = """
node_start: 1m
flavors: [{name: two, slots: 2, zones: [a, b], price: 1.5, currency: EUR}]
market: {sold_out: [{zone: a, until: 1h}]}
pools: [{name: burst, flavor: two, provider: {type: local, max: 4, idle: 1m}}]
tasks: [{pools: [burst], runs: 59m, resources: {slots: 2}}]
"""


def sim(path, text, *words):
    path.write_text(text)
    return subprocess.run([weir_bin(), "sim", str(path), *map(str, words)], capture_output=True, text=True, timeout=60, check=False)


def test_node_hours_and_price_beside_nodes_that_are_always_up(tmp_path):
    path = tmp_path / "market.yaml"
    found = json.loads(sim(path, MARKET, "--json").stdout)["launched"]
    assert (found["nodes"], found["refused"], found["most"]) == (2, 1, 1)  # zone a refuses, zone b has one
    assert (found["node_hours"], found["cost"], found["currency"]) == (1, 1.5, "EUR")  # a minute to start, 59 minutes of work
    fixed = found["fixed"]
    assert (fixed["nodes"], fixed["wait_mean"]) == (4, 0)
    assert fixed["node_hours"] == pytest.approx(4 * 59 / 60, abs=0.001)
    assert fixed["cost"] == pytest.approx(1.5 * 4 * 59 / 60, abs=0.002)
    lines = sim(path, MARKET).stdout.splitlines()
    assert "launched    2 nodes (1 refused), at most 1 at once, 1.0 node-hours, 1.5 EUR" in lines
    assert any(line.startswith("fixed       4 nodes always up: 3.9 node-hours, 5.9 EUR, mean wait 0s instead of 1m") for line in lines)


def test_the_report_shows_the_price(tmp_path):
    page = tmp_path / "page.html"
    assert sim(tmp_path / "market.yaml", MARKET, "--no-summary", "--report", page).returncode == 0
    text = page.read_text()
    assert "price of these nodes" in text and "1.5 EUR" in text and "node-hours of providers" in text


def test_failures_follow_the_seed(tmp_path):
    path = tmp_path / "market.yaml"
    text = MARKET.replace("market: {", "market: {fail_percent: 50, ").replace("resources:", "count: 20, every: 1h, resources:")
    first, again, other = (json.loads(sim(path, text, "--json", "--seed", seed).stdout)["launched"] for seed in (1, 1, 2))
    assert first == again != other
    assert first["refused"] > 5


def test_spot_nodes_live_for_a_random_time(tmp_path):
    text = """
flavors: [{name: cheap, slots: 1, spot: true}, {name: safe, slots: 1}]
market: {taken_back: [{mean: 1h}]}
pools:
  - {name: spot, flavor: cheap, provider: {type: local, max: 1, idle: 1m}}
  - {name: safe, flavor: safe, provider: {type: local, max: 1, idle: 1m}}
tasks:
  - {pools: [spot], runs: 20h, checkpoint: 1m, max_losses: 0, resources: {slots: 1}}
  - {pools: [safe], runs: 20h, resources: {slots: 1}}
"""
    found = json.loads(sim(tmp_path / "spot.yaml", text, "--json").stdout)
    assert found["tasks"]["completed"] == 2
    assert 5 < found["tasks"]["losses"] == found["launched"]["nodes"] - 2  # only spot nodes are taken back


@pytest.mark.parametrize("market, place", [
    ("{sold_out: [{from: 2h, until: 1h}]}", "market.sold_out[0].until"),
    ("{sold_out: [{until: 2h, every: 1h}]}", "market.sold_out[0].every"),
    ("{sold_out: [{zones: a}]}", "market.sold_out[0].zones"),
    ("{sold_out: {zone: a}}", "market.sold_out"),
    ("{taken_back: [{zone: a}]}", "market.taken_back[0]"),
    ("{fail_percent: 101}", "market.fail_percent"),
    ("{prices: 1}", "market.prices"),
])
def test_mistakes_name_the_place(tmp_path, market, place):
    wrong = sim(tmp_path / "wrong.yaml", MARKET.replace("{sold_out: [{zone: a, until: 1h}]}", market))
    assert wrong.returncode == 2
    assert f" {place}: " in wrong.stderr or f"{place}: " in wrong.stderr


def test_a_pool_of_an_unknown_flavor_is_named(tmp_path):
    wrong = sim(tmp_path / "wrong.yaml", MARKET.replace("flavor: two", "flavor: three"))
    assert wrong.returncode == 2
    assert "there is no flavor 'three'" in wrong.stderr
