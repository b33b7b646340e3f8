"""The pages and their assets: open to everybody, cached well, and no road to anything else.
SPDX-License-Identifier: Apache-2.0
"""

import gzip
import hashlib
import http.client
import pathlib
import re
import subprocess

import pytest

WEB = pathlib.Path(__file__).parents[2] / "web"


def get(server, path, **headers):
    """Without a token."""
    return server.call("GET", path, token="", headers={k.replace("_", "-"): v for k, v in headers.items()})


@pytest.fixture(scope="module")
def interface(page):
    """Is the web interface in this build? Without Node the page says that the interface is left out."""
    return b"/assets/app-" in page.body


@pytest.fixture(scope="module")
def page(shared):
    return get(shared, "/")


@pytest.fixture(scope="module")
def references(page):
    found = re.findall(r'(?:href|src)="([^"]+)"', page.body.decode())
    assert found
    return sorted(set(found))


def test_the_page_is_the_file_with_hashed_names(page, references, interface):
    assert page.status == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    text = page.body.decode()
    for path in references:
        stem, ext = re.fullmatch(r"/assets/([a-z]+)-[0-9a-f]{20}\.([a-z]+)", path).groups()
        text = text.replace(path, f"/assets/{stem}.{ext}")
    assert text == (WEB / ("index.html" if interface else "plain/index.html")).read_text()


def test_the_page_is_asked_for_again_and_may_load_only_this_servers_files(page):
    assert page.headers["Cache-Control"] == "no-cache"
    policy = dict(part.strip().split(" ", 1) for part in page.headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert set(policy.values()) <= {"'none'", "'self'", "'self' data:"}
    assert policy["img-src"] == "'self' data:"
    assert page.headers["X-Frame-Options"] == "DENY"
    assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["Referrer-Policy"] == "no-referrer"


def test_the_page_has_nothing_inline(page):
    text = page.body.decode()
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:|https?://", text)
    assert all(re.fullmatch(r'<script type="module" src="/assets/app-[0-9a-f]{20}\.js"></script>', tag) for tag in re.findall(r"<script.*?</script>", text))


def test_the_types_of_the_sources_fit():
    compiler = WEB / "node_modules" / ".bin" / "tsc"
    if not compiler.exists():
        pytest.skip("no packages in web/node_modules (tools/deps build)")
    result = subprocess.run([compiler, "--noEmit"], cwd=WEB, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_all_files_together_are_small(shared, references):
    sizes = {path: len(get(shared, path, Accept_Encoding="gzip").body) for path in ["/", *references]}
    assert sum(sizes.values()) <= 200 * 1024, sizes


def test_no_source_makes_markup_of_text():
    """Names and output of tasks become text nodes, never markup."""
    for path in [*(WEB / "src").rglob("*.ts"), *(WEB / "src").rglob("*.tsx")]:
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")  # the name of a language, not an address
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(|https?://", text), path


def test_assets_are_kept_for_ever(shared, references):
    types = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
    for path in references:
        answer = get(shared, path)
        assert answer.status == 200, path
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["Content-Type"] == types[path.rsplit(".", 1)[1]]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        name = re.sub(r"-[0-9a-f]{20}\.", ".", path.rsplit("/", 1)[1])
        if (WEB / name).exists():  # the others are made by the build
            assert answer.body == (WEB / name).read_bytes()
        assert hashlib.sha256(answer.body).hexdigest()[:20] in path


def test_what_is_small_enough_compressed_is_sent_compressed(shared, references):
    for path in ["/", *references]:
        plain, packed = get(shared, path), get(shared, path, Accept_Encoding="br, gzip")
        assert "Content-Encoding" not in plain.headers
        assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
        if "Content-Encoding" in packed.headers:
            assert packed.headers["Content-Encoding"] == "gzip"
            assert gzip.decompress(packed.body) == plain.body
            assert len(packed.body) < len(plain.body)
            assert packed.headers["ETag"] != plain.headers["ETag"]
        assert get(shared, path, Accept_Encoding="gzip;q=0").body == plain.body
    assert "Content-Encoding" in get(shared, "/", Accept_Encoding="gzip").headers


def test_what_the_browser_has_is_not_sent_again(shared, references):
    for path in ["/", *references]:
        for encoding in ({}, {"Accept_Encoding": "gzip"}):
            first = get(shared, path, **encoding)
            again = get(shared, path, If_None_Match=first.headers["ETag"], **encoding)
            assert (again.status, again.body) == (304, b"")
            assert again.headers["ETag"] == first.headers["ETag"]
            assert again.headers["Cache-Control"] == first.headers["Cache-Control"]
            assert get(shared, path, If_None_Match='"other"', **encoding).status == 200


def test_a_connection_goes_on_after_an_unchanged_answer(shared, page):
    connection = http.client.HTTPConnection("127.0.0.1", shared.port, timeout=20)
    for _ in range(3):
        connection.request("GET", "/", headers={"If-None-Match": page.headers["ETag"]})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (304, b"")
        connection.request("GET", "/")
        assert connection.getresponse().read() == page.body
    connection.close()


@pytest.mark.parametrize(
    "path",
    [
        "/assets/weir.css",  # only by the hashed name
        "/assets/..",
        "/assets/index.html",
        "/assets/%2e%2e",
        "/assets/admin.token",
    ],
)
def test_other_names_below_assets_are_nothing(shared, path):
    assert get(shared, path).status == 404


@pytest.mark.parametrize(
    "path",
    [
        "/assets/",
        "/assets",
        "/assets/../admin.token",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/index.html",
        "/web/index.html",
    ],
)
def test_no_path_leads_out(shared, path):
    answer = get(shared, path)
    assert answer.status == 401  # an unknown path, like any other
    assert shared.call("GET", path).status == 404


def test_pages_are_only_looked_at(shared):
    for method in ("POST", "PUT", "DELETE"):
        assert shared.call(method, "/", token="").status == 401
        assert shared.call(method, "/").status == 405


def test_pages_of_other_origins_and_other_names_get_no_page(shared):
    assert get(shared, "/", Origin="http://evil.example").status == 403
    assert get(shared, "/", Host="evil.example").status == 403
