"""More slots than a node has: several instances only where the person says so. SPDX-License-Identifier: Apache-2.0"""

import pytest


@pytest.fixture(scope="module")
def nodes(request):
    """Two nodes of two GPUs."""
    from weir_harness import Weir

    weir = Weir(["--fake-gpus", "2"])
    weir.start()
    request.addfinalizer(weir.close)
    return weir


def second(weir):
    token = weir.weir("token", "create", "--scope", "join").stdout.strip()
    agent = weir.spawn(
        "agent", "--server", weir.url, "--pool", "default", "--join-token", token, "--name", "n2", "--fake-gpus", 2, "--dir", weir.root / "n2"
    )
    weir.wait_until(lambda: len(weir.api("GET", "nodes").json["items"]) == 2, "the second node")
    return agent


def test_a_wide_task_wants_consent(nodes):
    agent = second(nodes)
    try:
        for command in ("run", "submit"):
            refused = nodes.weir(command, "--gpus", 4, "--", "true", check=False)
            assert refused.returncode == 9, refused
            assert "4 gpus are more than the 2 of the largest node in pool 'default'" in refused.stderr
            assert "--spread runs the task as 4 instances of 1 each" in refused.stderr
            assert ", --instances 2 --gang --gpus 2 as 2" in refused.stderr
        uneven = nodes.weir("submit", "--gpus", 3, "--", "true", check=False)
        assert "--spread runs the task as 3 instances of 1 each\n" in uneven.stderr, uneven  # no node holds two thirds
        path = nodes.root / "wide.yaml"
        path.write_text("command: ['true']\nresources: {gpu: 4}\n")
        assert nodes.weir("submit", "-f", path, check=False).returncode == 9
        assert nodes.api("GET", "tasks").json["items"] == []
        dry = nodes.weir("submit", "--gpus", 4, "--spread", "--dry-run", "--", "true", check=False)
        assert (dry.returncode, dry.stdout.splitlines()[0]) == (8, "would run as 4 instances of gpu=1 each")
        dry = nodes.weir("run", "--gpus", 2, "--spread", "--dry-run", "--", "true", check=False)
        assert dry.stdout.startswith("would start now on ")  # a node has room for both
        said = nodes.weir("submit", "--gpus", 4, "--spread", "--", "true")
        assert said.stderr == "weir: task 1 runs as 4 instances of gpu=1 each\n"
        assert nodes.wait(1)["state"] == "completed"
        assert nodes.weir("run", "--spread", "--gpus", 4, "--", "sh", "-c", "echo $WEIR_WORLD_SIZE").stdout.splitlines()[0].endswith(": 4")
        assert nodes.weir("run", "--instances", 2, "--gang", "--gpus", 2, "--", "true").returncode == 0
        assert nodes.weir("submit", "--spread", "--gpus", 2, "--", "true").stderr == ""
        assert nodes.api("POST", "tasks", {"command": ["true"], "resources": {"gpu": 4}}).status == 201
        assert nodes.api("POST", "tasks?spread=perhaps", {"command": ["true"]}).status == 400
        for task in nodes.api("GET", "tasks").json["items"]:  # the second node must have nothing left to do when it goes
            nodes.wait(task["id"])
    finally:
        agent.terminate()
        agent.wait()
        agent.stdout.close()
        agent.stderr.close()
