"""`weir doctor`, the short names of commands, and WEIR_* for global flags. SPDX-License-Identifier: Apache-2.0"""

import json


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
    weir.stop()
    code, found = checks(weir)
    assert code == 1 and not found["server"]["ok"]
    assert str(weir.port) in found["server"]["found"] and "weir up" in found["server"]["advice"]


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
