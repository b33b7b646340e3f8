"""Small things that a person stumbles over. SPDX-License-Identifier: Apache-2.0"""

import pytest


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
