"""Somebody who has a person's browser visit another site, who plants or steals cookies, or who finds a used link.

SPDX-License-Identifier: Apache-2.0
"""

import pytest

OWN = {"X-Weir-Request": "1", "Sec-Fetch-Site": "same-origin"}


def signed_in(server, secret=None):
    answer = server.call("POST", "session", token=secret)
    assert answer.status == 201, answer.body
    return answer.headers["Set-Cookie"].split(";")[0]


def tasks(server):
    return len(server.get("tasks")["items"])


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Weir-Request": "1"},  # no word of a browser
        {"X-Weir-Request": "0", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "same-origin"},  # a form of this server's own page: there is none
        {"Sec-Fetch-Site": "cross-site", "X-Weir-Request": "1"},
        {"Sec-Fetch-Site": "same-site", "X-Weir-Request": "1"},  # another port of this machine
        {"Sec-Fetch-Site": "none", "X-Weir-Request": "1"},
        {"Origin": "http://evil.example", "X-Weir-Request": "1"},
        {"Origin": "null", "X-Weir-Request": "1"},
        {"Origin": "http://127.0.0.1:1", "X-Weir-Request": "1"},
    ],
)
def test_another_site_changes_nothing_with_a_persons_cookie(server, headers):
    cookie = signed_in(server)
    answer = server.call("POST", "tasks", {"command": ["true"]}, token="", headers={"Cookie": cookie, **headers})
    assert (answer.status, answer.json["error"]["code"]) == (403, "denied")
    assert tasks(server) == 0
    assert server.call("DELETE", "session", token="", headers={"Cookie": cookie, **headers}).status == 403
    own = {"Cookie": cookie, **OWN}
    assert server.call("POST", "tasks", {"command": ["true"]}, token="", headers=own).status == 201
    origin = {"Cookie": cookie, "X-Weir-Request": "1", "Origin": f"http://127.0.0.1:{server.port}"}
    assert server.call("POST", "tasks", {"command": ["true"]}, token="", headers=origin).status == 201
    assert tasks(server) == 2


@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
def test_another_site_reads_nothing_with_a_persons_cookie(server, site):
    cookie = signed_in(server)
    for path in ("tasks", "events", "tasks/1/logs"):
        answer = server.call("GET", path, token="", headers={"Cookie": cookie, "Sec-Fetch-Site": site})
        assert answer.status == 403, path


def test_a_planted_cookie_is_nobody(server):
    """Fixation: signing in makes a new secret, whatever the browser brought along."""
    name = signed_in(server).split("=")[0]
    planted = f"{name}=weir_session_{'0' * 64}"
    assert server.call("GET", "whoami", token="", headers={"Cookie": planted}).status == 401
    answer = server.call("POST", "session", headers={"Cookie": planted})
    assert answer.status == 201
    assert planted not in answer.headers["Set-Cookie"]
    assert server.call("GET", "whoami", token="", headers={"Cookie": planted}).status == 401


def test_two_sessions_in_one_request_prove_nothing(server):
    first, second = signed_in(server), signed_in(server)
    both = {"Cookie": f"{first}; {second.replace('=', 'x=', 1)}"}
    assert server.call("GET", "whoami", token="", headers=both).status == 401
    twice = {"Cookie": f"{first}; {first}"}
    assert server.call("GET", "whoami", token="", headers=twice).status == 200
    beside = {"Cookie": f"other=1; weir_session_ffffffff=of-another-server; {first}"}
    assert server.call("GET", "whoami", token="", headers=beside).status == 200


def test_many_cookies_cost_a_bounded_look(server):
    own = signed_in(server)
    flood = "; ".join(f"weir_session_{i}=x" for i in range(40))
    assert server.call("GET", "whoami", token="", headers={"Cookie": f"{flood}; {own}"}).status == 401
    assert server.call("GET", "whoami", token="", headers={"Cookie": own}).status == 200


def test_a_token_beside_a_cookie_is_judged_alone(server):
    cookie = signed_in(server)
    headers = {"Cookie": cookie, **OWN}
    assert server.call("GET", "whoami", token="weir_admin_" + "0" * 64, headers=headers).status == 401
    assert server.call("GET", "whoami", token="", headers={**headers, "Authorization": "Basic eDp4"}).status == 401
    reader = server.call("POST", "tokens", {"scope": "read", "name": "eve"}).json["token"]
    assert server.call("POST", "tasks", {"command": ["true"]}, token=reader, headers=headers).status == 403


def test_secrets_are_good_in_their_own_place_alone(server):
    cookie = signed_in(server)
    name, secret = cookie.split("=")
    assert server.call("GET", "whoami", token=secret).status == 401  # a session's is no bearer's
    assert server.call("GET", "whoami", token="", headers={"Cookie": f"{name}={server.admin}"}).status == 401
    assert server.call("GET", "whoami", token="", headers={"Cookie": f"{name}={server.join_token}"}).status == 401
    link = server.call("POST", "session/link").json["link"]
    assert server.call("GET", "whoami", token="", headers={"Cookie": f"{name}={link}"}).status == 401
    for method, path in (("GET", "whoami"), ("GET", "session"), ("POST", "session/link"), ("POST", "tasks"), ("DELETE", "session")):
        assert server.call(method, path, token=link).status == 401, path
    assert server.call("POST", "session", token=link).status == 201


def test_a_link_is_replayed(server):
    link = server.call("POST", "session/link").json["link"]
    assert server.call("POST", "session", token=link).status == 201
    for _ in range(3):
        assert server.call("POST", "session", token=link).status == 401


def test_links_are_pushed_out_but_never_add_up(server):
    links = [server.call("POST", "session/link").json["link"] for _ in range(65)]
    assert server.call("POST", "session", token=links[0]).status == 401
    assert server.call("POST", "session", token=links[1]).status == 201
    assert server.call("POST", "session", token=links[64]).status == 201


def test_a_link_dies_with_its_token(server):
    made = server.call("POST", "tokens", {"scope": "admin", "name": "ann"}).json
    link = server.call("POST", "session/link", token=made["token"]).json["link"]
    server.call("DELETE", f"tokens/{made['id']}")
    assert server.call("POST", "session", token=link).status == 401


def test_a_session_cannot_be_had_by_making_tokens_of_its_scope(server):
    answer = server.call("POST", "tokens", {"scope": "session", "name": "ann"})
    assert answer.status == 400
