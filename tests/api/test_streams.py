"""Events and logs: live, resumed, followed. SPDX-License-Identifier: Apache-2.0"""

import base64
import json
import signal
import time

from server_process import Stream


def drain(stream, count):
    return [stream.event() for _ in range(count)]


def test_events_come_as_they_are_committed(server, agent):
    events = server.stream("events")
    assert events.response.getheader("Content-Type").startswith("text/event-stream")
    assert events.line() == ": weir"
    [task] = server.submit()
    agent.run_next()
    seen = []
    while not seen or seen[-1][1] != "task-archived":
        seen.append(events.event())
    kinds = [kind for _, kind, _ in seen]
    assert kinds[0] == "task-submitted"
    for kind in ("allocated", "attempt-started", "attempt-ended", "task-ended"):
        assert kind in kinds
    numbers = [int(number) for number, _, _ in seen]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert all(data["seq"] == int(number) for number, _, data in seen)
    assert seen[0][2]["task"] == task
    events.close()


def test_events_resume_where_the_client_was(server):
    server.submit([{"command": ["true"]}] * 30)
    last = server.get("status")["seq"]
    whole = server.stream("events?after=0")
    first = drain(whole, last)
    assert [int(number) for number, _, _ in first] == list(range(1, last + 1))
    whole.close()
    resumed = Stream(server, "GET", "events", None, server.admin, {"Last-Event-ID": str(last - 3)})
    assert [int(number) for number, _, _ in drain(resumed, 3)] == [last - 2, last - 1, last]
    server.submit()
    assert resumed.event()[1] == "task-submitted"
    resumed.close()


def test_events_resume_over_a_restart(server):
    server.submit()
    last = server.get("status")["seq"]
    server.stop(signal.SIGKILL)
    server.start()
    events = server.stream(f"events?after={last}")
    number, kind, _ = events.event()
    assert (int(number), kind) == (last + 1, "server-started")
    events.close()


def test_event_filters(server):
    [first, second] = server.submit([{"command": ["true"]}, {"command": ["true"]}])
    events = server.stream(f"events?after=0&task={second}")
    assert events.event()[2]["task"] == second
    server.call("POST", f"tasks/{first}/kill")
    server.call("POST", f"tasks/{second}/kill")
    assert events.event()[1:2] == ("task-kill-asked",)
    events.close()
    ended = server.stream("events?after=0&type=task-ended")
    assert [data["task"] for _, _, data in drain(ended, 2)] == [first, second]
    ended.close()
    assert server.call("GET", "events?type=nonsense").status == 400
    assert server.call("GET", "events?after=x").status == 400


def test_a_future_that_is_not_ours_is_reset(server):
    events = server.stream("events?after=1000000")
    lines = events.lines_until(lambda line: line.startswith("event: "))
    assert lines[-1] == "event: reset"
    assert events.line().startswith("data: ")
    assert events.line() == ""
    assert events.line() is None


def pieces(answer):
    return [json.loads(line) for line in answer.body.splitlines()]


def test_logs_as_lines_and_as_bytes(server, agent):
    [task] = server.submit()
    key = agent.order()["key"]
    agent.report(
        agent.started(key),
        agent.output(key, b"out 1\n"),
        agent.output(key, b"err \xff\n", stream=2),
        agent.output(key, "über\n".encode(), offset=6),
    )
    lines = pieces(server.call("GET", f"tasks/{task}/logs"))
    assert [(p["stream"], p["offset"], p["instance"], p["attempt"]) for p in lines] == [
        ("stdout", 0, 0, 1),
        ("stderr", 0, 0, 1),
        ("stdout", 6, 0, 1),
    ]
    assert lines[0]["data"] == "out 1\n"
    assert base64.b64decode(lines[1]["base64"]) == b"err \xff\n"
    assert lines[2]["data"] == "über\n"
    raw = lambda query: server.call("GET", f"tasks/{task}/logs?format=raw&{query}").body  # noqa: E731
    assert raw("stream=stdout") == "out 1\nüber\n".encode()
    assert raw("stream=stderr") == b"err \xff\n"
    assert raw("instance=7") == b""
    assert raw("attempt=1&instance=0&stream=stderr") == b"err \xff\n"
    after = pieces(server.call("GET", f"tasks/{task}/logs?after={lines[1]['n']}"))
    assert after == lines[2:]
    assert server.call("GET", "tasks/99/logs").status == 404
    assert server.call("GET", f"tasks/{task}/logs?stream=stdin").status == 400


def test_a_followed_log_ends_with_the_task(server, agent):
    [task] = server.submit()
    key = agent.order()["key"]
    follow = server.stream(f"tasks/{task}/logs?follow=true")
    agent.report(agent.started(key), agent.output(key, b"a"))
    assert json.loads(follow.line())["data"] == "a"
    agent.report(agent.output(key, b"b", offset=1))
    assert json.loads(follow.line())["data"] == "b"
    agent.report(agent.output(key, b"c", offset=2), agent.ended(key, 4, out=3))
    assert json.loads(follow.line())["data"] == "c"
    assert json.loads(follow.line()) == {"end": True, "state": "failed", "exit_code": 4}
    assert follow.line() is None
    late = server.call("GET", f"tasks/{task}/logs?follow=true")
    assert [p.get("data") for p in pieces(late)] == ["a", "b", "c", None]


def test_a_long_log_arrives_whole(server, agent):
    [task] = server.submit()
    key = agent.order()["key"]
    piece = bytes(range(256)) * 4096  # 1 MiB, not UTF-8
    agent.report(agent.started(key))
    for i in range(12):
        assert agent.report(agent.output(key, piece, offset=i * len(piece))).status == 200
    assert server.call("GET", f"tasks/{task}/logs?format=raw").body == piece * 12
    lines = pieces(server.call("GET", f"tasks/{task}/logs"))
    assert b"".join(base64.b64decode(p["base64"]) for p in lines) == piece * 12


def test_revoking_a_token_cuts_its_streams_and_no_others(server):
    [task] = server.submit({"command": ["true"], "resources": {"slots": 1}})
    token = server.call("POST", "tokens", {"scope": "read", "name": "ann"}).json
    others = server.stream("events")
    streams = [server.stream(path, token["token"]) for path in ("events", f"tasks/{task}/logs?follow=true")]
    assert streams[0].line() == ": weir"
    assert server.call("DELETE", f"tokens/{token['id']}").status == 200
    for stream in streams:
        while stream.line() is not None:  # it ends: no event, no output, no time-out
            pass
        stream.close()
    server.submit()
    assert others.event()[1] == "task-submitted"
    others.close()


def numbers(stream, count):
    """The numbers of the next events, read as lines: quicker than as JSON."""
    found = []
    while len(found) < count:
        line = stream.line()
        assert line is not None and line != "event: reset", f"ended after {len(found)} events"
        if line.startswith("id: "):
            found.append(int(line[4:]))
    return found


def test_a_large_batch_resets_nobody_however_slowly_a_client_reads(server):
    """More than the buffer of a stream and than the ring of encoded events: three ways to be behind."""
    begin = server.get("status")["seq"]
    prompt, filtered, late = server.stream("events"), server.stream("events?type=task-submitted"), server.stream("events")
    long_name = "x" * 200
    for _ in range(10):
        server.submit([{"command": ["true", long_name * 4], "description": long_name * 4, "name": "many"}] * 4000)
    last = server.get("status")["seq"]
    assert last - begin >= 40000
    expected = list(range(begin + 1, last + 1))
    assert numbers(late, last - begin) == expected
    assert numbers(prompt, last - begin) == expected
    assert len(numbers(filtered, 40000)) == 40000
    server.submit()
    assert numbers(prompt, 1) == [last + 1]
    assert numbers(late, 1) == [last + 1]
    for stream in (prompt, filtered, late):
        stream.close()


def test_many_followers_see_the_same(server):
    followers = [server.stream("events") for _ in range(50)]
    begin = server.get("status")["seq"]
    for _ in range(20):
        server.submit([{"command": ["true"]}] * 50)
    last = server.get("status")["seq"]
    expected = list(range(begin + 1, last + 1))
    for follower in followers:
        assert numbers(follower, len(expected)) == expected
        follower.close()


def test_a_log_opens_at_its_end(server, agent):
    [task] = server.submit()
    key = agent.order()["key"]
    agent.report(agent.started(key))
    line = b"%08d " + b"x" * 54 + b"\n"
    offset = number = 0
    for _ in range(32):
        piece = b"".join(line % n for n in range(number, number + 16000))
        assert agent.report(agent.output(key, piece, offset=offset)).status == 200
        offset, number = offset + len(piece), number + 16000
    raw = lambda query: server.call("GET", f"tasks/{task}/logs?format=raw&{query}").body  # noqa: E731
    began = time.monotonic()
    assert raw("tail=3") == b"".join(line % n for n in range(number - 3, number))
    assert time.monotonic() - began < 0.5
    assert raw("tail=0") == b""
    assert raw("tail=20000") == b"".join(line % n for n in range(number - 20000, number))  # over several pieces
    assert raw("tail=1000000") == raw("")
    assert agent.report(agent.output(key, b"no end", offset=offset)).status == 200
    assert raw("tail=2") == line % (number - 1) + b"no end"
    follow = server.stream(f"tasks/{task}/logs?follow=true&tail=1")
    assert json.loads(follow.line())["data"] == "no end"
    agent.report(agent.output(key, b" yet", offset=offset + 6))
    assert json.loads(follow.line())["data"] == " yet"
    follow.close()
    assert server.call("GET", f"tasks/{task}/logs?tail=x").status == 400


def test_output_since_a_moment(server, agent):
    [task] = server.submit()
    key = agent.order()["key"]
    agent.report(agent.started(key), agent.output(key, b"early\n"))
    [first] = pieces(server.call("GET", f"tasks/{task}/logs"))
    time.sleep(0.01)
    agent.report(agent.output(key, b"late\n", offset=6))
    [_, second] = pieces(server.call("GET", f"tasks/{task}/logs"))
    found = lambda since: [p["data"] for p in pieces(server.call("GET", f"tasks/{task}/logs?since={since}"))]  # noqa: E731
    assert found(first["at"]) == ["early\n", "late\n"]
    assert found(second["at"]) == ["late\n"]
    assert found("2100-01-01T00:00:00Z") == []
    assert server.call("GET", f"tasks/{task}/logs?since=yesterday").status == 400
