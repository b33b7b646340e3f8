"""`weir ui`: a link that signs in once. SPDX-License-Identifier: Apache-2.0"""

import os


def test_ui_prints_a_link_that_signs_in_once(weir):
    done = weir.weir("ui", env={"DISPLAY": "", "WAYLAND_DISPLAY": ""})
    url, link = done.stdout.strip().split("/#link=")
    assert url == weir.url
    answer = weir.api("POST", "session", token=link)
    assert (answer.status, answer.json["by"], answer.json["scope"]) == (201, "session", "admin")
    assert weir.api("POST", "session", token=link).status == 401


def test_ui_opens_the_browser_of_a_desktop(weir, tmp_path):
    seen = tmp_path / "seen"
    program = tmp_path / "xdg-open"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > {seen}.new && mv {seen}.new {seen}\n')
    program.chmod(0o755)
    env = {"DISPLAY": ":7", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = weir.weir("ui", env=env)
    assert done.stdout == ""
    assert "the browser opens" in done.stderr
    weir.wait_until(seen.exists, "the browser to be asked")
    assert weir.api("POST", "session", token=seen.read_text().split("#link=")[1]).status == 201
    assert "/#link=weir_link_" in weir.weir("ui", "--print", env=env).stdout


def test_ui_as_json(weir):
    made = weir.weir_json("ui")
    assert made["path"] == "/#link=" + made["link"]
