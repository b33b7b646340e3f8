"""What Weir says of pools with a provider: why they have no node, and what becomes of nodes that leave.

SPDX-License-Identifier: Apache-2.0
"""
from test_elastic_pools import pool_of

AGENT = "weir agent"


def test_a_pool_with_a_provider_says_why_it_has_no_node(weir):
    w = weir()
    w.weir("pool", "create", "burst", "--provider", "local", "--max", "2")
    said = w.weir("explain", "burst").stdout
    assert pool_of(w, "burst")["reason"] == "no task needs a node; the pool grows when tasks wait"
    assert f"has no node that is up: {pool_of(w, 'burst')['reason']}\n" in said and AGENT not in said
    w.weir("pool", "delete", "burst", "--yes")
    said = w.weir("explain", "burst").stdout
    assert "a user deleted the pool; `weir pool restore burst` brings it back" in said and AGENT not in said
    w.weir("pool", "restore", "burst")
    w.weir("pool", "close", "burst", "--yes")
    said = w.weir("explain", "burst").stdout
    assert "closed: starts nothing; `weir pool restore burst` opens it again" in said and AGENT not in said


def test_a_pool_of_size_0_says_so_and_how_it_gets_nodes(weir):
    w = weir()
    w.weir("pool", "create", "zp", "--provider", "local", "--nodes", "0")
    task = w.weir("submit", "--pool", "zp", "--", "true").stdout.strip()
    assert pool_of(w, "zp")["reason"] == "the pool is set to 0 nodes; `weir pool scale` makes it larger"
    said = w.weir("explain", task).stdout
    assert "  weir pool scale zp --nodes N\n" in said and AGENT not in said
    assert "the pool is set to 0 nodes" in w.weir("explain", "zp").stdout
    assert AGENT not in w.weir("explain", "zp").stdout
    assert "grows" not in w.weir("events", "--json").stdout
    w.weir("pool", "scale", "zp", "--nodes", "1")
    w.weir("wait", task)


def test_a_task_too_large_for_nodes_to_come_names_their_size(weir):
    w = weir()
    w.weir("pool", "create", "burst", "--provider", "local", "--max", "2")
    refused = w.weir("submit", "--pool", "burst", "--slots", "2", "--", "true", check=False)
    assert "2 slots are more than the 1 of the largest node in pool 'burst'" in refused.stderr
    assert refused.returncode == 9 and "--spread runs the task as 2 instances of 1 each" in refused.stderr
    w.weir("wait", w.weir("submit", "--pool", "burst", "--", "true").stdout.strip())
    again = w.weir("submit", "--pool", "burst", "--slots", "2", "--", "true", check=False)
    assert (again.returncode, again.stderr) == (9, refused.stderr)
