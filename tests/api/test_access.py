"""Who may call what: tokens, scopes, other sites, sizes. The list of routes comes from openapi.yaml, which
test_openapi.py holds to the server's own table. SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re

import pytest
import yaml

SPEC = yaml.safe_load((pathlib.Path(__file__).parents[2] / "docs/api/openapi.yaml").read_text())
HEALTH = {"/healthz", "/readyz"}
PAGES = {"/", "/assets/{name}"}  # files of the program, the same for everybody: test_web.py
OPEN = HEALTH | PAGES
ROUTES = [
    (method.upper(), path)
    for path, item in SPEC["paths"].items()
    for method in item
    if method != "parameters"
]
CLOSED = [route for route in ROUTES if route[1] not in OPEN]


def filled(path):
    return re.sub(r"\{[a-z]+\}", "1", path)


@pytest.mark.parametrize("method,path", CLOSED)
@pytest.mark.parametrize("token", ["", "weir_admin_" + "0" * 64, "x" * 300])
def test_nothing_is_open_without_a_valid_token(shared, method, path, token):
    answer = shared.call(method, filled(path), token=token)
    assert answer.status == 401
    assert answer.json["error"]["code"] == "denied"
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_open_is_what_the_table_says_and_no_more():
    rows = (pathlib.Path(__file__).parents[2] / "src/api/routes.def").read_text()
    assert set(re.findall(r'^ROUTE\(\w+, *"([^"]+)", *NONE,', rows, re.M)) == HEALTH
    assert set(re.findall(r'^ROUTE\(GET, *"([^"]+)", *ASSET,', rows, re.M)) == PAGES
    assert not re.search(r'^ROUTE\((?!GET)\w+, *"[^"]+", *(NONE|ASSET),', rows, re.M)
    assert {path for path, item in SPEC["paths"].items() for op in item.values() if "security" in op} == OPEN


@pytest.mark.parametrize("path", sorted(HEALTH))
def test_health_needs_no_token(shared, path):
    assert shared.call("GET", path, token="").status == 200


def test_unknown_paths_tell_nothing_to_strangers(shared):
    assert shared.call("GET", "/no/such/path", token="").status == 401
    assert shared.call("GET", "/no/such/path").status == 404


def test_a_path_with_other_methods_says_which(shared):
    answer = shared.call("PUT", "/api/v1/tasks")
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET, POST"


@pytest.fixture(scope="module")
def tokens(shared):
    """A token of each scope."""
    made = {"admin": shared.admin, "join": shared.join_token}
    made["read"] = shared.call("POST", "tokens", {"scope": "read", "name": "eve"}).json["token"]
    body = {"name": "scoped", "pool": "default"}
    made["node"] = shared.call("POST", "agent/join", body, token=shared.join_token).json["credential"]
    return made


def allowed(method, path):
    if path.startswith("/api/v1/agent/"):
        return {"join"} if path.endswith("/join") else {"node"}
    if path.startswith("/api/v1/session"):
        return {"admin", "read"}  # one's own session; test_session.py
    closed = ("/api/v1/audit", "/api/v1/tokens", "/api/v1/config", "/api/v1/uploads")  # what is uploaded concerns who submits
    if method == "GET" and path not in closed:
        return {"admin", "read"}
    return {"admin"}


@pytest.mark.parametrize("method,path", [r for r in CLOSED if not r[1].endswith(("/events", "/stream"))])
@pytest.mark.parametrize("scope", ["admin", "read", "join", "node"])
def test_each_scope_opens_its_routes_and_no_other(shared, tokens, method, path, scope):
    body = "{" if method in ("POST", "PATCH") else None  # refused, once it is let in
    answer = shared.call(method, filled(path), body, token=tokens[scope], raw=True)
    of_another = path == "/api/v1/agent/upload" and scope == "node"  # the scope is right, and the task is not on this node
    refused = answer.status == 403 and not (of_another and answer.json["error"]["path"] == "task")
    assert refused == (scope not in allowed(method, path)), (answer.status, answer.body)


def test_the_lines_for_new_machines_are_for_administrators(shared, tokens):
    provider = {"type": "ec2", "max": 0, "region": "eu-west-1", "image": "ami-1", "instance_type": "t3.micro", "user_data": "echo abracadabra"}
    assert shared.call("POST", "pools", {"name": "lines", "provider": provider}).status == 201
    for path in ("pools", "pools/lines", "state"):
        assert b"abracadabra" not in shared.call("GET", path, token=tokens["read"]).body, path
    assert shared.call("GET", "pools/lines").json["provider"]["user_data"] == "echo abracadabra"
    assert b"abracadabra" in shared.call("GET", "pools").body


def test_a_revoked_token_is_no_token(shared):
    made = shared.call("POST", "tokens", {"scope": "read", "name": "ann"}).json
    assert shared.call("GET", "whoami", token=made["token"]).json["name"] == "ann"
    assert shared.call("DELETE", f"tokens/{made['id']}").status == 200
    assert shared.call("GET", "whoami", token=made["token"]).status == 401
    assert shared.call("DELETE", f"tokens/{made['id']}").status == 404


def test_tokens_are_listed_without_their_secrets(shared):
    secret = shared.call("POST", "tokens", {"scope": "admin", "name": "bob"}).json["token"]
    answer = shared.call("GET", "tokens")
    assert "bob" in {token["name"] for token in answer.json["items"]}
    assert secret.encode() not in answer.body


def test_secrets_are_stored_nowhere_but_in_their_files(shared):
    for path in shared.dir.rglob("*"):
        if path.is_file() and path.name != "admin.token":
            assert shared.admin.encode() not in path.read_bytes(), path
    for name in ("admin.token", "join.token"):
        assert (shared.dir / name).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::1", ""])
def test_other_names_are_refused(shared, host):
    assert shared.call("GET", "/healthz", headers={"Host": host}).status in (400, 403)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8080", "10.0.0.1:80"])
def test_loopback_names_and_addresses_are_taken(shared, host):
    assert shared.call("GET", "/healthz", headers={"Host": host}).status == 200


def test_pages_of_other_origins_get_nothing(shared):
    own = f"127.0.0.1:{shared.port}"
    assert shared.call("GET", "whoami", headers={"Origin": f"http://{own}"}).status == 200
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
        assert shared.call("GET", "whoami", headers={"Origin": origin}).status == 403


@pytest.mark.parametrize("method,path", [("POST", "pools"), ("PATCH", "tasks/1"), ("POST", "tasks/1/kill")])
def test_bodies_over_the_limit_are_refused(shared, method, path):
    answer = shared.call(method, path, '{"name":"' + "x" * 70000 + '"}', raw=True)
    assert answer.status == 413
    assert answer.json["error"]["message"]


def test_the_server_listens_on_loopback_only(shared):
    import subprocess

    from weir_harness import weir_bin

    refused = subprocess.run(
        [weir_bin(), "server", "--dir", str(shared.root / "x"), "--listen", "0.0.0.0:0"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert refused.returncode == 2
    assert "--insecure-listen" in refused.stderr


def test_a_second_server_on_the_directory_is_refused(shared):
    import subprocess

    from weir_harness import weir_bin

    refused = subprocess.run(
        [weir_bin(), "server", "--dir", str(shared.dir), "--listen", "127.0.0.1:0"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert refused.returncode == 5
    assert str(shared.process.pid) in refused.stderr
