"""openapi.yaml and the server say the same: every route is described, and what is described is what is done.
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

ROOT = pathlib.Path(__file__).parents[2]
SPEC_FILE = ROOT / "docs/api/openapi.yaml"
schema = schemathesis.openapi.from_path(str(SPEC_FILE))
schema.config.checks.negative_data_rejection.expected_statuses.append("413")  # a text beyond its bound may make the body too large

# Streams that do not end, and what must not be done to a server that others use.
LEFT_OUT = ["/api/v1/events", "/api/v1/agent/stream", "/api/v1/tasks/{id}/wait", "/api/v1/tasks/{id}/logs"]


def test_the_file_served_is_the_file_described(shared):
    assert shared.call("GET", "openapi.yaml").body == SPEC_FILE.read_bytes()


def test_every_row_of_the_table_is_described_and_nothing_else():
    rows = re.findall(r'^ROUTE\((\w+), *"([^"]+)"', (ROOT / "src/api/routes.def").read_text(), re.M)
    described = {
        (method.upper(), path)
        for path, item in schema.raw_schema["paths"].items()
        for method in item
        if method != "parameters"
    }
    assert set(rows) == described
    assert len(rows) == len(set(rows))


ROWS = re.findall(r'^ROUTE\((\w+), *"([^"]+)", *(\w+).*"([^"]*)"\)', (ROOT / "src/api/routes.def").read_text(), re.M)


def test_the_table_and_the_file_name_the_same_query_parameters():
    for method, path, _, query in ROWS:
        parameters = schema.raw_schema["paths"][path][method.lower()].get("parameters", [])
        described = {p["name"] for p in parameters if p.get("in") == "query"}
        described |= {p["$ref"].rsplit("/", 1)[1] for p in parameters if "$ref" in p}
        assert set(query.split()) == described, (method, path)


def test_every_type_of_event_is_described():
    names = set(re.findall(r'^FACT\(\d+, \w+, "([\w-]+)",', (ROOT / "src/core/state/facts.def").read_text(), re.M))
    assert len(names) >= 35
    assert set(schema.raw_schema["components"]["schemas"]["EventType"]["enum"]) == names


@pytest.fixture(scope="module")
def credential(shared):
    from server_process import FakeAgent

    return FakeAgent(shared, name="of-queries").join().credential


@pytest.mark.parametrize("method,path,permission,query", ROWS)
def test_an_unknown_query_parameter_is_refused_by_name_on_every_route(shared, credential, method, path, permission, query):
    token = {"JOIN": shared.join_token, "NODE": credential}.get(permission, shared.admin)
    filler = path.replace("{id}", "1").replace("{name}", "default")
    reply = shared.call(method, filler + "?nonsense=1", token=token)
    assert reply.status == 400, reply.body
    assert reply.json["error"]["path"] == "nonsense"
    assert "'nonsense'" in reply.json["error"]["message"]


@pytest.mark.parametrize("method,path,permission,query", [row for row in ROWS if row[3]])
def test_a_query_parameter_that_stands_twice_is_refused_by_name_on_every_route(shared, credential, method, path, permission, query):
    token = {"JOIN": shared.join_token, "NODE": credential}.get(permission, shared.admin)
    filler = path.replace("{id}", "1").replace("{name}", "default")
    name = query.split()[0]
    reply = shared.call(method, filler + f"?{name}=1&{name}=2", token=token)
    assert reply.status == 400, reply.body
    assert reply.json["error"]["path"] == name
    assert reply.json["error"]["message"].endswith(f"the query parameter '{name}' must stand only once")


@pytest.fixture(scope="module")
def filled(shared):
    """Something to find under /tasks/1, /pools/default and /nodes/n1."""
    from server_process import FakeAgent

    agent = FakeAgent(shared, foo=7).join().connect()
    shared.submit([{"command": ["true"]}, {"command": ["sleep", "9"], "resources": {"foo": 7}}])
    agent.run_next()
    yield shared
    agent.close()


@schema.exclude(path=LEFT_OUT).parametrize()
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_the_server_answers_as_described(filled, case):
    agent_side = case.path.startswith("/api/v1/agent/")
    token = filled.join_token if agent_side else filled.admin
    if case.path.startswith("/api/v1/tokens/") and case.method == "DELETE":
        token = "weir_admin_" + "0" * 64  # generated ids must not hit a token in use
    if case.path.endswith(("/files", "/file")):
        case.path_parameters["id"] = 4_000_000  # the node of the fixture answers no questions: a task that is nowhere
    # A well-formed request may be refused for what it means: no such pool, a cursor of another list.
    case.call_and_validate(
        base_url=filled.url,
        headers={"Authorization": f"Bearer {token}"},
        excluded_checks=[positive_data_acceptance],
    )
