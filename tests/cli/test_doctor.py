"""`weir doctor`, the short names of commands, and WEIR_* for global flags. SPDX-License-Identifier: Apache-2.0"""

import json
import re


def checks(weir, **options):
    result = weir.weir("doctor", "--json", check=False, **options)
    return result.returncode, {line["check"]: line for line in json.loads(result.stdout)}


def test_a_sound_server_has_no_trouble_and_a_lost_one_is_named(weir):
    _, found = checks(weir)
    for check in ("server", "store", "login", "version", "clock", "nodes"):
        assert found[check]["ok"], found[check]
        assert found[check]["advice"] is None
    text = weir.weir("doctor", check=False).stdout
    assert f"ok       server   http://127.0.0.1:{weir.port} answers in " in text
    assert "1 up, 0 lost" in text
    code, found = checks(weir, env={"WEIR_TOKEN": "nonsense", "WEIR_SERVER": weir.url})
    assert code == 1 and not found["login"]["ok"] and "weir login" in found["login"]["advice"]
    other = weir.spawn("agent", "--server", weir.url, "--dir", str(weir.root / "n2"), "--name", "n2", "--slots", "1",
                       "--join-token-file", str(weir.dir / "join.token"))
    weir.wait_until(lambda: "2 up, 0 lost" in weir.weir("doctor", check=False).stdout, "two nodes")
    other.kill()
    other.wait()
    weir.wait_until(lambda: "1 up, 1 silent, 0 lost" in weir.weir("doctor", check=False).stdout, "a silent node")
    assert not checks(weir)[1]["nodes"]["ok"]
    weir.stop()
    code, found = checks(weir)
    assert code == 1 and not found["server"]["ok"]
    assert str(weir.port) in found["server"]["found"] and f"weir up --dir {weir.dir}" in found["server"]["advice"]


def test_advice_fits_the_terminal(weir):
    weir.stop()
    shown = weir.terminal("doctor", "--color", "never", columns=60).finish()[1]
    assert "TROUBLE  server" in shown and "do: " in shown
    assert all(len(line) <= 60 for line in shown.splitlines())
    below = next(line for line in shown.splitlines() if line.lstrip().startswith("do: "))
    assert below.index("do: ") == 18


def test_what_a_node_can_enforce_is_no_trouble_of_its_machine(weir):
    """Whatever version the cgroups of this machine have: the agent of this machine says what it enforces."""
    [node] = weir.weir_json("node", "list")
    if {"cpu", "memory"} <= set(re.findall(r"\w+", node["limits"])):
        assert checks(weir)[1]["cgroups"]["ok"], node["limits"]
    elif not checks(weir)[1]["cgroups"]["ok"]:
        assert "not held to their memory" in checks(weir)[1]["cgroups"]["advice"]


def test_short_names_do_what_the_long_ones_do(weir):
    weir.weir("submit", "--", "sh", "-c", "echo hello; sleep 600")
    weir.wait_state(1, "running")
    assert weir.weir("ps", "-q").stdout == "1\n"
    assert weir.weir("ps", "--columns", "id,state", "--no-header").stdout.split() == ["1", "running"]
    weir.wait_until(lambda: weir.weir("logs", 1, "--tail", "1").stdout == "hello\n", "the output")
    weir.weir("kill", "--yes", 1)
    assert weir.weir("wait", 1, check=False).returncode == 143
    assert "short for `weir task list`" in weir.weir("ps", "--help").stdout


def test_the_environment_sets_global_flags(weir):
    painted = weir.weir("status", env={"WEIR_COLOR": "always"})
    assert painted.returncode == 0
    refused = weir.weir("status", env={"WEIR_COLOR": "sometimes"}, check=False)
    assert refused.returncode == 2 and "WEIR_COLOR" in refused.stderr
    weir.weir("submit", "--", "true")
    assert "\x1b[" in weir.weir("task", "list", env={"WEIR_COLOR": "always"}).stdout
    assert "\x1b[" not in weir.weir("task", "list", "--color", "never", env={"WEIR_COLOR": "always"}).stdout
    assert weir.weir("status", env={"WEIR_RETRY": "soon"}, check=False).returncode == 2


def test_each_global_flag_has_a_variable_that_the_help_names(weir):
    shown = weir.weir("status", "--help").stdout
    told = weir.weir("help", "environment").stdout
    flags = set(re.findall(r"^ +(?:-\w, )?--(\w+)", shown.split("Flags\n")[1], re.M)) - {"help", "json"}
    assert flags >= {"server", "retry", "color"}
    for flag in flags:
        assert f"WEIR_{flag.upper()} " in told and f"WEIR_{flag.upper()}" in shown, flag
    # A flag wins over its variable.
    assert weir.weir("status", "--server", weir.url, env={"WEIR_SERVER": "http://127.0.0.1:1", "WEIR_TOKEN": weir.token}).returncode == 0


def test_every_list_takes_a_filter(weir):
    weir.weir("pool", "create", "other")
    weir.weir("pool", "pause", "default")
    for priority in range(40, 60):
        weir.weir("submit", "--priority", priority, "--name", f"n{priority % 2}", "--", "true")
    ids = lambda *words: weir.weir(*words, "-q").stdout.split()  # noqa: E731
    assert ids("task", "list", "--filter", "state=pending priority>=58") == ["20", "19"]
    assert ids("task", "list", "--filter", "name=n1 priority<44") == ["4", "2"]
    assert ids("queue", "--filter", "priority!=59 name~n1", "--limit", "2") == ["18", "16"]
    assert ids("task", "list", "--filter", "state=running") == []
    assert ids("task", "list", "--filter", "priority=40,41") == ["2", "1"]
    assert ids("pool", "list", "--filter", "name=other") == ["other"]
    assert ids("task", "list", "--filter", "resources.slots>1") == []
    assert ids("pool", "list", "--filter", "state=paused") == ["default"]  # a word of the cell, as the list shows it
    [node] = ids("node", "list")
    assert ids("node", "list", "--filter", "state=up") == [node]
    weir.weir("node", "drain", node)
    weir.weir("node", "lock", node)
    assert ids("node", "list", "--filter", "state=draining") == ids("node", "list", "--filter", "state=locked") == [node]
    assert ids("node", "list", "--filter", "state!=draining") == ids("node", "list", "--filter", "state=up") == []
    none = weir.weir("node", "list", "--filter", "state=lost")
    assert none.stderr == "no nodes match --filter 'state=lost'; `weir node list` shows all\n"
    assert "match --filter 'project=nlp'; `weir queue` shows all" in weir.weir("queue", "--filter", "project=nlp").stderr
    cut = weir.weir("task", "list", "--filter", "priority>0", "--limit", "3", "-q")
    assert cut.stdout.split() == ["20", "19", "18"]
    for wrong, said in (
        ("stat=pending", "no column 'stat'; there are id, state,"),
        ("pending", "'pending' is no condition"),
        ("priority>=high", "'priority>=high': a number is wanted behind >=, like priority>=4"),
    ):
        refused = weir.weir("task", "list", "--filter", wrong, check=False)
        assert refused.returncode == 2 and said in refused.stderr, refused.stderr
