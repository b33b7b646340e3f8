"""Somebody who asks for pages of tasks in forms that no browser uses, and a task whose page claims more than its own place.

SPDX-License-Identifier: Apache-2.0
"""

import http.client

import pytest
from weir_harness import DEADLINE_S

# Answers each request with the header lines in the file "head".
PAGE = (
    "import os, socket\n"
    "door = socket.create_server(('127.0.0.1', int(os.environ['WEIR_PORT'])))\n"
    "while True:\n"
    "    conn = door.accept()[0]\n"
    "    conn.recv(65536)\n"
    "    conn.sendall(b'HTTP/1.0 200 OK\\r\\n' + os.environ['HEAD'].encode() + b'\\r\\n\\r\\nhello')\n"
    "    conn.close()\n"
)


def page(weir, head="A: b"):
    task = weir.submit("/usr/bin/python3", "-c", PAGE, env={"HEAD": head})
    weir.wait_state(task, "running")
    return task


def opened(weir, task):
    """The port, the path and the one-time link of a task's page."""
    answer = weir.api("POST", f"tasks/{task}/open")
    assert answer.status == 201, answer.body
    return answer.json["port"], answer.json["path"], answer.json["parameter"]


def ask(port, target, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
    try:
        connection.putrequest(method, target)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.getheaders(), answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    "form",
    [
        "{path}?%77eir_link={secret}",
        "{path}?x=1&weir%5flink={secret}",
        "{path}x?%77%65%69%72_link={secret}&x=weir_link",
        "http://127.0.0.1:{port}{path}?weir_link={secret}",
        "{path}?xweir_link=1&weir_lin%6b={secret}",
    ],
)
def test_a_link_in_another_form_is_refused_and_stays_good(weir_shared, form):
    """The server stopped when the name of the parameter was written with escapes."""
    task = weir_shared.submit("sleep", "600")
    weir_shared.wait_state(task, "running")
    port, path, parameter = opened(weir_shared, task)
    secret = parameter.split("=")[1]
    status, headers, _ = ask(port, form.format(path=path, secret=secret, port=port))
    assert status == 401 and "Set-Cookie" not in dict(headers)
    status, headers, _ = ask(port, f"{path}?x=1&{parameter}")
    assert (status, dict(headers)["Location"]) == (303, f"{path}?x=1")
    assert weir_shared.api("POST", f"tasks/{task}/kill").status == 200


@pytest.mark.parametrize(
    "head",
    [
        'Clear-Site-Data: "*"',
        "Strict-Transport-Security: max-age=31536000; includeSubDomains",
        'Alt-Svc: h2="evil.example:443"',
        "NEL: {}",
        "Report-To: {}",
        "Reporting-Endpoints: x=\"https://evil.example\"",
        "Service-Worker-Allowed: /",
        "Set-Cookie: weir_session_0=x",
        "Set-Cookie: __Host-weir_session_0=x; Path=/; Secure",
        "Set-Cookie: =weir_session_0=x",
        "Set-Cookie:  = weir_proxy_1_1=x",
        "Transfer-Encoding: identity, chunked",
    ],
)
def test_a_page_speaks_for_itself_alone(weir_shared, head):
    task = page(weir_shared, head)
    port, path, _ = opened(weir_shared, task)
    bearer = {"Authorization": f"Bearer {weir_shared.token}"}
    weir_shared.wait_until(lambda: ask(port, path, **bearer)[0] != 502 or "Transfer" in head, "the task to listen")
    _, headers, _ = ask(port, path, **bearer)
    name = head.split(":")[0]
    ours = [value for key, value in headers if key.lower() == name.lower()]
    assert ours == [] or name == "Transfer-Encoding", ours
    assert weir_shared.api("POST", f"tasks/{task}/kill").status == 200


def test_a_cookie_of_a_page_is_held_to_its_own_path(weir_shared):
    task = page(weir_shared, "Set-Cookie: a=b; Path=/; Domain=127.0.0.1; path=/x\r\nSet-Cookie: plain")
    port, path, _ = opened(weir_shared, task)
    bearer = {"Authorization": f"Bearer {weir_shared.token}"}
    weir_shared.wait_until(lambda: ask(port, path, **bearer)[0] == 200, "the task to listen")
    cookies = [value for key, value in ask(port, path, **bearer)[1] if key == "Set-Cookie"]
    assert sorted(cookies) == [f"a=b; Path={path}", f"plain; Path={path}"]
    assert weir_shared.api("POST", f"tasks/{task}/kill").status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/proxy/0/", "/proxy/-1/", "/proxy/18446744073709551615/", "/proxy/18446744073709551616/", "/proxy/1", "/proxy//", "/proxy/1.1.1/",
        "/proxy/1.99999999999999999999/", "/proxy/1%0d%0aX:y/", "/proxy/../api/v1/tasks", "/api/v1/tasks", "/proxy/1%2f..%2f../",
        "/proxy/1/%00", "/proxy/1/?weir_link", "/proxy/1/?weir_link=", "/proxy/1/?weir_link=" + "0" * 64, "/proxy/1/?" + "weir_link=&" * 40,
    ],
)  # fmt: skip
def test_a_path_that_is_none_reaches_no_task(weir_shared, path):
    port = opened(weir_shared, weir_shared.submit("sleep", "600"))[0]
    assert ask(port, path)[0] in (400, 401, 404)
    assert ask(port, path, Cookie="weir_proxy=1; weir_proxy_%d_1=%s" % (port, "0" * 64))[0] in (400, 401, 404)
