"""A task that tries everything it can think of (hostile_task.py) against its node and its neighbours.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import os
import pathlib
import shutil
import subprocess

import pytest
from weir_harness import Weir

SECRET = "the-other-tasks-secret"
STRAY = "weir-hostile-stray"
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give each task a user")


def running(name):
    found = []
    for proc in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if name.encode() in proc.read_bytes().split(b"\0"):
                found.append(proc.parent.name)
        except OSError:
            pass
    return found


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZXT"
    except OSError:
        return False


def one_pid(w, word):
    """The pid of a role of this node."""
    for proc in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = proc.read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in words and any(str(w.dir).encode() in x for x in words):
            return int(proc.parent.name)
    raise AssertionError(f"no process {word}")


@pytest.fixture
def node():
    w = Weir(["--slots", "4", "--task-uids", "310000-310999", "--task-pids", "100"]).start()
    yield w
    w.close()


def victim_start(w):
    """A task of another person, by its number and its process."""
    task = int(w.weir("submit", "--env", f"SECRET={SECRET}", "--", "sh", "-c",
                      f"cd $WEIR_JOB_DIR; umask 077; echo {SECRET} > secret; echo {SECRET} > /dev/shm/weir-hostile-$$; echo $$; exec sleep 600").stdout)
    w.wait_until(lambda: w.weir("logs", str(task)).stdout.strip(), "the other task's pid")
    return task, int(w.weir("logs", str(task)).stdout)


def confined_victim_start(w):
    """The same where the task sees its own processes alone: its process as the node names it."""
    task, _ = victim_start(w)
    pids = [int(line) for line in next((w.dir / "node" / "box").glob(f"{task}.*/inside")).read_text().split()]
    assert alive(pids[1])
    return task, pids[1]


@pytest.fixture(autouse=True)
def shared_memory():
    yield
    for path in pathlib.Path("/dev/shm").glob("weir-hostile-*"):
        if not alive(path.name.rpartition("-")[2]):
            path.unlink(missing_ok=True)


def hostile_run(w, victim, pid, **more):
    """Runs hostile_task.py as a task of this node: its number, and its tries as [name, "refused" or "DONE", words]."""
    cgroups = w.dir / "node" / "cgroups"
    given = {"VICTIM_PID": pid, "VICTIM_TASK": victim, "VICTIM_DIR": w.dir / "node" / "job" / str(victim) / "0", "DATA_DIR": w.dir, "NODE_DIR": w.dir / "node",
             "SUPERVISOR_PID": one_pid(w, "supervisor"), "AGENT_PID": one_pid(w, "agent"), "SERVER_PID": one_pid(w, "server"),
             "CGROUPS": " ".join(cgroups.read_text().split()) if cgroups.exists() else "", "STRAY_NAME": STRAY, "SERVER_URL": w.url,
             "SOCKETS": " ".join(str(path) for path in w.dir.rglob("*.sock")), "SHARED_FILE": f"/dev/shm/weir-hostile-{pid}", **more}
    given["GIVEN"] = ",".join(given)
    script = w.root / "hostile_task.py"
    shutil.copy(pathlib.Path(__file__).with_name("hostile_task.py"), script)
    script.chmod(0o644)
    flags = [word for k, v in given.items() for word in ("--env", f"{k}={v}")]
    end = w.weir("run", "--name", "hostile", *flags, "--", "/usr/bin/python3", script, check=False)
    assert end.stdout.endswith("END\n"), (end.returncode, end.stdout, end.stderr, w.log_text()[-3000:])
    tries = [line.split("|") for line in end.stdout.splitlines() if "|" in line]
    assert len({line[0] for line in tries}) == len(tries) >= 40
    [task] = [t["id"] for t in w.api("GET", "tasks").json["items"] if t["name"] == "hostile"]
    assert all(alive(given[role]) for role in ("SUPERVISOR_PID", "AGENT_PID", "SERVER_PID"))
    return task, tries, end.stdout


def links_lead_nowhere(w, task):
    """Nothing outside the task's directory is fetched through the links and the pipe that it left."""
    left = {entry["name"] for entry in w.api("GET", f"tasks/{task}/files").json["entries"]}
    assert {"out-file", "out-dir", "out-dots", "out-task", "out-etc", "out-self", "pipe"} <= left
    reaches = ["out-file", "out-dir", "out-dir/admin.token", "out-dots", "out-dots/admin.token", "out-task/secret", "out-etc/passwd", "out-self/etc/passwd", "pipe", "../0/secret",
               "..", "../../../../admin.token", "/etc/passwd", "out-dir/../../etc/passwd"]
    for path in reaches:
        for form in ("file", "files"):
            answer = w.api("GET", f"tasks/{task}/{form}?path={path}")
            assert answer.status in (400, 403, 404, 409), (form, path, answer.status, answer.body)
    fetched = w.root / "fetched"
    w.weir("task", "get", str(task), ".", "--output", str(fetched), check=False)
    got = b"".join(path.read_bytes() for path in fetched.rglob("*") if path.is_file() and not path.is_symlink())
    assert not any(path.is_symlink() for path in fetched.rglob("*"))
    assert SECRET.encode() not in got and w.token.encode() not in got and b"root:x:" not in got


def test_a_hostile_task_achieves_nothing(node):
    w = node
    victim, pid = victim_start(w)
    task, tries, said = hostile_run(w, victim, pid)
    done = [line for line in tries if line[1] != "refused"]
    assert not done, f"{len(done)} of {len(tries)} tries succeeded: {done}"
    assert SECRET not in said and w.token not in said
    assert running(STRAY) == []
    assert alive(pid) and w.task(victim)["state"] == "running"
    links_lead_nowhere(w, task)
    assert w.weir("run", "--", "echo", "well").stdout == "well\n"


def test_a_kill_of_everything_reaches_only_its_own_task(node):
    w = node
    victim = int(w.weir("submit", "--", "sleep", "600").stdout)
    w.wait_state(victim, "running")
    w.weir("run", "--", "/usr/bin/python3", "-c", "import os; os.kill(-1, 9)", check=False)
    assert w.task(victim)["state"] == "running"
    assert w.weir("run", "--", "echo", "well").stdout == "well\n"


# What the node's list says of tasks that run as the agent's own user, and which tries this allows. Each is true, and nothing else succeeds.
FILES = ["read the administrator's token", "read the join token", "read the node's credential", "read the database", "read the machine's secret", "read the spool",
         "read the other task's file", "read the log of the server", "read the other tasks shared memory", "read a file of the agents user",
         "write the other task's directory", "write the spool", "write the node's directory", "write the data directory", "list the other tasks directory",
         "put the other tasks directory away", "reach the other tasks file by a link", "reach the other tasks file by a hard link", "speak with supervisor.sock",
         "speak with door.sock", "speak with a program of the agents user", "find shared memory of system V", "read the other task as root of a user namespace",
         "become the other task's user"]
SEE = ["see the other task in proc", "read the other task's arguments", "see the other task by a proc of its own"]
TRACE = ["trace the other task", *(f"read the other task's {what}" for what in ("environment", "memory", "maps")), "open the other tasks output",
         "read the other task by process vm readv", "put a file into the other tasks memory"]
STOP = [f"{verb} the {who}" for verb in ("stop", "kill") for who in ("other task", "supervisor", "agent", "server")]
OUTSIDE = ["read a file of the agents user", "speak with a program of the agents user"]
ABSTRACT = ["speak by an abstract socket"]
# Process 1 of a view is the view's own: the kernel takes the signal and drops it, and the task goes on to its last line.
OWN = {"stop process 1", "kill process 1"}
LISTS = {
    "auto": {"this user's files outside Weir's directories, what this user's programs serve": OUTSIDE},
    "view": {"this user's files outside Weir's directories, what this user's programs serve": OUTSIDE, "programs serve, abstract sockets": ABSTRACT},
    "landlock": {"read its files (credentials too)": FILES, "see other tasks": SEE},
    "no": {"read its files (credentials too)": FILES, "stop the agent and other tasks": STOP, "see and trace other tasks": SEE + TRACE, "the agent's own user": ABSTRACT},
}


def kernel_gives(confine):
    """Can an ordinary user have this here? Asked of the kernel, not of Weir."""
    libc = ctypes.CDLL(None, use_errno=True)
    view = subprocess.run(["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--ipc", "true"], user=300000, group=300000, extra_groups=[],
                          capture_output=True, check=False).returncode == 0
    scopes = libc.syscall(444, None, 0, 1) >= 6
    return {"auto": view and scopes, "view": view, "landlock": scopes, "no": True}[confine]


class Owners:
    """A file, two sockets and shared memory of a user of this machine."""

    def __init__(self, w, user):
        self.key = 0x57000000 + os.getpid()
        code = ("import ctypes, os, socket, sys\n"
                "base, name, key = sys.argv[1:]\n"
                "open(base + '/owners-file', 'w').write('of the user')\n"
                "one = socket.socket(socket.AF_UNIX); one.bind(base + '/owners.sock'); one.listen()\n"
                "two = socket.socket(socket.AF_UNIX); two.bind('\\0' + name); two.listen()\n"
                "memory = ctypes.CDLL(None).shmget(int(key), 4096, 0o1600)\n"
                "print('there', flush=True); sys.stdin.read(); ctypes.CDLL(None).shmctl(memory, 0, None)\n")
        self.name = f"weir-hostile-{os.getpid()}"
        self.process = subprocess.Popen(["/usr/bin/python3", "-c", code, str(w.home), self.name, str(self.key)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        user=user, group=user, extra_groups=[])
        assert self.process.stdout.readline() == b"there\n"
        self.given = {"OWNERS_FILE": w.home / "owners-file", "OWNERS_SOCKET": w.home / "owners.sock", "OWNERS_NAME": self.name, "OWNERS_KEY": self.key}

    def end(self):
        self.process.communicate()


@pytest.mark.parametrize("confine", LISTS)
def test_an_ordinary_agent_says_what_it_cannot_prevent(confine):
    """As an ordinary user a task is that user: what the hostile task achieves is what the node lists, no more and no less."""
    if not kernel_gives(confine):
        pytest.skip("this kernel does not give it to ordinary users")
    user = 300000 + os.getpid() % 100000
    views = confine in ("auto", "view")
    with Weir(["--slots", "4", "--task-pids", "100", "--confine", confine], user=user) as w:
        [node] = w.api("GET", "nodes").json["items"]
        owners = Owners(w, user)
        victim, pid = victim_start(w) if not views else confined_victim_start(w)
        # A task that the kernel holds does its worst. Any other only shows what it could do.
        task, tries, said = hostile_run(w, victim, pid, **owners.given, **({} if views else {"GENTLE": 1}))
        done = {line[0] for line in tries if line[1] != "refused"} - (OWN if views else set())
        print(sorted(done), node["unprevented"])
        for words, names in LISTS[confine].items():
            assert words in node["unprevented"], words
            assert done & set(names), f"the list says '{words}', and no try shows it"
        assert done - {name for names in LISTS[confine].values() for name in names} == set(), tries
        assert "cpu, memory, processes" in node["unprevented"] or "memory" in node["limits"]
        if views:
            assert SECRET not in said and w.token not in said
        assert alive(pid) and w.task(victim)["state"] == "running"
        links_lead_nowhere(w, task)
        assert w.weir("run", "--", "echo", "well").stdout == "well\n"
        w.weir("kill", str(victim))
        w.wait_until(lambda: running(STRAY) == [], "the end of what the hostile task left behind")
        owners.end()
