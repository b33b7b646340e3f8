"""`weir config import determined`: a master configuration becomes a server file that a server takes.

SPDX-License-Identifier: Apache-2.0
"""
import json

MASTER = r"""
db: {user: postgres, password: secret}
resource_manager:
  type: agent
  default_aux_resource_pool: cpu
  default_compute_resource_pool: v100
  scheduler: {type: priority, preemption: true, fitting_policy: worst}
resource_pools:
  - pool_name: v100
    description: machines with V100
    agent_reconnect_wait: 60s
    provider:
      type: aws
      region: us-west-2
      image_id: ami-0123456789abcdef0
      ssh_key_name: ops
      instance_type: p3.8xlarge
      spot: true
      spot_max_price: "3.50"
      network_interface: {subnet_id: subnet-1, security_group_id: sg-1}
      custom_tags: [{key: team, value: vision}]
      startup_script: "echo hello\nsleep 1\n"
      iam_instance_profile_arn: arn:aws:iam::1:instance-profile/x
      min_instances: 1
      max_instances: 4
      max_idle_agent_period: 1m30s
  - pool_name: cpu
    max_aux_containers_per_agent: 10
    scheduler: {type: fair_share, allow_heterogeneous_fits: true}
    provider: {type: hpc, partition: tesla_queue}
"""


def imported(weir_alone, path, text):
    path.write_text(text)
    return weir_alone("config", "import", "determined", str(path))


def test_pools_become_a_server_file(weir_alone, tmp_path):
    result = imported(weir_alone, tmp_path / "master.yaml", MASTER)
    assert result.returncode == 0, result.stderr
    server = tmp_path / "server.yaml"
    server.write_text(result.stdout)
    checked = weir_alone("config", "check", str(server))
    assert checked.returncode == 0 and "2 pools" in checked.stdout, checked.stderr
    for line in ('  gpu_pool: "v100"', '  cpu_pool: "cpu"', "    scheduler: {policy: priority, placement: spread, preemption: on, uneven: off}",
                 "    scheduler: {policy: fair-share, placement: pack, preemption: on, uneven: on}", "    aux_tasks: 10", "      type: ec2",
                 "      gpus: 4", "      spot: on", '      max_price: "3.50"', '      subnets: ["subnet-1"]', "      min: 1", "      max: 4",
                 "      idle: 90s", "      max_starting: 1200s", "      type: slurm", '      partition: "tesla_queue"',
                 '      user_data: "echo hello\\nsleep 1\\n"', '      tags: ["managed_by=determined-ai-determined","team=vision"]'):
        assert line in result.stdout.splitlines(), line
    for left in ("# agent_reconnect_wait 60s", "# iam_instance_profile_arn"):
        assert left in result.stdout
    assert "secret" not in result.stdout


def test_a_server_starts_with_the_file(weir, tmp_path):
    """The pools of a file without machines of a cloud, applied to a running server."""
    path = tmp_path / "master.yaml"
    path.write_text("resource_manager: {type: agent, default_aux_resource_pool: b, default_compute_resource_pool: a}\n"
                    "resource_pools: [{pool_name: a, scheduler: {type: priority}}, {pool_name: b}]\n")
    server = tmp_path / "server.yaml"
    server.write_text(weir.weir("config", "import", "determined", str(path)).stdout)
    assert weir.weir("config", "apply", str(server), "--yes").returncode == 0
    pools = {pool["name"]: pool for pool in json.loads(weir.weir("pool", "list", "--json").stdout)}
    assert pools["a"]["scheduler"]["policy"] == "priority" and pools["a"]["scheduler"]["placement"] == "pack" and "b" in pools


def test_what_determined_refuses_is_told_with_its_place(weir_alone, tmp_path):
    result = imported(weir_alone, tmp_path / "master.yaml", "resource_pools:\n  - pool_name: a\n    provider: {type: aws, max_instances: 0}\n  - pool_name: a\n")
    assert result.returncode == 2 and result.stdout == ""
    for words in ("master.yaml:3:42: resource_pools[0].provider.max_instances: max instance must be greater than 0",
                  "ec2 key name must be non-empty", "master.yaml:4:16: resource_pools[1].pool_name: resource pool has a duplicate name: a"):
        assert words in result.stderr, result.stderr
    wrong = imported(weir_alone, tmp_path / "wrong.yaml", "resource_pool:\n  - pool_name: a\n")
    assert wrong.returncode == 2 and "did you mean 'resource_pools'" in wrong.stderr


def test_what_only_a_person_knows_has_to_be_filled_in(weir_alone, tmp_path):
    result = imported(weir_alone, tmp_path / "master.yaml", "resource_pools: [{pool_name: default, provider: {type: aws, ssh_key_name: k}}]\n")
    assert result.returncode == 1 and '      region: ""' in result.stdout
    assert "provider.image: the provider ec2 needs it" in result.stderr and "have to be filled in" in result.stderr
    assert weir_alone("config", "import", "slurm", str(tmp_path / "master.yaml")).returncode == 2
    assert weir_alone("config", "import", "determined", str(tmp_path / "none.yaml")).returncode == 3
