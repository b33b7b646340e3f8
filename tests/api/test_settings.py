"""GET /config: what the server runs with, and where each value and object comes from. SPDX-License-Identifier: Apache-2.0"""

import pytest
from server_process import Server

FILE = """
lost_after: 2m
retention: {tasks: 30d}
compat: {qarnot: {storage: "https://me:secret@s3.example.org"}}
pools: [{name: gpu}]
departments: [{name: ml}]
projects: [{name: nlp, department: ml}]
"""


@pytest.fixture(scope="module")
def configured():
    server = Server(FILE).start()
    yield server
    server.close()


def origins(server):
    answer = server.get("config")
    return answer, {(i["kind"], i["name"]): (i["value"], i["origin"]) for i in answer["items"]}


def test_settings_say_where_they_come_from(configured):
    answer, of = origins(configured)
    assert answer["path"] == str(configured.root / "server.yaml")
    assert (answer["problem"], answer["more"]) == (None, 0)
    assert answer["text"] == FILE
    assert of["setting", "lost_after"] == ("2m", "file")
    assert of["setting", "retention.tasks"] == ("30d", "file")
    assert of["setting", "retention.facts"] == ("1000000", "default")
    assert of["setting", "tls.node_life"] == ("1d", "default")
    assert of["setting", "data"] == (str(configured.dir), "command line")
    assert of["setting", "listen"][1] == "command line"
    assert of["setting", "compat.qarnot.storage"] == ("(an address with a password)", "file")
    assert ("setting", "insecure_listen") not in of


def test_objects_say_who_made_them(configured):
    assert configured.call("POST", "pools", {"name": "burst"}).status == 201
    assert configured.call("POST", "projects", {"name": "vision", "department": "ml"}).status == 201
    _, of = origins(configured)
    assert of["pool", "gpu"] == (None, "file")
    assert of["pool", "burst"] == (None, "API")
    assert of["pool", "default"] == (None, "built in")
    assert of["department", "ml"] == (None, "file")
    assert of["project", "nlp"] == (None, "file")
    assert of["project", "vision"] == (None, "API")


def test_a_file_that_became_wrong_is_told_with_its_line(configured):
    path = configured.root / "server.yaml"
    path.write_text(FILE + "pols: []\n")
    try:
        answer, of = origins(configured)
        assert "'pols'" in answer["problem"] or "pols" in answer["problem"]
        assert ":8:" in answer["problem"]
        assert of["setting", "lost_after"] == ("2m", "file")  # the server still runs with it
    finally:
        path.write_text(FILE)


def test_only_an_administrator_reads_it(configured):
    reader = configured.call("POST", "tokens", {"scope": "read", "name": "eve"}).json["token"]
    assert configured.call("GET", "config", token=reader).status == 403


def test_a_server_without_a_file_has_its_defaults(server):
    answer, of = origins(server)
    assert (answer["path"], answer["text"]) == (None, None)
    assert {origin for (kind, _), (_, origin) in of.items() if kind == "setting"} == {"default", "command line"}
    assert of["pool", "default"] == (None, "built in")


def test_a_server_says_at_its_start_which_program_it_cannot_run():
    server = Server(config="pools:\n  - name: burst\n    provider: {type: exec, command: /nowhere/machines, max: 2}\n")
    try:
        log = server.start().log()
    finally:
        server.close()
    assert "a pool can bring no node up" in log and "burst" in log and "'/nowhere/machines' is not on this machine" in log
