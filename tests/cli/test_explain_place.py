"""`weir explain` of a node and of a pool. SPDX-License-Identifier: Apache-2.0"""

import pytest


@pytest.fixture
def crowded(weir_factory):
    """Two GPUs: task 1 holds both; tasks 2 and 3 wait for room."""
    weir = weir_factory("--fake-gpus", "2")
    weir.submit("sleep", "1000", resources={"gpu": 2})
    weir.wait_state(1, "running")
    weir.submit("sleep", "1000", resources={"gpu": 1})
    weir.submit("sleep", "1000", resources={"gpu": 1})
    return weir


def node_of(weir):
    return weir.api("GET", "nodes").json["items"][0]["name"]


def test_a_pool_says_what_is_free_and_why_its_tasks_wait(crowded):
    lines = crowded.weir("explain", "default").stdout.splitlines()
    assert lines[0] == "pool default"
    assert "  state   takes tasks" in lines and "  slots   0 of 2 free" in lines and "  waiting 2 tasks" in lines
    (reason,) = [line for line in lines if ": task 2: " in line]
    code = crowded.task(2)["reason"]["code"]
    assert reason.strip().startswith(f"2 {code}: task 2: ") and crowded.task(2)["reason"]["message"] in reason
    crowded.weir("pool", "pause", "default")
    assert "paused: starts nothing; `weir pool resume default` ends that" in crowded.weir("explain", "default").stdout


def test_a_node_says_what_it_holds_and_whether_it_takes_tasks(crowded):
    node = node_of(crowded)
    said = crowded.weir("explain", node).stdout
    assert said.startswith(f"node {node} in pool default\n") and "  state   up: takes tasks\n" in said
    assert "0 of 2 slots" in said and "  runs    1.0:1\n" in said and "waiting 2 tasks" in said
    crowded.weir("node", "drain", node)
    assert f"draining: runs what it has and starts nothing; `weir node resume {node}`" in crowded.weir("explain", node).stdout
    answer = crowded.weir_json("explain", node)
    assert answer["node"]["name"] == node and answer["waiting"] == 2 and sum(r["tasks"] for r in answer["reasons"]) == 2


def test_an_idle_pool_and_an_unknown_name(weir):
    weir.weir("pool", "create", "spare")
    said = weir.weir("explain", "spare").stdout
    assert "has no node: `weir agent --pool spare`" in said and "  waiting no task\n" in said
    result = weir.weir("explain", "nothing", check=False)
    assert result.returncode == 3 and "no task, node or pool is called 'nothing'" in result.stderr
    assert weir.weir("explain", "spare", "--watch", check=False).returncode == 2


def test_completion_offers_tasks_nodes_and_pools(crowded):
    offered = crowded.weir("__complete", "--", "explain", "").stdout
    words = {line.split("\t")[0] for line in offered.splitlines()}
    assert {"1", "2", "default", node_of(crowded)} <= words


def test_a_task_file_is_explained_before_it_is_submitted(crowded, tmp_path):
    file = tmp_path / "task.yaml"
    file.write_text("command: [sleep, '5']\nresources: {gpu: 1}\n")
    answer = crowded.weir("explain", "-f", str(file))
    assert answer.stdout.startswith("would wait") and len(crowded.api("GET", "tasks").json["items"]) == 3
    assert crowded.weir_json("explain", "-f", str(file))["waits_total"] == 1
    file.write_text("command: [true]\nresources: {gpu: 8}\n")
    answer = crowded.weir("explain", "-f", str(file), check=False)
    assert answer.returncode == 9 and "with 2 slots it would be accepted" in answer.stderr
    for words in ([], ["1", "-f", str(file)]):
        answer = crowded.weir("explain", *words, check=False)
        assert answer.returncode == 2 and "weir explain -f task.yaml" in answer.stderr
