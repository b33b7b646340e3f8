"""The first five minutes of a new user, and that nothing is lost or doubled.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os

import pytest

from ledger import Ledger, output_of


def test_run_prints_the_output_and_hands_on_the_exit_code(weir):
    w = weir()
    hello = w.weir("run", "--", "echo", "hello")
    assert hello.stdout == "hello\n"
    assert w.weir("run", "--", "sh", "-c", "exit 7", check=False).returncode == 7
    assert w.weir("run", "--", "sh", "-c", "kill -9 $$", check=False).returncode == 128 + 9
    both = w.weir("run", "--", "sh", "-c", "echo out; echo err >&2")
    assert both.stdout == "out\n"
    assert "err\n" in both.stderr


def test_a_task_never_runs_as_root(weir):
    w = weir()
    uid = int(w.weir("run", "--", "id", "-u").stdout)
    assert uid != 0
    if os.geteuid() != 0:
        assert uid == os.geteuid()
    groups = w.weir("run", "--", "id", "-G").stdout.split()
    assert "0" not in groups


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's tasks run as somebody else")
def test_a_directory_closed_to_the_tasks_user_is_said_once(weir, tmp_path):
    w = weir()
    closed = w.root / "closed"
    closed.mkdir(mode=0o700)
    for command in (["sh", "-c", "echo a; echo b; pwd"], ["true"]):
        result = w.weir("run", "--", *command, cwd=closed)
        assert result.stderr.count("cannot enter") == 1
        assert f"'{closed}'" in result.stderr
    task = w.api("GET", "tasks?limit=1").json["items"][0]["id"]
    assert w.api("GET", f"tasks/{task}").json["attempts"][0]["workdir_used"] is False
    assert "cannot enter it" in w.weir("task", "show", str(task)).stdout
    open_to_all = w.weir("run", "--", "pwd", cwd="/usr")
    assert (open_to_all.stdout, open_to_all.stderr) == ("/usr\n", "")


def test_a_program_that_does_not_exist_is_named(weir):
    w = weir()
    closed = w.root / "closed"
    closed.write_text("#!/bin/sh\n")
    closed.chmod(0o644)
    for task, (program, code, why) in enumerate(
        [("no-such-program-here", 127, "No such file or directory"), (str(closed), 126, "Permission denied")], 1
    ):
        result = w.weir("run", "--", program, check=False)
        sentence = f"cannot execute '{program}': {why}"
        assert (result.returncode, result.stderr) == (code, f"weir: {sentence}\n")
        assert w.weir("task", "wait", str(task), check=False).returncode == code
        shown = w.task(task)
        assert (shown["exit_code"], shown["cause"]) == (code, "spawn-failed")
        assert (shown["attempts"][0]["message"], shown["attempts"][0]["exit_code"]) == (sentence, None)
        assert sentence in w.weir("task", "show", str(task)).stdout
        assert sentence in w.weir("task", "list").stdout


def test_every_role_logs_json_lines_into_a_file(weir):
    w = weir()
    w.weir("run", "--", "true")
    w.stop()
    w.start()
    lines = (w.root / "up.log").read_text().splitlines()
    lines += (w.dir / "node" / "supervisor.log").read_text().splitlines()
    said = [json.loads(line) for line in lines if not line.startswith("weir: ")]  # `weir up` talks to a person
    assert {"server", "agent", "supervisor"} == {line["who"] for line in said}
    for line in said:
        assert {"time", "level", "who", "message"} <= line.keys()


@pytest.mark.parametrize("role,word", [("server", "server: "), ("agent", "agent: ")])
def test_a_role_talks_text_on_a_terminal(weir, role, word):
    w = weir()
    w.stop()
    terminal = w.terminal("up", "--dir", str(w.dir), "--port", "0", env={"WEIR_LOG": "info"})
    terminal.expect("ready http://")
    terminal.expect(word)
    terminal.send("\x03")
    code, text = terminal.finish()
    assert code == 0
    assert '{"time"' not in text


def test_up_on_a_terminal_is_short_and_every_line_fits(weir):
    w = weir("--slots", "1")
    w.submit("sleep", "1000")
    waiting = w.submit("true")
    w.stop()
    terminal = w.terminal("up", "--dir", str(w.dir), "--port", "0", "--slots", "1")
    text = terminal.expect("end   Ctrl-C")
    assert text.splitlines()[0].startswith("ready http://")
    assert len(text.splitlines()) <= 6
    url = {"WEIR_SERVER": text.split()[1], "WEIR_TOKEN": w.token}
    queue = w.weir("queue", env=url).stdout
    assert "true" in queue.splitlines()[1]  # the command stands for a name
    assert "nodes looked at" in w.weir("explain", str(waiting), env=url).stdout
    assert "nodes looked at" not in w.weir("explain", str(waiting - 1), env=url).stdout
    code, error = w.terminal("run", "--slots", "3", "--", "true", columns=60, env=url).finish()
    assert code == 9
    assert len(error.splitlines()) > 1
    assert all(len(line) <= 60 for line in error.splitlines())
    terminal.send("\x03")
    assert terminal.finish()[0] == 0


def test_a_thousand_tasks_complete_once_each(weir):
    w = weir("--slots", "32")
    ledger = Ledger(w.root)
    answer = w.api("POST", "tasks", [{"command": ledger.command()}] * 1000)
    assert answer.status == 201, answer.body
    ids = [task["id"] for task in answer.json["tasks"]]
    assert ids == list(range(ids[0], ids[0] + 1000))
    w.wait_until(lambda: w.api("GET", "status").json["tasks"].get("completed") == 1000, "1,000 completed tasks")
    assert ledger.breaches(ids) == []
    for task in ids[::100]:
        out, err = output_of(task)
        assert w.api("GET", f"tasks/{task}/logs?stream=stdout&format=raw").body.decode() == out
        assert w.api("GET", f"tasks/{task}/logs?stream=stderr&format=raw").body.decode() == err


def test_the_checker_sees_a_lost_and_a_doubled_task(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.path.write_text("start 1 0 1\nend 1 0 1\nstart 2 0 1\nstart 3 0 1\nend 3 0 1\nstart 3 0 1\nend 3 0 1\n")
    wrong = "\n".join(ledger.breaches([1, 2, 3]))
    assert "task 2 was acknowledged and never ended" in wrong
    assert "task 3 was started 2 times" in wrong
    assert "task 1 " not in wrong


def test_environment_is_built_from_nothing(weir):
    w = weir("--fake-gpus", "2", env={"SECRET_OF_THE_SERVER": "no"})
    text = w.weir("run", "--gpus", "1", "--env", "MINE=1", "--", "env").stdout
    env = dict(line.split("=", 1) for line in text.splitlines())
    assert env["MINE"] == "1"
    assert env["WEIR_POOL"] == "default"
    assert env["CUDA_VISIBLE_DEVICES"] in ("0", "1")
    assert env["WEIR_SLOTS"] == "1"
    assert env["INSTANCE_ID"] == env["WEIR_INSTANCE_ID"] == "0"
    assert {"WEIR_TASK_ID", "WEIR_NODE", "WEIR_JOB_DIR"} <= set(env)
    assert "SECRET_OF_THE_SERVER" not in env


def test_a_gang_has_ranks_and_starts_whole(weir):
    w = weir("--slots", "3")
    task = w.submit("sh", "-c", "echo $WEIR_RANK/$WEIR_WORLD_SIZE", instances=3, gang=True)
    assert w.wait(task)["state"] == "completed"
    lines = w.api("GET", f"tasks/{task}/logs?stream=stdout&format=raw").body.decode().split()
    assert sorted(lines) == ["0/3", "1/3", "2/3"]


def test_an_array_is_one_task_of_independent_instances(weir):
    w = weir("--slots", "2")
    task = int(w.weir("submit", "--array", "5-14", "--", "sh", "-c", "echo $INSTANCE_ID").stdout)
    assert w.weir("task", "wait", str(task)).returncode == 0
    lines = w.api("GET", f"tasks/{task}/logs?stream=stdout&format=raw").body.decode().split()
    assert sorted(map(int, lines)) == list(range(5, 15))


@pytest.mark.parametrize("policy", ["failed", "completed"])
def test_a_dependent_follows_its_dependency(weir, policy):
    w = weir()
    first = w.submit("sh", "-c", "exit 3" if policy == "failed" else "exit 0")
    second = w.submit("echo", "after", depends_on=[first])
    ended = w.wait(second)
    assert ended["state"] == policy
    assert ended["cause"] == ("dependency" if policy == "failed" else "exit")


def test_every_surface_gives_the_same_reason(weir):
    """Equal requests may wait for different reasons: who asks counts too."""
    w = weir("--fake-gpus", "1")
    w.weir("project", "create", "vision", "--department", "default")
    holder = w.submit("sleep", "600", resources={"gpu": 1})
    w.wait_state(holder, "running")
    plain = w.submit("true", resources={"gpu": 1}, project="vision")
    firm = w.submit("true", resources={"gpu": 1}, project="vision", preemptible=False)
    listed = {t["id"]: t["reason"] for t in w.api("GET", "tasks").json["items"]}
    queued = {t["id"]: t["reason"] for t in w.api("GET", "queue?pool=default").json["items"]}
    for task, code in ((plain, "over-share"), (firm, "over-guarantee")):
        explained = w.api("GET", f"tasks/{task}/explain").json["reason"]
        assert explained["code"] == code
        assert w.task(task)["reason"]["message"] == explained["message"]
        assert listed[task]["message"] == explained["message"]
        assert queued[task]["message"] == explained["message"]
