"""Small things that a person stumbles over. SPDX-License-Identifier: Apache-2.0"""

import subprocess

import pytest
from weir_harness import weir_bin


def test_common_flags_may_stand_before_the_command(weir):
    assert weir.url in weir.weir("--server", weir.url, "status").stdout
    assert weir.url in weir.weir(f"--server={weir.url}", "--color", "never", "status").stdout
    assert weir.weir("--server", "http://127.0.0.1:1", "task", "list", check=False).returncode == 6
    assert weir.weir("--server", weir.url, "run", "--", "echo", "--server").stdout == "--server\n"
    assert weir.weir("--server", weir.url, "nosuch", check=False).returncode == 2


def test_a_wrong_state_names_the_right_ones(weir):
    wrong = weir.weir("task", "list", "--state", "faild", check=False)
    assert wrong.returncode == 2
    assert "no state is called 'faild'; there are " in wrong.stderr and "failed" in wrong.stderr
    offered = weir.weir("__complete", "--", "task", "list", "--state", "").stdout.split()
    assert {"pending", "running", "failed", "completed", "killed"} <= set(offered)


def test_nodes_are_listed_as_people_sort(weir):
    token = weir.weir("token", "create", "--scope", "join", "--reusable", "3").stdout.strip()
    agents = [
        weir.spawn("agent", "--server", weir.url, "--pool", "default", "--join-token", token, "--name", name, "--slots", 1, "--dir", weir.root / name)
        for name in ("z10", "z2", "z1")
    ]
    try:
        weir.wait_until(lambda: len(weir.api("GET", "nodes").json["items"]) == 4, "the nodes")
        assert [name for name in weir.weir("node", "list", "-q").stdout.split() if name[0] == "z"] == ["z1", "z2", "z10"]
    finally:
        for agent in agents:
            agent.terminate()
            agent.wait()
            agent.stdout.close()
            agent.stderr.close()


def test_a_join_token_names_its_pool(weir):
    weir.weir("pool", "create", "gpu")
    secret = weir.weir("token", "create", "--scope", "join", "--pool", "gpu").stdout.strip()
    agent = weir.spawn("agent", "--server", weir.url, "--join-token", secret, "--name", "g1", "--slots", 1, "--dir", weir.root / "g1")
    try:
        weir.wait_until(lambda: weir.api("GET", "nodes/g1").status == 200, "the node")
        assert weir.api("GET", "nodes/g1").json["pool"] == "gpu"
    finally:
        agent.terminate()
        agent.wait()
        agent.stdout.close()
        agent.stderr.close()
    for words, code, says in ((["--pool", "gpu"], 2, "--scope join would do"),
                              (["--scope", "join", "--pool", "gpu", "--name", "default"], 2, "leave out --name"),
                              (["--scope", "join", "--pool", "gqu"], 3, "gqu")):
        refused = weir.weir("token", "create", *words, check=False)
        assert (refused.returncode, says in refused.stderr) == (code, True), refused.stderr


@pytest.mark.parametrize("words", (["run", "--slots", "2", "--", "true"],))
def test_a_task_killed_before_it_started_is_not_weirs_failure(weir, words):
    weir.weir("submit", "--slots", "2", "--", "sleep", "1000")
    weir.wait_state(1, "running")
    follower = weir.spawn(*words)
    weir.wait_until(lambda: weir.api("GET", "tasks/2").status == 200, "the second task")
    weir.weir("task", "kill", "2")
    out, err = follower.communicate(timeout=60)
    assert follower.returncode == 143, err
    assert weir.weir("task", "wait", "2", check=False).returncode == 143


def test_quotas_of_empty_pools_are_listed_only_when_asked_for(weir):
    weir.weir("pool", "create", "empty")
    weir.weir("pool", "create", "promised")
    weir.weir("project", "create", "nlp")
    weir.weir("quota", "set", "nlp", "--pool", "promised", "gpu=5")
    pools = lambda *words: {item["pool"] for item in weir.weir_json("quota", "list", *words)}  # noqa: E731
    assert pools() == {"default", "promised"}
    assert pools("--all") == {"default", "promised", "empty"}
    assert pools("--pool", "empty") == {"empty"}
    assert pools("--project", "nlp") == {"default", "promised"}


def test_refusals_of_nodes_and_labels_name_what_would_be_accepted(weir):
    node = weir.weir("node", "list", "-q").stdout.strip()
    wrong = weir.weir("submit", "--avoid", node + "x", "--", "true", check=False)
    assert wrong.returncode == 2
    assert f"avoids node '{node}x', and there is no such node; there are: {node}; did you mean '{node}'?" in wrong.stderr
    wrong = weir.weir("submit", "--node-label", "gpu.model=A100", "--", "true", check=False)
    assert wrong.returncode == 9
    assert "; its nodes have " in wrong.stderr and " cpu.arch=" in wrong.stderr
    weir.weir("node", "label", node, "zone=a", "rack=7")
    wrong = weir.weir("submit", "--node-label", "zone=b", "--", "true", check=False)
    assert "its nodes have " in wrong.stderr and "zone=a" in wrong.stderr and "rack=7" in wrong.stderr


def test_what_is_in_use_says_by_what(weir):
    weir.weir("project", "create", "nlp")
    node = weir.weir("node", "list", "-q").stdout.strip()
    for _ in range(10):
        weir.weir("submit", "--project", "nlp", "--", "sleep", "1000")
    weir.wait_state(1, "running")
    refused = weir.weir("project", "delete", "nlp", "--yes", check=False)
    assert refused.returncode == 5
    assert "'nlp' is still in use by 10 tasks: 1, 2, 3, 4, 5, 6, 7, 8 and 2 more" in refused.stderr
    refused = weir.weir("node", "remove", node, "--yes", check=False)
    assert f"'{node}' is still in use by 2 instances: 1.0, 2.0" in refused.stderr
    weir.weir("pool", "create", "gpu")
    weir.weir("submit", "--pool", "gpu", "--kind", "shell", "--", "true")
    refused = weir.weir("pool", "delete", "gpu", "--yes", check=False)
    assert "'gpu' is still in use by 1 task: 11" in refused.stderr
    refused = weir.weir("pool", "edit", "gpu", "--accepts", "command", check=False)
    assert "'gpu' is still in use by 1 task, the first of which is 11" in refused.stderr


def test_completion_offers_nothing_twice(weir):
    commands = [line.split() for line in weir.weir("help", "--commands").stdout.splitlines()]
    groups = {tuple(words[:1]) for words in commands if len(words) > 1}
    for words in [[], *map(list, groups), *[[*command, "--"] for command in commands], ["help"]]:
        typed = [] if words and words[-1] == "--" else [""]
        offered = [line.split("\t")[0] for line in weir.weir("__complete", "--", *words, *typed).stdout.splitlines()]
        assert offered and len(offered) == len(set(offered)), words


def test_messages_propose_what_can_be_typed(weir):
    (weir.root / "weir").symlink_to(weir_bin())
    empty = subprocess.run(["./weir", "task", "list"], cwd=weir.root, env=weir.env(), capture_output=True, text=True)
    assert empty.stderr == "no tasks; `./weir run -- echo hello` runs one\n"
    assert weir.weir("task", "list").stderr == "no tasks; `weir run -- echo hello` runs one\n"
