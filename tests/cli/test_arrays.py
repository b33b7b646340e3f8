"""Arrays: how far each has come, the output of their instances, and the failed ones again. SPDX-License-Identifier: Apache-2.0"""

import re

import pytest

WORK = "echo line of $INSTANCE_ID; test $INSTANCE_ID -ne 2 -a $INSTANCE_ID -ne 4 -a $INSTANCE_ID -ne 5"


@pytest.fixture(scope="module")
def swept(request):
    """Task 1: instances 2, 4 and 5 of 0 to 6 failed. Task 2: a gang of two that failed."""
    from weir_harness import Weir

    weir = Weir(["--slots", "2"])
    weir.start()
    request.addfinalizer(weir.close)
    weir.weir("submit", "--array", "0-6", "--name", "sweep", "--", "sh", "-c", WORK)
    assert weir.wait(1)["state"] == "failed"
    weir.weir("run", "--instances", "2", "--gang", "--", "false", check=False)
    return weir


def test_a_list_says_how_many_are_done_and_failed(swept):
    assert "4 done, 3 failed; exit code 1" in swept.weir("task", "list").stdout
    assert "4 done, 3 failed" in swept.weir("task", "show", "1").stdout


def test_a_list_says_how_many_run_and_wait(weir):
    done = weir.root / "done"
    weir.weir("submit", "--array", "0-4", "--", "sh", "-c", f"test $INSTANCE_ID -lt 1 || while ! test -e {done}; do sleep 0.05; done")
    weir.wait_until(lambda: weir.task(1)["counts"]["ended"] == 1 and weir.task(1)["counts"]["active"] == 2, "two of them to run")
    for command in (["task", "list"], ["queue"], ["task", "show", "1"]):
        said = weir.weir(*command).stdout
        assert "1 done, 2 running, 2 waiting; waits for 1 slot" in said, said
    done.touch()


def test_only_the_failed_instances_are_submitted_again(swept):
    again = swept.weir("task", "retry", "1", "--failed")
    first, second = map(int, again.stdout.split())
    assert again.stderr == (
        f"INSTANCE_ID 2 of task 1 is submitted again as task {first}\n"
        f"INSTANCE_ID 4 to 5 of task 1 are submitted again as task {second}\n"
    )
    swept.wait(first), swept.wait(second)
    assert swept.weir("task", "logs", first).stdout == "line of 2\n"
    assert sorted(swept.weir("task", "logs", second, "--no-prefix").stdout.splitlines()) == ["line of 4", "line of 5"]


def test_one_instance_is_submitted_again(swept):
    again = int(swept.weir("task", "retry", "1.4").stdout)
    swept.wait(again)
    assert swept.weir("task", "logs", again).stdout == "line of 4\n"
    none = swept.weir("task", "retry", "1.7", check=False)
    assert none.returncode == 3 and "the task has the instances 0 to 6" in none.stderr


def test_what_cannot_be_submitted_again_in_parts_is_refused(swept):
    gang = swept.weir("task", "retry", "2", "--failed", check=False)
    assert gang.returncode == 5 and "a gang is submitted again as a whole" in gang.stderr
    well = swept.submit("true", instances=2)
    swept.wait(well)
    well = swept.weir("task", "retry", well, "--failed", check=False)
    assert well.returncode == 5 and "every instance completed" in well.stderr


def test_lines_say_which_instance_wrote_them(swept):
    lines = swept.weir("task", "logs", "1").stdout.splitlines()
    assert sorted(lines) == [f"{i}: line of {i}" for i in range(7)]
    assert sorted(swept.weir("task", "logs", "1", "--no-prefix").stdout.splitlines()) == [f"line of {i}" for i in range(7)]
    assert swept.weir("task", "logs", "1.3").stdout == "line of 3\n"
    text = swept.terminal("task", "logs", "1").finish()[1]
    assert "\x1b[33m2:\x1b[0m line of 2\n" in text
    assert sorted(swept.weir("run", "--array", "0-1", "--", "sh", "-c", "echo $INSTANCE_ID").stdout.splitlines()) == ["0: 0", "1: 1"]


def test_an_instance_stands_where_a_task_does(swept):
    shown = swept.weir("task", "show", "1.4").stdout
    assert re.findall(r"(?m)^1\.\d+:1", shown) == ["1.4:1"]
    assert swept.weir("task", "wait", "1.4", check=False).returncode == 1
    assert swept.weir("task", "wait", "1.3").returncode == 0
    assert swept.weir("task", "wait", "1.9", check=False).returncode == 125
    assert swept.weir("explain", "1.4", check=False).stderr == swept.weir("explain", "1", check=False).stderr
    refused = swept.weir("task", "kill", "1.4", check=False)
    assert refused.returncode == 2
    assert refused.stderr == "weir: '1.4' is one instance; this command takes whole tasks: 1 would do\n"


def test_the_end_of_one_instance_is_waited_for(weir):
    weir.weir("submit", "--array", "0-1", "--", "sh", "-c", "test $INSTANCE_ID -eq 0 || sleep 1000")
    assert weir.weir("task", "wait", "1.0").returncode == 0
    assert weir.weir("task", "wait", "1.1", "--timeout", "1s", check=False).returncode == 7


def test_only_the_last_attempt_of_an_instance_counts(weir):
    script = "test $WEIR_ATTEMPT -eq 2 && exit $INSTANCE_ID; sleep 0.5; exit 5"
    weir.weir("submit", "--array", "0-1", "--retries", "1", "--", "sh", "-c", script)
    # The first attempt ends with 5. The instance has ended with the second attempt only.
    assert weir.weir("task", "wait", "1.0").returncode == 0
    assert weir.weir("task", "wait", "1.1", check=False).returncode == 1
    weir.wait(1)
    assert [(a["exit_code"], a["again"]) for a in weir.task(1)["attempts"]] == [(5, True), (0, False), (5, True), (1, False)]
    assert weir.weir("task", "retry", "1", "--failed").stderr == "INSTANCE_ID 1 of task 1 is submitted again as task 2\n"


def test_an_instance_that_waits_again_has_not_ended(weir_factory):
    weir = weir_factory("--slots", "1")
    weir.weir("submit", "--instances", "1", "--retries", "1", "--", "sh", "-c", f"while ! [ -e {weir.root}/go ]; do sleep 0.1; done; exit 5")
    weir.wait_state(1, "running")
    weir.weir("pool", "pause", "default")
    (weir.root / "go").touch()
    weir.wait_state(1, "pending")
    [attempt] = weir.task(1)["attempts"]
    assert (attempt["state"], attempt["exit_code"], attempt["again"]) == ("ended", 5, True)
    assert weir.weir("task", "wait", "1.0", "--timeout", "1s", check=False).returncode == 7


def test_arrays_that_begin_elsewhere_show_both_numbers(swept):
    task = swept.weir("submit", "--array", "5-6", "--", "true").stdout.strip()
    swept.wait(task)
    shown = swept.weir("task", "show", task).stdout
    assert re.search(r"ATTEMPT +INSTANCE_ID", shown) and re.search(rf"{task}\.1:1 +6 ", shown)
    assert re.search(r"ATTEMPT +STATE", swept.weir("task", "show", "1").stdout)


def test_escape_sequences_in_output_do_nothing_on_a_terminal(swept):
    evil = r"printf 'a\033[2J\033]0;title\007b\tc\rd \302\205 caf\303\251\n'"
    bytes_ = "a\x1b[2J\x1b]0;title\x07b\tc\rd \x85 café\n"
    task = swept.submit("sh", "-c", evil)
    swept.wait(task)
    assert swept.weir("task", "logs", task).stdout.replace("\r", "\n") == bytes_.replace("\r", "\n")  # a pipe gets the bytes
    shown = swept.terminal("task", "logs", task).finish()[1]
    assert shown == "a\\x1b[2J\\x1b]0;title\\x07b\tc\rd \\u0085 café\n"
    assert "\x1b[2J" in swept.terminal("task", "logs", "--raw", task).finish()[1]
    assert "\x1b[2J" not in swept.terminal("run", "--", "sh", "-c", evil).finish()[1]
    assert "\x1b[2J" in swept.terminal("run", "--raw", "--", "sh", "-c", evil).finish()[1]


def test_an_instance_that_is_not_there_is_said_to_be_missing(weir):
    first = int(weir.weir("submit", "--array", "0-1", "--", "true").stdout)
    weir.wait(first)
    for command in (["logs", f"{first}.2"], ["task", "show", f"{first}.2"], ["logs", str(first), "--instance", "2"]):
        said = weir.weir(*command, check=False)
        assert (said.returncode, said.stdout) == (3, ""), said
        assert said.stderr == f"weir: task {first} has no instance 2; it has {first}.0 to {first}.1\n"
    said = weir.weir("logs", f"{first}.1:2", check=False)
    assert said.returncode == 3 and f"instance {first}.1 has no attempt 2; its last is 1" in said.stderr
    assert weir.weir("task", "show", f"{first}.1").returncode == 0
