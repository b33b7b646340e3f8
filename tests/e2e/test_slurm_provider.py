"""Pools with the provider slurm, with a real Slurm of several nodes that the test starts on loopback (bench/slurm.py).

Skipped where Slurm is not installed: apt-get install slurmctld slurmd slurm-client munge. WEIR_LONG=1 adds the test of time limits, which takes over a minute.
SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import signal
import sys

import pytest

from weir_harness import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "bench"))
import slurm as private_slurm  # noqa: E402

pytestmark = pytest.mark.skipif(not private_slurm.installed(), reason="SLURM IS NOT INSTALLED: apt-get install slurmctld slurmd slurm-client munge")

NODES, CPUS = 4, 2


@pytest.fixture(scope="module")
def cluster():
    made = private_slurm.Slurm(nodes=NODES, cpus=CPUS)
    yield made
    for job in made.run("squeue", "-h", "-o", "%i").split():
        made.run("scancel", job)
    made.stop()


@pytest.fixture
def site(weir, cluster):
    """A server whose programs reach the cluster, and what lists the cluster's jobs."""
    w = weir(env={"SLURM_CONF": cluster.env["SLURM_CONF"]})
    yield w, lambda: cluster.run("squeue", "-h", "-o", "%i %T").splitlines()
    for job in cluster.run("squeue", "-h", "-o", "%i").split():
        cluster.run("scancel", job)


def pool_of(w, name):
    return w.api("GET", f"pools/{name}").json


def up(w):
    return [n["name"] for n in w.api("GET", "nodes?pool=hpc").json["items"] if n["state"] == "up"]


def test_forty_tasks_grow_and_shrink_the_pool(site, cluster):
    w, jobs = site
    w.weir("pool", "create", "hpc", "--provider", "slurm", "--partition", "p", "--max", "4", "--node-slots", "2", "--idle", "1s")
    others = set(pathlib.Path("/tmp").glob("weir-node.*"))
    directories = lambda: set(pathlib.Path("/tmp").glob("weir-node.*")) - others
    gate = w.root / "gate"
    wait = ["sh", "-c", f"while [ ! -e {gate} ]; do sleep 0.1; done"]
    first = [w.weir("submit", "--pool", "hpc", "--", *wait).stdout.strip() for _ in range(8)]
    w.wait_until(lambda: len(up(w)) == 4, "the maximum")
    assert len(jobs()) == 4
    files = [path / "join.token" for path in directories()]
    token = [line for path in files for line in path.read_text().split()]
    assert token and all(path.stat().st_mode & 0o077 == 0 for path in files)
    shown = cluster.run("scontrol", "show", "job") + cluster.run("ps", "-eo", "args")
    assert not any(secret in shown for secret in token)
    rest = [w.weir("submit", "--pool", "hpc", "--", "true").stdout.strip() for _ in range(32)]
    gate.touch()
    assert len({*first, *rest}) == 40
    for task in [*first, *rest]:
        assert w.wait(task)["state"] == "completed"
    w.wait_until(lambda: jobs() == [] and pool_of(w, "hpc")["launches"]["live"] == 0, lambda: f"no job is left: {jobs()}")
    w.wait_until(lambda: up(w) == [] and not directories(), "no node and no directory is left")


def test_a_job_that_somebody_cancels_costs_a_requeue(site, cluster):
    w, jobs = site
    out = w.root / "out"
    out.mkdir()
    out.chmod(0o777)
    w.weir("pool", "create", "hpc", "--provider", "slurm", "--max", "2", "--node-slots", "1", "--idle", "1s")
    task = w.weir("submit", "--pool", "hpc", "-n", "2", "--", "sh", "-c",
                  f"echo $WEIR_NODE >> {out}/$WEIR_INDEX; while [ ! -e {out}/go ]; do sleep 0.1; done").stdout.strip()
    w.wait_until(lambda: len(list(out.iterdir())) == 2, "both instances")
    assert len(jobs()) == 2
    cluster.run("scancel", jobs()[0].split()[0])
    ran = lambda: sorted(len(p.read_text().split()) for p in out.glob("[01]"))
    w.wait_until(lambda: ran() == [1, 2], lambda: f"one instance runs again: {ran()} {jobs()} {w.weir('task', 'show', task).stdout}")
    (out / "go").touch()
    ended = w.wait(task)
    assert ended["state"] == "completed", ended
    assert ran() == [1, 2]
    w.wait_until(lambda: jobs() == [], "no job is left")


def test_why_a_job_waits_is_shown(site):
    w, jobs = site
    w.weir("pool", "create", "hpc", "--provider", "slurm", "--partition", "nix", "--max", "1")
    task = w.weir("submit", "--pool", "hpc", "--", "true").stdout.strip()
    w.wait_until(lambda: "nvalid partition" in w.weir("explain", task).stdout, lambda: w.weir("explain", task).stdout)
    assert jobs() == []
    w.weir("pool", "edit", "hpc", "--partition", "p", "--sbatch-flag=--exclude=n[1-4]")
    w.wait_until(lambda: "Slurm: " in w.weir("pool", "show", "hpc").stdout or "not available" in w.weir("pool", "show", "hpc").stdout,
                 lambda: w.weir("pool", "show", "hpc").stdout)
    w.weir("kill", "--yes", task)


def test_a_killed_server_finds_its_jobs_again(site):
    w, jobs = site
    out = w.root / "out"
    out.mkdir()
    out.chmod(0o777)
    w.weir("pool", "create", "hpc", "--provider", "slurm", "--max", "2", "--node-slots", "1", "--idle", "1s")
    task = w.weir("submit", "--pool", "hpc", "-n", "2", "--", "sh", "-c",
                  f"echo x >> {out}/$WEIR_INDEX; while [ ! -e {out}/go ]; do sleep 0.1; done").stdout.strip()
    w.wait_until(lambda: len(list(out.iterdir())) == 2, "both instances")
    before = sorted(line.split()[0] for line in jobs())
    os.kill(w.pid_of("server"), signal.SIGKILL)
    w.kill()
    w.start()
    w.wait_until(lambda: len(up(w)) == 2, "both nodes are back")
    assert sorted(line.split()[0] for line in jobs()) == before
    (out / "go").touch()
    assert w.wait(task)["state"] == "completed"
    assert [path.read_text() for path in sorted(out.glob("[01]"))] == ["x\n", "x\n"]
    w.wait_until(lambda: jobs() == [], "no job is left")


@pytest.mark.skipif(not os.environ.get("WEIR_LONG"), reason="takes over a minute: WEIR_LONG=1")
def test_a_node_leaves_before_the_limit_of_its_job(site, cluster):
    w, jobs = site
    out = w.root / "out"
    out.mkdir()
    out.chmod(0o777)
    w.weir("pool", "create", "hpc", "--provider", "slurm", "--max", "1", "--node-slots", "1", "--idle", "1s", "--time-limit", "1m")
    task = w.weir("submit", "--pool", "hpc", "--grace", "5s", "--", "sh", "-c",
                  f"trap 'echo saved >> {out}/ran; exit 1' TERM; echo $WEIR_NODE >> {out}/ran; while [ ! -e {out}/go ]; do sleep 0.1; done").stdout.strip()
    w.wait_until(lambda: (out / "ran").exists(), "the task")
    lines = lambda: (out / "ran").read_text().split()
    w.wait_until(lambda: "saved" in lines(), "told to stop before the limit")
    w.wait_until(lambda: lines() == ["hpc-1", "saved", "hpc-2"], lines)
    (out / "go").touch()
    assert w.wait(task)["state"] == "completed"
    assert "TIMEOUT" not in cluster.run("scontrol", "show", "job")
    w.wait_until(lambda: jobs() == [], "no job is left")
