"""Two smaller organisations with known figures: five projects on three pools, and two teams on two nodes.

SPDX-License-Identifier: Apache-2.0
"""
import datetime
import time

from organisation import server_file

LOW, MEDIUM, HIGH = 1, 2, 3
NONE = None  # borrows nothing: its limit is its guarantee

# pool: nodes of eight GPUs; by department its guarantee and weight, its projects' (guarantee, weight), and what they hold when all are hungry
POOLS = {
    "A": (5, {"a": (16, [(10, MEDIUM), (6, HIGH), (0, LOW)]), "b": (18, [(12, LOW), (6, HIGH)])}, [19, 21], [11, 8, 0, 13, 8]),
    "B": (9, {"a": (48, [(20, MEDIUM), (28, MEDIUM), (0, LOW)]), "b": (24, [(20, LOW), (4, HIGH)])}, [48, 24], [20, 28, 0, 20, 4]),
    "C": (3, {"a": (24, [(14, NONE), (10, LOW), (0, NONE)]), "b": (0, [(0, NONE), (0, NONE)])}, [24, 0], [14, 10, 0, 0, 0]),
}
ORGANISATION = {"a": ["p1", "p2", "p3"], "b": ["p4", "p5"]}
PROJECTS = ["p1", "p2", "p3", "p4", "p5"]


def test_five_projects_on_three_pools(site):
    s = site(server_file(list(POOLS), ORGANISATION))
    for pool, (nodes, departments, _, _) in POOLS.items():
        s.nodes(*(f"{pool.lower()}{n}" for n in range(1, nodes + 1)), pool=pool, gpus=8)
        for name, (guaranteed, projects) in departments.items():
            s.quota(f"{name}/", pool, guaranteed, guaranteed)
            for project, (own, weight) in zip(ORGANISATION[name], projects):
                s.quota(project, pool, own, weight or 0, own if weight is NONE else "unlimited")
    for pool, (_, _, departments, projects) in POOLS.items():
        s.pool_edit(pool, paused=True)
        for project in PROJECTS:
            s.stay(project, gpus=1, instances=100, pools=[pool])
        assert s.shares("a/", "b/", pool=pool) == departments
        assert s.shares(*PROJECTS, pool=pool) == projects
        s.pool_edit(pool, paused=False)
        s.settled(pool, **{name: share for name, share in zip(PROJECTS, projects) if share > 0})
        s.clear()
    assert s.evictions() == []


def test_the_smallest_borrower_gives_way(site):
    """a holds 3 of 4 GPUs, b 1; each is promised 2. b wants its second: the task that holds one GPU goes, not the younger one of two."""
    s = site(server_file(["default"], {"teams": ["team-a", "team-b"]}))
    s.nodes("n1", "n2", gpus=2)
    s.quota("team-a", "default", 2, 2)
    s.quota("team-b", "default", 2, 2)
    [a1] = s.stay("team-a", gpus=1)
    [a2] = s.stay("team-a", gpus=2)
    [b1] = s.stay("team-b", gpus=1)
    s.settled(**{"team-a": 3, "team-b": 1})
    # What is lost is GPUs x time: one GPU must not have run more than twice as long as two, which a few milliseconds see to.
    began = [datetime.datetime.fromisoformat(s.task(task)["started_at"]).timestamp() for task in (a1, a2)]
    s.wait_until(lambda: time.time() > max(began) + 2 * abs(began[1] - began[0]) + 0.1, "both to have run for long")
    [b2] = s.stay("team-b", gpus=1)
    s.settled(**{"team-a": 2, "team-b": 2})
    [gone] = s.evictions()
    assert (gone["task"], gone["claimant"]) == (a1, b2)
    assert set(s.running()) == {a2, b1, b2}
    assert s.task(a1)["state"] == "pending" and s.task(a1)["counts"]["preempted"] == 1
    # Everywhere the same: for whom, by which rule, and how both sides stood.
    why = s.task(a1)["evicted"]
    assert (why["rule"], why["claimant"], why["resource"], why["index"]) == ("guarantee", b2, "slots", 0)
    assert why["victim"] == {"project": "team-a", "allocated": 3, "guaranteed": 2, "share": 2} == gone["victim"]
    assert why["taker"] == {"project": "team-b", "allocated": 1, "guaranteed": 2, "share": 2} == gone["taker"]
    assert f"for task {b2}" in why["message"] and "'team-a' held 3 slots (guaranteed 2, share 2)" in why["message"]
    assert s.task(a2)["evicted"] is None


def test_an_elastic_gang_shrinks_for_the_owner_and_grows_again(site):
    s = site(server_file(["default"], {"teams": ["team-a", "team-b"]}))
    s.nodes("n1", "n2")
    s.quota("team-a", "default", 4, 1)
    s.quota("team-b", "default", 4, 1)
    gang = int(s.weir("submit", "--project", "team-a", "--gpus", "1", "--instances", "8", "--min-instances", "2", "--",
                      s.script, s.record).stdout)
    s.settled(**{"team-a": 8})
    [owner] = s.stay("team-b", gpus=3)
    s.settled(**{"team-a": 5, "team-b": 3})
    assert [e["key"] for e in s.evictions()] == [f"{gang}.7:1", f"{gang}.6:1", f"{gang}.5:1"]  # the last of it first, one by one
    assert {e["claimant"] for e in s.evictions()} == {owner}
    assert sorted(s.running()[gang]) == [0, 1, 2, 3, 4] and s.task(gang)["state"] == "running"
    assert gang not in s.api("GET", f"tasks/{gang}/explain").json["blockers"]  # nobody is in his own way
    s.end(owner)
    s.settled(**{"team-a": 8})
    assert len(s.evictions()) == 3
