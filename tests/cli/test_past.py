"""Earlier moments: --at of explain, queue, lists and exports. SPDX-License-Identifier: Apache-2.0"""

import json
import pathlib
import re
import shlex

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs/user/past.md"
QUESTIONS = ["tasks/2/explain", "queue", "pools", "pools/default", "nodes", "quotas?all=true", "map", "home", "state"]


def asked(weir, question, at=None):
    """The answer to a question, now or of a moment, without the clock that some answers carry."""
    mark = "" if at is None else ("&" if "?" in question else "?") + f"at={at}"
    answer = weir.api("GET", question + mark)
    assert answer.status == 200, answer.json
    return {key: value for key, value in answer.json.items() if key not in ("time", "now", "taken_at", "exported_at")}


def moment(weir):
    """A time, and what the server answered at that time: the answers before and after that time are the same."""
    while True:
        before = [asked(weir, question) for question in QUESTIONS], weir.weir("explain", 2).stdout
        time = weir.api("GET", "status").json["time"]
        if before == ([asked(weir, question) for question in QUESTIONS], weir.weir("explain", 2).stdout):
            return time, *before


@pytest.fixture
def story(weir_factory):
    """Task 2 waits for room, then because its pool is paused, and runs in the end. Task 1 is gone."""
    weir = weir_factory("--fake-gpus", "2")
    weir.submit("sleep", "1000", resources={"gpu": 2})
    weir.wait_state(1, "running")
    weir.submit("sleep", "1000", resources={"gpu": 1})
    moments = [moment(weir)]
    weir.weir("pool", "pause", "default")
    moments.append(moment(weir))
    weir.weir("task", "kill", 1)
    weir.weir("pool", "resume", "default")
    weir.wait_state(2, "running")
    return weir, moments


def test_a_moment_reads_as_the_present_did_then(story):
    weir, moments = story
    assert "waits for 1 slot" in moments[0][2] and "is held by task 1" in moments[0][2] and "pool 'default' is paused" in moments[1][2]
    for time, answers, said in moments:
        assert weir.weir("explain", 2, "--at", time).stdout == said
        assert [asked(weir, question, time) for question in QUESTIONS] == answers


def test_a_restart_and_a_snapshot_change_no_past(story):
    weir, moments = story
    weir.stop()  # writes a snapshot
    assert list((weir.dir / "snapshot").glob("*.snap"))
    weir.start()
    weir.wait_state(2, "running")
    moments.append(moment(weir))
    weir.kill()
    weir.start()
    for time, answers, said in [moments[2], moments[0], moments[1]]:  # from the snapshot, from the beginning, from the last one
        assert weir.weir("explain", 2, "--at", time).stdout == said
        assert [asked(weir, question, time) for question in QUESTIONS] == answers


def test_lists_and_places_of_a_moment(story):
    weir, moments = story
    time = moments[1][0]
    assert weir.weir("queue").stdout == "" and "is paused" in weir.weir("queue", "--at", time).stdout
    assert "paused: starts nothing" in weir.weir("explain", "default", "--at", time).stdout
    assert "takes tasks" in weir.weir("explain", "default").stdout
    assert weir.weir("node", "list", "--at", time, "-q").stdout == weir.weir("node", "list", "-q").stdout != ""
    assert [p["paused"] for p in weir.weir_json("pool", "list", "--at", time)] == [True]
    state = json.loads(weir.weir("state", "export", "--at", time).stdout)
    assert [task["id"] for task in state["tasks"]] == [1, 2]


def test_what_cannot_be_shown_is_refused_with_the_reason(story):
    weir, moments = story
    time = moments[0][0]

    def refused(code, *args):
        result = weir.weir(*args, check=False)
        assert result.returncode == code and result.stdout == ""
        return result.stderr

    assert "still to come" in refused(2, "explain", 2, "--at", "2100-01-01T00:00:00Z")
    assert "the facts of 2001-01-01T00:00:00.000Z are not kept, or the server was not there yet: what is kept begins at 20" in refused(
        3, "explain", 2, "--at", "2001-01-01"
    )
    assert "there was no task 3 at that time" in refused(3, "explain", 3, "--at", time)
    assert "--at is 'noon'" in refused(2, "queue", "--at", "noon")
    assert "--watch" in refused(2, "queue", "--at", time, "--watch")
    weir.weir("task", "kill", 2)
    weir.wait_state(2, "killed")
    assert "`weir explain 2 --at TIME` says why it waited at an earlier time" in refused(5, "explain", 2)
    assert "task 2 had ended: it was killed" in refused(5, "explain", 2, "--at", "0s")


def test_every_command_of_the_page_shows_that_moment(story):
    weir, moments = story
    (block,) = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    lines = block.splitlines()
    assert len(lines) == 9 and all(" --at " in line for line in lines)
    for line in lines:
        words = shlex.split(line)
        words[words.index("--at") + 1] = moments[0][0]
        result = weir.weir(*words[1:])
        assert result.stdout or (weir.root / "then.json").exists(), line
    state = weir.root / "then.json"
    assert [task["state"] for task in json.loads(state.read_text())["tasks"]] == ["running", "pending"]
    assert weir.weir("sim", "--state", state, "--quiet").returncode == 0
