"""Tasks in containers: real crun and runc, real images from a directory, an archive and a registry on loopback.

The checks look at what the program in the container saw and did. SPDX-License-Identifier: Apache-2.0
"""

import os
import select
import shutil
import socket
import subprocess
import time
import urllib.request

import pytest

from weir_harness import DEADLINE_S, Weir

PROGRAMS = ("crun", "runc", "skopeo", "umoci", "busybox", "docker-registry")
MISSING = [name for name in PROGRAMS if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None]
pytestmark = pytest.mark.skipif(os.geteuid() != 0 or bool(MISSING), reason=f"needs root and {MISSING or 'nothing else'}")

LINKS = "sh ls cat echo id sleep env pwd ps kill touch mkdir true false grep trap".split()


@pytest.fixture(scope="module", name="images")
def fixture_images(tmp_path_factory):
    """A root file system of busybox, and the same as an archive."""
    top = tmp_path_factory.mktemp("images")
    for path in (top, *list(top.parents)[:-2]):
        path.chmod(path.stat().st_mode | 0o111)
    root = top / "rootfs"
    for name in ("bin", "proc", "sys", "dev", "tmp", "etc", "weir/job", "data"):
        (root / name).mkdir(parents=True)
    shutil.copy("/bin/busybox", root / "bin/busybox")
    for name in LINKS:
        (root / "bin" / name).symlink_to("busybox")
    (root / "etc/image").write_text("an image\n")
    layout = f"{top}/oci:one"
    for command in (
        ["umoci", "init", "--layout", f"{top}/oci"],
        ["umoci", "new", "--image", layout],
        ["umoci", "insert", "--image", layout, str(root), "/"],
        ["umoci", "config", "--image", layout, "--config.env", "FROM_IMAGE=yes", "--config.env", "PATH=/bin"],
        ["skopeo", "copy", "--quiet", "--insecure-policy", f"oci:{layout}", f"docker-archive:{top}/bb.tar:weir/bb:1"],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return top


@pytest.fixture(scope="module")
def registry(images):
    """A registry on loopback that has the image; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = images / "registry.yml"
    config.write_text(
        f"version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {images}/registry}}}}\n"
        f"http: {{addr: 127.0.0.1:{port}}}\n"
    )
    server = subprocess.Popen(["docker-registry", "serve", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        push = ["skopeo", "copy", "--quiet", "--insecure-policy", "--dest-tls-verify=false", f"oci:{images}/oci:one"]
        deadline = time.monotonic() + DEADLINE_S
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/", timeout=5).close()
                break
            except OSError:
                assert server.poll() is None and time.monotonic() < deadline
                select.select([], [], [], 0.02)
        subprocess.run([*push, f"docker://127.0.0.1:{port}/weir/bb:1"], check=True, capture_output=True)
        yield f"127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


@pytest.fixture(scope="module", params=["crun", "runc"])
def boxes(request, images, registry):
    allowed = images / "allowed"
    allowed.mkdir(exist_ok=True)
    allowed.chmod(0o777)
    (allowed / "given").write_text("from the node\n")
    weir = Weir(
        ["--slots", "4", "--runtime", request.param, "--image-dirs", str(images), "--allow-binds", f"{allowed}:rw"]
        + ["--plain-registries", registry, "--task-uids", "210000-210999"]
    ).start()
    yield weir
    weir.close()


def box(weir, image, *command, check=True, flags=()):
    return weir.weir("run", "--image", image, *flags, "--", *command, check=check)


def test_the_program_sees_the_image_its_directory_and_no_rights(boxes, images):
    done = box(boxes, f"dir:{images}/rootfs", "sh", "-c", "cat /etc/image; id -u; pwd; grep -E 'CapEff|NoNewPrivs' /proc/self/status; ls /; ls /dev")
    lines = done.stdout.splitlines()
    assert lines[0] == "an image"
    assert 210000 <= int(lines[1]) <= 210999
    assert lines[2] == "/weir/job"
    assert lines[3].split() == ["CapEff:", "0000000000000000"]
    assert lines[4].split() == ["NoNewPrivs:", "1"]
    assert "home" not in lines and "sda" not in lines
    assert "kmsg" not in lines and "mem" not in lines


def test_files_of_a_container_come_back_and_the_image_stays_as_it_is(boxes, images):
    done = box(boxes, f"dir:{images}/rootfs", "sh", "-c", "echo result > out; echo x > /etc/new", check=False)
    assert done.returncode != 0 and "Read-only" in done.stderr
    assert not (images / "rootfs/etc/new").exists()
    task = boxes.api("GET", "tasks").json["items"][0]["id"]
    boxes.weir("task", "get", task, "out", "-o", boxes.root / "got")
    assert (boxes.root / "got/out").read_text() == "result\n"


@pytest.mark.parametrize("kind", ["archive", "registry"])
def test_images_of_an_archive_and_of_a_registry(boxes, images, registry, kind):
    image = f"archive:{images}/bb.tar" if kind == "archive" else f"{registry}/weir/bb:1"
    done = box(boxes, image, "sh", "-c", "cat /etc/image; echo $FROM_IMAGE $PATH $MINE", flags=["--env", "MINE=1"])
    assert done.stdout == "an image\nyes /bin 1\n"
    again = box(boxes, image, "cat", "/etc/image")
    assert "fetching" not in again.stderr  # it is kept


def test_exit_codes_signals_and_output(boxes, images):
    image = f"dir:{images}/rootfs"
    done = box(boxes, image, "sh", "-c", "echo out; echo err >&2; exit 7", check=False)
    assert (done.returncode, done.stdout) == (7, "out\n")
    assert "err\n" in done.stderr
    task = boxes.submit("sh", "-c", "trap 'echo told; exit 3' TERM; echo up; while true; do sleep 0.1; done", image=image)
    boxes.wait_until(lambda: "up" in boxes.weir("task", "logs", task).stdout, "the program")
    boxes.weir("task", "kill", "--yes", task)
    boxes.wait(task)
    assert boxes.weir("task", "logs", task).stdout == "up\ntold\n"


def processes(text):
    """The pids of processes that have this text on their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                words = line.read().split(b"\0")
        except OSError:
            continue
        if text.encode() in words:
            found.append(int(pid))
    return found


def test_a_kill_leaves_nothing_behind(boxes, images):
    mark = "31536" + str(os.getpid())
    script = f"trap '' TERM; for n in 1 2 3; do sh -c 'sleep {mark}' & done; sleep {mark}"
    task = boxes.submit("sh", "-c", script, image=f"dir:{images}/rootfs", grace="200ms")
    boxes.wait_until(lambda: len(processes(mark)) >= 4, "the processes")
    boxes.weir("task", "kill", "--yes", task)
    assert boxes.wait(task)["state"] == "killed"
    boxes.wait_until(lambda: not processes(mark), "the end of all of them")
    boxes.wait_until(lambda: not os.listdir(boxes.dir / "node/box"), "the container's files to go")
    with open("/proc/self/mountinfo") as mounts:
        assert str(boxes.dir) not in mounts.read()


def test_mounts_and_images_only_as_the_site_allows(boxes, images):
    image = f"dir:{images}/rootfs"
    allowed = images / "allowed"
    (allowed / "made").unlink(missing_ok=True)  # the other runtime's task, of another user, wrote it
    done = box(boxes, image, "sh", "-c", "cat /data/given; echo back > /data/made", flags=["--mount", f"{allowed}:/data:rw"])
    assert done.stdout == "from the node\n"
    assert (allowed / "made").read_text() == "back\n"
    for mount, words in {
        "/etc:/data": "does not allow the mount of '/etc'",
        f"{allowed}/../../..:/data": "does not allow",
        f"{allowed}": "must be SOURCE:TARGET",
    }.items():
        refused = box(boxes, image, "true", check=False, flags=["--mount", mount])
        assert refused.returncode == 125 and words in refused.stderr, refused.stderr
    for other, words in {
        "dir:/etc": "outside --image-dirs",
        f"dir:{images}/../../../../etc": "outside --image-dirs",
        "archive:/etc/shadow": "outside --image-dirs",
    }.items():
        refused = box(boxes, other, "true", check=False)
        assert refused.returncode == 125 and words in refused.stderr, refused.stderr


def test_the_environment_of_the_task_reaches_no_program_of_the_node(boxes, images):
    """LD_PRELOAD of a task is for the program in the container, not for what starts the container as root."""
    evil = images / "allowed/evil.so"
    evil.write_text("no library")
    done = box(boxes, f"dir:{images}/rootfs", "sh", "-c", "echo $LD_PRELOAD", flags=["--env", f"LD_PRELOAD={evil}"])
    assert done.stdout == f"{evil}\n"
    assert "ld.so" not in done.stderr


def test_a_node_without_a_runtime_never_gets_an_image(weir_factory, images):
    weir = weir_factory("--slots", "1", "--runtime", "none", "--image-dirs", str(images))
    refused = box(weir, f"dir:{images}/rootfs", "true", check=False)
    assert refused.returncode == 9, (refused.returncode, refused.stderr)
    assert "run no containers" in refused.stderr
