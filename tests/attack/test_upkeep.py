"""Somebody takes away, cuts or overwrites what a living node stands on. Afterwards the node works again or says what is wrong, and no
task is in a state that is not true.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

FILES = ["supervisor.lock", "supervisor.sock", "supervisor.log", "agent.lock", "credential", "epoch", "machine", "door.sock", "cgroups", "before"]
SOCKETS = ["supervisor.sock", "door.sock"]
DIRECTORIES = ["spool", "job", "job/.ready"]


@pytest.fixture(scope="module")
def harmed(weir_shared):
    return weir_shared


def node_of(weir):
    return weir.api("GET", "nodes").json["items"][0]


def spool_files(weir):
    """The segments of the spool, once the node has made anew what a test before took away."""
    return weir.wait_until(lambda: sorted((weir.dir / "node").glob("spool/*")), "a spool")


def spool_bytes(weir):
    return sum(path.stat().st_size for path in spool_files(weir))


def damage(path, how):
    if how == "delete" and path.is_dir():
        for _ in range(10):  # the node may make directories meanwhile
            try:
                shutil.rmtree(path)
                break
            except OSError:
                assert path.exists()
    elif how == "delete":
        path.unlink(missing_ok=True)
    elif how == "truncate":
        os.truncate(path, 0)
    else:
        size = path.stat().st_size
        with open(path, "r+b") as file:
            file.seek(size // 2)
            file.write(os.urandom(max(1, size - size // 2)))


def gated(weir, name):
    """A task that runs until its gate is opened, and then ends with 7."""
    gate = weir.root / name
    task = weir.submit("sh", "-c", f"until [ -e {gate} ]; do sleep 0.05; done; exit 7")
    weir.wait_state(task, "running")
    return task, gate


def check_truth(weir, what, harm):
    """Harms the node between the start of one task and its end, and expects every state to come out true."""
    home = weir.dir / "node"
    before, gate = gated(weir, f"gate-{what}")
    victim = weir.submit("sleep", "600")
    weir.wait_state(victim, "running")
    harm(home)
    gate.touch()
    weir.weir("task", "kill", victim)
    ended = weir.wait(before)
    # An end whose record was lost for good may be told as a loss; it must not stay `running`.
    assert ended["state"] == "failed" and ended["exit_code"] == 7, ended
    assert weir.wait(victim)["state"] == "killed"
    after = weir.wait(weir.submit("echo", what))
    assert after["state"] == "completed", after
    weir.wait_until(lambda: node_of(weir)["trouble"] == "" and node_of(weir)["state"] == "up", "the node to be well")


@pytest.mark.parametrize("name, how", [(name, how) for name in FILES for how in ("delete", "truncate") if how == "delete" or name not in SOCKETS])
def test_a_file_of_the_node(harmed, name, how):
    check_truth(harmed, f"{how}-{name}", lambda home: damage(home / name, how) if (home / name).exists() else None)
    if name not in ("epoch", "machine", "before"):  # these are written when they are needed
        path = harmed.dir / "node" / name
        harmed.wait_until(lambda: path.exists() and (not name.endswith((".lock", "credential")) or path.stat().st_size > 0), f"{name} to be made anew")


@contextlib.contextmanager
def mounted(home, path, how, then):
    """Mounts `how` on a path of the node, for the agent and for the supervisor, which has mounts of its own; `then` is run behind each mount."""
    holder = (home / "supervisor.lock").read_text().strip()
    spaces = [["nsenter", "--mount", "--target", pid] for pid in (str(os.getpid()), holder)]
    mounted = []
    try:
        for inside in spaces:
            if os.geteuid() != 0 or subprocess.run([*inside, "mount", *how, path], check=False, capture_output=True).returncode != 0:
                pytest.skip("only root can mount")
            mounted.append(inside)
            subprocess.run([*inside, *then], check=True)
        yield
    finally:
        for inside in mounted:
            subprocess.run([*inside, "umount", "--lazy", path], check=True)


def read_only(home, path):
    """A file or directory that nobody can write, replace or remove."""
    return mounted(home, path, ["--bind", path], ["mount", "-o", "remount,bind,ro", path])


def full(home, path):
    """A directory on a file system of its own that has no room."""
    fill = f"head -c 64K /dev/zero > {path}/filler; [ -s {path}/filler ]"
    return mounted(home, path, ["-t", "tmpfs", "-o", "size=4k,mode=0711", "tmpfs"], ["sh", "-c", fill])


def works_or_says(weir, task):
    """Waits until the task has ended or the node says what is wrong."""
    said = weir.wait_until(lambda: weir.task(task)["state"] == "completed" or node_of(weir)["trouble"], "trouble or work")
    assert said is True or "cannot" in said or "spool" in said or "job" in said, said


@pytest.mark.parametrize("name", [name for name in FILES if name not in SOCKETS] + ["spool segment"])
def test_a_file_of_the_node_that_becomes_read_only(weir, name):
    """A task that runs ends as it did, the server comes and goes, and the next task runs or the node says why it does not."""
    home = weir.dir / "node"
    before, gate = gated(weir, "gate")
    path = spool_files(weir)[-1] if name == "spool segment" else home / name
    if not path.exists():
        pytest.skip(f"this node has no {name}")
    with read_only(home, path):
        weir.stop()
        if name == "agent.lock":  # two agents must not have one node
            with pytest.raises(AssertionError, match="cannot open '.*agent.lock': Read-only file system"):
                weir.start()
        else:
            weir.start()
            waits = weir.submit("echo", name)
            works_or_says(weir, waits)
            gate.touch()
            assert weir.wait(before)["exit_code"] == 7
    if weir.process is None:
        weir.start()
        waits = weir.submit("echo", name)
        gate.touch()
        assert weir.wait(before)["exit_code"] == 7
    assert weir.wait(waits)["state"] == "completed"
    weir.wait_until(lambda: node_of(weir)["trouble"] == "" and node_of(weir)["state"] == "up", "the node to be well")


@pytest.mark.parametrize("name", DIRECTORIES)
def test_a_directory_of_the_node(harmed, name):
    check_truth(harmed, f"delete-{name.replace('/', '-')}", lambda home: damage(home / name, "delete"))


@pytest.mark.parametrize("how", ["delete", "truncate", "overwrite"])
def test_a_task_with_an_upload_when_the_settings_for_it_are_gone(harmed, how):
    """The node needs the file `box.site` for tasks that are more than a plain process."""
    site = harmed.dir / "node" / "box.site"
    if site.exists():
        damage(site, how)
    sent = harmed.root / f"sent-{how}"
    sent.mkdir()
    (sent / "greeting").write_text("hello\n")
    ran = harmed.weir("run", "--upload", str(sent), "--", "grep", "hello", "greeting")
    assert (ran.returncode, ran.stdout) == (0, "hello\n"), ran


@pytest.mark.parametrize("harm", [read_only, full])
@pytest.mark.parametrize("name", ["spool", "job", "job/.ready"])
def test_a_directory_that_takes_nothing(weir, name, harm):
    """A task that runs goes on and its end is told; the node says why it takes no others, until it can."""
    home = weir.dir / "node"
    before, gate = gated(weir, "gate")
    with harm(home, home / name):
        waits = weir.submit("true")
        works_or_says(weir, waits)
    gate.touch()
    assert weir.wait(before)["exit_code"] == 7
    assert weir.wait(waits)["state"] == "completed"


@pytest.mark.parametrize("how", ["delete", "truncate", "overwrite"])
def test_the_spool(harmed, how):
    def harm(home):
        for path in spool_files(harmed):
            damage(path, how)

    check_truth(harmed, f"spool-{how}", harm)


@pytest.mark.parametrize("how", ["delete", "truncate", "overwrite"])
def test_records_that_the_server_has_not_got(harmed, how):
    """The server does not answer while tasks end: their ends are only in the spool, and the spool is taken away."""
    server = harmed.pid_of("server")
    task, gate = gated(harmed, f"unacked-{how}")
    other = harmed.submit("sleep", "600")
    harmed.wait_state(other, "running")
    os.kill(server, signal.SIGSTOP)
    try:
        size = spool_bytes(harmed)
        gate.touch()
        harmed.wait_until(lambda: spool_bytes(harmed) > size, "the end in the spool")
        for path in spool_files(harmed):
            damage(path, how)
    finally:
        os.kill(server, signal.SIGCONT)
    ended = harmed.wait(task)
    assert (ended["state"], ended["exit_code"]) == ("failed", 7)
    assert harmed.task(other)["state"] == "running"
    harmed.weir("task", "kill", other)
    assert harmed.wait(other)["state"] == "killed"


def test_the_whole_directory(weir):
    check_truth(weir, "all", lambda home: damage(home, "delete"))


def small_home(weir_factory, options):
    """A Weir whose node directory is a small file system of its own."""
    weir = weir_factory("--slots", "2", start=False)
    home = weir.dir / "node"
    home.mkdir(parents=True)
    weir.dir.chmod(0o711)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=0711,{options}", "tmpfs", home], check=False, capture_output=True).returncode != 0:
        pytest.skip("only root can mount a file system")
    return weir, home


@pytest.mark.parametrize("how", ["full", "read-only"])
def test_a_file_system_that_takes_nothing(weir_factory, how):
    weir, home = small_home(weir_factory, "size=24m")
    try:
        weir.start()
        before, gate = gated(weir, "gate")
        filler = home / "filler"
        if how == "full":
            with open(filler, "wb", buffering=0) as file:
                try:
                    while True:
                        file.write(b"x" * 65536)
                except OSError:
                    pass
        else:
            # The supervisor has mounts of its own.
            inside = ["nsenter", "--mount", "--target", (home / "supervisor.lock").read_text().strip()]
            subprocess.run([*inside, "mount", "--bind", home, home], check=True)
            subprocess.run([*inside, "mount", "-o", "remount,bind,ro", home], check=True)
        said = weir.wait_until(lambda: node_of(weir)["trouble"] and node_of(weir)["state"] == "up" and node_of(weir), "the node to say so")
        assert "full" in said["trouble"] or "cannot be written" in said["trouble"] or "spool" in said["trouble"], said
        waits = weir.submit("true")
        assert "out of service" in weir.weir("explain", waits).stdout
        assert "out of service" in weir.weir("node", "list").stdout
        if how == "full":
            filler.unlink()
        else:
            subprocess.run([*inside, "umount", home], check=True)
        gate.touch()
        assert weir.wait(before)["exit_code"] == 7
        assert weir.wait(waits)["state"] == "completed"
    finally:
        weir.close()
        subprocess.run(["umount", "-l", home], check=False, capture_output=True)
        shutil.rmtree(pathlib.Path(weir.root), ignore_errors=True)
