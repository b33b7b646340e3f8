"""GET /reports: reports of the simulator in the data directory. SPDX-License-Identifier: Apache-2.0"""

import os

import pytest

PAGE = b"<!doctype html><title>weir sim</title><main>x</main><script>alert(1)</script>"


@pytest.fixture
def kept(server):
    folder = server.dir / "reports"
    folder.mkdir()
    for number, name in enumerate(("old.html", "new.html")):
        (folder / name).write_bytes(PAGE)
        os.utime(folder / name, (1_700_000_000 + number, 1_700_000_000 + number))
    return server


def test_without_a_folder_there_is_none(server):
    assert server.get("reports") == {"items": [], "more": False}
    assert server.call("GET", "reports/x.html").status == 404


def test_the_newest_comes_first(kept):
    items = kept.get("reports")["items"]
    assert [(one["name"], one["bytes"]) for one in items] == [("new.html", len(PAGE)), ("old.html", len(PAGE))]
    assert items[0]["modified_at"] == "2023-11-14T22:13:21.000Z"


def test_a_report_is_text_and_never_a_page(kept):
    answer = kept.call("GET", "reports/new.html")
    assert (answer.status, answer.body) == (200, PAGE)
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_nothing_else_of_the_disk_is_told(kept):
    folder = kept.dir / "reports"
    (folder / "secret.txt").write_text("x")
    (folder / ".hidden.html").write_text("x")
    (folder / "link.html").symlink_to(kept.dir / "admin.token")
    (folder / "folder.html").mkdir()
    os.mkfifo(folder / "pipe.html")
    assert [one["name"] for one in kept.get("reports")["items"]] == ["new.html", "old.html"]
    for name in ("secret.txt", ".hidden.html", "link.html", "folder.html", "pipe.html", "..%2Fadmin.token", "%2e%2e", "a" * 200 + ".html"):
        assert kept.call("GET", f"reports/{name}").status in (400, 404), name


def test_a_report_that_is_too_large_is_refused(kept):
    (kept.dir / "reports" / "large.html").write_bytes(b"x" * (16 * 1024 * 1024 + 1))
    answer = kept.call("GET", "reports/large.html")
    assert answer.status != 200
    assert "more than" in answer.json["error"]["message"]
