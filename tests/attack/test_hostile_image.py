"""Somebody whose container image is made against the node that unpacks it as root. SPDX-License-Identifier: Apache-2.0"""

import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile

import pytest

PROGRAMS = ("crun", "skopeo", "umoci", "busybox")
MISSING = [name for name in PROGRAMS if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None]
pytestmark = pytest.mark.skipif(os.geteuid() != 0 or bool(MISSING), reason=f"needs root and {MISSING or 'nothing else'}")

STRANGER = 54321


def entry(name, data=None, mode=0o755, link=None):
    info = tarfile.TarInfo(name)
    info.mode = mode
    if link is not None:
        info.type, info.linkname = tarfile.SYMTYPE, link
    elif data is None:
        info.type = tarfile.DIRTYPE
    else:
        info.size = len(data)
    return info, data


def tar_of(entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for info, data in entries:
            tar.addfile(info, io.BytesIO(data) if data is not None else None)
    return out.getvalue()


def image(path, *more):
    """A docker archive: busybox as /bin/sh, and `more`."""
    shell = open("/bin/busybox", "rb").read()
    layer = tar_of([entry("bin"), entry("bin/sh", shell), *[entry(name) for name in ("proc", "sys", "dev", "tmp", "etc")], *more])
    digest = hashlib.sha256(layer).hexdigest()
    config = json.dumps(
        {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]}}
    ).encode()
    name = hashlib.sha256(config).hexdigest() + ".json"
    manifest = json.dumps([{"Config": name, "RepoTags": ["weir/evil:1"], "Layers": [f"{digest}.tar"]}]).encode()
    path.write_bytes(tar_of([entry(name, config, 0o644), entry(f"{digest}.tar", layer, 0o644), entry("manifest.json", manifest, 0o644)]))


@pytest.fixture
def node(weir_factory, tmp_path_factory):
    top = tmp_path_factory.mktemp("hostile")
    node = weir_factory("--slots", "2", "--runtime", "crun", "--image-dirs", str(top))
    node.images = top
    return node


def test_nobody_on_the_node_can_run_a_program_of_an_image_as_root(node):
    program = open("/usr/bin/id", "rb").read()
    image(node.images / "rights.tar", entry("bin/rights", program, 0o6755))
    task = node.wait(node.submit("/bin/sh", "-c", "true", image=f"archive:{node.images}/rights.tar"))
    assert task["state"] == "completed", (task, node.weir("logs", task["id"]).stdout)
    found = list((node.dir / "node/images").rglob("rights"))
    assert len(found) == 1 and found[0].stat().st_mode & 0o4000, "the attack is real: the program is there, and takes root's rights"
    with pytest.raises(PermissionError):
        subprocess.run([found[0], "-u"], user=STRANGER, group=STRANGER, extra_groups=[], check=False)


@pytest.mark.parametrize("link", ["absolute", "relative"])
def test_a_link_in_an_image_makes_nothing_outside(node, link):
    outside = node.root / "outside"
    outside.mkdir(mode=0o777)
    target = str(outside) if link == "absolute" else "../../../../../../outside"
    image(node.images / "link.tar", entry("weir", link=target))
    task = node.wait(node.submit("/bin/sh", "-c", "true", image=f"archive:{node.images}/link.tar"))
    assert list(outside.iterdir()) == []
    assert task["state"] == "failed"
    assert "the image has something else at /weir" in node.weir("logs", task["id"]).stdout + node.weir("logs", task["id"], check=False).stderr
