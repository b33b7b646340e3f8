"""Every example in docs/user is run, and every command that a page names exists with its flags. SPDX-License-Identifier: Apache-2.0

Blocks without a language, and `sh`, hold commands: lines that begin with `weir` or `$ weir`. A block that begins with `$ ` goes on with what
the command prints, up to `…`. Blocks without a command are pictures. The commands of `text` blocks want nodes, pools or tasks that are made for them first (SETTINGS).
first-steps.md has a test of its own in test_documents.py.
"""

import functools
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml
from weir_harness import REPOSITORY, weir_bin

USER = REPOSITORY / "docs" / "user"
PAGES = sorted(page.name for page in USER.glob("*.md"))

# What a page takes for granted: commands that were given before, and files that the reader has.
BEFORE = {
    "networks.md": ["weir project create nlp", "weir project create vision"],
    "services.md": ["weir project create vision"],
    "queues.md": ["weir pool create v100"],
    "quotas.md": ["weir pool create v100"],
    "pools.md": ["weir project create nlp", "weir department create research"],
    "lists.md": ["weir project create nlp", "weir submit --project nlp --name resnet -- sleep 600"],
}
FILES = {
    "networks.md": {"train.py": "print('trained')\n"},
    "quotas.md": {"train.py": "print('trained')\n"},
    "simulator.md": {
        "cluster.yaml": "nodes: [{name: n1, gpus: 8}]\n",
        "jobs.csv": "arrived,seconds,width,team\n0,60,2,vision\n5,60,8,nlp\n",
        "philly.csv": "timestamp,duration,num_gpus,cluster\n0,60,8,v1\n5,60,16,v2\n",
        "today.yaml": "nodes: [{name: n1, gpus: 4}]\nstreams: [{every: 10m, count: 9, runs: 1h, resources: {gpu: 2}}]\n",
        "eight-more-nodes.yaml": "nodes: [{name: n, count: 9, gpus: 4}]\nstreams: [{every: 10m, count: 9, runs: 1h, resources: {gpu: 2}}]\n",
        "nodes.csv": "sn,cpu_milli,memory_mib,gpu,model\nn1,64000,262144,4,G1\n",
        "tasks.csv": "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\na,4000,8192,1,500,\nb,8000,8192,2,1000,\n",
    },
}
# Pages whose commands tests of their own type: test_first_steps.py, tests/cli/test_dry_run.py, tests/cli/test_past.py, test_node_pages.py,
# tests/clients/test_from_qarnot_page.py.
TYPED_ELSEWHERE = {"from-qarnot.md", "first-steps.md", "dry-run.md", "containers.md", "files.md", "interactive.md", "past.md"}
# The commands that a page describes from inside a task.
IN_A_TASK = {"checkpoints.md"}


def blocks(page):
    """(language, text) of every fenced block of a page."""
    return re.findall(r"^```(\w*)\n(.*?)^```", (USER / page).read_text(), re.M | re.S)


def commands(page):
    """(line, what it prints or None) of every command in a block."""
    found = []
    for language, text in blocks(page):
        if language not in ("", "sh"):
            continue
        first = text.split("\n")[0]
        if first.startswith("$ "):
            printed = re.match(r".*?\n(.*?)(?: *…|\Z)", text, re.S)[1]
            found.append((first.removeprefix("$ "), printed))
        elif language == "sh" or first.startswith("weir ") and not first.startswith("weir: "):
            found += [(line.split(" #")[0].rstrip(), None) for line in text.splitlines()]
    return found


@pytest.mark.parametrize("page", [page for page in PAGES if page not in TYPED_ELSEWHERE and commands(page)])
def test_every_command_of_a_page_works_in_order(weir_factory, page):
    w = weir_factory("--fake-gpus", "4", "--resources", "foo=7")
    (w.root / "bin").mkdir()
    (w.root / "bin").chmod(0o755)
    shutil.copy(weir_bin(), w.root / "bin" / "weir")
    for name, text in FILES.get(page, {}).items():
        (w.root / name).write_text(text)
    for language, text in blocks(page):
        named = re.match(r"# (\S+\.yaml)\n", text)
        if language == "yaml" and named:
            (w.root / named[1]).write_text(text)
    env = w.env()
    env["PATH"] = f"{w.root}/bin:{env['PATH']}"
    for line, printed in [(line, None) for line in BEFORE.get(page, [])] + commands(page):
        if line.startswith("weir agent ") or not line:
            continue  # joins another machine; test_every_named_command_exists looks at its flags
        line = line.replace("http://127.0.0.1:8080", w.url)
        words = ["weir", "run", "-e", f"PATH={w.root}/bin:/usr/bin:/bin", "--", "sh", "-c", line] if page in IN_A_TASK else ["sh", "-c", line]
        done = subprocess.run(words, capture_output=True, text=True, env=env, cwd=w.root, timeout=60)
        doctor = line == "weir doctor" and done.returncode == 1  # this machine may have a trouble of its own
        tried = line.startswith("weir config diff ") and done.returncode == 8  # something would change
        assert done.returncode == 0 or doctor or tried, f"{page}: {line}: {done.stderr}"
        if printed is not None:
            assert same(done.stdout, printed), f"{page}: {line} prints\n{done.stdout}"


class Setting:
    """What the commands of a `text` block take for granted."""

    def __init__(self, *before, node=None, codes=None):
        self.before = before
        self.node = node  # the name of a further node, which belongs to no pool of its own choice
        self.codes = codes or {}  # of the commands that do not exit with 0


# By the first command of the block.
SETTINGS = {
    "weir token create --scope join --reusable 30": Setting(node="n21"),
    "weir pool events burst": Setting("weir pool create burst --provider local --max 1"),
    "weir pool close burst --dry-run": Setting("weir pool create burst --provider local --max 1", "weir submit --pool burst -- sleep 600",
                                               codes={"weir pool close burst --dry-run": 8}),
    "weir pool delete lab --dry-run": Setting("weir pool create lab", "weir submit --pool lab -- sleep 600",
                                              codes={"weir pool delete lab --dry-run": 8, "weir pool delete lab": 5}),
    "weir submit --pool spot,on-demand -- python train.py": Setting(
        "weir pool create spot", "weir pool create on-demand", "weir submit --array 1-11 --stage -- true",
        *["weir submit --stage -- true"] * 11),
    "weir task open 12 --by-name": Setting(
        "weir project create vision", *["weir submit --stage -- true"] * 11, "weir submit --kind service --name chat --project vision -- sleep 600"),
    "weir task update 12 --env VERSION=2": Setting(*["weir submit --stage -- true"] * 11, "weir submit --kind service -- sleep 600"),
    "weir task update 12 --back": Setting(
        *["weir submit --stage -- true"] * 11, "weir submit --kind service -- sleep 600", "weir task update 12 --env VERSION=2 --drain 10m",
        codes={"weir task update 12 --resume": 5}),  # that update has not stopped
    "weir pool create train --provider local --nodes 3": Setting("weir pool create burst --provider local --max 2",
                                                                 codes={"weir pool scale train --nodes 2 --dry-run": 8}),
}
# Blocks that show what EC2 answers; tests/e2e/test_ec2.py has a cloud for them.
EC2 = {"weir explain 12", "weir pool create train --provider ec2 --flavor v100 --nodes 3 --zones eu-west-1a=2,eu-west-1b=1 …"}


def text_blocks():
    """(page, commands) of every `text` block that holds commands. A line without `weir` is what a command prints."""
    found = []
    for page in PAGES:
        for language, text in blocks(page):
            lines = [line.removeprefix("$ ").split(" #")[0].rstrip() for line in text.splitlines()]
            lines = [line for line in lines if line.startswith("weir ")]
            if language == "text" and lines and lines[0] not in EC2:
                found.append((page, lines))
    return found


@pytest.mark.parametrize(("page", "lines"), text_blocks(), ids=lambda value: value if isinstance(value, str) else value[0].replace(" ", "-"))
def test_commands_that_want_a_setting_work_in_it(weir_factory, page, lines):
    w = weir_factory("--fake-gpus", "4")
    setting = SETTINGS[lines[0]]
    for line in setting.before:
        w.weir(*line.split()[1:])
    agent = None
    if setting.node is not None:
        token = w.weir("token", "create", "--scope", "join").stdout.strip()
        agent = w.spawn("agent", "--server", w.url, "--join-token", token, "--name", setting.node, "--dir", w.root / setting.node)
        w.wait_until(lambda: setting.node in w.weir("node", "list", "-q").stdout, "the node")
    try:
        for line in lines:
            if line.startswith("weir agent "):
                continue  # joins another machine; test_every_named_command_exists looks at its flags
            works_at_last(w, line, setting.codes.get(line, 0))
    finally:
        if agent is not None:
            agent.terminate()
            agent.communicate()


def works_at_last(w, line, wanted):
    """Runs the command until it exits as the page says: what the command before it began may take a moment."""
    said = []

    def runs():
        done = w.weir(*line.split()[1:], check=False)
        if done.returncode != wanted and "give --yes" in done.stderr:  # a person is asked on a terminal
            done = w.weir(*line.split()[1:], "--yes", check=False)
        said[:] = [done.returncode, done.stderr]
        return done.returncode == wanted

    w.wait_until(runs, lambda: f"{line} to exit with {wanted}: {said}")


def same(said, written):
    """Are these the same lines, but for ports, milliseconds and users?"""
    plain = lambda text: re.sub(r":\d{4,5}|\d+ ms (?:ahead of|behind)|\d+ ms|you are \S+", "_", text).split("\n")  # noqa: E731
    wanted = plain(written.rstrip("\n"))
    return plain(said)[: len(wanted)] == wanted


@functools.cache
def flags_of(name):
    """The flags of a command, or None: there is no such command."""
    done = subprocess.run([weir_bin(), *name.split(), "--help"], capture_output=True, text=True)
    if done.returncode != 0 or not done.stdout.startswith(f"weir {name}: "):
        return None
    if done.stdout.startswith(f"weir {name}: one of\n"):
        return set()  # a group of commands
    usage = done.stdout.split("\nUsage: ")[1]
    return set(re.findall(r"(?m)^ +(?:-\w, )?(--[a-z-]+)", usage)) | set(re.findall(r"(?m)^ +(-\w), ", usage))


def command_of(words):
    """The longest command that the words begin with, and its flags."""
    for count in (2, 1):
        name = " ".join(words[:count])
        if flags_of(name) is not None and not name.startswith("-"):
            return name, flags_of(name)
    return None, None


@pytest.mark.parametrize("page", PAGES)
def test_every_named_command_exists_and_has_its_flags(page):
    text = (USER / page).read_text()
    inline = re.findall(r"`(?:\$ )?weir ([^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    calls = inline + [line.removeprefix("weir ") for line, _ in commands(page) if line.startswith("weir ")]
    for language, text in blocks(page):  # commands that need more than one machine here: other tests type them
        calls += re.findall(r"(?m)^(?:\$ )?weir ((?:(?! #).)+)", text) if language == "text" else []
    for call in calls:
        words = re.sub(r"'[^']*'|\"[^\"]*\"", "x", call.split(" -- ")[0]).split()
        if words[0] == "COMMAND":
            continue
        if words[0] == "whatif" and len(words) > 1 and words[1].islower():
            words = words[1:]  # the command that is tried
        if words[0].startswith("--server"):
            words = words[2:]
        name, flags = command_of(words)
        assert name, f"{page}: `weir {call}`: no such command"
        for before, word in zip(["", *words], words):
            if re.match(r"--?[a-z]", word) and before != "--sort":
                assert word.split("=")[0] in flags, f"{page}: `weir {call}`: {name} has no {word}"


@pytest.mark.parametrize("page", [page for page in PAGES if any(language == "yaml" for language, _ in blocks(page))])
def test_every_file_of_a_page_is_accepted(weir_factory, page):
    w = weir_factory("--fake-gpus", "4", "--resources", "foo=7")
    w.weir("pool", "edit", "default", "--topology", "zone,rack")  # as the page says before
    for number, (language, text) in enumerate(blocks(page)):
        if language != "yaml":
            continue
        keys = set(yaml.safe_load(text))
        path = pathlib.Path(w.root / f"{number}.yaml")
        path.write_text(text + ("pools: [{name: v100}]\n" if "quotas" in keys and "pools" not in keys else ""))
        if "command" in keys:
            # A gang may be too large for this machine (9); a field must not be unknown (2).
            assert w.weir("submit", "-f", path, check=False).returncode in (0, 9), f"{page}: {text}"
        elif "streams" in keys:
            w.weir("sim", path, "--quiet")
        elif keys & {"pools", "quotas", "compat"}:
            w.weir("config", "check", path)
        elif "nodes" in keys:
            w.weir("sim", path, "--quiet")
        else:
            assert keys == {"scrape_configs"}, f"{page}: which file is this?\n{text}"


def test_every_page_is_named_where_readers_look():
    for page in PAGES:
        assert f"({page})" in (USER / "first-steps.md").read_text() or page == "first-steps.md", page
        assert f"docs/user/{page}" in (REPOSITORY / "README.md").read_text(), page
