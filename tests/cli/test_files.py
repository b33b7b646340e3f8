"""Problems of files: all at once, each with its place, a caret and what would do. SPDX-License-Identifier: Apache-2.0"""


def lines_of(text):
    """The messages and the columns of their carets."""
    lines = text.splitlines()
    carets = [line.index("^") - 3 for line in lines if line.strip() == "^"]
    return [line for line in lines if not line.startswith(" ")], carets


def test_every_problem_of_every_task_file_is_shown_at_once(weir):
    one = weir.root / "one.yaml"
    two = weir.root / "two.yaml"
    one.write_text(
        "comand: [sleep, 1]\n"
        "resources: {gpu: 1e3, memory: 99999999999999999999999}\n"
        "priorty: 4\n"
        "time_limit: 99999999999999999999h\n"
        "instances: 1e3\n"
    )
    two.write_text("command: [true]\nname: a\n  priority: 3\n")
    done = weir.weir("submit", "-f", one, "-f", two, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    messages, carets = lines_of(done.stderr)
    assert messages == [
        f"{one}:1:1: comand: unknown field; did you mean 'command'?",
        f"{one}:2:18: resources.gpu: an amount is a number of 0 or more with at most three decimal places, like 2 or 0.5, not '1e3'",
        f"{one}:2:31: resources.memory: a size is at most 64Pi, not '99999999999999999999999'",
        f"{one}:3:1: priorty: unknown field; did you mean 'priority'?",
        f"{one}:4:13: time_limit: a duration is at most 100 years, not '99999999999999999999h'",
        f"{one}:5:12: instances: a whole number from 1 to 10000 is wanted, not 1e3",
        f"{one}:1:1: command: it is missing: what to run, like [\"python\", \"train.py\"]",
        f"{two}:3:11: mapping values are not allowed in this context",
        "weir: 8 problems in the files; nothing was submitted",
    ]
    assert carets == [1, 18, 31, 1, 13, 12, 1, 11]
    assert weir.api("GET", "tasks").json["items"] == []


def test_a_file_that_flags_complete_is_checked_too(weir):
    path = weir.root / "task.yaml"
    path.write_text("priorty: 4\n")
    done = weir.weir("submit", "-f", path, "--", "true", check=False)
    assert done.returncode == 2
    assert lines_of(done.stderr)[0] == [
        f"{path}:1:1: priorty: unknown field; did you mean 'priority'?",
        "weir: 1 problem in the files; nothing was submitted",
    ]
    path.write_text("priority: 4\n")
    assert weir.weir("submit", "-f", path, "--", "true").stdout == "1\n"


def test_a_number_of_a_flag_says_what_would_do(weir):
    for words, said in (
        (["--priority", "1e3"], "--priority is '1e3'; a whole number in digits, 0 or more, would do"),
        (["--priority", "9" * 30], f"--priority is '{'9' * 30}'; no number is that large here"),
        (["--gpus", "9" * 30], f"--gpus: an amount is at most 1000000000000, not '{'9' * 30}'"),
        (["--memory", "9" * 30], f"--memory: a size is at most 64Pi, not '{'9' * 30}'"),
    ):
        done = weir.weir("submit", *words, "--", "true", check=False)
        assert (done.returncode, done.stderr) == (2, f"weir: {said}\n")


def test_a_server_file_with_problems_shows_all_of_them(weir):
    path = weir.root / "weir.yaml"
    path.write_text("lissen: 1\npools:\n  - {nam: a}\n")
    done = weir.weir("server", "--config", path, check=False)
    assert done.returncode == 1
    messages, carets = lines_of(done.stderr)
    assert messages[0] == f"{path}:1:1: lissen: unknown field; did you mean 'listen'?"
    assert messages[1] == f"{path}:3:6: pools[0].nam: unknown field; did you mean 'name'?"
    assert messages[-1] == f"weir server: {path} cannot be used; see above"
    assert carets[:2] == [1, 6]


def test_the_settings_of_an_agent_have_their_place(weir):
    path = weir.root / "agent.yaml"
    path.write_text("name: a\n  slots: 3\n")
    done = weir.weir("agent", "--config", path, check=False)
    assert done.returncode != 0
    assert f"{path}:2:8: mapping values are not allowed" in done.stderr
    for text, said in (
        ("name: a\njoin_tokn_file: x\n", ":2:1: join_tokn_file: there is no such setting of an agent; did you mean 'join_token_file'?"),
        ("slots: 1e3\n", ":1:8: slots: a whole number from 0 to 100000 is wanted, not '1e3'"),
    ):
        path.write_text(text)
        assert f"{path}{said}" in weir.weir("agent", "--config", path, check=False).stderr
