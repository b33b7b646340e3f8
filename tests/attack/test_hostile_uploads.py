"""Uploads that must not be taken: each is refused by name. SPDX-License-Identifier: Apache-2.0"""

import gzip
import hashlib
import io
import tarfile

import pytest


def archive(*members, form=tarfile.GNU_FORMAT):
    """A tar archive of (name, type, target or data)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for name, kind, rest in members:
            info = tarfile.TarInfo(name)
            info.type = kind
            if kind == tarfile.REGTYPE:
                info.size = len(rest)
                tar.addfile(info, io.BytesIO(rest))
            else:
                info.linkname = rest or ""
                tar.addfile(info)
    return out.getvalue()


def send(weir, data, digest=None, size=None):
    digest = digest or hashlib.sha256(data).hexdigest()
    size = len(data) if size is None else size
    answer = None
    for offset in range(0, len(data), 4 << 20):
        answer = weir.api("PUT", f"uploads?digest={digest}&offset={offset}&size={size}", body=data[offset : offset + (4 << 20)])
    return answer


FILE = tarfile.REGTYPE
HOSTILE = {
    "absolute": (archive(("/etc/cron.d/x", FILE, b"x")), "'/etc/cron.d/x' is an absolute path"),
    "dots": (archive(("a/../../x", FILE, b"x")), "'a/../../x' leads out"),
    "symlink": (archive(("l", tarfile.SYMTYPE, "/etc")), "'l' is a symbolic link"),
    "hard link": (archive(("a", FILE, b"x"), ("h", tarfile.LNKTYPE, "a")), "'h' is a hard link"),
    "device": (archive(("null", tarfile.CHRTYPE, None)), "'null' is a device"),
    "disk": (archive(("sda", tarfile.BLKTYPE, None)), "'sda' is a device"),
    "pipe": (archive(("p", tarfile.FIFOTYPE, None)), "'p' is a pipe"),
    "long name": (archive(("d/" * 150 + "x", FILE, b"x")), "of a kind that is not taken"),
    "deep": (archive(("d/" * 70 + "x", FILE, b"x"), form=tarfile.USTAR_FORMAT), "below more than 64 directories"),
    "compressed": (gzip.compress(archive(("a", FILE, b"\0" * 10_000_000))), "compressed"),
    "cut": (archive(("a", FILE, b"x" * 5000))[:2048], "cut off"),
    "no archive": (b"x" * 1024, "no tar archive"),
    "behind the end": (archive(("a", FILE, b"x")) + archive(("b", FILE, b"x")), "goes on behind its end"),
    "many entries": (archive(*[(f"{n}", FILE, b"") for n in range(100_001)]), "more than 100000 entries"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_by_name(weir_shared, name):
    data, words = HOSTILE[name]
    answer = send(weir_shared, data)
    assert answer.status in (400, 413), answer.body
    assert words in answer.json["error"]["message"], answer.body
    # Nothing of it stays, and no task can name it.
    digest = hashlib.sha256(data).hexdigest()
    assert weir_shared.api("GET", f"uploads?digest={digest}").status == 404
    refused = weir_shared.api("POST", "tasks", {"command": ["true"], "upload": digest})
    assert refused.status == 400
    assert refused.json["error"]["path"] == "upload"


def test_an_archive_with_another_digest_or_over_the_cap_is_refused(weir_shared):
    data = archive(("a", FILE, b"x"))
    answer = send(weir_shared, data, digest="0" * 64)
    assert answer.status == 400 and "SHA-256" in answer.json["error"]["message"]
    answer = send(weir_shared, data, size=(1 << 30) + 1)
    assert answer.status == 400 and "the most" in answer.json["error"]["message"]
    for digest in ("..%2f..%2fx", "0" * 63, "g" * 64):
        assert weir_shared.api("PUT", f"uploads?digest={digest}&offset=0&size=1", body=b"x").status in (400, 404)


def test_an_upload_is_its_users_own(weir_shared):
    data = archive(("a", FILE, b"mine"))
    digest = hashlib.sha256(data).hexdigest()
    assert send(weir_shared, data).json["complete"]
    other = weir_shared.api("POST", "tokens", {"name": "mallory", "scope": "admin"}).json["token"]
    refused = weir_shared.api("POST", "tasks", {"command": ["cat", "a"], "upload": digest}, token=other)
    assert refused.status == 400 and "you have no upload" in refused.json["error"]["message"]
    # A node gets only what its own tasks name.
    node = (weir_shared.dir / "node/credential") if (weir_shared.dir / "node").exists() else None
    for path in weir_shared.dir.rglob("credential"):
        node = path
    answer = weir_shared.api("GET", f"agent/upload?digest={digest}&task=1&offset=0", token=node.read_text().strip())
    assert answer.status == 403


def test_an_earlier_attempt_cannot_lead_the_unpacking_out(weir_shared):
    """A link that a task leaves in its directory is not followed when the upload is unpacked again."""
    data = archive(("d", tarfile.DIRTYPE, None), ("d/f", FILE, b"payload"))
    digest = hashlib.sha256(data).hexdigest()
    assert send(weir_shared, data).json["complete"]
    target = weir_shared.root / "outside"
    target.mkdir()
    script = f"[ -e tried ] && exit 0; touch tried; rm -r d; ln -s {target} d; exit 1"
    task = weir_shared.submit("sh", "-c", script, upload=digest, max_retries=2)
    weir_shared.wait(task)
    assert list(target.iterdir()) == []


def own_uploads(weir):
    """Where the server keeps this user's uploads."""
    assert send(weir, archive(("mine", FILE, b"mine"))).json["complete"]
    return next((weir.dir / "uploads").iterdir())


def test_many_uploads_do_not_fill_the_servers_disk(weir_shared):
    """Each upload fits when it begins; together they do not. What is there is made of holes."""
    own = own_uploads(weir_shared)
    filler = own / ("f" * 64 + ".part")
    with filler.open("wb") as file:
        file.truncate((20 << 30) - (6 << 20))
    sizes = {"1" * 64: 5 << 20, "2" * 64: 5 << 20}
    try:
        for digest, size in sizes.items():
            assert weir_shared.api("PUT", f"uploads?digest={digest}&offset=0&size={size}", body=b"x").status == 200
        answers = []
        for digest, size in sizes.items():
            answers.append(weir_shared.api("PUT", f"uploads?digest={digest}&offset=1&size={size}", body=b"x" * (4 << 20)))
        assert [answer.status for answer in answers] == [200, 400]
        assert "the uploads of this server hold" in answers[1].json["error"]["message"]
    finally:
        for path in own.glob("*.part"):
            path.unlink()


def test_one_user_has_so_many_uploads_at_most(weir_shared):
    """Pieces of archives that never become whole cost a file each."""
    own = own_uploads(weir_shared)
    for n in range(1000):
        (own / f"{n:064x}.part").touch()
    try:
        answer = weir_shared.api("PUT", f"uploads?digest={'e' * 64}&offset=0&size=9", body=b"x")
        assert answer.status == 400
        assert "and 1000 is the most" in answer.json["error"]["message"]
    finally:
        for path in own.glob("*.part"):
            path.unlink()


def test_a_node_keeps_so_many_uploads_at_most(weir_shared):
    kept = weir_shared.dir / "node/uploads"
    kept.mkdir(mode=0o700, exist_ok=True)
    for n in range(80):
        (kept / f"{n:064x}.tar").write_bytes(b"old")
    big = kept / ("f" * 64 + ".tar")
    with big.open("wb") as file:
        file.truncate(9 << 30)
    data = archive(("a", FILE, b"to be kept"))
    digest = hashlib.sha256(data).hexdigest()
    assert send(weir_shared, data).json["complete"]
    task = weir_shared.wait(weir_shared.submit("cat", "a", upload=digest))
    assert task["state"] == "completed", task
    assert weir_shared.weir("logs", task["id"]).stdout == "to be kept"
    names = {path.name for path in kept.glob("*.tar")}
    assert f"{digest}.tar" in names and big.name not in names and len(names) <= 64
