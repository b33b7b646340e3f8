"""Programs inside tasks and shells: real processes on a node, reached through the server.

SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import fcntl
import os
import pathlib
import signal
import struct
import subprocess
import termios

import pytest
from weir_harness import weir_bin


@pytest.fixture
def site(weir):
    return weir("--slots", "4")


def running(site, *command, **fields):
    task = site.submit(*command, **fields)
    site.wait_state(task, "running")
    return task


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_program_runs_inside_the_task(site, tmp_path):
    task = running(site, "sh", "-c", "id -u > who; echo $$ > pid; exec sleep 600", env={"COLOUR": "teal"})
    script = "id -u; pwd; echo $COLOUR; echo $WEIR_TASK_ID; echo trouble >&2; exit 7"
    done = site.weir("task", "exec", task, "--", "sh", "-c", script, check=False)
    assert done.returncode == 7
    uid, pwd, colour, number = done.stdout.splitlines()
    assert uid == pathlib.Path(pwd, "who").read_text().strip()
    assert (colour, number) == ("teal", str(task))
    assert done.stderr == "trouble\n"
    if os.geteuid() == 0:
        assert uid != "0"


def test_input_output_and_codes_are_passed_on(site):
    task = running(site, "sleep", "600")
    data = os.urandom(3_000_000)
    command = [weir_bin(), "task", "exec", str(task), "--", "cat"]
    copied = subprocess.run(command, input=data, capture_output=True, env=site.env(), timeout=60)
    assert (copied.returncode, copied.stdout == data) == (0, True)
    killed = site.weir("task", "exec", task, "--", "sh", "-c", "kill -TERM $$", check=False)
    assert killed.returncode == 128 + signal.SIGTERM
    absent = site.weir("task", "exec", task, "--", "no-such-program", check=False)
    assert absent.returncode == 125 and "cannot execute 'no-such-program'" in absent.stderr
    assert site.weir("task", "exec", 99, "--", "true", check=False).returncode == 125


def test_a_program_that_ends_at_once_is_heard(site):
    """Its input may still be on the way when it has ended already."""
    task = running(site, "sleep", "600")

    def tried(number):
        done = site.weir("task", "exec", task, "--", "sh", "-c", f"echo {number}; exit 7", check=False)
        return done.returncode, done.stdout

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(tried, range(60))) == [(7, f"{n}\n") for n in range(60)]


def test_a_program_ends_with_its_task_and_with_its_client(site):
    task = running(site, "sleep", "600")
    first = site.spawn("task", "exec", task, "--", "sh", "-c", "echo $$; exec sleep 500")
    pid = int(first.stdout.readline())
    assert alive(pid)
    first.kill()
    first.wait()
    site.wait_until(lambda: not alive(pid), "the program to end with its client")
    second = site.spawn("task", "exec", task, "--", "sh", "-c", "echo $$; exec sleep 500")
    pid = int(second.stdout.readline())
    site.weir("task", "kill", task)
    assert site.wait(task)["state"] == "killed"
    assert not alive(pid)
    assert second.wait(timeout=30) != 0
    second.stdout.close()
    late = site.weir("task", "exec", task, "--", "true", check=False)
    assert late.returncode == 125 and f"task {task} has ended" in late.stderr


def test_who_may_not(site):
    task = running(site, "sleep", "600")
    reader = site.api("POST", "tokens", {"scope": "read", "name": "ann"}).json["token"]
    refused = site.weir("task", "exec", task, "--", "id", check=False, env={"WEIR_SERVER": site.url, "WEIR_TOKEN": reader})
    assert refused.returncode != 0 and refused.stdout == ""
    assert site.api("POST", f"tasks/{task}/exec", {"command": ["id"]}, token="").status == 401
    plain = site.api("POST", f"tasks/{task}/exec", {"command": ["id"]})
    assert plain.status == 400 and "Upgrade" in plain.json["error"]["message"]
    writer = site.api("POST", "tokens", {"scope": "admin", "name": "bob"}).json
    session = site.spawn("task", "exec", task, "--", "sh", "-c", "echo here; exec sleep 500",
                         env={"WEIR_SERVER": site.url, "WEIR_TOKEN": writer["token"]})
    assert session.stdout.readline() == b"here\n"
    assert site.api("DELETE", f"tokens/{writer['id']}").status == 200
    assert session.wait(timeout=30) != 0
    session.stdout.close()
    session.stderr.close()


def resize(terminal, rows, columns):
    fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def test_a_shell_has_a_terminal_that_can_be_left_and_found_again(site):
    shell = site.terminal("shell", "--", "sh", columns=91, rows=23)
    shell.expect("leaves it running")
    shell.send("stty size; tty; echo pid-$$\n")
    shell.expect("23 91\n/dev/pts/")
    resize(shell, 33, 101)
    shell.send("until [ \"$(stty size)\" = '33 101' ]; do sleep 0.05; done; echo re''sized\n")
    shell.expect("resized")
    # The inner shell says so when its process group is in front already: the interrupt reaches it and nothing else.
    shell.send("sh -c \"echo slee''ping; exec sleep 300\"\n")
    shell.expect("sleeping\n")
    shell.send("\x03")
    shell.expect("^C")  # the terminal has dropped what was typed before
    shell.send("echo inter''rupted\n")
    shell.expect("interrupted")
    shell.send("MARK=kept\n~.")
    status, text = shell.finish()
    assert status == 0 and "detached; task 1 goes on" in text
    assert site.task(1)["state"] == "running" and site.task(1)["kind"] == "shell"
    again = site.terminal("shell", "attach", "1")
    again.expect("resized")  # the screen is shown again
    again.send("echo $MARK-it; exit 5\n")
    status, text = again.finish()
    assert status == 5 and "kept-it" in text
    assert site.wait(1)["exit_code"] == 5
    assert "kept-it" in site.weir("task", "logs", 1).stdout


def test_only_shell_tasks_have_a_terminal(site):
    task = running(site, "sleep", "600")
    refused = site.weir("shell", "attach", task, check=False)
    assert refused.returncode == 125 and "only tasks of kind shell" in refused.stderr


def test_a_shell_ends_when_it_is_killed(site):
    site.weir("shell", "--detach", "--", "sh", "-c", "echo $$; exec sleep 600")
    site.wait_state(1, "running")
    pid = int(site.wait_until(lambda: site.weir("task", "logs", 1).stdout.strip(), "the pid"))
    assert alive(pid)
    site.weir("task", "kill", 1)
    assert site.wait(1)["state"] == "killed"
    assert not alive(pid)
