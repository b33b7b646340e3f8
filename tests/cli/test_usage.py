"""Help, mistakes and their exit status; no server is needed. SPDX-License-Identifier: Apache-2.0"""

import json
import os
import re
import subprocess

import golden
import pytest
from weir_harness import weir_bin


def commands():
    out = subprocess.run([weir_bin(), "help", "--commands"], capture_output=True, text=True, check=True).stdout
    return out.splitlines()


def test_the_first_screen(weir_alone):
    result = weir_alone("--help")
    assert result.returncode == 0
    golden.check("help", result.stdout)
    assert weir_alone().returncode == 2
    assert weir_alone("help").stdout == result.stdout


def test_every_command_has_help_with_examples_that_fits(weir_alone):
    names = commands()
    assert len(names) > 40
    for name in names:
        result = weir_alone(*name.split(), "--help")
        assert result.returncode == 0, name
        assert result.stdout.startswith(f"weir {name}: "), name
        lines = result.stdout.splitlines()
        assert any(line.startswith("  weir ") or "weir" in line for line in lines[1:4]), f"{name}: no example on top"
        assert max(map(len, lines)) <= 140, name
        assert weir_alone("help", *name.split()).stdout == result.stdout


def test_the_help_of_run(weir_alone):
    golden.check("help-run", weir_alone("run", "--help").stdout)


@pytest.mark.parametrize(
    "words, says",
    [
        (["sumbit"], "did you mean `weir submit`?"),
        (["tsak", "list"], "did you mean `weir task`?"),
        (["task", "lits"], "did you mean `weir task list`?"),
        (["ls"], "did you mean `weir task list`?"),
        (["xyzzy"], "`weir help` lists them"),
        (["task", "list", "--stat", "x"], "did you mean --state?"),
        (["run", "--gpu", "1", "true"], "did you mean --gpus?"),
        (["task", "show"], "needs TASK"),
        (["task", "show", "1", "2"], "one argument too many"),
        (["task", "show", "abc"], "'abc' is no task id"),
        (["task", "kill", "1x"], "'1x' is no task id"),
        (["run"], "no command to run"),
        (["submit"], "nothing to submit"),
        (["task", "list", "--sort", "colour"], "no column 'colour'; there are id, state"),
        (["task", "list", "--since", "soon"], "--since is 'soon'"),
        (["task", "edit", "1"], "nothing to change"),
        (["up", "--port", "99999"], "0 to 65535 would do"),
        (["up", "--resources", "foo"], "--resources"),
        (["completion", "tcsh"], "bash, zsh or fish would do"),
        (["help", "exit-code"], "did you mean `weir help exit-codes`?"),
        (["login", "localhost"], "is no address"),
        (["config", "init", "tpu"], "cpu, gpu or cpu+gpu would do"),
    ],
)
def test_mistakes_are_named_and_exit_2(weir_alone, words, says):
    result = weir_alone(*words)
    assert result.returncode == 2, result.stderr
    assert says in result.stderr
    assert result.stdout == ""


BAD_REQUESTS = [
    ["--resources", "foo"],
    ["--resources", "foo="],
    ["--resources", "foo=-1"],
    ["--resources", "foo=NaN"],
    ["--resources", "foo=inf"],
    ["--resources", "foo=1e99"],
    ["--resources", "foo=1 foo=2"],
    ["--resources", "=5"],
    ["--resources", "foo=0.1234"],
    ["--resources", "foo=99999999999999999999"],
    ["--resources", "foo=1", "--resources", "foo=1"],
    ["--slots", "-1"],
    ["--slots", ""],
    ["--slots", "1", "--resources", "slots=2"],
    ["--gpus", "one"],
    ["--memory", "64X"],
    ["--cpu", "1.2345"],
    ["--devices", "0,0"],
    ["--array", "5-2"],
    ["--after", "zero"],
    ["--time", "tomorrow"],
    ["--priority", "-5"],
    ["--instances", "many"],
    ["--kind", "cron"],
    ["--env", "=x"],
    ["--preemptible", "--no-preempt"],
]


@pytest.mark.parametrize("flags", BAD_REQUESTS, ids=" ".join)
@pytest.mark.parametrize("command", ["run", "submit"])
def test_malformed_requests_exit_2_before_any_server_is_asked(weir_alone, command, flags):
    result = weir_alone(command, *flags, "--", "true")
    assert result.returncode == 2, result.stderr
    assert flags[0].lstrip("-") in result.stderr
    assert result.stdout == ""


def test_no_server_known_is_exit_6_and_says_what_to_do(weir_alone):
    result = weir_alone("task", "list", env={"WEIR_SERVER": "http://127.0.0.1:1"})
    assert result.returncode == 6
    assert "http://127.0.0.1:1" in result.stderr
    assert "connect" in result.stderr.lower()
    assert "weir up" in result.stderr


def test_run_without_a_server_is_weirs_failure_not_the_tasks(weir_alone):
    result = weir_alone("run", "--retry", "0", "--", "true", env={"WEIR_SERVER": "http://127.0.0.1:1"})
    assert result.returncode == 125
    result = weir_alone("submit", "--retry", "0", "--", "true", env={"WEIR_SERVER": "http://127.0.0.1:1"})
    assert result.returncode == 6


def test_a_change_keeps_trying_and_says_so(weir_alone):
    result = weir_alone("submit", "--retry", "1s", "--", "true", env={"WEIR_SERVER": "http://127.0.0.1:1"})
    assert result.returncode == 6
    assert "trying for up to 1 s" in result.stderr


def test_help_topics(weir_alone):
    for topic in ("exit-codes", "resources", "states", "environment", "task-file"):
        result = weir_alone("help", topic)
        assert result.returncode == 0 and len(result.stdout) > 100
    assert re.search(r"^125|125$| 125", weir_alone("help", "exit-codes").stdout, re.M)


def test_the_manual_begins_with_a_list_of_all_commands(weir_alone):
    top = weir_alone("help", "--man").stdout
    assert top.startswith('.TH "WEIR" 1')
    for name in commands():
        assert "weir-" + name.replace(" ", "-") in top


def test_version(weir_alone):
    assert re.fullmatch(
        r"weir \d+\.\d+\.\d+\nformats: schema \d+, facts \d+, state \d+, segment \d+, snapshot \d+, acknowledged \d+, "
        r"protocol \d+\n",
        weir_alone("--version").stdout,
    )
    assert weir_alone("version").stdout == weir_alone("--version").stdout


def test_completion_scripts_are_accepted_by_their_shells(weir_alone):
    for shell in ("bash", "zsh", "fish"):
        script = weir_alone("completion", shell).stdout
        assert "weir __complete" in script
    script = weir_alone("completion", "bash").stdout
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0


@pytest.mark.parametrize(
    "words, offers",
    [
        (["ta"], {"task"}),
        (["task", "l"], {"list", "logs"}),
        (["task", "list", "--st"], {"--state"}),
        (["run", "--kind", "no"], {"notebook"}),
        (["submit", "-f", ""], {":files"}),
        (["up", "--dir", ""], {":dirs"}),
        (["completion", ""], {"bash", "zsh", "fish"}),
        (["run", "--", "l"], {":files"}),
    ],
)
def test_completion_offers_what_fits(weir_alone, words, offers):
    result = weir_alone("__complete", "--", *words)
    assert result.returncode == 0
    assert {line.split("\t")[0] for line in result.stdout.splitlines()} == offers


def test_completion_is_silent_without_a_server(weir_alone):
    result = weir_alone("__complete", "--", "task", "show", "", env={"WEIR_SERVER": "http://127.0.0.1:1"})
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_config_init_passes_config_check(weir_alone, tmp_path):
    for form in ("cpu", "gpu", "cpu+gpu"):
        path = tmp_path / "server.yaml"
        path.write_text(weir_alone("config", "init", form).stdout)
        result = weir_alone("config", "check", str(path))
        assert result.returncode == 0, result.stderr


def test_config_check_shows_every_problem_with_its_place(weir_alone, tmp_path):
    path = tmp_path / "server.yaml"
    path.write_text("listen: 127.0.0.1:8080\nlisten_port: 7\npools:\n  - name: 'a b'\n    patience: soon\n")
    result = weir_alone("config", "check", str(path))
    assert result.returncode == 2
    for place in ("server.yaml:2:", "server.yaml:4:", "server.yaml:5:"):
        assert place in result.stderr
    assert "^" in result.stderr
    assert weir_alone("config", "check", str(tmp_path / "none.yaml")).returncode == 3


def test_config_check_speaks_json(weir_alone, tmp_path):
    path = tmp_path / "server.yaml"
    path.write_text("listen: 127.0.0.1:8080\nlisten_port: 7\npools:\n  - name: 'a b'\n")
    result = weir_alone("config", "check", "--json", str(path))
    found = json.loads(result.stdout)
    assert (result.returncode, result.stderr) == (2, "")
    assert (found["file"], found["ok"], found["total"]) == (str(path), False, 2)
    assert sorted((p["line"], p["path"]) for p in found["problems"]) == [(2, "listen_port"), (4, "pools[0].name")]
    assert all(p["column"] >= 1 and p["message"] for p in found["problems"])
    path.write_text(weir_alone("config", "init", "gpu").stdout)
    result = weir_alone("config", "check", "--json", str(path))
    assert result.returncode == 0
    assert {"ok": True, "problems": [], "pools": 1, "listen_port": 8080}.items() <= json.loads(result.stdout).items()


def test_config_check_of_what_is_no_yaml_says_where_it_stopped(weir_alone, tmp_path):
    path = tmp_path / "weir.yaml"
    path.write_text("pools:\n  - name: [a\n")
    result = weir_alone("config", "check", str(path))
    assert result.returncode == 2
    assert result.stderr.startswith(f"{path}:3:1: pools[0].name[1]: ")


def test_output_that_cannot_be_written_is_no_success():
    with open("/dev/full", "wb") as full:
        result = subprocess.run([weir_bin(), "completion", "bash"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    assert "cannot write" in result.stderr


def test_a_checkpoint_is_of_a_task(weir_alone, tmp_path):
    outside = weir_alone("checkpoint")
    assert outside.returncode == 2
    assert "WEIR_CHECKPOINT_FILE is not set" in outside.stderr and "when it has saved its work" in outside.stderr
    file = tmp_path / "checkpoint"
    for _ in range(2):  # also where it is there already
        done = weir_alone("checkpoint", env={"WEIR_CHECKPOINT_FILE": str(file)})
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert file.read_bytes() == b""
        os.utime(file, (1, 1))
    assert file.stat().st_mtime == 1
    assert weir_alone("checkpoint", env={"WEIR_CHECKPOINT_FILE": str(file)}).returncode == 0
    assert file.stat().st_mtime > 1000
    gone = weir_alone("checkpoint", env={"WEIR_CHECKPOINT_FILE": str(tmp_path / "none" / "checkpoint")})
    assert gone.returncode == 1 and "cannot open" in gone.stderr
