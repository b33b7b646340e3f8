"""Two departments of four teams on twenty machines, step by step: who runs, who waits and why, who has to go and for whom.

The steps and their figures are an acceptance scenario of the fair-share model (docs/user/quotas.md): R&D may borrow, MLops may not.
SPDX-License-Identifier: Apache-2.0
"""
import os

import pytest

from organisation import Site, server_file

RD = ["rd1", "rd2", "rd3", "rd4"]
MLO = ["mlo1", "mlo2", "mlo3", "mlo4"]
V100 = [f"node-{n:02}" for n in range(1, 21)]
A100_40 = [f"node-{n:02}" for n in range(21, 26)]
A100_80 = [f"node-{n:02}" for n in range(26, 31)]
ORGANISATION = {"rd": RD, "mlops": MLO}
MEDIUM = 2



def quotas_of_default(s, borrow=False):
    """Twenty GPUs of the pool `default` for each department, five for each project; weights are the quotas; MLops borrows nothing."""
    s.quota("rd/", "default", 20, 20)
    s.quota("mlops/", "default", 20, 20, "unlimited" if borrow else 20)
    for name in RD:
        s.quota(name, "default", 5, 5)
    for name in MLO:
        s.quota(name, "default", 5, 5, "unlimited" if borrow else 5)


def test_what_was_lent_comes_back_step_by_step(site):
    s = site(server_file(["default"], ORGANISATION))
    quotas_of_default(s)
    s.nodes(*V100)

    # 1. rd1 fills the pool: 75 of its 80 GPUs are borrowed.
    borrowers = []
    for _ in range(20):
        borrowers += s.stay("rd1")
        s.wait_until(lambda: borrowers[-1] in s.running(), "the task to run")
    s.settled(rd1=80)
    assert s.quotas()["rd1"]["borrowed"] == 75
    assert s.evictions() == []

    # 2. One task of mlo1: exactly one of rd1 gives way, the youngest.
    [first] = s.stay("mlo1", kind="service")
    s.settled(rd1=76, mlo1=4)
    [gone] = s.evictions()
    assert (gone["task"], gone["claimant"], gone["rule"]) == (borrowers[-1], first, "guarantee")
    assert gone["victim"] == {"department": "rd", "allocated": 80, "guaranteed": 20, "share": 76}
    assert gone["taker"] == {"department": "mlops", "allocated": 0, "guaranteed": 20, "share": 4}
    assert s.task(borrowers[-1])["state"] == "pending" and s.task(borrowers[-1])["counts"]["preempted"] == 1
    assert s.shares("rd/", "mlops/") == [76, 4]

    # 3. A second one never runs: 8 is more than 5. One of a single GPU does, although it stands behind it.
    [second] = s.stay("mlo1", kind="service")
    assert s.reason(second)["code"] == "over-limit"
    s.quota("mlo1", "default", 5, 5)  # nor would it without the limit: it must not be taken back, and five are promised
    s.wait_until(lambda: s.reason(second)["code"] == "over-guarantee", "the other bound")
    s.quota("mlo1", "default", 5, 5, 5)
    [third] = s.stay("mlo1", gpus=1, kind="service")
    s.settled(rd1=72, mlo1=5)
    assert [e["task"] for e in s.evictions()] == borrowers[:-3:-1]
    assert s.task(third)["state"] == "running" and s.task(second)["state"] == "pending"
    assert s.reason(second)["code"] == "over-limit"
    assert s.shares("rd/", "mlops/", "mlo1") == [71, 5, 5]

    # 4. The other three teams of MLops want one each: three more give way.
    for team in MLO[1:]:
        s.stay(team, kind="service")
    s.settled(rd1=60, mlo1=5, mlo2=4, mlo3=4, mlo4=4)
    assert [e["task"] for e in s.evictions()] == borrowers[:-6:-1]
    assert s.shares("rd/", "mlops/") == [60, 17]

    # 5. rd2 wants as much as rd1: it takes back as long as it stays within its share, 30.
    s.stay("rd2", count=20)
    s.settled(rd1=32, rd2=28, mlo1=5, mlo2=4, mlo3=4, mlo4=4)
    assert len(s.evictions()) == 5 + 7
    assert {e["task"] for e in s.evictions()} <= set(borrowers)
    assert s.shares("rd1", "rd2") == [30, 30]

    # 6. Six GPUs that must not be taken back are more than rd3 is promised; five, as four and one, run after one eviction: the one
    # uses the three that are free.
    [open_node] = set(V100) - {n for i in s.running().values() for n, gpus in i.values() if len(gpus) == 4}
    [six] = s.stay("rd3", gpus=3, instances=2, gang=True, kind="notebook")
    assert s.reason(six)["code"] == "over-guarantee"
    s.settled(rd1=32, rd2=28, mlo1=5, mlo2=4, mlo3=4, mlo4=4)
    [five] = s.stay("rd3", kind="notebook", groups=[{"name": "large", "instances": 1, "resources": {"gpu": 4}},
                                                     {"name": "small", "instances": 1, "resources": {"gpu": 1}}])
    s.settled(rd1=28, rd2=28, rd3=5, mlo1=5, mlo2=4, mlo3=4, mlo4=4)
    assert len(s.evictions()) == 5 + 7 + 1
    last = s.evictions()[-1]
    assert (last["victim"]["project"], last["claimant"]) == ("rd1", five)
    assert last["task"] in borrowers
    places = s.running()[five]
    assert [len(places[i][1]) for i in (0, 1)] == [4, 1] and places[1][0] == open_node
    assert s.task(six)["state"] == "pending"
    assert s.shares("rd1", "rd2", "rd3") == [25, 24, 11]

    # 7. rd1 leaves: rd2 grows into the free nodes, beyond its share, as nobody else wants them.
    s.end(*borrowers)
    s.settled(rd2=56, rd3=5, mlo1=5, mlo2=4, mlo3=4, mlo4=4)
    assert len(s.evictions()) == 5 + 7 + 1
    assert s.shares("rd2", "rd3") == [49, 11]


@pytest.fixture(scope="module")
def three():
    """Unless the run is to be quick: twenty nodes of four V100 in `default`, five of four A100 in each of the other two; a test leaves no task
    behind."""
    if os.environ.get("WEIR_QUICK"):
        pytest.skip("thirty nodes are not quick")
    s = Site(server_file(["default", "A100-40", "A100-80"], ORGANISATION)).start()
    try:
        s.nodes(*V100)
        s.nodes(*A100_40, pool="A100-40")
        s.nodes(*A100_80, pool="A100-80")
        yield s
    finally:
        s.close()


@pytest.fixture
def pools(three):
    yield three
    three.clear()
    for pool in ("default", "A100-40", "A100-80"):
        three.pool_edit(pool, paused=False)


def wants(s, pool, demand):
    """Each project's demand as tasks of one GPU; they stay in the queue while the pool is paused."""
    for project, gpus in demand.items():
        s.stay(project, gpus=1, instances=gpus, pools=[pool])


EVERYONE = dict.fromkeys(RD + MLO, 200)


@pytest.mark.parametrize("demand, borrow, departments, projects", [
    (EVERYONE, False, [60, 20], [15, 15, 15, 15, 5, 5, 5, 5]),
    ({"rd1": 100}, False, [80, 0], [80, 0, 0, 0, 0, 0, 0, 0]),
    ({"rd1": 80, "rd2": 80}, False, [80, 0], [40, 40, 0, 0, 0, 0, 0, 0]),
    ({"rd1": 80, "mlo1": 5, "mlo2": 5, "mlo3": 5, "mlo4": 5}, False, [60, 20], [60, 0, 0, 0, 5, 5, 5, 5]),
    ({"rd1": 80, "rd2": 80, "rd3": 80, "mlo1": 5}, False, [75, 5], [25, 25, 25, 0, 5, 0, 0, 0]),
    (EVERYONE, True, [40, 40], [10, 10, 10, 10, 10, 10, 10, 10]),
])
def test_fair_shares_of_eighty_gpus(pools, demand, borrow, departments, projects):
    quotas_of_default(pools, borrow)
    pools.pool_edit("default", paused=True)
    wants(pools, "default", demand)
    assert pools.shares("rd/", "mlops/") == departments
    assert pools.shares(*RD, *MLO) == projects


def quotas_of_a100_80(s, rd, rd_weights, mlo_weights=None, department_weights=(MEDIUM, MEDIUM)):
    """R&D's projects are guaranteed these GPUs of the pool, MLops' none; without weights MLops is kept out."""
    closed = mlo_weights is None
    s.quota("rd/", "A100-80", sum(rd), department_weights[0])
    s.quota("mlops/", "A100-80", 0, department_weights[1], 0 if closed else "unlimited")
    for name, guaranteed, weight in zip(RD, rd, rd_weights):
        s.quota(name, "A100-80", guaranteed, weight)
    for name, weight in zip(MLO, mlo_weights or [0] * 4):
        s.quota(name, "A100-80", 0, weight, 0 if closed else "unlimited")


HUNGRY_RD = dict.fromkeys(RD, 200)
ALL_MEDIUM = [MEDIUM] * 4


@pytest.mark.parametrize("demand, quotas, departments, projects", [
    (HUNGRY_RD, dict(rd=[2, 2, 1, 0], rd_weights=[2, 2, 1, 0]), [20, 0], [8, 8, 4, 0, 0, 0, 0, 0]),
    (HUNGRY_RD, dict(rd=[2, 2, 1, 0], rd_weights=ALL_MEDIUM), [20, 0], [6, 6, 5, 3, 0, 0, 0, 0]),
    (EVERYONE, dict(rd=[2, 2, 1, 0], rd_weights=ALL_MEDIUM, mlo_weights=ALL_MEDIUM), [13, 7], [4, 4, 3, 2, 2, 2, 2, 1]),
    (EVERYONE, dict(rd=[2, 2, 1, 0], rd_weights=ALL_MEDIUM, mlo_weights=ALL_MEDIUM, department_weights=(5, 0)), [20, 0], [6, 6, 5, 3, 0, 0, 0, 0]),
    (HUNGRY_RD, dict(rd=[8, 8, 4, 0], rd_weights=[8, 8, 4, 0]), [20, 0], [8, 8, 4, 0, 0, 0, 0, 0]),
])
def test_fair_shares_of_a_pool_of_twenty_gpus(pools, demand, quotas, departments, projects):
    """The shares as the list says them, and then what really runs."""
    quotas_of_a100_80(pools, **quotas)
    pools.pool_edit("A100-80", paused=True)
    wants(pools, "A100-80", demand)
    assert pools.shares("rd/", "mlops/", pool="A100-80") == departments
    assert pools.shares(*RD, *MLO, pool="A100-80") == projects
    pools.pool_edit("A100-80", paused=False)
    pools.settled("A100-80", **{name: share for name, share in zip(RD + MLO, projects) if share > 0})
    assert pools.evictions_since_clear() == []


def test_a_pool_is_lent_and_taken_back(pools):
    quotas_of_a100_80(pools, rd=[2, 2, 1, 0], rd_weights=ALL_MEDIUM, mlo_weights=ALL_MEDIUM)
    borrowers = pools.stay("mlo1", gpus=1, count=20, pools=["A100-80"])
    pools.settled("A100-80", mlo1=20)
    assert pools.shares("mlo1", pool="A100-80") == [20]
    pools.stay("rd1", gpus=1, count=2, pools=["A100-80"])
    pools.settled("A100-80", mlo1=18, rd1=2)
    assert pools.shares("rd1", "mlo1", pool="A100-80") == [2, 18]
    assert len(pools.evictions_since_clear()) == 2
    pools.stay("rd1", gpus=1, count=18, pools=["A100-80"])
    pools.settled("A100-80", mlo1=7, rd1=13)
    assert pools.shares("rd1", "mlo1", pool="A100-80") == [13, 7]
    gone = pools.evictions_since_clear()
    assert len(gone) == 13 and {e["task"] for e in gone} <= set(borrowers)


def test_a_gang_that_borrows_takes_the_nodes_of_its_pool(pools):
    [gang] = pools.stay("rd4", gpus=4, instances=5, gang=True, pools=["A100-40"])
    pools.settled("A100-40", rd4=20)
    assert sorted(node for node, _ in pools.running()[gang].values()) == A100_40


def test_a_task_without_a_pool_runs_in_default_only(pools):
    quotas_of_default(pools)
    pools.stay("rd1", count=20)
    pools.settled(rd1=80)
    [more] = pools.stay("rd1")
    assert pools.reason(more)["code"] == "no-room"
    assert {node for instances in pools.running().values() for node, _ in instances.values()} == set(V100)


def test_a_list_of_pools_falls_through(pools):
    """Run:ai's list `A100-80, Default`: the first pool is full, so the task runs in the second."""
    pools.stay("rd4", gpus=4, count=5, pools=["A100-80"])
    pools.settled("A100-80", rd4=20)
    [first] = pools.stay("rd4", gpus=4, pools=["A100-80", "default"])
    pools.wait_until(lambda: first in pools.running(), "the task in the second pool")
    [(node, _)] = pools.running()[first].values()
    assert node in V100 and pools.task(first)["pool"] == "default"
    assert [(o["pool"], o["why"]) for o in pools.task(first)["fallback"]["open"]] == [("A100-80", "first"), ("default", "no-capacity")]


def test_a_new_pool_is_open_to_all_and_promised_to_nobody(pools):
    assert pools.api("POST", "pools", {"name": "new"}).status == 201
    lines = pools.quotas("new")
    for name in RD + MLO:
        assert (lines[name]["guaranteed"], lines[name]["limit"], lines[name]["weight"]) == (0, None, 1)
    assert pools.api("DELETE", "pools/new").status in (200, 204)


@pytest.mark.skipif(bool(os.environ.get("WEIR_QUICK")), reason="thirty nodes are not quick")
def test_thirty_nodes_in_one_pool_then_in_three(site):
    """Bought for MLops, the new nodes serve R&D only as long as they lie in the same pool; empty, they move."""
    s = site(server_file(["default", "A100-40", "A100-80"], ORGANISATION))
    quotas_of_default(s)
    s.nodes(*V100, *A100_40, *A100_80)
    s.pool_edit("default", paused=True)
    wants(s, "default", EVERYONE)
    assert s.shares("rd/", "mlops/") == [100, 20]
    assert s.shares(*RD, *MLO) == [25] * 4 + [5] * 4
    s.pool_edit("default", paused=False)
    s.settled(**dict.fromkeys(RD, 25), **dict.fromkeys(MLO, 5))
    s.clear()
    for pool, names in (("A100-40", A100_40), ("A100-80", A100_80)):
        s.nodes_end(*names)
        s.nodes(*names, pool=pool)
    assert s.nodes_ready("default") == set(V100)
    s.stay("mlo1", gpus=1, count=8, pools=["A100-40"])
    s.settled("A100-40", mlo1=8)
