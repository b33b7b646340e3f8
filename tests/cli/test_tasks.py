"""`weir submit` and `weir task …`. SPDX-License-Identifier: Apache-2.0"""

import datetime
import json
import re

import pytest


def ids_of(result):
    return [int(line) for line in result.stdout.split()]


def test_submit_prints_the_id(weir):
    assert weir.weir("submit", "--", "true").stdout == "1\n"
    assert weir.weir("submit", "true").stdout == "2\n"
    assert json.loads(weir.weir("submit", "--json", "--", "true").stdout)["tasks"][0]["id"] == 3


def test_files_of_one_and_of_many(weir):
    one = weir.root / "one.yaml"
    one.write_text("name: 12\ncommand: [sh, -c, 'echo $SEED']\nenv: {SEED: 7}\nresources: {slots: 1}\ntime_limit: 1h\n")
    many = weir.root / "many.json"
    many.write_text(json.dumps([{"command": ["echo", str(i)]} for i in range(30)]))
    ids = ids_of(weir.weir("submit", "-f", one, "-f", many, "--tag", "all"))
    assert ids == list(range(1, 32))
    assert weir.weir("task", "wait", *ids).stdout == ""
    assert weir.weir("task", "logs", 1).stdout == "7\n"
    assert weir.weir("task", "logs", 31).stdout == "29\n"
    task = weir.task(1)
    assert (task["name"], task["time_limit_ms"], task["tags"]) == ("12", 3600000, ["all"])


def test_standard_input(weir):
    ids = ids_of(weir.weir("submit", "-f", "-", input="- command: [echo, a]\n- command: [echo, b]\n"))
    assert ids == [1, 2]
    assert weir.weir("task", "wait", "-", input="1 2\n").returncode == 0


def test_more_than_a_batch(weir):
    weir.weir("pool", "pause", "default")
    ids = ids_of(weir.weir("submit", "-f", "-", input=json.dumps([{"command": ["true"]}] * 2500)))
    assert ids == list(range(1, 2501))


def test_a_file_with_a_mistake_submits_nothing_of_any_file(weir):
    good = weir.root / "good.yaml"
    good.write_text("command: ['true']\n")
    bad = weir.root / "bad.yaml"
    bad.write_text("command: ['true']\npriority: high\n")
    result = weir.weir("submit", "-f", good, "-f", bad, check=False)
    assert result.returncode == 2
    assert "bad.yaml:2:" in result.stderr and "priority" in result.stderr
    assert weir.weir_json("task", "list") == []
    assert weir.weir("submit", "-f", "none.yaml", check=False).returncode == 3


def test_flags_win_over_files(weir):
    path = weir.root / "t.yaml"
    path.write_text("command: ['true']\npriority: 10\nresources: {slots: 2}\n")
    weir.weir("submit", "-f", path, "--priority", "90", "--slots", "1", "--stage")
    task = weir.task(1)
    assert (task["priority"], task["resources"]["slots"], task["state"]) == (90, 1, "staged")


def test_an_elastic_gang_by_its_flag(weir):
    task = int(weir.weir("submit", "--instances", "5", "--min-instances", "2", "--stage", "--", "true").stdout)
    shown = weir.task(task)
    assert (shown["instances"], shown["min_instances"], shown["gang"]) == (5, 2, True)
    assert "5, a gang that runs with 2\n" in weir.weir("task", "show", task).stdout
    for words, says in ((["--instances", "2", "--min-instances", "3"], "min_instances"), (["--array", "0-4", "--min-instances", "2"], "array"),
                        (["--min-instances", "0"], "min_instances"), (["--min-instances", "two"], "--min-instances")):
        refused = weir.weir("submit", *words, "--", "true", check=False)
        assert (refused.returncode, says in refused.stderr) == (2, True), refused.stderr
    assert "--min-instances" in weir.weir("__complete", "--", "submit", "--min").stdout


def test_stage_start_pause_activate_edit_kill(weir):
    weir.weir("pool", "pause", "default")
    task = weir.weir("submit", "--stage", "--", "sleep", "1000").stdout.strip()
    assert weir.task(task)["state"] == "staged"
    weir.weir("task", "start", task)
    assert weir.task(task)["state"] == "pending"
    weir.weir("task", "pause", task)
    assert weir.task(task)["state"] == "paused"
    weir.weir("task", "activate", task)
    weir.weir("task", "edit", task, "--priority", "77", "--name", "new", "--time", "5m", "--retries", "2", "--tag", "x")
    shown = weir.task(task)
    assert (shown["priority"], shown["name"], shown["time_limit_ms"]) == (77, "new", 300000)
    assert (shown["max_retries"], shown["tags"]) == (2, ["x"])
    weir.weir("task", "kill", task)
    assert weir.wait(task)["state"] == "killed"
    assert weir.weir("task", "start", task, check=False).returncode == 5


def test_killing_several_asks_on_a_terminal_and_wants_yes_elsewhere(weir):
    weir.weir("pool", "pause", "default")
    ids = [str(i) for i in ids_of(weir.weir("submit", "-f", "-", input=json.dumps([{"command": ["true"]}] * 3)))]
    result = weir.weir("task", "kill", *ids, check=False)
    assert result.returncode == 2 and "--yes" in result.stderr and "3 tasks" in result.stderr
    assert weir.task(1)["state"] == "pending"
    terminal = weir.terminal("task", "kill", *ids)
    terminal.expect("Go on? [y/N]")
    terminal.send("n\n")
    assert terminal.finish()[0] == 1
    assert weir.task(1)["state"] == "pending"
    terminal = weir.terminal("task", "kill", *ids)
    terminal.expect("Go on? [y/N]")
    terminal.send("y\n")
    assert terminal.finish()[0] == 0
    weir.weir("task", "wait", *ids, check=False)
    assert weir.task(3)["state"] == "killed"


def test_wait_hands_on_the_first_failure(weir):
    weir.weir("submit", "--", "true")
    weir.weir("submit", "--", "sh", "-c", "exit 3")
    weir.weir("submit", "--", "sh", "-c", "exit 4")
    assert weir.weir("task", "wait", "1").returncode == 0
    assert weir.weir("task", "wait", "1", "2", "3", check=False).returncode == 3
    assert weir.weir("task", "wait", "3", "2", check=False).returncode == 4


def test_wait_gives_up_in_time(weir):
    weir.weir("submit", "--", "sleep", "1000")
    result = weir.weir("task", "wait", "1", "--timeout", "1s", check=False)
    assert result.returncode == 7
    assert "task 1 is still" in result.stderr


def test_what_is_not_there(weir):
    assert weir.weir("task", "show", "99", check=False).returncode == 3
    assert weir.weir("task", "logs", "99", check=False).returncode == 3
    assert weir.weir("task", "logs", "-f", "99", check=False).returncode == 3
    assert weir.weir("task", "kill", "99", check=False).returncode == 3
    assert weir.weir("explain", "99", check=False).returncode == 3
    assert weir.weir("pool", "show", "none", check=False).returncode == 3
    assert weir.weir("node", "show", "none", check=False).returncode == 3
    assert weir.weir("task", "wait", "99", check=False).returncode == 125


def test_logs_by_stream_and_instance(weir):
    script = "echo out $INSTANCE_ID; echo err $INSTANCE_ID >&2"
    task = weir.weir("submit", "--array", "5-6", "--", "sh", "-c", script).stdout.strip()
    weir.weir("task", "wait", task)
    assert sorted(weir.weir("task", "logs", task, "--stream", "stdout").stdout.splitlines()) == ["0: out 5", "1: out 6"]
    only = weir.weir("task", "logs", task + ".1", "--stream", "stderr")
    assert only.stderr == "err 6\n" and only.stdout == ""
    attempt = weir.weir("task", "logs", task + ".0:1")
    assert (attempt.stdout, attempt.stderr) == ("out 5\n", "err 5\n")


def test_logs_follow_to_the_end(weir):
    task = weir.weir("submit", "--", "sh", "-c", "echo a; sleep 0.2; echo b").stdout.strip()
    assert weir.weir("task", "logs", "-f", task).stdout == "a\nb\n"


def test_explain_and_queue_name_the_reason(weir):
    holder = weir.submit("sleep", "1000", resources={"slots": 2})
    weir.wait_state(holder, "running")
    waiting = weir.weir("submit", "--name", "second", "--", "true").stdout.strip()
    text = weir.wait_until(lambda: "slot" in weir.weir("explain", waiting).stdout and weir.weir("explain", waiting).stdout)
    assert f" is held by task {holder}" in text
    answer = weir.weir_json("explain", waiting)
    assert answer["blockers"] == [holder]
    queue = weir.weir_json("queue")
    assert [task["id"] for task in queue] == [int(waiting)]
    assert queue[0]["reason"]["message"]
    assert "second" in weir.weir("queue").stdout


def test_events_tell_what_happened(weir):
    weir.weir("run", "--", "true")
    lines = [json.loads(line) for line in weir.weir("events", "--task", "1", "--json=lines").stdout.splitlines()]
    types = [line["type"] for line in lines]
    assert types[0] == "task-submitted" and "task-ended" in types
    assert [line["seq"] for line in lines] == sorted(line["seq"] for line in lines)
    text = weir.weir("events", "--task", "1").stdout
    assert "task-submitted" in text and "task=1" in text


@pytest.mark.parametrize("scope, code", [("read", 4), ("admin", 0)])
def test_tokens_open_what_they_are_for(weir, scope, code):
    secret = weir.weir("token", "create", "--scope", scope, "--name", "visitor", "--expires", "1h").stdout.strip()
    env = {"WEIR_SERVER": weir.url, "WEIR_TOKEN": secret}
    assert scope in weir.weir("whoami", env=env).stdout
    assert weir.weir("task", "list", env=env).returncode == 0
    assert weir.weir("submit", "--", "true", env=env, check=False).returncode == code
    found = [t for t in weir.weir_json("token", "list") if t["name"] == "visitor"]
    weir.weir("token", "delete", found[0]["id"])
    result = weir.weir("task", "list", env=env, check=False)
    assert result.returncode == 4
    assert "weir login" in result.stderr


def test_login_is_tried_before_it_is_saved(weir):
    home = {"WEIR_CONFIG_HOME": str(weir.root / "other")}
    bad = weir.weir("login", weir.url, input="nonsense\n", env=home, check=False)
    assert bad.returncode == 4
    assert not (weir.root / "other" / "login").exists()
    weir.weir("login", weir.url, input=weir.token + "\n", env=home)
    saved = weir.root / "other" / "login"
    assert saved.stat().st_mode & 0o777 == 0o600
    assert weir.weir("whoami", env=home).returncode == 0


def test_a_token_is_not_sent_to_another_server(weir):
    import http.server
    import threading

    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.headers.get("Authorization"))
            self.send_response(401)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        assert weir.weir("status", "--server", url, check=False).returncode == 4
        assert weir.weir("status", env={"WEIR_SERVER": url}, check=False).returncode == 4
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert seen == [None, None]


def test_ten_thousand_are_killed_by_few_calls(weir):
    first = weir.submit("true", stage=True)
    many = weir.api("POST", "tasks", [{"command": ["true"], "stage": True}] * 9999).json["tasks"]
    ids = [first] + [task["id"] for task in many]
    result = weir.weir("task", "kill", "-", "--yes", input="\n".join(map(str, ids[:5000])), check=False)
    assert (result.returncode, result.stderr) == (0, "")
    again = weir.weir("task", "kill", ids[0], ids[1], ids[5000], 999999, "--yes", check=False)
    assert again.returncode == 5  # that of the first
    assert again.stderr.splitlines()[:2] == [
        f"weir: task {ids[0]}: the task has ended: it is killed",
        f"weir: task {ids[1]}: the task has ended: it is killed",
    ]
    assert "no task 999999" in again.stderr
    assert weir.task(ids[5000])["state"] == "killed"
    running = weir.submit("sleep", "1000")
    weir.wait_state(running, "running")
    weir.weir("down", "--dir", weir.dir, "--stop-tasks", "--yes")
    assert weir.process.wait(timeout=60) == 0
    weir.start()
    assert weir.api("GET", "status").json["tasks"].get("killed") == 10001
    assert weir.task(running)["state"] == "killed"


def queue_of(weir):
    return [task["id"] for task in weir.weir_json("queue")]


def test_move_in_the_queue(weir):
    weir.weir("pool", "pause", "default")
    for _ in range(3):
        weir.weir("submit", "--", "true")
    weir.weir("task", "move", 3, "--ahead-of", 1)
    assert queue_of(weir) == [3, 1, 2]
    weir.weir("task", "move", 3, "--behind", 2)
    assert queue_of(weir) == [1, 2, 3]
    assert weir.weir("task", "move", 3, check=False).returncode == 2
    assert weir.weir("task", "move", 3, "--behind", 1, "--ahead-of", 2, check=False).returncode == 2
    assert weir.weir("task", "move", 3, "--behind", 9, check=False).returncode == 3
    weir.weir("task", "edit", 2, "--priority", "80")
    result = weir.weir("task", "move", 3, "--ahead-of", 2, check=False)
    assert result.returncode == 5 and "weir task edit 3 --priority 80" in result.stderr


def test_retry_prints_new_ids(weir):
    weir.weir("run", "--name", "n", "--", "sh", "-c", "exit 3", check=False)
    weir.weir("run", "--", "false", check=False)
    result = weir.weir("task", "retry", "-", input="1\n2\n")
    assert ids_of(result) == [3, 4]
    assert "task 1 is submitted again as task 3" in result.stderr
    assert weir.weir("task", "wait", 3, check=False).returncode == 3
    assert weir.task(3)["name"] == "n"
    weir.weir("pool", "pause", "default")
    weir.weir("submit", "--", "true")
    assert weir.weir("task", "retry", 5, check=False).returncode == 5


def test_pause_and_activate_what_runs(weir):
    marks = weir.root / "marks"
    weir.weir("submit", "--time", "1h", "--", "sh", "-c", f"echo x >> {marks}; [ -e {marks}.go ] || sleep 600")
    weir.wait_state(1, "running")
    weir.weir("task", "pause", 1)
    weir.wait_state(1, "paused")
    paused = weir.task(1)
    assert (paused["running_since"], paused["ran_ms"] > 0) == (None, True)
    (weir.root / "marks.go").touch()
    weir.weir("task", "activate", 1)
    assert weir.weir("task", "wait", 1).returncode == 0
    task = weir.task(1)
    assert task["attempts"][-1]["attempt"] == 2
    assert (task["counts"]["preempted"], task["counts"]["failed"]) == (0, 0)
    # Both runs count, the pause between them does not.
    assert task["running_since"] is None
    assert task["ran_ms"] >= paused["ran_ms"]
    ended, started = (datetime.datetime.fromisoformat(task[key].replace("Z", "+00:00")) for key in ("ended_at", "started_at"))
    assert task["ran_ms"] < (ended - started) / datetime.timedelta(milliseconds=1)


def test_edit_resources_and_after_any(weir):
    weir.weir("pool", "pause", "default")
    weir.weir("submit", "--", "true")
    weir.weir("submit", "--after", "1:any", "--", "true")
    weir.weir("task", "edit", 1, "--slots", "2", "--cpu", "0.5")
    assert weir.task(1)["resources"] == {"slots": 2, "cpu": 0.5}
    assert weir.task(2)["depends_on"] == ["1:any"]
    weir.weir("pool", "edit", "default", "--topology", "rack")
    weir.weir("submit", "--instances", "2", "--gang", "--stage", "--", "true")
    weir.weir("task", "edit", 3, "--topology", "preferred=rack")
    assert weir.task(3)["topology"] == {"preferred": "rack"}
    refused = weir.weir("task", "edit", 3, "--node-label", "zone=a", check=False)
    assert refused.returncode == 9 and "with the labels it asks for hold 0 of 2" in refused.stderr
    weir.weir("task", "edit", 3, "--topology", "none", "--node-label", "none")
    assert (weir.task(3)["topology"], weir.task(3)["node_labels"]) == (None, {})
    assert weir.weir("task", "edit", 3, "--topology", "rack", check=False).returncode == 2
    assert weir.weir("submit", "--after", "1:never", "--", "true", check=False).returncode == 2


BURN = "import time\nkeep = bytearray(64 << 20)\nwhile time.process_time() < 0.6: pass"


def test_what_a_task_used_is_shown_while_and_after_it_runs(weir):
    """Two instances burn CPU and hold memory; the first fails once and burns again."""
    script = '/usr/bin/env python3 -c "$0" && [ "$WEIR_INDEX:$WEIR_ATTEMPT" != 0:1 ]'
    command = ["sh", "-c", script, BURN]
    (task_id,) = ids_of(weir.weir("submit", "--instances", "2", "--retries", "1", "--", *command))
    weir.weir("task", "wait", task_id)
    task = weir.task(task_id)
    used = {attempt["index"]: attempt for attempt in task["attempts"]}
    assert used[0]["attempt"] == 2
    for attempt in used.values():
        assert 600 <= attempt["cpu_ms"] < 30000
        assert 64 << 20 <= attempt["memory_peak"] < 1 << 30
    newest = used[0]["cpu_ms"] + used[1]["cpu_ms"]
    assert newest + 600 <= task["cpu_ms"] < newest + 30000  # the attempt that failed counts, too
    assert task["memory_peak"] >= max(used[0]["memory_peak"], used[1]["memory_peak"])
    shown = weir.weir("task", "show", task_id).stdout
    assert re.search(r"^cpu time +\d+(\.\d)?s$", shown, re.M), shown
    assert re.search(r"^peak memory +\d+(\.\d)?Mi$", shown, re.M), shown
    assert re.search(r"^ATTEMPT.* CPU +MEMORY", shown, re.M), shown


def test_a_task_that_runs_has_used_nothing_yet(weir):
    (task_id,) = ids_of(weir.weir("submit", "--", "sleep", "60"))
    weir.wait_state(task_id, "running")
    task = weir.task(task_id)
    assert (task["cpu_ms"], task["memory_peak"]) == (0, 0)
    assert (task["attempts"][0]["cpu_ms"], task["attempts"][0]["memory_peak"]) == (None, None)
    shown = weir.weir("task", "show", task_id).stdout
    assert "cpu time" not in shown and "MEMORY" not in shown
    weir.weir("task", "kill", task_id)


def test_every_attempt_is_shown(weir):
    weir.weir("submit", "--retries", "2", "--", "sh", "-c", 'exit $((3 - WEIR_ATTEMPT))')
    assert weir.weir("task", "wait", 1).returncode == 0
    rows = [line.split() for line in weir.weir("task", "show", 1).stdout.splitlines() if line.startswith("1.0:")]
    assert [(row[0], row[1], row[4]) for row in rows] == [("1.0:1", "ended", "2"), ("1.0:2", "ended", "1"), ("1.0:3", "ended", "0")], rows
    assert [attempt["attempt"] for attempt in weir.task(1)["attempts"]] == [1, 2, 3]
