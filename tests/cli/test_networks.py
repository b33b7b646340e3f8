"""weir network, and pools and tasks with a network. SPDX-License-Identifier: Apache-2.0"""

import json

import golden


def test_networks(weir):
    weir.weir("project", "create", "nlp")
    weir.weir("network", "create", "lab", "--range", "10.77.0.0/24", "--outbound", "--description", "the lab's")
    weir.weir("network", "create", "exam", "--range", "10.78.0.0/24", "--for", "nlp")
    golden.check("network-list-pipe", weir.weir("network", "list").stdout)
    golden.check("network-show", weir.weir("network", "show", "exam").stdout)
    weir.weir("network", "edit", "lab", "--no-outbound", "--for", "nlp")
    shown = json.loads(weir.weir("network", "show", "lab", "--json").stdout)
    assert (shown["outbound"], shown["for"], shown["description"]) == (False, ["project/nlp"], "the lab's")
    weir.weir("network", "edit", "lab", "--for", "")
    assert json.loads(weir.weir("network", "show", "lab", "--json").stdout)["for"] == []
    assert weir.weir("network", "edit", "lab", check=False).returncode == 2
    assert weir.weir("network", "show", "lap", check=False).returncode == 3
    assert weir.weir("network", "create", "lab", "--range", "10.79.0.0/24", check=False).returncode == 5
    weir.weir("network", "delete", "lab", "--yes")
    assert weir.weir("network", "list", "-q").stdout == "exam\n"


def test_an_unknown_network_says_how_one_is_made(weir):
    for refused in (
        weir.weir("submit", "--network", "lap", "--", "true", check=False),
        weir.weir("pool", "create", "blue", "--network", "lap", check=False),
    ):
        assert refused.returncode == 2
        assert "there is no network 'lap'" in refused.stderr
        assert "weir network create lap --range" in refused.stderr
    assert weir.weir("task", "list", "-q").stdout == ""


def test_a_network_in_use_is_not_deleted(weir):
    weir.weir("network", "create", "lab", "--range", "10.77.0.0/24")
    weir.weir("pool", "create", "blue", "--network", "lab")
    assert "lab" in weir.weir("pool", "show", "blue").stdout
    number = weir.weir("submit", "--pool", "blue", "--", "true").stdout.split()[-1]
    used = weir.weir("network", "delete", "lab", "--yes", check=False)
    assert (used.returncode, "such as pool 'blue'" in used.stderr) == (5, True)
    other = weir.weir("submit", "--pool", "blue", "--network", "host", "--", "true", check=False)
    assert (other.returncode, "all tasks of pool 'blue' are in network 'lab'" in other.stderr) == (2, True)
    weir.weir("pool", "edit", "blue", "--network", "")
    second = weir.weir("submit", "--pool", "blue", "--network", "lab", "--", "true").stdout.split()[-1]
    used = weir.weir("network", "delete", "lab", "--yes", check=False)
    assert (used.returncode, f"such as {second}" in used.stderr) == (5, True)
    weir.weir("task", "kill", number, second, "--yes")
    weir.weir("network", "delete", "lab", "--yes")


def test_networks_of_a_server_file(weir, tmp_path):
    file = tmp_path / "server.yaml"
    file.write_text("networks: [{name: lab, range: 10.77.0.0/24, outbound: true}]\npools: [{name: blue, network: lab}]\n")
    assert weir.weir("config", "apply", file, "--yes").returncode == 0
    assert json.loads(weir.weir("pool", "show", "blue", "--json").stdout)["network"] == "lab"
    assert weir.weir("config", "diff", file, check=False).returncode == 0
    file.write_text("pools: [{name: blue, network: lab}]\n")
    wrong = weir.weir("config", "check", file, check=False)
    assert wrong.returncode != 0
    assert "no network 'lab' is declared under networks" in wrong.stdout + wrong.stderr
    file.write_text("pools: []\n")
    weir.weir("pool", "delete", "blue", "--now", "--yes")
    assert weir.weir("config", "apply", file, "--prune", "--yes").returncode == 0
    assert weir.weir("network", "list", "-q").stdout == ""


def test_an_exported_state_plays_without_networks(weir, tmp_path):
    weir.weir("network", "create", "lab", "--range", "10.77.0.0/24")
    weir.weir("pool", "create", "blue", "--network", "lab")
    weir.weir("submit", "--pool", "blue", "--time", "1h", "--", "true")
    file = tmp_path / "state.json"
    file.write_text(weir.weir("state", "export").stdout)
    assert weir.weir("sim", "--state", file, "--json").returncode == 0
