"""The agents' side: orders after the commit, reports acknowledged after it, both ways reconciled.
SPDX-License-Identifier: Apache-2.0
"""

import http.client
import json
import shutil
import signal
import threading
import time

from server_process import FakeAgent
from weir_harness import DEADLINE_S


def test_a_task_goes_to_a_node_and_back(server, agent):
    [task] = server.submit({"command": ["echo", "hi"], "env": {"K": "V"}, "name": "greet"})
    order = agent.order()
    assert order["type"] == "start"
    assert order["key"] == f"{task}.0:1"
    assert order["argv"] == ["echo", "hi"]
    assert order["env"] == ["K=V"]
    assert order["node"] == "n1"
    assert (order["epoch"], order["incarnation"]) == (agent.epoch, agent.incarnation)
    assert agent.report(agent.started(order["key"])).json == {"acked": True}
    assert server.get(f"tasks/{task}")["state"] == "running"
    done = agent.report(agent.output(order["key"], b"hi\n"), agent.ended(order["key"], out=3))
    assert done.status == 200
    ended = server.get(f"tasks/{task}")
    assert (ended["state"], ended["exit_code"]) == ("completed", 0)
    assert ended["attempts"][0]["key"] == order["key"]
    assert server.call("GET", f"tasks/{task}/logs?format=raw").body == b"hi\n"


def test_exit_codes_are_kept(server, agent):
    [task] = server.submit({"command": ["sh", "-c", "exit 7"]})
    agent.run_next(code=7)
    ended = server.get(f"tasks/{task}/wait")
    assert (ended["state"], ended["exit_code"]) == ("failed", 7)


def test_why_a_program_could_not_start_is_in_its_log(server, agent):
    [task] = server.submit({"command": ["nothing-here"]})
    key = agent.order()["key"]
    agent.report({"type": "spawn_failed", "key": key, "errno": 2, "message": "nothing-here: not found"})
    assert server.get(f"tasks/{task}")["state"] == "failed"
    log = server.call("GET", f"tasks/{task}/logs?format=raw&stream=stderr").body
    assert log == b"weir: nothing-here: not found\n"


def test_repeated_reports_change_nothing(server, agent):
    [task] = server.submit()
    key = agent.order()["key"]
    batch = [agent.started(key), agent.output(key, b"once"), agent.ended(key, out=4)]
    for _ in range(3):
        assert agent.report(*batch).status == 200
    assert server.call("GET", f"tasks/{task}/logs?format=raw").body == b"once"
    assert server.get(f"tasks/{task}")["counts"]["ended"] == 1


def test_stale_epochs_and_incarnations_are_refused(server, agent):
    server.submit()
    key = agent.order()["key"]
    for changes in ({"epoch": agent.epoch - 1}, {"incarnation": agent.incarnation + 1}):
        answer = agent.report(agent.started(key), **changes)
        assert (answer.status, answer.json["error"]["code"]) == (409, "stale")


def test_a_node_cannot_speak_for_another(server, agent):
    other = FakeAgent(server, "n2").join().connect()
    [task] = server.submit({"command": ["true"], "resources": {"slots": 2}})
    orders = {}
    for each in (agent, other):
        if server.get("nodes/" + each.name)["tasks"]:
            orders[each.name] = each.order()
    [(holder, order)] = orders.items()
    liar = other if holder == "n1" else agent
    liar.report(liar.started(order["key"]), liar.output(order["key"], b"lie"), liar.ended(order["key"]))
    assert server.get(f"tasks/{task}")["state"] == "starting"
    assert server.call("GET", f"tasks/{task}/logs?format=raw").body == b""
    answer = server.call("POST", "agent/stream", agent.hello(), token=other.credential)
    assert answer.status == 403
    other.close()


def test_kill_reaches_the_node(server, agent):
    [task] = server.submit({"command": ["sleep", "1000"], "grace": 5})
    key = agent.order()["key"]
    agent.report(agent.started(key))
    assert server.call("POST", f"tasks/{task}/kill").json["state"] == "stopping"
    order = agent.order()
    assert (order["type"], order["key"], order["cause"]) == ("stop", key, "killed")
    assert order["grace_ms"] == 5000
    agent.report(agent.ended(key, 143))
    assert server.get(f"tasks/{task}")["state"] == "killed"


def test_a_node_that_comes_back_hears_its_orders_again(server, agent):
    [first] = server.submit()
    [second] = server.submit()
    started = agent.order()["key"]
    ordered = agent.order()["key"]
    agent.report(agent.started(started))
    agent.close()
    agent.connect(attempts=[{"key": started, "state": "running"}])
    again = agent.order()
    assert (again["type"], again["key"]) == ("start", ordered)
    assert server.get(f"tasks/{first}")["state"] == "running"
    assert server.get(f"tasks/{second}")["state"] == "starting"


def test_what_the_supervisor_lost_is_started_anew(server, agent):
    [task] = server.submit()
    key = agent.order()["key"]
    agent.report(agent.started(key))
    agent.close()
    agent.connect(attempts=[])
    order = agent.order()
    assert (order["type"], order["key"]) == ("start", f"{task}.0:2")
    assert server.get(f"tasks/{task}")["counts"]["lost"] == 1


def test_a_dead_supervisor_gets_no_more_starts(server, agent):
    [task] = server.submit()
    key = agent.order()["key"]
    assert agent.report({"type": "lost", "key": key}).status == 200
    assert agent.order() is None
    assert server.get("nodes/n1")["state"] == "silent"
    waiting = server.get(f"tasks/{task}")
    assert (waiting["state"], waiting["counts"]["lost"]) == ("pending", 1)
    agent.supervisor = "0" * 32
    agent.connect()
    assert agent.order()["key"] == f"{task}.0:2"


def test_what_the_server_does_not_know_is_stopped(server, agent):
    agent.close()
    agent.connect(attempts=[{"key": "77.0:1", "state": "running"}])
    order = agent.order()
    assert (order["type"], order["key"], order["grace_ms"]) == ("stop", "77.0:1", 0)


def test_a_newer_stream_replaces_the_older(server, agent):
    old = agent.stream
    agent.connect()
    assert old.line() is None
    [task] = server.submit()
    assert agent.order()["key"] == f"{task}.0:1"


def test_the_end_of_the_older_stream_does_not_silence_the_node(server, agent):
    """A busy server finds the new hello and the end of the older stream in one look, and the end comes while the hello waits for the disk."""
    for _ in range(10):
        old = agent.stream
        server.process.send_signal(signal.SIGSTOP)
        anew = threading.Thread(target=agent.connect)
        anew.start()
        time.sleep(0.1)
        old.response.close()
        old.close()
        server.process.send_signal(signal.SIGCONT)
        anew.join(DEADLINE_S)
        [task] = server.submit()
        assert server.call("GET", "nodes/n1").json["state"] == "up"
        agent.run_next()


def test_joining_a_connected_name_is_refused(server, agent):
    body = {"name": "n1", "pool": "default"}
    assert server.call("POST", "agent/join", body, token=server.join_token).status == 409


def test_protocols_must_meet(server, agent):
    body = agent.hello(protocol_min=7, protocol_max=9)
    answer = server.call("POST", "agent/stream", body, token=agent.credential)
    assert answer.status == 409
    assert answer.json["error"]["code"] == "protocol"


def test_a_removed_node_is_cut_off(server, agent):
    assert server.call("DELETE", "nodes/n1").status == 204
    while agent.stream.line() is not None:
        pass
    answer = server.call("POST", "agent/stream", agent.hello(), token=agent.credential)
    assert answer.status == 401


def test_a_restarted_server_speaks_in_a_new_epoch_and_forgets_nothing(server, agent):
    [task] = server.submit()
    key = agent.order()["key"]
    agent.report(agent.started(key))
    before = agent.epoch
    server.stop(signal.SIGKILL)
    server.start()
    assert server.get("nodes/n1")["state"] == "silent"
    assert agent.report(agent.ended(key)).json["error"]["code"] == "stale"
    agent.connect(attempts=[{"key": key, "state": "running"}], epoch_seen=before)
    assert agent.epoch == before + 1
    assert agent.report(agent.ended(key)).status == 200
    assert server.get(f"tasks/{task}")["state"] == "completed"


def test_a_clean_stop_says_bye(server, agent):
    server.process.send_signal(signal.SIGTERM)
    lines = []
    while (line := agent.stream.line()) is not None:
        lines.append(json.loads(line)["type"])
    assert lines[-1] == "bye"
    assert server.stop() == 0


def test_a_lost_end_of_the_facts_is_noticed_by_what_the_node_knows(server, agent):
    """An old database comes back with everything beside it, so that nothing on the server's disk tells."""
    server.stop()
    shutil.copytree(server.dir, server.dir.with_name("yesterday"))
    server.start()
    agent.connect()
    server.submit()
    order = agent.order()
    assert order["fact"] > 0
    agent.report(agent.started(order["key"]))
    server.stop()
    shutil.rmtree(server.dir)
    server.dir.with_name("yesterday").rename(server.dir)
    server.start()
    agent.connect(attempts=[{"key": order["key"], "state": "running"}], fact_seen=order["fact"] + 100, epoch_seen=agent.epoch)
    stop = agent.order()
    assert (stop["type"], stop["key"]) == ("stop", order["key"])
    [said] = [json.loads(line) for line in server.log().splitlines() if "acknowledged facts are lost" in line]
    assert (said["level"], said["node"], said["first"]) == ("error", "n1", order["key"])
    assert said["attempts_never_ordered"] == 1
    assert said["fact_seen"] == order["fact"] + 100 > said["fact"]


def test_a_node_that_knows_no_more_is_not_accused(server, agent):
    [_] = server.submit()
    order = agent.order()
    agent.report(agent.started(order["key"]))
    server.stop(signal.SIGKILL)
    server.start()
    agent.connect(attempts=[{"key": order["key"], "state": "running"}], fact_seen=order["fact"], epoch_seen=agent.epoch)
    assert "are lost" not in server.log()


def at_once(server, calls):
    """Sends all these calls before an answer to any of them is read; the connections."""
    connections = [http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE_S) for _ in calls]
    for connection in connections:
        connection.connect()
    for connection, (path, body, token) in zip(connections, calls):
        connection.request("POST", f"/api/v1/agent/{path}", body=json.dumps(body), headers={"Authorization": f"Bearer {token}"})
    return connections


def test_two_hundred_nodes_join_within_a_second(server):
    """Two hundred joins, then two hundred connections, stand before the server at once. A node that is there before hears its pings in time and
    is never called silent."""
    first = FakeAgent(server, "n0").join().connect()
    pings, stop = [], threading.Event()

    def hear():
        while not stop.is_set():
            line = first.stream.line()
            if line is None:
                return
            if json.loads(line)["type"] == "ping":
                pings.append(time.monotonic())
                first.report()

    listener = threading.Thread(target=hear, daemon=True)
    listener.start()
    agents = [FakeAgent(server, f"m{i}") for i in range(200)]
    joins = at_once(server, [("join", {"name": a.name, "pool": "default", "machine": a.machine}, server.join_token) for a in agents])
    for agent, connection in zip(agents, joins):
        answer = connection.getresponse()
        assert answer.status == 201
        agent.credential = json.loads(answer.read())["credential"]
        connection.close()
    streams = at_once(server, [("stream", agent.hello(), agent.credential) for agent in agents])
    answers = [connection.getresponse() for connection in streams]
    assert [json.loads(answer.readline())["type"] for answer in answers] == ["welcome"] * 200
    items = server.get("nodes?limit=500")["items"]
    assert sum(node["state"] == "up" for node in items) == 201
    before = len(pings)
    deadline = time.monotonic() + 30
    while len(pings) < before + 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    stop.set()
    gaps = [later - earlier for earlier, later in zip(pings, pings[1:])]
    assert gaps and max(gaps) < min(gaps) + 1.5, gaps
    assert {node["state"] for node in server.get("nodes?limit=500")["items"]} == {"up"}
    for connection in streams:
        connection.close()
