"""`weir pool …` and `weir node …`. SPDX-License-Identifier: Apache-2.0"""

import re


def node_name(weir):
    return weir.weir("node", "list", "-q").stdout.strip()


def test_a_pools_life(weir):
    weir.weir("pool", "create", "gpu", "--title", "GPUs", "--patience", "5m", "--accepts", "experiment,notebook")
    pool = weir.weir_json("pool", "show", "gpu")
    assert (pool["title"], pool["patience_ms"]) == ("GPUs", 300000)
    assert sorted(pool["accepts"]) == ["experiment", "notebook"]
    assert weir.weir("pool", "create", "gpu", check=False).returncode == 5
    assert weir.weir("pool", "create", "a b", check=False).returncode == 2
    weir.weir("pool", "edit", "gpu", "--patience", "5s", "--accepts", "all")
    pool = weir.weir_json("pool", "show", "gpu")
    assert (pool["patience_ms"], pool["accepts"]) == (5000, [])
    weir.weir("pool", "pause", "gpu")
    assert weir.weir_json("pool", "show", "gpu")["paused"] is True
    assert "paused" in weir.weir("pool", "show", "gpu").stdout
    weir.weir("pool", "resume", "gpu")
    weir.weir("pool", "close", "gpu")
    assert "closed" in weir.weir("pool", "list").stdout
    weir.weir("pool", "delete", "gpu")
    assert "a user deleted the pool" in weir.weir("pool", "show", "gpu").stdout
    weir.weir("pool", "restore", "gpu")
    weir.weir("pool", "delete", "gpu", "--now")
    assert weir.weir("pool", "show", "gpu", check=False).returncode == 3
    assert weir.weir("pool", "events", "gpu", check=False).returncode == 3


def test_shares_of_a_pool_look_back_and_forget(weir):
    weir.weir("pool", "create", "past", "--history", "7d", "--history-factor", "0.5", "--uneven", "off")
    scheduler = weir.weir_json("pool", "show", "past")["scheduler"]
    assert scheduler["history"] == {"half_life_ms": 604800000, "window_ms": 0, "factor": 0.5}
    assert scheduler["uneven"] == "off"
    assert "7d00h x 0.5" in weir.weir("pool", "show", "past").stdout
    weir.weir("pool", "edit", "past", "--history-window", "30d")
    assert weir.weir_json("pool", "show", "past")["scheduler"]["history"]["window_ms"] == 30 * 86400000
    assert "0" in weir.weir("quota", "list", "--pool", "past", "--all", "--columns", "account,history").stdout
    wrong = weir.weir("pool", "edit", "past", "--history-factor", "11", check=False)
    assert (wrong.returncode, "at most 10" in wrong.stderr) == (2, True)
    weir.weir("pool", "edit", "past", "--history", "off")
    assert weir.weir_json("pool", "show", "past")["scheduler"]["history"] is None


def test_a_task_avoids_a_node(weir):
    name = node_name(weir)
    refused = weir.weir("submit", "--avoid", name, "--", "true", check=False)
    assert (refused.returncode, "does not avoid" in refused.stderr) == (9, True)
    assert weir.weir("submit", "--avoid", "nobody", "--", "true", check=False).returncode == 2
    weir.weir("node", "drain", name)
    task = weir.weir("submit", "--", "true").stdout.strip()
    again = weir.weir("task", "edit", task, "--avoid", name, check=False)
    assert again.returncode != 0 and weir.task(task)["avoid"] == []
    weir.weir("node", "resume", name)


def test_deleting_on_a_terminal_asks(weir):
    weir.weir("pool", "create", "old")
    terminal = weir.terminal("pool", "delete", "old")
    terminal.expect("this deletes pool old: 0 nodes, 0 tasks running, 0 pending")
    terminal.expect("Go on? [y/N]")
    terminal.send("n\n")
    assert terminal.finish()[0] == 1
    assert weir.weir("pool", "show", "old").returncode == 0
    assert weir.terminal("pool", "delete", "old", "--yes").finish()[0] == 0
    assert "pending-delete" in weir.weir("pool", "show", "old").stdout
    assert weir.terminal("pool", "delete", "old", "--now", "--yes").finish()[0] == 0
    assert weir.weir("pool", "show", "old", check=False).returncode == 3


def test_a_drained_node_takes_nothing_until_resumed(weir):
    name = node_name(weir)
    weir.weir("node", "drain", name)
    assert "draining" in weir.weir("node", "list").stdout
    task = weir.weir("submit", "--", "true").stdout.strip()
    assert weir.task(task)["state"] == "pending"
    weir.weir("node", "resume", name)
    assert weir.wait(task)["state"] == "completed"


def test_labels_come_and_go(weir):
    name = node_name(weir)
    weir.weir("node", "label", name, "rack=7", "zone=a")
    assert weir.weir_json("node", "show", name)["labels"]["rack"] == "7"
    weir.weir("node", "label", name, "rack-")
    labels = weir.weir_json("node", "show", name)["labels"]
    assert "rack" not in labels and labels["zone"] == "a"
    assert weir.weir("node", "label", name, "nonsense", check=False).returncode == 2


def test_a_node_shows_what_it_has(weir_factory):
    weir = weir_factory("--resources", "foo=7", "--fake-gpus", "2")
    name = node_name(weir)
    node = weir.weir_json("node", "show", name)
    assert node["resources"]["foo"] == {"total": 7, "free": 7}
    assert [device["index"] for device in node["devices"]] == [0, 1]
    text = weir.weir("node", "show", name).stdout
    assert "foo=7/7" in text and re.search(r"^devices free +0 1$", text, re.M), text
    assert "foo=7/7" in weir.weir("node", "list").stdout


def test_a_busy_node_is_not_removed(weir):
    name = node_name(weir)
    task = weir.submit("sleep", "1000")
    weir.wait_state(task, "running")
    result = weir.weir("node", "remove", name, "--yes", check=False)
    assert result.returncode == 5
    assert f"'{name}' is still in use" in result.stderr
    assert weir.task(task)["state"] == "running"
    assert weir.weir("node", "remove", name, "--force", check=False).returncode == 2  # no promise it cannot keep


def test_state_export(weir):
    weir.weir("run", "--", "true")
    path = weir.root / "state.json"
    weir.weir("state", "export", "-o", path)
    import json

    state = json.loads(path.read_text())
    assert state["version"] == 1
    assert [pool["name"] for pool in state["pools"]] == ["default"]


def test_a_dry_run_of_pool_delete_says_what_would_go_and_deletes_nothing(weir_shared):
    weir_shared.weir("pool", "create", "doomed")
    dry = weir_shared.weir("pool", "delete", "doomed", "--dry-run", check=False)
    assert dry.returncode == 8
    assert dry.stdout == "would delete pool doomed; `weir pool restore` brings it back for 24 hours\n"
    assert weir_shared.weir("pool", "delete", "absent", "--dry-run", check=False).returncode == 3
    terminal = weir_shared.terminal("pool", "delete", "doomed")
    terminal.expect("Go on? [y/N]")
    terminal.send("y\n")
    assert terminal.finish()[0] == 0 and "this deletes pool doomed: 0 nodes" in terminal.text


def test_a_pool_shows_its_turn_and_its_budgets(weir):
    def shown(name):
        lines = weir.weir("pool", "show", "shared").stdout.splitlines()
        return [line.split(None, len(name.split()))[-1] for line in lines if line.startswith(name)]

    weir.weir("pool", "create", "shared")
    assert (shown("patience"), shown("turn")) == (["auto"], ["2h00m"])
    empty = "% of slot-time: 0 of 0 slot-hours left, gets 0 in an hour"
    assert (shown("idle budget"), shown("loss budget")) == (["2" + empty], ["1" + empty])
    weir.weir("pool", "edit", "shared", "--patience", "2m", "--turn", "0s", "--idle-for-waiting", "0.5%", "--loss-for-sharing", "3")
    assert (shown("patience"), shown("idle budget")) == (["2m00s"], ["0.5" + empty])
    scheduler = weir.weir_json("pool", "show", "shared")["scheduler"]
    assert (scheduler["turn_ms"], scheduler["idle_for_waiting"], scheduler["loss_for_sharing"]) == (0, 0.5, 3)
    weir.weir("pool", "edit", "shared", "--patience", "auto")
    assert weir.weir_json("pool", "show", "shared")["patience_ms"] is None
    wrong = weir.weir("pool", "edit", "shared", "--idle-for-waiting", "101%", check=False)
    assert (wrong.returncode, "at most 100" in wrong.stderr) == (2, True)


def test_the_budgets_of_pools(weir_factory):
    weir = weir_factory("--fake-gpus", "4")
    weir.weir("pool", "create", "empty", "--idle-for-waiting", "5%")
    lines = [line.split() for line in weir.weir("budget").stdout.splitlines()]
    assert lines[0] == ["POOL", "IDLE", "IDLE", "LEFT", "AN", "HOUR", "PAYS", "LOSS", "LOSS", "LEFT", "AN", "HOUR"]
    # 4 slots, 2 % and 1 % of a day of them
    assert ["default", "2%", "1.92", "of", "1.92", "0.08", "0", "1%", "0.96", "of", "0.96", "0.04"] in lines
    assert ["empty", "5%", "0", "of", "0", "0", "0", "1%", "0", "of", "0", "0"] in lines
    assert weir.weir("budget", "-q", "--filter", "idle-gets>0").stdout == "default\n"
