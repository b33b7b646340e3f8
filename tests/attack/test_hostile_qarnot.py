"""Somebody with a token sends odd values in every field of Qarnot's interface. Nothing fails, and everybody else is served.

SPDX-License-Identifier: Apache-2.0
"""

import copy

import pytest
from server_process import FakeAgent, Server

ODD = [None, True, -1, 0, 0.5, 2**31, 2**53 + 1, 2**63 - 1, 2**64, 1e300, "", "x", "\x1b[2J\r\nA: b", "n" * 70000, [], [[]], [None], ["x"] * 1000, {}, {"a": {}},
       [{}], [{"key": None}], [{"key": "a", "value": {"b": []}}], "1-99999999999", "9-1", "1,1", "0-4294967296", "../../x", "a/b"]  # fmt: skip

TASK = {
    "name": "t", "shortname": "s", "profile": "docker-batch", "poolUuid": None, "jobUuid": None, "instanceCount": 1, "advancedRanges": None,
    "tags": ["a"], "constants": [{"key": "DOCKER_CMD", "value": "true"}, {"key": "DOCKER_REPO", "value": ""}], "constraints": [],
    "hardwareConstraints": [], "labels": {"a": "b"}, "dependencies": {"dependsOn": []}, "resourceBuckets": [], "advancedResourceBuckets": [],
    "resultBucket": None, "snapshotInterval": None, "autoDeleteOnCompletion": False, "completionTimeToLive": "00:00:00", "maxRetriesPerInstance": 1,
    "waitForPoolResourcesSynchronization": None, "privileges": {}, "retrySettings": {"maxTotalRetries": 1, "maxPerInstanceRetries": 1},
    "schedulingType": None, "targetedReservedMachineKey": None, "secretsAccessRights": None, "defaultResourcesCacheTTLSec": None,
    "uploadResultsOnCancellation": None, "forcedNetworkRules": None, "forcedConstants": None,
}  # fmt: skip
POOL = {
    "name": "p", "shortname": "s", "profile": "docker-batch", "instanceCount": 1, "tags": ["a"], "constants": [], "constraints": [],
    "elasticProperty": {"isElastic": True, "minTotalSlots": 0, "maxTotalSlots": 2, "minIdleSlots": 0, "resizePeriod": 90, "rampResizeFactor": 0.5,
                        "minIdleTimeSeconds": 0},
    "scaling": {"policies": [{"name": "x", "type": "Fixed", "slotsCount": 1, "enabledPeriods": [{"type": "Always", "name": "a"}]}]},
    "multiSlotsSettings": {"slotsPerNode": 1}, "preparationTask": {"commandLine": "true"}, "autoDeleteOnCompletion": False, "taskDefaultWaitForPoolResourcesSynchronization": None,
}  # fmt: skip
PAGE = {"token": None, "maximumResults": 1, "filter": {"operator": "And", "field": "Tags", "value": "a", "filters": []}}


def places(body):
    """Each field of a body, also below maps and lists: a function that sets it."""
    todo = [(body, key) for key in (body if isinstance(body, dict) else range(len(body)))]
    while todo:
        holder, key = todo.pop()
        yield holder, key
        inner = holder[key]
        if isinstance(inner, (dict, list)):
            todo += [(inner, k) for k in (inner if isinstance(inner, dict) else range(len(inner)))]


def served(server):
    assert server.call("POST", "tasks", {"command": ["true"]}).status == 201
    assert "bug: " not in server.log()


@pytest.mark.parametrize("path,body", [("tasks", TASK), ("pools", POOL), ("tasks/paginate", PAGE), ("pools/paginate", PAGE)])
def test_every_field_of_every_body(server, path, body):
    body = copy.deepcopy(body)
    made = []
    for holder, key in places(body):
        kept = holder[key]
        for value in ODD:
            holder[key] = value
            answer = server.call("POST", f"/qarnot/{path}", body)
            assert answer.status in (200, 400, 402, 403, 404, 409, 413, 422, 429), (key, value, answer.body)
            if answer.status == 200 and path in ("tasks", "pools"):
                made.append(answer.json["uuid"])
        holder[key] = kept
        for uuid in made:
            shown = server.call("GET", f"/qarnot/{path}/{uuid}")
            assert shown.status in (200, 404), shown.body
            assert shown.json
            edited = server.call("PUT", f"/qarnot/{path}/{uuid}", {**body, "name": "again"})
            assert edited.status in (200, 400, 403, 404, 409), edited.body
            assert server.call("DELETE", f"/qarnot/{path}/{uuid}").status in (200, 403, 404, 409)
        made = []
    assert server.call("POST", "/qarnot/tasks/paginate", {}).status == 200
    assert server.call("POST", "/qarnot/pools/paginate", {}).status == 200
    served(server)


def test_bodies_that_are_no_objects(server):
    for path in ("tasks", "pools", "tasks/paginate", "pools/paginate", "jobs/paginate"):
        for body in (b"", b"null", b"[]", b"[[]]", b"1", b'"x"', b"[null, 1, {}]", b"[" * 50000, b'{"a":' * 500, b"\xff", b'{"name":"a","name":"b"}'):
            answer = server.call("POST", f"/qarnot/{path}", body, raw=True, headers={"Content-Type": "application/json"})
            assert answer.status in (200, 400, 413), (path, body[:40], answer.body)
    served(server)


def test_names_that_are_no_uuids(server):
    zero = "00000000-0000-8000-8000-000000000000"
    for uuid in ("1", "x" * 36, zero, "-" * 36, "%00" * 12, "..", "x" * 4000):
        for path in (f"tasks/{uuid}", f"pools/{uuid}", f"tasks/{uuid}/stdout", f"tasks/{uuid}/stderr/-1", f"tasks/{uuid}/stdout/99999999999"):
            assert server.call("GET", f"/qarnot/{path}").status in (400, 404), path
    served(server)


def nested(depth, kind):
    return ("[" * depth + "]" * depth) if kind == "list" else ('{"a":' * depth + "1" + "}" * depth)


@pytest.mark.parametrize("field", ["tags", "constants", "labels", "privileges", "retrySettings", "weir", "advancedResourceBuckets", "x"])
def test_an_annotation_of_anything(server, field):
    """Whoever sets the annotation of a task or pool by Weir's own interface decides what Qarnot's reads there."""
    texts = [nested(depth, kind) for depth in (1, 10, 11, 12, 13, 20, 28, 29, 30, 31, 32, 100) for kind in ("list", "map")]
    texts += ["1e999", "-0", '"' + "\\u0000" * 10 + '"', "18446744073709551615", '"\\ud800"', "null"]
    for text in texts:
        task = server.call("POST", "tasks", {"command": ["true"], "annotation": '{"%s":%s}' % (field, text)})
        assert task.status in (201, 400), task.body
    listed = server.call("POST", "/qarnot/tasks/paginate", {"maximumResults": 100})
    assert listed.status == 200 and listed.json["data"]
    for task in listed.json["data"]:
        assert server.call("GET", f"/qarnot/tasks/{task['uuid']}").status == 200
    for text in texts:
        edited = server.call("PATCH", "pools/default", {"annotation": '{"%s":%s}' % (field, text)})
        assert edited.status in (200, 400), edited.body
        assert server.call("POST", "/qarnot/pools/paginate", {}).status == 200
    served(server)


@pytest.fixture
def stored(tmp_path):
    """A server with a store that it never asks, and a node that says it runs a task with buckets."""
    keys = tmp_path / "keys"
    keys.write_text("aws_access_key_id = AKID\naws_secret_access_key = topsecret\n")
    keys.chmod(0o600)
    server = Server(config=f"compat: {{qarnot: {{storage: 'http://127.0.0.1:9/base', storage_credentials: {keys}}}}}\n")
    try:
        server.start()
        agent = FakeAgent(server).join().connect()
        yield server, agent
        agent.close()
    finally:
        server.close()


def test_a_node_gets_signatures_for_the_buckets_of_its_tasks_alone(stored):
    server, agent = stored
    resources = [{"bucketName": "in", "filtering": {"prefixFiltering": {"prefix": "a/"}}}]
    body = {**TASK, "advancedResourceBuckets": resources, "resultBucket": "out"}
    body = {key: body[key] for key in ("name", "profile", "instanceCount", "constants", "advancedResourceBuckets", "resultBucket")}
    made = server.call("POST", "/qarnot/tasks", body)
    assert made.status == 200, made.body
    key = agent.order()["key"]
    assert agent.report(agent.started(key)).status == 200
    named = f"task={key.split('.')[0]}&index=0&attempt=1"

    def sign(query=named, token=None, **wish):
        body = {"verb": "get", "bucket": "in", "key": "a/x", "upload": "", "part": 0, **wish}
        return server.call("POST", f"/qarnot/node/sign?{query}", body, token=token or agent.credential)

    good = sign()
    assert good.status == 200 and good.json["url"].startswith("http://127.0.0.1:9/base/in/a/x?")
    assert "topsecret" not in good.body.decode()
    assert sign(verb="put", bucket="out", key="b").status == 200
    bad = [{"bucket": "out"}, {"bucket": ""}, {"bucket": "In"}, {"bucket": "in/../out"}, {"bucket": "../in"}, {"key": "b"}, {"key": ""}, {"key": "a"},
           {"verb": "put"}, {"verb": "delete"}, {"verb": ""}, {"key": "a/../../out/x"}, {"key": "a/.."}, {"key": "a/./x"}, {"verb": "list", "key": "a/../"},
           {"verb": "put", "bucket": "out", "key": "../in/x"}, {"verb": "put", "bucket": "out", "key": "x/../../in/x"}, {"verb": "put", "bucket": ""},
           {"bucket": "in?acl=&x="}, {"bucket": None}, {"key": ["a/x"]}]  # fmt: skip
    for wish in bad:
        assert sign(**wish).status == 403, wish
    for wish in ({"key": "a/" + "é%\r\n ?#&=" * 50}, {"verb": "list", "key": "a/", "upload": "\r\nX: y&prefix=b"}, {"part": 2**63}, {"key": "a/" + "k" * 20000}):
        url = sign(**wish)
        assert url.status in (200, 400), (wish, url.body)
        if url.status == 200:
            assert not set("\r\n \"<>é") & set(url.json["url"]), url.json["url"]
    for query in ("task=99&index=0&attempt=1", named.replace("attempt=1", "attempt=2"), named.replace("index=0", "index=1"), "", "task=x&index=0&attempt=1"):
        assert sign(query).status in (400, 403), query
    thief = FakeAgent(server, name="n2").join().connect()
    assert sign(token=thief.credential).status == 403
    assert server.call("POST", f"/qarnot/node/sign?{named}", {}).status == 403  # a person is no node
    thief.close()
    # What a node reports is a number and words, and stays one.
    for report in ({"files": 2**64 - 1, "bytes": 2**63}, {"words": "é" * 5000}, {"words": "\x1b[2J\0"}, {"snapshot": "1" * 50}, {"files": -1}, {"files": []}, {}, []):
        answer = server.call("POST", f"/qarnot/node/report?{named}", report, token=agent.credential)
        assert answer.status in (200, 400, 413), (report, answer.body)
        shown = server.call("GET", f"/qarnot/tasks/{made.json['uuid']}")
        assert shown.status == 200 and shown.json
        assert server.call("GET", f"/qarnot/node/buckets?{named}", token=agent.credential).status == 200
    served(server)
