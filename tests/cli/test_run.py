"""`weir run`: output, exit status, signals, terminals. SPDX-License-Identifier: Apache-2.0"""

import os
import signal
import subprocess

import pytest


def test_hello(weir_shared):
    result = weir_shared.weir("run", "--", "echo", "hello")
    assert (result.stdout, result.stderr) == ("hello\n", "")


@pytest.mark.parametrize(
    "script, code",
    [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -TERM $$", 143), ("kill -KILL $$", 137)],
)
def test_the_tasks_own_status_is_handed_on(weir_shared, script, code):
    result = weir_shared.weir("run", "--", "sh", "-c", script, check=False)
    assert result.returncode == code, result.stderr


def test_both_streams_arrive_where_they_belong(weir_shared):
    result = weir_shared.weir("run", "--", "sh", "-c", "echo out; echo err >&2; printf 'no newline'")
    assert result.stdout == "out\nno newline"
    assert result.stderr == "err\n"


def test_bytes_that_are_no_text_arrive_whole(weir_shared):
    data = bytes(range(256)) * 41
    script = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 41)"
    process = weir_shared.spawn("run", "--", "/usr/bin/env", "python3", "-c", script)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out == data


def test_large_output_arrives_whole_and_in_order(weir_shared):
    result = weir_shared.weir("run", "--", "seq", "1", "200000")
    assert result.stdout == "".join(f"{i}\n" for i in range(1, 200001))


def test_flags_reach_the_task(weir_shared):
    result = weir_shared.weir(
        "run", "--env", "A=b c", "--env", "FROM_ME", "--slots", "2", "--",
        "sh", "-c", 'echo "$A|$FROM_ME|$WEIR_SLOTS|$INSTANCE_ID|$WEIR_POOL"',
        env={"FROM_ME": "mine"},
    )  # fmt: skip
    assert result.stdout == "b c|mine|2|0|default\n"


def test_a_variable_the_caller_lacks_stays_unset(weir_shared):
    result = weir_shared.weir("run", "--env", "NOBODY_HAS_THIS", "--", "sh", "-c", "echo ${NOBODY_HAS_THIS-unset}")
    assert result.stdout == "unset\n"


def test_words_that_are_no_text_are_refused_not_changed(weir_shared):
    for words in (["--", "cat", "caf\udce9"], ["--env", "A=\udcff", "--", "true"], ["--name", "\udcff", "--", "true"]):
        for command in ("run", "submit"):
            process = weir_shared.spawn(command, *words)
            _, err = process.communicate(timeout=60)
            assert process.returncode == 2
            assert b"not valid UTF-8" in err


def test_the_commands_directory_is_the_callers_where_the_task_may_enter(weir_shared, tmp_path_factory):
    place = weir_shared.root / "open"
    place.mkdir(exist_ok=True)
    place.chmod(0o755)
    assert weir_shared.weir("run", "--", "pwd", cwd=place).stdout == f"{place}\n"
    assert weir_shared.weir("run", "--workdir", "/tmp", "--", "pwd", cwd=place).stdout == "/tmp\n"


def test_a_directory_it_may_not_enter_is_replaced_by_the_job_directory(weir_shared):
    closed = weir_shared.root / "closed"
    closed.mkdir(exist_ok=True)
    closed.chmod(0o700)
    if os.geteuid() != 0:
        pytest.skip("tasks run as the same user: it may enter")
    result = weir_shared.weir("run", "--", "sh", "-c", "pwd; echo $WEIR_JOB_DIR", cwd=closed)
    where, job = result.stdout.split()
    assert where == job


def test_a_missing_program_is_a_failure_that_names_it(weir_shared):
    result = weir_shared.weir("run", "--", "/no/such/program", check=False)
    assert result.returncode == 127
    assert "'/no/such/program'" in result.stderr


def test_what_can_never_run_is_refused_with_9_and_the_name(weir_shared):
    for command in ("run", "submit"):
        result = weir_shared.weir(command, "--resources", "unobtainium=1", "--", "true", check=False)
        assert result.returncode == 9
        assert "unobtainium" in result.stderr
        result = weir_shared.weir(command, "--slots", "3", "--", "true", check=False)
        assert result.returncode == 9, result.stderr
        assert "2" in result.stderr  # the smallest change that would be accepted


def test_an_unknown_pool_is_named(weir_shared):
    for command in ("run", "submit"):
        result = weir_shared.weir(command, "--pool", "nowhere", "--", "true", check=False)
        assert result.returncode == 2
        assert "'nowhere'" in result.stderr


def test_zero_bytes_arrive_too(weir_shared):
    assert weir_shared.weir("run", "--", "printf", "a\\0b").stdout == "a\0b"


def test_detach_prints_the_id_and_leaves(weir_shared):
    task = weir_shared.weir("run", "--detach", "--", "echo", "later").stdout.strip()
    assert weir_shared.wait(task)["state"] == "completed"
    assert weir_shared.weir("task", "logs", task).stdout == "later\n"


def test_sigterm_lets_go_of_the_task(weir_shared):
    process = weir_shared.spawn("run", "--", "sh", "-c", "echo started; exec sleep 1000")
    assert process.stdout.readline() == b"started\n"
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    task = err.decode().split("task ")[1].split()[0]
    assert weir_shared.task(task)["state"] == "running"
    weir_shared.weir("task", "kill", task)
    assert weir_shared.wait(task)["state"] == "killed"


def started_on_a_terminal(weir):
    terminal = weir.terminal("run", "--", "sh", "-c", "echo started; exec sleep 1000")
    terminal.expect("started")
    terminal.send("\x03")
    terminal.expect("[d]etach, [k]ill")
    return terminal


def newest(weir):
    return weir.api("GET", "tasks?limit=1").json["items"][0]["id"]


def test_ctrl_c_and_k_kill_the_task(weir_shared):
    terminal = started_on_a_terminal(weir_shared)
    terminal.send("k\n")
    status, text = terminal.finish()
    assert status == 143
    assert text.count("started") == 1  # what was shown is not shown again
    assert weir_shared.task(newest(weir_shared))["state"] == "killed"


def test_ctrl_c_and_c_go_on_where_it_was(weir_shared):
    go = weir_shared.root / "go-on"
    script = f"echo started; until test -e {go}; do sleep 0.05; done; echo finished"
    terminal = weir_shared.terminal("run", "--", "sh", "-c", script)
    terminal.expect("started")
    terminal.send("\x03")
    terminal.expect("[d]etach, [k]ill")
    terminal.send("c\n")
    go.touch()
    status, text = terminal.finish()
    assert status == 0
    assert (text.count("started"), text.count("finished")) == (1, 1)


def test_ctrl_c_and_d_detach(weir_shared):
    terminal = started_on_a_terminal(weir_shared)
    terminal.send("d\n")
    status, text = terminal.finish()
    task = newest(weir_shared)
    assert status == 0
    assert f"weir task logs -f {task}" in text
    assert weir_shared.task(task)["state"] == "running"
    weir_shared.weir("task", "kill", task)
    weir_shared.wait(task)


def test_ctrl_c_asks_again_until_the_answer_is_one(weir_shared):
    terminal = started_on_a_terminal(weir_shared)
    for wrong in ("\n", "x\n", "kindly not\n", "?\n"):
        terminal.send(wrong)
        terminal.expect("answer d, k or c. [d]etach, [k]ill")
    terminal.send("K\n")
    status, _ = terminal.finish()
    assert status == 143
    assert weir_shared.task(newest(weir_shared))["state"] == "killed"


def test_ctrl_c_and_the_end_of_input_detach(weir_shared):
    terminal = started_on_a_terminal(weir_shared)
    terminal.send("\x04")
    status, _ = terminal.finish()
    task = newest(weir_shared)
    assert status == 0
    assert weir_shared.task(task)["state"] == "running"
    weir_shared.weir("task", "kill", task)
    weir_shared.wait(task)


def test_a_second_ctrl_c_detaches(weir_shared):
    terminal = started_on_a_terminal(weir_shared)
    terminal.send("\x03")
    status, _ = terminal.finish()
    task = newest(weir_shared)
    assert status == 0
    assert weir_shared.task(task)["state"] == "running"
    weir_shared.weir("task", "kill", task)
    weir_shared.wait(task)


def test_the_terminal_says_what_it_waits_for(weir_shared):
    holder = weir_shared.submit("sleep", "1000", resources={"slots": 2})
    weir_shared.wait_state(holder, "running")
    terminal = weir_shared.terminal("run", "--slots", "1", "--", "echo", "at last")
    terminal.expect("waits, place 1: ")
    terminal.expect("slot")
    weir_shared.weir("task", "kill", holder)
    status, text = terminal.finish()
    assert status == 0
    assert text.endswith("\r\x1b[Kat last\n")


def test_several_instances_give_the_lowest_failed_ones_code(weir_shared):
    result = weir_shared.weir("run", "--array", "0-3", "--", "sh", "-c", "exit $((INSTANCE_ID * 10))", check=False)
    assert result.returncode == 10


def test_json_gives_the_pieces(weir_shared):
    import json

    result = weir_shared.weir("run", "--json", "--", "echo", "hi")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert lines[0]["data"] == "hi\n"
    assert lines[-1] == {"end": True, "state": "completed", "exit_code": 0}


def test_a_reader_that_goes_away_is_no_error(weir_shared):
    process = weir_shared.spawn("run", "--", "sh", "-c", "yes | head -c 1000000")
    head = subprocess.run(["head", "-n", "1"], stdin=process.stdout, capture_output=True, timeout=60)
    process.stdout.close()
    assert head.stdout == b"y\n"
    assert process.wait(timeout=60) == 0
    process.stderr.close()


def test_ctrl_c_asks_at_once_while_the_server_is_away(weir_factory):
    w = weir_factory()
    run = w.terminal("run", "--", "sh", "-c", "echo begun; sleep 600")
    run.expect("begun")
    os.kill(w.pid_of("server"), signal.SIGKILL)
    run.expect("lost the server")
    run.send("k\n")  # typed before the question: answers nothing
    run.send("\x03")
    run.expect("[d]etach")
    run.send("d\n")
    code, text = run.finish()
    assert code == 0 and "`weir task logs -f 1` follows it" in text
    w.kill()
    w.start()
    assert w.task(1)["state"] in ("running", "starting")
    w.weir("kill", "--yes", "1")
