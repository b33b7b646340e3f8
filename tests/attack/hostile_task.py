"""What a hostile task tries. Runs as a task; prints one line for each try: "NAME|refused|why" or "NAME|DONE|what".

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import glob
import http.client
import os
import resource
import signal
import socket
import struct
import subprocess
import time
import urllib.parse

LIBC = ctypes.CDLL(None, use_errno=True)
VICTIM = int(os.environ["VICTIM_PID"])
VICTIM_DIR = os.environ["VICTIM_DIR"]
DATA = os.environ["DATA_DIR"]
NODE = os.environ["NODE_DIR"]
SUPERVISOR = int(os.environ["SUPERVISOR_PID"])
AGENT = int(os.environ["AGENT_PID"])
SERVER = int(os.environ["SERVER_PID"])
CGROUPS = os.environ["CGROUPS"].split()
SOCKETS = os.environ["SOCKETS"].split()
SHARED = os.environ["SHARED_FILE"]
URL = urllib.parse.urlsplit(os.environ["SERVER_URL"])
# Where tasks run as the agent's own user many tries succeed, and the node says so. Such a try only shows that it could.
GENTLE = os.environ.get("GENTLE") == "1"
MINE = os.environ["WEIR_JOB_DIR"]
os.chdir(MINE)
TRIES = []


def attempt(function):
    TRIES.append(function)
    return function


def call(name, *args):
    """A function of libc; -1 raises."""
    if getattr(LIBC, name)(*args) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return True


def syscall(number, *args):
    return call("syscall", ctypes.c_long(number), *args)


def read(path):
    with open(path, "rb") as file:
        return file.read(4096) or b"(empty)"


def write(path, text, mode="w"):
    with open(path, "a" if GENTLE and not path.startswith(("/proc/", "/sys/", MINE)) else mode) as file:
        file.write("" if GENTLE and not path.startswith(("/proc/", "/sys/", MINE)) else text)
    return f"wrote {path}"


def send(pid, number):
    return os.kill(pid, 0 if GENTLE else number) or "sent"


def trace(pid):
    syscall(101, 16, pid, 0, 0)
    os.waitpid(pid, 0)
    return syscall(101, 17, pid, 0, 0)


def as_child(code):
    """Runs code in a child; its word is what it returned, else the error."""
    ends = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        os.close(ends[0])
        os.close(ends[1])
        raise
    if pid == 0:
        try:
            said = repr(code())
            os.write(ends[1], b"+" + said.encode())
        except BaseException as error:
            os.write(ends[1], b"-" + str(error).encode())
        os._exit(0)
    os.close(ends[1])
    said = os.read(ends[0], 4096).decode()
    os.close(ends[0])
    os.waitpid(pid, 0)
    if not said.startswith("+"):
        raise OSError(said[1:] or "the child ended")
    return said[1:]


def user_namespace():
    """Root of a user namespace of its own, which is root of nothing else."""
    call("unshare", 0x10000000 | 0x00020000)
    uid = os.getuid()
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"0 {uid} 1")


for number, what in enumerate(["setuid", "setgid", "seteuid", "setegid"]):
    attempt(lambda what=what: as_child(lambda: getattr(os, what)(0) or what)).__name__ = f"become root by {what}"
attempt(lambda: as_child(lambda: os.setgroups([0]) or "groups")).__name__ = "enter root's group"
attempt(lambda: as_child(lambda: os.setresuid(VICTIM_UID(), -1, -1))).__name__ = "become the other task's user"


def VICTIM_UID():
    return os.stat(f"{VICTIM_DIR}").st_uid


@attempt
def become_root_by_a_set_uid_program():
    for program in ["su", "sudo", "mount", "passwd", "pkexec"]:
        path = f"/usr/bin/{program}"
        if os.path.exists(path) and os.stat(path).st_mode & 0o4000:
            status = as_child(lambda: os.system(f"{path} -c id </dev/null >{MINE}/id 2>/dev/null") or read(f"{MINE}/id"))
            if "uid=0" in status:
                return status
    raise OSError("no program made it root")


@attempt
def make_a_set_uid_program_of_root():
    write(f"{MINE}/sh", "x")
    os.chmod(f"{MINE}/sh", 0o4755)
    os.chown(f"{MINE}/sh", 0, 0)
    return "a file of root"


@attempt
def no_new_privileges_is_set():
    if "NoNewPrivs:\t1" in open("/proc/self/status").read():
        raise OSError("it is set")
    return "it is not set"


for name, path in [("/etc/shadow", "/etc/shadow"), ("the administrator's token", f"{DATA}/admin.token"), ("the join token", f"{DATA}/join.token"),
                   ("the node's credential", f"{NODE}/credential"), ("the database", f"{DATA}/weir.db"), ("the machine's secret", f"{NODE}/machine"),
                   ("the spool", f"{NODE}/spool/00000001"), ("the log of the server", f"{DATA}/log"), ("the kernel's memory", "/proc/kcore"),
                   ("physical memory", "/dev/mem"), ("the environment of process 1", "/proc/1/environ"),
                   ("the other task's environment", f"/proc/{VICTIM}/environ"), ("the other task's arguments", f"/proc/{VICTIM}/cmdline"),
                   ("the other task's memory", f"/proc/{VICTIM}/mem"), ("the other task's maps", f"/proc/{VICTIM}/maps"),
                   ("the other task's file", f"{VICTIM_DIR}/secret"),
                   ("the supervisor's environment", f"/proc/{SUPERVISOR}/environ"), ("the agent's environment", f"/proc/{AGENT}/environ"),
                   ("the server's memory", f"/proc/{SERVER}/mem")]:
    attempt(lambda path=path: read(path)).__name__ = f"read {name}"

for name, path in [("the other task's directory", f"{VICTIM_DIR}/mine"), ("the spool", f"{NODE}/spool/00000001"), ("the node's directory", f"{NODE}/x"),
                   ("the data directory", f"{DATA}/x"), ("/etc", "/etc/weir-hostile"), ("the kernel's core pattern", "/proc/sys/kernel/core_pattern"),
                   ("the kernel's emergency keys", "/proc/sysrq-trigger"), ("its own badness", "/proc/self/oom_score_adj"),
                   ("/usr/bin", "/usr/bin/weir-hostile")]:
    attempt(lambda path=path: write(path, "-1000" if "oom" in path else "h", "a" if "spool" in path else "w")).__name__ = f"write {name}"

for name, pid in [("the other task", VICTIM), ("the supervisor", SUPERVISOR), ("the agent", AGENT), ("the server", SERVER), ("process 1", 1)]:
    attempt(lambda pid=pid: send(pid, signal.SIGSTOP)).__name__ = f"stop {name}"
    attempt(lambda pid=pid: send(pid, signal.SIGKILL)).__name__ = f"kill {name}"
    attempt(lambda pid=pid: trace(pid)).__name__ = f"trace {name}"


@attempt
def read_the_other_task_by_process_vm_readv():
    room = ctypes.create_string_buffer(16)
    local = (ctypes.c_void_p * 2)(ctypes.addressof(room), 16)
    first = 0x400000
    try:
        first = int(read(f"/proc/{VICTIM}/maps").split(b"-")[0], 16)
    except OSError:
        pass  # the address that many programs have
    remote = (ctypes.c_void_p * 2)(first, 16)
    return syscall(310, VICTIM, local, 1, remote, 1, 0)


@attempt
def take_a_descriptor_of_the_supervisor():
    process = os.pidfd_open(SUPERVISOR)
    try:
        return syscall(438, process, 3, 0)
    finally:
        os.close(process)


@attempt
def see_the_other_task_in_proc():
    return f"there is /proc/{VICTIM}" if os.path.exists(f"/proc/{VICTIM}") else refuse("it is hidden")


def refuse(why):
    raise OSError(why)


@attempt
def list_the_other_tasks_directory():
    return os.listdir(VICTIM_DIR)


@attempt
def put_the_other_tasks_directory_away():
    os.rename(VICTIM_DIR, VICTIM_DIR + ".gone")
    return os.rename(VICTIM_DIR + ".gone", VICTIM_DIR) or "renamed, and back"


@attempt
def reach_the_other_tasks_file_by_a_link():
    os.symlink(f"{VICTIM_DIR}/secret", f"{MINE}/link")
    return read(f"{MINE}/link")


@attempt
def reach_the_other_tasks_file_by_a_hard_link():
    os.link(f"{VICTIM_DIR}/secret", f"{MINE}/hard")
    said = read(f"{MINE}/hard")
    os.unlink(f"{MINE}/hard")
    return said


def speak(path):
    if GENTLE and path.startswith("/"):
        return os.access(path, os.W_OK) or refuse("it may not")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET if path.endswith("door.sock") else socket.SOCK_STREAM) as one:
        one.settimeout(2)
        one.connect(path)
        if path.endswith("weir.sock"):
            one.sendall(b"GET /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\n\r\n")
            said = one.recv(100)
            return said if said.startswith(b"HTTP/1.1 2") else refuse(said[:20].decode())
        return "connected"


for path in SOCKETS:
    attempt(lambda path=path: speak(path)).__name__ = f"speak with {os.path.basename(path)}"


def ask(path, method="GET", **headers):
    """A request to the server, as a task on the server's own machine can send it."""
    connection = http.client.HTTPConnection(URL.hostname, URL.port, timeout=10)
    try:
        connection.request(method, f"/api/v1/{path}", headers=headers)
        answer = connection.getresponse()
        said = answer.read()
    finally:
        connection.close()
    if answer.status >= 400:
        raise OSError(f"the server says {answer.status}")
    return said


attempt(lambda: ask("tasks")).__name__ = "list tasks without a token"
attempt(lambda: ask(f"tasks/{os.environ['VICTIM_TASK']}", "DELETE")).__name__ = "end the other task without a token"
attempt(lambda: ask("tasks", Authorization="Bearer " + os.environ.get("WEIR_TOKEN", "weir_none"))).__name__ = "list tasks with what the environment gives"
attempt(lambda: ask("agent/hello", "POST", Authorization="Bearer none")).__name__ = "pass for a node"


@attempt
def open_the_other_tasks_output():
    os.close(os.open(f"/proc/{VICTIM}/fd/1", os.O_RDONLY | os.O_NONBLOCK))
    return "opened"


@attempt
def read_the_other_tasks_shared_memory():
    return read(SHARED)


@attempt
def put_a_file_into_the_other_tasks_memory():
    return write(f"/proc/{VICTIM}/mem", "h", "r+")


if "OWNERS_FILE" in os.environ:  # what belongs to the agent's own user, where tasks run as this user
    attempt(lambda: read(os.environ["OWNERS_FILE"])).__name__ = "read a file of the agents user"
    attempt(lambda: speak(os.environ["OWNERS_SOCKET"])).__name__ = "speak with a program of the agents user"
    attempt(lambda: speak("\0" + os.environ["OWNERS_NAME"])).__name__ = "speak by an abstract socket"
    attempt(lambda: syscall(29, int(os.environ["OWNERS_KEY"]), 0, 0)).__name__ = "find shared memory of system V"


@attempt
def open_a_gpu_that_it_does_not_hold():
    held = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    others = [path for path in glob.glob("/dev/nvidia[0-9]*") + glob.glob("/dev/dri/render*") if "".join(c for c in path if c.isdigit()) not in held]
    for path in others or refuse("there is no other"):
        os.close(os.open(path, os.O_RDWR))
    return others


@attempt
def leave_links_for_those_who_fetch_its_files():
    """The test fetches them."""
    for name, target in LINKS.items():
        os.symlink(target, f"{MINE}/{name}")
    os.mkfifo(f"{MINE}/pipe")
    refuse("the test looks later")


LINKS = {"out-file": f"{DATA}/admin.token", "out-dir": DATA, "out-dots": "../../../..", "out-task": VICTIM_DIR, "out-etc": "/etc", "out-self": "/proc/self/root"}


@attempt
def find_an_open_descriptor():
    found = [fd for fd in os.listdir("/proc/self/fd") if int(fd) > 2]
    names = [os.readlink(f"/proc/self/fd/{fd}") for fd in found if os.path.islink(f"/proc/self/fd/{fd}")]
    names = [n for n in names if "/proc/" not in n]
    return names or refuse("only the three streams")


@attempt
def find_a_token_in_the_environment():
    return [k for k, v in os.environ.items() if "weir_" in v and "_" in v and k not in os.environ["GIVEN"].split(",")] or refuse("there is none")


for number, tree in enumerate(CGROUPS):
    def leave(tree=tree):
        root = os.path.dirname(tree)
        return as_child(lambda: write(f"{root}/cgroup.procs", "0"))
    attempt(leave).__name__ = f"leave the cgroup of tree {number}"
    attempt(lambda tree=tree: os.mkdir(f"{tree}/mine") or "made").__name__ = f"make a cgroup in tree {number}"
    for file, value in [("memory.limit_in_bytes", "-1"), ("memory.max", "max"), ("pids.max", "max"), ("cpu.cfs_quota_us", "-1"), ("cpu.max", "max"),
                        ("cgroup.kill", "1"), ("tasks", "0")]:
        found = glob.glob(f"{tree}/*/{file}")
        if found:
            attempt(lambda path=found[0], value=value: write(path, value)).__name__ = f"write {file} of tree {number}"

attempt(lambda: as_child(lambda: call("unshare", 0x00020000))).__name__ = "make a mount namespace"
attempt(lambda: as_child(lambda: call("mount", b"none", MINE.encode(), b"tmpfs", 0, None))).__name__ = "mount"
attempt(lambda: as_child(lambda: call("umount2", b"/proc", 2))).__name__ = "put the private /proc away"
attempt(lambda: as_child(lambda: os.chroot("/") or "rooted")).__name__ = "chroot"
attempt(lambda: os.mknod(f"{MINE}/disk", 0o60666, os.makedev(254, 0)) or "made").__name__ = "make a device"
attempt(lambda: call("sethostname", b"hostile", 7)).__name__ = "rename the machine"
attempt(lambda: time.clock_settime(time.CLOCK_REALTIME, time.time() + 1) or "set").__name__ = "set the clock"
attempt(lambda: syscall(175, b"", 0, b"")).__name__ = "load a module"
attempt(lambda: os.setpriority(os.PRIO_PROCESS, 0, -20) or "set").__name__ = "take more of the processors"
attempt(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)) or "set").__name__ = "run in real time"
attempt(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 21, 1 << 21)) or "set").__name__ = "raise its limit of files"
attempt(lambda: call("ioctl", os.open("/dev/tty", os.O_RDWR), 0x5412, b"x")).__name__ = "type on a terminal"
attempt(lambda: syscall(321, 5, ctypes.create_string_buffer(128), 128)).__name__ = "load a program into the kernel"


@attempt
def read_the_other_task_as_root_of_a_user_namespace():
    return as_child(lambda: (user_namespace(), read(f"{VICTIM_DIR}/secret")))


@attempt
def read_shadow_as_root_of_a_user_namespace():
    return as_child(lambda: (user_namespace(), read("/etc/shadow")))


@attempt
def see_the_other_task_by_a_proc_of_its_own():
    def look():
        user_namespace()
        call("mount", b"proc", b"/proc", b"proc", 0, None)
        return read(f"/proc/{VICTIM}/environ")
    return as_child(look)


@attempt
def fork_without_end():
    pids = []
    try:
        for _ in range(400):
            pid = os.fork()
            if pid == 0:
                time.sleep(30)
                os._exit(0)
            pids.append(pid)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return f"{len(pids)} processes"


@attempt
def outlive_its_end():
    """The test looks whether the process is still there after the end."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 100)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.execve("/bin/sleep", [os.environ["STRAY_NAME"], "3600"], {})
        os._exit(0)
    refuse("the test looks later")


def main():
    for function in TRIES:
        name = function.__name__.replace("_", " ")
        try:
            said = function()
            print(f"{name}|DONE|{str(said)[:200]!r}", flush=True)
        except Exception as error:
            print(f"{name}|refused|{str(error)[:120]}", flush=True)
    print("END", flush=True)


main()
