"""A task falls back from jobs of a real Slurm to machines of EC2 (the moto server on loopback). SPDX-License-Identifier: Apache-2.0"""
import sys

import pytest
from ec2_cloud import IMAGE, Machines, Moto
from weir_harness import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "bench"))
import slurm as private_slurm  # noqa: E402

pytestmark = pytest.mark.skipif(not private_slurm.installed(), reason="SLURM IS NOT INSTALLED: apt-get install slurmctld slurmd slurm-client munge")


@pytest.fixture
def clouds():
    cluster, moto = private_slurm.Slurm(nodes=1, cpus=2), Moto()
    machines = Machines(moto, ["us-east-1"])
    yield cluster, moto, machines
    machines.close()
    moto.close()
    for job in cluster.run("squeue", "-h", "-o", "%i").split():
        cluster.run("scancel", job)
    cluster.stop()


def test_a_full_cluster_falls_back_to_the_cloud(weir, clouds):
    cluster, moto, machines = clouds
    w = weir(env={**moto.env, "SLURM_CONF": cluster.env["SLURM_CONF"]})
    out = w.root / "outputs"
    out.mkdir()
    out.chmod(0o777)
    w.weir("pool", "create", "hpc", "--provider", "slurm", "--partition", "p", "--max", "1", "--idle", "1s")
    w.weir("pool", "create", "cloud", "--provider", "ec2", "--max", "1", "--idle", "1s", "--region", "us-east-1", "--endpoint", moto.url,
           "--image", IMAGE, "--instance-type", "t3.micro")
    first = w.weir("submit", "--pool", "hpc,cloud", "--", "sleep", "600").stdout.strip()
    w.wait_state(int(first), "running")
    second = w.weir("submit", "--pool", "hpc,cloud", "--", "sh", "-c", f"echo $WEIR_POOL >> {out}/ran").stdout.strip()
    w.weir("wait", second)
    assert (out / "ran").read_text() == "cloud\n"  # it started once
    assert w.task(int(first))["attempts"][0]["node"].startswith("hpc-")
    assert len(cluster.run("squeue", "-h", "-o", "%i").split()) == 1
    w.weir("kill", "--yes", first)
    w.wait_until(lambda: not machines.instances("us-east-1"), "no machine is left")
    w.wait_until(lambda: not cluster.run("squeue", "-h", "-o", "%i").split(), "no job is left")
