"""Browser sessions: signing in by token and by link, what a session may do, and when it ends.

SPDX-License-Identifier: Apache-2.0
"""

import re

import pytest

OWN = {"X-Weir-Request": "1", "Sec-Fetch-Site": "same-origin"}
COOKIE = re.compile(r"(weir_session_[0-9a-f]{8})=(weir_session_[0-9a-f]{64}); Path=/; Max-Age=(\d+); HttpOnly; SameSite=Strict")


def token_of(server, scope="admin", **more):
    answer = server.call("POST", "tokens", {"scope": scope, "name": "ann", **more})
    assert answer.status == 201, answer.body
    return answer.json


def signed_in(server, secret):
    """The Cookie header of a new session."""
    answer = server.call("POST", "session", token=secret)
    assert answer.status == 201, answer.body
    name, value, _ = COOKIE.fullmatch(answer.headers["Set-Cookie"]).groups()
    return f"{name}={value}"


def by(server, cookie, method, path, body=None, **headers):
    return server.call(method, path, body, token="", headers={"Cookie": cookie, **OWN, **headers})


def test_a_session_does_what_its_token_may(shared):
    cookie = signed_in(shared, token_of(shared)["token"])
    who = by(shared, cookie, "GET", "session").json
    assert (who["name"], who["scope"], who["by"]) == ("ann", "admin", "session")
    assert by(shared, cookie, "POST", "pools", {"name": "of-ann"}).status == 201
    assert shared.get("pools/of-ann")["name"] == "of-ann"
    assert by(shared, cookie, "GET", "whoami").json["name"] == "ann"


def test_a_readers_session_only_looks(shared):
    cookie = signed_in(shared, token_of(shared, "read")["token"])
    assert by(shared, cookie, "GET", "pools").status == 200
    answer = by(shared, cookie, "POST", "tasks", {"command": ["true"]})
    assert (answer.status, answer.json["error"]["code"]) == (403, "denied")
    assert by(shared, cookie, "GET", "tokens").status == 403


def test_signing_out_ends_the_session_and_its_streams(shared):
    cookie = signed_in(shared, token_of(shared)["token"])
    from server_process import Stream

    stream = Stream(shared, "GET", "events", None, "", {"Cookie": cookie})
    assert stream.status == 401  # an Authorization header, even an empty one, is judged alone
    stream.close()
    stream = CookieStream(shared, cookie)
    assert stream.status == 200
    answer = by(shared, cookie, "DELETE", "session")
    assert answer.status == 200
    assert "Max-Age=0" in answer.headers["Set-Cookie"]
    assert by(shared, cookie, "GET", "session").status == 401
    while stream.line() is not None:
        pass
    stream.close()
    assert shared.call("DELETE", "session").status == 409  # a token is no session


class CookieStream:
    """GET /events as a browser opens it."""

    def __init__(self, server, cookie):
        import http.client

        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.connection.request("GET", "/api/v1/events", headers={"Cookie": cookie, "Sec-Fetch-Site": "same-origin"})
        self.response = self.connection.getresponse()
        self.status = self.response.status

    def line(self):
        line = self.response.readline()
        return line.decode() if line else None

    def close(self):
        self.connection.close()


def test_a_session_goes_with_its_token(shared):
    made = token_of(shared)
    cookies = [signed_in(shared, made["token"]) for _ in range(2)]
    other = signed_in(shared, token_of(shared)["token"])
    stream = CookieStream(shared, cookies[0])
    assert shared.call("DELETE", f"tokens/{made['id']}").status == 200
    for cookie in cookies:
        assert by(shared, cookie, "GET", "whoami").status == 401
    while stream.line() is not None:
        pass
    stream.close()
    assert by(shared, other, "GET", "whoami").status == 200
    listed = shared.get("tokens?limit=1000")["items"]
    assert made["id"] not in {one.get("of") for one in listed}


def test_sessions_are_listed_without_their_secrets_and_can_be_revoked(shared):
    made = token_of(shared)
    cookie = signed_in(shared, made["token"])
    answer = shared.call("GET", "tokens?limit=1000")
    own = [one for one in answer.json["items"] if one.get("of") == made["id"]]
    assert [one["scope"] for one in own] == ["session"]
    assert cookie.split("=")[1].encode() not in answer.body
    assert shared.call("DELETE", f"tokens/{own[0]['id']}").status == 200
    assert by(shared, cookie, "GET", "whoami").status == 401
    assert shared.call("GET", "whoami", token=made["token"]).status == 200


def test_a_session_ends_no_later_than_its_token(shared):
    made = token_of(shared, expires_in="1h")
    answer = shared.call("POST", "session", token=made["token"])
    assert answer.json["expires_at"] == made["expires_at"]
    assert 3500 < int(COOKIE.fullmatch(answer.headers["Set-Cookie"]).group(3)) <= 3600


def test_a_token_has_a_bounded_number_of_sessions_and_the_oldest_goes(shared):
    made = token_of(shared)
    cookies = [signed_in(shared, made["token"]) for _ in range(17)]
    states = [by(shared, cookie, "GET", "whoami").status for cookie in cookies]
    assert states == [401] + [200] * 16


def test_sessions_outlive_a_restart(server):
    cookie = signed_in(server, token_of(server)["token"])
    import signal

    server.stop(signal.SIGKILL)
    server.start()
    assert by(server, cookie, "GET", "whoami").json["name"] == "ann"
    for path in server.dir.rglob("*"):
        assert not path.is_file() or cookie.split("=")[1].encode() not in path.read_bytes(), path


def test_a_link_signs_in_as_its_maker(shared):
    reader = token_of(shared, "read")
    link = shared.call("POST", "session/link", token=reader["token"])
    assert link.status == 201
    assert link.json["path"] == "/#link=" + link.json["link"]
    answer = shared.call("POST", "session", token=link.json["link"])
    assert (answer.status, answer.json["name"], answer.json["scope"]) == (201, "ann", "read")
    again = shared.call("POST", "session", token=link.json["link"])
    assert again.status == 401


def test_a_link_can_be_made_in_a_session(shared):
    cookie = signed_in(shared, token_of(shared)["token"])
    link = by(shared, cookie, "POST", "session/link").json["link"]
    assert shared.call("POST", "session", token=link).json["name"] == "ann"
    assert by(shared, cookie, "POST", "session").status == 409


def test_answers_are_kept_in_no_cache_and_never_taken_for_pages(shared):
    answer = shared.call("GET", "whoami")
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("scope", ["join", "node"])
def test_other_scopes_sign_nobody_in(shared, scope):
    secret = shared.join_token
    if scope == "node":
        secret = shared.call("POST", "agent/join", {"name": "n7", "pool": "default"}, token=secret).json["credential"]
    assert shared.call("POST", "session", token=secret).status == 403
    assert shared.call("POST", "session/link", token=secret).status == 403
