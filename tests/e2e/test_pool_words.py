"""What Weir says of pools with a provider: why they have no node, and what becomes of nodes that leave.

SPDX-License-Identifier: Apache-2.0
"""
import time

from test_elastic_pools import nodes, outputs, pool_of
from test_scale_pools import busy, node_of

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


def test_nodes_that_leave_say_why_and_are_not_missed(weir):
    w = weir()
    out = outputs(w)
    w.weir("pool", "create", "train", "--provider", "local", "--nodes", "3")
    task = busy(w, out, "train", 3)
    w.wait_until(lambda: len(list(out.iterdir())) == 3, "three instances")
    w.weir("pool", "scale", "train", "--nodes", "1", "--busy", "wait")
    leaving = [name for name in nodes(w, "train") if node_of(w, name)["draining"]]
    assert len(leaving) == 2
    deadline = time.monotonic() + 3  # the provider is asked about its machines meanwhile
    while time.monotonic() < deadline:
        for name in leaving:
            assert node_of(w, name)["leaving"] == "the pool was made smaller"
        assert pool_of(w, "train")["reason"] == "1 of 1 node is up"
        time.sleep(0.2)
    listed = w.weir("node", "list", "--pool", "train").stdout
    assert listed.count(" leaving ") == 2 and "draining" not in listed
    assert "leaves because  the pool was made smaller\n" in w.weir("node", "show", leaving[0]).stdout
    (out / "go").touch()
    w.weir("wait", task)
    said = set()

    def alone():
        said.add(pool_of(w, "train")["reason"])
        said.update(pool["reason"] for pool in w.api("GET", "home").json["pools"] if pool["name"] == "train")
        return len(nodes(w, "train")) == 1

    w.wait_until(alone, "the node that stays")
    assert said == {"1 of 1 node is up"}
