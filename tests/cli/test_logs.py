"""`weir task logs`: from the end, since a moment, lines that match, with their times. SPDX-License-Identifier: Apache-2.0"""

import re

import pytest

SCRIPT = "for i in $(seq 1 500); do echo line $i; done; echo trouble >&2; printf 'no end'"


@pytest.fixture(scope="module")
def filled(weir_shared):
    task = weir_shared.submit("sh", "-c", SCRIPT)
    weir_shared.weir("task", "wait", task)
    return weir_shared, task


def test_tail_and_grep(filled):
    weir, task = filled
    logs = lambda *words: weir.weir("task", "logs", task, "--stream", "stdout", *words).stdout  # noqa: E731
    assert logs("--tail", "3") == "line 499\nline 500\nno end"
    assert logs("-n", "0") == ""
    assert logs("--grep", "^line 4[01]0$") == "line 400\nline 410\n"
    assert logs("--grep", "end") == "no end\n"
    assert logs("--tail", "2", "--grep", "line") == "line 500\n"
    assert logs("--since", "1h", "--tail", "1") == "no end"
    assert logs("--since", "2100-01-01T00:00:00Z") == ""
    both = weir.weir("task", "logs", task, "--grep", "trouble|line 7$")
    assert (both.stdout, both.stderr) == ("line 7\n", "trouble\n")
    refused = weir.weir("task", "logs", task, "--grep", "[", check=False)
    assert refused.returncode == 2 and "--grep: '[' is no regular expression" in refused.stderr
    assert weir.weir("task", "logs", task, "--since", "soon", check=False).returncode == 2


def test_timestamps(filled):
    weir, task = filled
    lines = weir.weir("task", "logs", task, "--stream", "stdout", "--timestamps").stdout.splitlines()
    assert len(lines) == 501
    for number, line in enumerate(lines[:500], start=1):
        assert re.fullmatch(rf"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ line {number}", line)


def test_a_followed_log_is_filtered_too(weir):
    weir.weir("submit", "--", "sh", "-c", "echo one; sleep 0.5; echo two; sleep 0.5; printf 'tw'; sleep 0.5; echo enty")
    shown = weir.weir("task", "logs", "-f", 1, "--grep", "^tw")
    assert shown.stdout == "two\ntwenty\n"


def test_filtered_lines_of_several_instances_say_which_instance_wrote_them(weir):
    weir.weir("submit", "--array", "0-1", "--", "sh", "-c", "echo one; echo two; printf 'two of '; printf $INSTANCE_ID")
    weir.weir("task", "wait", 1)
    assert sorted(weir.weir("task", "logs", 1, "--grep", "two").stdout.splitlines()) == ["0: two", "0: two of 0", "1: two", "1: two of 1"]
    assert sorted(weir.weir("task", "logs", 1, "--grep", "of", "--no-prefix").stdout.splitlines()) == ["two of 0", "two of 1"]
    assert sorted(weir.weir("logs", 1, "--grep", "of", "--no-prefix").stdout.splitlines()) == ["two of 0", "two of 1"]
    for line in weir.weir("task", "logs", 1, "--timestamps").stdout.splitlines():
        assert re.fullmatch(r"[01]: 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ (one|two|two of [01])", line), line


def test_one_attempt(weir):
    weir.weir("submit", "--retries", "1", "--", "sh", "-c", "echo try $WEIR_ATTEMPT; [ $WEIR_ATTEMPT = 2 ]")
    weir.weir("task", "wait", 1)
    assert weir.weir("task", "logs", 1, "--attempt", "1").stdout == "try 1\n"
    assert weir.weir("task", "logs", "1.0:2").stdout == "try 2\n"
