"""Lists in their three forms: pipe, terminal of 80 columns, JSON. SPDX-License-Identifier: Apache-2.0"""

import json
import re

import golden
import pytest


@pytest.fixture(scope="module")
def filled(request):
    """A Weir with one task of each sort, all of them still or ended: the same every time."""
    from weir_harness import Weir

    weir = Weir(["--slots", "2", "--resources", "foo=7 license=1.5"])
    weir.start()
    request.addfinalizer(weir.close)
    weir.weir("run", "--name", "well", "--", "true")
    weir.weir("run", "--name", "ill", "--", "sh", "-c", "exit 7", check=False)
    weir.weir("pool", "pause", "default")
    weir.weir("submit", "--name", "a name that is far too long for one line of a terminal, so it is cut", "--", "true")
    weir.weir("submit", "--resources", "foo=5", "--", "echo", "evil \x1b[2J\n日本")
    weir.weir("submit", "--stage", "--priority", "90", "--", "sh", "-c", "echo 'quoted words'")
    weir.weir("pool", "create", "spare", "--title", "für später", "--accepts", "service,shell", "--patience", "5m")
    return weir


LISTS = {
    "task-list": ["task", "list", "--columns", "id,state,name,pool,resources,detail"],
    "task-list-sorted": ["task", "list", "--sort", "-priority", "--columns", "id,priority"],
    "task-list-quiet": ["task", "list", "-q", "--state", "pending"],
    "pool-list": ["pool", "list"],
    "queue": ["queue", "--columns", "pool,position,id,priority,resources,reason"],
}


@pytest.mark.parametrize("name", LISTS)
def test_a_pipe_gets_plain_and_whole_lines(filled, name):
    result = filled.weir(*LISTS[name])
    assert "\x1b" not in result.stdout
    golden.check(f"{name}-pipe", result.stdout)


@pytest.mark.parametrize("name", LISTS)
def test_a_terminal_gets_80_columns(filled, name):
    status, text = filled.terminal(*LISTS[name], columns=80).finish()
    assert status == 0
    bare = re.sub(r"\x1b\[\d*m", "", text)
    assert "\x1b" not in bare
    golden.check(f"{name}-tty", text)


def screen(weir, *command, columns):
    """What a terminal of that width shows, without colours. No line is longer than the terminal is wide."""
    text = weir.terminal(*command, "--color", "never", columns=columns).finish()[1]
    assert all(len(line) <= columns for line in text.splitlines()), text
    return text


def heads(text):
    """The titles of a screen's table, and the line above it ("" where there is none)."""
    lines = text.splitlines()
    above = lines.pop(0) if lines[0].startswith("all: ") else ""
    return lines[0].split(), above


def test_a_narrow_terminal_says_once_what_is_the_same_in_every_line(filled):
    user = filled.task(1)["user"]
    head, above = heads(screen(filled, "task", "list", columns=80))
    assert head == ["ID", "STATE", "NAME", "RESOURCES", "SUBMITTED", "RUNTIME"]
    assert above == f"all: user {user}, project default, pool default, inst 1"
    head, above = heads(screen(filled, "task", "list", columns=200))
    assert all(title in head for title in ("USER", "PROJECT", "POOL", "INST", "DETAIL")) and above == ""


@pytest.fixture(scope="module")
def busy(request):
    """Tasks of two users and projects in two pools: too much for 80 columns. No text depends on this machine."""
    from weir_harness import Weir

    weir = Weir(["--fake-gpus", "2"])
    weir.start()
    request.addfinalizer(weir.close)

    def submit(user, project, *args):
        who = {"WEIR_SERVER": weir.url, "WEIR_TOKEN": tokens[user]}
        weir.weir("submit", "--project", project, *args, env=who)

    tokens = {}
    for user in ("ann", "benedikt"):
        tokens[user] = weir.weir("token", "create", "--scope", "admin", "--name", user).stdout.strip()
    for project in ("computer-vision", "nlp"):
        weir.weir("project", "create", project)
    weir.weir("pool", "create", "a100-spot")
    weir.weir("quota", "set", "nlp", "--pool", "default", "--limit", "gpu=0")
    submit("ann", "computer-vision", "--gpus", 2, "--name", "resnet-50-from-scratch", "--", "sleep", "1000")
    weir.wait_state(1, "running")
    submit("benedikt", "nlp", "--gpus", 1, "--array", "1-12", "--name", "sweep", "--", "true")
    submit("benedikt", "nlp", "--pool", "a100-spot", "--name", "bert-large-uncased-whole-word-masking", "--", "true")
    submit("ann", "nlp", "--stage", "--gpus", 1, "--", "python", "train.py", "--config", "configs/long/name.yaml")
    weir.wait_until(lambda: weir.task(2)["reason"]["code"] == "over-limit", lambda: weir.task(2)["reason"])
    return weir


def still(text):
    """A screen with its times replaced by marks that are as wide."""
    text = re.sub(r"(\d+[smhd] ago|just now) *", lambda m: "<ago>".ljust(len(m[0])), text)
    return re.sub(r"(?m)( *)\b\d+(\.\d)?s(?=$| )", lambda m: "<span>".rjust(len(m[0])), text)


@pytest.mark.parametrize("columns", (80, 100, 200))
@pytest.mark.parametrize("command", ("task list", "queue"))
def test_nothing_that_matters_is_lost_at_any_width(busy, command, columns):
    text = screen(busy, *command.split(), columns=columns)
    words = " ".join(text.split())
    for needed in ("nlp", "a100-spot", "default", "gpu=1", "ann" if command == "task list" else "benedikt"):
        assert needed in words, (needed, text)
    for task in busy.weir_json(*command.split()):
        if task["reason"] is not None:
            assert task["reason"]["message"] in words, text
    golden.check(f"{command.replace(' ', '-')}-{columns}", re.sub(r" +\n", "\n", still(text)))


def test_projects_and_instances_are_shown_within_80_columns(weir):
    """Where they differ; of a task that runs in part, how many of them run."""
    weir.weir("project", "create", "vision")
    weir.weir("pool", "edit", "default", "--preemption", "off")
    slots = weir.api("GET", "nodes").json["items"][0]["resources"]["slots"]["total"]
    weir.weir("submit", "--project", "vision", "--instances", slots + 2, "--name", "many", "--", "sleep", "1000")
    weir.weir("submit", "--name", "one", "--", "true")
    weir.wait_until(lambda: weir.task(1)["counts"]["active"] == slots, "all slots are taken")
    text = screen(weir, "task", "list", columns=80)
    assert {"ID", "STATE", "NAME", "PROJECT", "RESOURCES", "INST"} <= set(heads(text)[0])
    assert re.search(rf"\bmany\b.* vision\b.* slots=1 +{slots + 2} ", text)
    assert f"    {slots} running, 2 waiting; waits for 1 slot" in text
    text = screen(weir, "queue", columns=80)
    assert {"POOL", "PLACE", "ID", "NAME", "PROJECT", "RESOURCES", "INST"} <= set(heads(text)[0])
    assert re.search(r"\bmany\b.* vision\b", text) and re.search(r"\bone\b.* default\b", text)


def test_a_filter_that_names_nothing_is_refused(filled):
    for command in (["task", "list", "--pool"], ["task", "list", "--project"], ["node", "list", "--pool"]):
        refused = filled.weir(*command, "nosuch", check=False)
        assert refused.returncode == 3 and "'nosuch'" in refused.stderr


def test_events_are_filtered(filled):
    def found(terms):
        lines = filled.weir("events", "--filter", terms, "--json=lines").stdout.splitlines()
        return [(event["type"], event.get("task")) for event in map(json.loads, lines)]

    assert found("type=task-ended task=2") == [("task-ended", 2)]
    assert found("type=task-submitted name~well") == [("task-submitted", 1)]
    assert found("type=task-submitted priority>50") == [("task-submitted", 5)]
    assert found("type~task-sub task>1 task<=3") == [("task-submitted", 2), ("task-submitted", 3)]
    assert found("type=task-submitted resources.foo=5") == [("task-submitted", 4)]
    [line] = filled.weir("events", "--filter", "type=task-ended state=failed").stdout.splitlines()
    assert "  task-ended  task=2" in line
    for terms, code, says in (("tipe=x", 2, "--filter: no column 'tipe'; there are type, task, "),
                              ("type=task-endet", 2, "did you mean 'task-ended'?"),
                              ("type", 2, "is no condition")):
        refused = filled.weir("events", "--filter", terms, check=False)
        assert (refused.returncode, says in refused.stderr) == (code, True), refused.stderr


def shape(value):
    """The names and kinds of a JSON answer, without its values."""
    if isinstance(value, dict):
        return {key: shape(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


JSON = {
    "task-list": ["task", "list", "--state", "pending", "--limit", "1"],
    "task-show": ["task", "show", "2"],
    "pool-list": ["pool", "list"],
    "node-list": ["node", "list"],
    "queue": ["queue"],
    "whoami": ["whoami"],
    "status": ["status"],
    "explain": ["explain", "3"],
    "token-list": ["token", "list"],
}


@pytest.mark.parametrize("name", JSON)
def test_json_has_the_apis_names(filled, name):
    found = shape(filled.weir_json(*JSON[name]))
    if name == "node-list":
        found[0]["labels"] = "labels"
    golden.check(f"{name}-json", json.dumps(found, indent=1) + "\n")


def test_json_lines_is_one_object_a_line(filled):
    lines = filled.weir("task", "list", "--json=lines").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [5, 4, 3, 2, 1]
    assert [task["id"] for task in filled.weir_json("task", "list")] == [5, 4, 3, 2, 1]


def test_show_is_for_people(filled):
    text = golden.plain(filled.weir("task", "show", "2").stdout)
    task = filled.task(2)
    for found, mark in (
        (task["attempts"][0]["node"], "<node>"),
        (task["user"], "<user>"),
        (str(filled.root), "<dir>"),
    ):
        text = re.sub(rf"(?<!\S){re.escape(found)}(?!\S)", mark, text)
    text = re.sub(r"\b\d+\.\ds\b", "<span>", text)
    text = re.sub(r"\b\d+(\.\d)?Mi\b", "<memory>", text)
    # Columns are as wide as what they hold, which differs.
    golden.check("task-show-pipe", re.sub(r" {2,}", "  ", text))


def test_filters_and_limits(filled):
    assert filled.weir("task", "list", "-q", "--ended").stdout.split() == ["2", "1"]
    assert filled.weir("task", "list", "-q", "--active").stdout.split() == ["5", "4", "3"]
    assert filled.weir("task", "list", "-q", "--limit", "2").stdout.split() == ["5", "4"]
    assert filled.weir("task", "list", "-q", "--name", "well").stdout.split() == ["1"]
    assert filled.weir("task", "list", "-q", "--since", "1h").stdout.split() == ["5", "4", "3", "2", "1"]
    assert filled.weir("task", "list", "--no-header", "--columns", "id", "--limit", "1").stdout == "5\n"


def test_colours_only_where_they_are_wanted(filled):
    listed = ["task", "list", "--columns", "id,state"]
    assert "\x1b[31mfailed" in filled.weir(*listed, "--color=always").stdout
    assert "\x1b[31mfailed" in filled.terminal(*listed).finish()[1]
    assert "\x1b" not in filled.terminal(*listed, env={"NO_COLOR": "1"}).finish()[1]
    assert "\x1b" not in filled.terminal(*listed, "--color", "never").finish()[1]


def test_wide_has_everything_and_absolute_times(filled):
    text = filled.weir("task", "list", "--wide").stdout
    assert re.search(r"\d{4}-\d\d-\d\dT", text)
    assert "COMMAND" in text and "echo 'quoted words'" not in text.split("\n")[0]


def test_an_empty_list_teaches(weir_factory):
    weir = weir_factory()
    result = weir.weir("task", "list")
    assert result.stdout == ""
    assert "weir run -- echo hello" in result.stderr
    assert weir.weir("task", "list", "--json").stdout == "[]\n"
    assert weir.weir("task", "list", "--json").stderr == ""


def test_an_empty_answer_says_what_was_looked_at(weir_factory):
    """Not that there is nothing at all: other tasks and other pools are there."""
    weir = weir_factory()
    weir.weir("pool", "create", "spare")
    weir.weir("run", "--", "true")
    missed = weir.weir("task", "list", "--state", "pending", "--active").stderr
    assert missed == "no tasks match --state pending --active; `weir task list` shows all tasks\n"
    assert weir.weir("queue").stderr == "no tasks waiting in any of 2 pools: default, spare\n"
    assert weir.weir("queue", "--pool", "spare").stderr == "no tasks waiting in pool spare\n"
    assert weir.weir("queue", "--json").stdout == "[]\n"


def test_the_queue_of_every_pool_is_shown(weir_factory):
    """One pool after the other, each with its own places, also over several pages of the API."""
    weir = weir_factory()
    weir.weir("pool", "create", "spare")
    weir.weir("pool", "pause", "default")
    tasks = {"spare": [], "default": []}
    for pool in ("spare", "default", "spare"):
        tasks[pool].append(int(weir.weir("submit", "--pool", pool, "--", "true").stdout))
    listed = [(t["pool"], t["position"], t["id"]) for t in weir.weir_json("queue")]
    assert listed == [
        ("default", 1, tasks["default"][0]),
        ("spare", 1, tasks["spare"][0]),
        ("spare", 2, tasks["spare"][1]),
    ]
    assert [t["id"] for t in weir.weir_json("queue", "--pool", "spare")] == tasks["spare"]
    found, cursor = [], ""
    while cursor is not None:
        page = weir.api("GET", f"queue?limit=1{cursor and '&cursor='}{cursor}").json
        found += [(t["pool"], t["position"], t["id"]) for t in page["items"]]
        cursor = page["next"]
    assert found == listed


def test_completion_knows_live_names(filled):
    found = filled.weir("__complete", "--", "pool", "show", "").stdout
    assert {line.split("\t")[0] for line in found.splitlines()} == {"default", "spare"}
    found = filled.weir("__complete", "--", "task", "logs", "").stdout
    assert {line.split("\t")[0] for line in found.splitlines()} == {"1", "2", "3", "4", "5"}


def test_watch_in_a_pipe_prints_what_changed(weir):
    process = weir.spawn("task", "list", "--watch", "--json")
    try:
        weir.weir("run", "--", "true")
        states = []
        while not states or states[-1] != "completed":
            line = process.stdout.readline()
            assert line, process.stderr.read()
            states.append(json.loads(line)["state"])
        assert len(states) == len(set(states)) or states[-1] == "completed"
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def test_watch_on_a_terminal_redraws_in_place(weir):
    terminal = weir.terminal("task", "list", "--watch", "--columns", "id,state")
    terminal.expect("no tasks")
    weir.weir("submit", "--", "true")
    terminal.expect("completed")
    assert "\x1b[1A\r\x1b[J" in terminal.text
    terminal.send("\x03")
    terminal.finish()
