"""weir flavor, and pools with a flavor. SPDX-License-Identifier: Apache-2.0"""

import json

import golden


def test_flavors(weir):
    weir.weir("flavor", "create", "small", "--slots", "2", "--zones", "a,b", "--price", "0.1", "--currency", "EUR")
    weir.weir("flavor", "create", "big", "--gpus", "8", "--memory", "64Gi", "--native", "p3.16xlarge", "--spot")
    golden.check("flavor-list-pipe", weir.weir("flavor", "list").stdout)
    golden.check("flavor-show", weir.weir("flavor", "show", "small").stdout)
    weir.weir("flavor", "edit", "big", "--no-spot", "--price", "24.48")
    shown = json.loads(weir.weir("flavor", "show", "big", "--json").stdout)
    assert (shown["spot"], shown["price"], shown["gpus"]) == (False, 24.48, 8)
    assert weir.weir("flavor", "edit", "big", check=False).returncode == 2
    assert weir.weir("flavor", "show", "none", check=False).returncode == 3
    assert weir.weir("flavor", "create", "big", check=False).returncode == 5
    weir.weir("flavor", "delete", "big", "--yes")
    assert weir.weir("flavor", "list", "-q").stdout == "small\n"


def test_a_pool_with_a_flavor(weir):
    weir.weir("flavor", "create", "small", "--slots", "2", "--zones", "a,b", "--price", "0.1", "--currency", "EUR")
    weir.weir("pool", "create", "burst", "--provider", "local", "--max", "1", "--idle", "1s", "--flavor", "small")
    shown = weir.weir("pool", "show", "burst").stdout
    assert "0 to 1 nodes of 2 slots" in shown
    assert "small: 0.1 EUR an hour for each node" in shown
    assert weir.weir("run", "--pool", "burst", "--slots", "2", "--", "echo", "hi").stdout == "hi\n"
    fixed = weir.weir("pool", "create", "x", "--provider", "local", "--max", "1", "--flavor", "none", check=False)
    assert (fixed.returncode, "there is no flavor 'none'" in fixed.stderr) == (2, True)
    both = weir.weir("pool", "create", "x", "--provider", "local", "--max", "1", "--flavor", "small", "--node-slots", "3", check=False)
    assert (both.returncode, "flavor 'small' says what each node has" in both.stderr) == (2, True)
    assert weir.weir("flavor", "delete", "small", "--yes", check=False).returncode == 5


def test_flavors_of_a_server_file(weir, tmp_path):
    file = tmp_path / "server.yaml"
    file.write_text(
        "flavors: [{name: two, slots: 2, zones: [a], price: 1.5}]\n"
        "pools: [{name: burst, flavor: two, provider: {type: local, max: 2}}]\n"
    )
    assert weir.weir("config", "apply", file, "--yes").returncode == 0
    assert json.loads(weir.weir("pool", "show", "burst", "--json").stdout)["market"]["price"] == 1.5
    assert weir.weir("config", "diff", file, check=False).returncode == 0
    file.write_text("pools: [{name: burst, flavor: three, provider: {type: local, max: 2}}]\n")
    wrong = weir.weir("config", "check", file, check=False)
    assert wrong.returncode != 0
    assert "no flavor 'three' is declared under flavors" in wrong.stdout + wrong.stderr


def test_an_exported_state_has_its_flavors(weir, tmp_path):
    weir.weir("flavor", "create", "two", "--slots", "2", "--price", "1.5", "--currency", "EUR")
    weir.weir("pool", "create", "burst", "--provider", "local", "--max", "2", "--flavor", "two")
    weir.weir("pool", "pause", "burst")
    weir.weir("submit", "--pool", "burst", "--slots", "2", "--time", "1h", "--", "true")
    exported = weir.weir("state", "export").stdout
    assert [item["name"] for item in json.loads(exported)["flavors"]] == ["two"]
    file = tmp_path / "state.json"
    file.write_text(exported.replace('"paused":true', '"paused":false'))
    played = json.loads(weir.weir("sim", "--state", file, "--json").stdout)
    assert (played["launched"]["nodes"], played["launched"]["currency"]) == (1, "EUR")
