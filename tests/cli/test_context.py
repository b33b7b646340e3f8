"""Saved logins have names: a throwaway `weir up` does not take the commands away from another server. SPDX-License-Identifier: Apache-2.0"""

import json
import subprocess

from weir_harness import Weir, weir_bin


def test_a_second_up_leaves_the_login_alone(weir_factory):
    first = weir_factory()
    second = Weir(["--slots", "1"], env={"WEIR_CONFIG_HOME": str(first.root / "config")})
    try:
        second.start()
        assert f"commands go on talking to {first.url} (context default)" in second.log_text()
        assert "`weir context use up-data` switches" in second.log_text()
        assert first.weir_json("whoami") and first.url in first.weir("whoami").stdout
        listed = {c["name"]: c for c in first.weir_json("context", "list")}
        assert listed["default"]["server"] == first.url and listed["default"]["current"]
        assert listed["up-data"]["server"] == second.url and not listed["up-data"]["current"]
        said = first.weir("context", "use", "up-data").stderr
        assert said == f"commands now talk to {second.url} (context up-data)\n"
        assert second.url in first.weir("whoami").stdout
        assert first.url in first.weir("whoami", env={"WEIR_CONTEXT": "default"}).stdout
        second.stop()
        lost = first.weir("status", check=False)
        assert lost.returncode == 6
        assert f"this command talks to {second.url} (context up-data)" in lost.stderr
        assert "`weir context list` shows other logins" in lost.stderr
        first.weir("context", "use", "default")
        assert first.weir("status").returncode == 0
    finally:
        second.close()


def test_up_switches_when_asked_or_when_there_is_no_other(weir_factory):
    first = weir_factory()
    second = Weir(["--slots", "1", "--login"], env={"WEIR_CONFIG_HOME": str(first.root / "config")})
    try:
        second.start()
        assert second.url in first.weir("whoami").stdout
    finally:
        second.close()


def test_the_same_directory_keeps_its_context(weir_factory):
    weir = weir_factory()
    weir.stop()
    weir.start(port=0)
    assert weir.url in weir.weir("whoami").stdout
    assert [c["name"] for c in weir.weir_json("context", "list")] == ["default"]


def test_login_as_a_name(weir_factory):
    weir = weir_factory()
    token = weir.weir("token", "create", "--scope", "read", "--name", "ann").stdout.strip()
    said = weir.weir("login", weir.url, "--as", "prod", "--token-file", "-", input=token + "\n").stderr
    assert said == f"logged in to {weir.url} as ann (read), saved as context prod\n"
    assert weir.weir_json("whoami")["name"] == "ann"
    table = weir.weir("context", "list").stdout.splitlines()
    assert table[0].split() == ["CURRENT", "NAME", "SERVER", "DIRECTORY"]
    assert [line.split()[:2] for line in table if line.startswith("*")] == [["*", "prod"]]
    assert (weir.root / "config" / "contexts" / "prod").stat().st_mode & 0o777 == 0o600
    weir.weir("context", "use", "default")
    assert weir.weir_json("whoami")["name"] != "ann"


def test_unknown_and_impossible_names_are_refused(weir):
    none = weir.weir("context", "use", "nosuch", check=False)
    assert none.returncode == 3 and "`weir context list` shows all" in none.stderr
    for name in ("../login", "a/b", ".", "a.b"):
        assert weir.weir("context", "use", name, check=False).returncode == 2
        assert weir.weir("status", check=False, env={"WEIR_CONTEXT": name}).returncode == 2
    other = weir.weir("status", check=False, env={"WEIR_CONTEXT": "nosuch"})  # must not go to another server
    assert other.returncode == 3 and "no login is saved as 'nosuch'" in other.stderr
    empty = subprocess.run([weir_bin(), "context", "list"], env=weir.env(WEIR_CONFIG_HOME=str(weir.root / "none")), capture_output=True, text=True)
    assert "no saved logins" in empty.stderr and json.loads("[]") == []
