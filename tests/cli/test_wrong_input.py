"""What is typed wrong is answered with what would do. SPDX-License-Identifier: Apache-2.0"""

import pytest
from weir_harness import Weir


def said(weir, *words):
    """The exit status and the message of a command that is refused."""
    result = weir.weir(*words, check=False)
    return result.returncode, result.stderr.removeprefix("weir: ").rstrip("\n")


@pytest.fixture(scope="module")
def shop():
    """Two departments, three projects, two pools."""
    weir = Weir(["--fake-gpus", "1"])
    weir.start()
    for department in ("ml", "bio"):
        weir.weir("department", "create", department)
    for project, department in (("vision", "ml"), ("nlp", "ml"), ("fold", "bio")):
        weir.weir("project", "create", project, "--department", department)
    weir.weir("pool", "create", "lab")
    yield weir
    weir.close()


def test_an_unknown_name_is_answered_with_the_names_that_there_are(shop):
    assert said(shop, "submit", "--pool", "labb", "--", "true") == (
        2, "pools: there is no pool 'labb'; there are: default, lab; did you mean 'lab'?")
    assert said(shop, "submit", "--project", "visoin", "--", "true") == (
        2, "there is no project 'visoin'; there are: default, fold, nlp, vision; did you mean 'vision'?")
    assert said(shop, "project", "create", "q", "--department", "bip") == (
        2, "there is no department 'bip'; there are: bio, default, ml; did you mean 'bio'?")
    assert said(shop, "pool", "create", "q", "--provider", "local", "--max", "1", "--flavor", "a100") == (2, "there is no flavor 'a100'; there is none")


@pytest.mark.parametrize(("words", "message"), (
    (["quota", "set", "vison", "--pool", "lab", "gpu=1"], "no project 'vison'; did you mean 'vision'?"),
    (["quota", "set", "vision", "--pool", "lba", "gpu=1"], "no pool 'lba'; did you mean 'lab'?"),
    (["pool", "show", "defalt"], "no pool 'defalt'; did you mean 'default'?"),
    (["department", "show", "mll"], "no department 'mll'; did you mean 'ml'?"),
    (["project", "show", "quite-different"], "no project 'quite-different'"),
))
def test_a_name_that_is_looked_up_has_a_nearest(shop, words, message):
    assert said(shop, *words) == (3, message)


def test_an_unknown_node_has_a_nearest(shop):
    [node] = shop.weir_json("node", "list")
    assert said(shop, "node", "drain", node["name"] + "x") == (3, f"no node '{node['name']}x'; did you mean '{node['name']}'?")


def test_a_token_is_named_by_its_id(shop):
    assert said(shop, "token", "delete", "root") == (3, "no token has the id 'root'; `weir token list` shows ids")


def test_one_of_several_words(weir_alone):
    for words, message in (
        (["pool", "edit", "lab", "--policy", "fare-share"],
         "--policy is 'fare-share'; it can be fair-share, priority, fifo or round-robin; did you mean 'fair-share'?"),
        (["usage", "--by", "month"], "--by is 'month'; it can be user, project, pool, node, kind or day"),
    ):
        result = weir_alone(*words)
        assert (result.returncode, result.stderr) == (2, f"weir: {message}\n")


def test_a_flag_before_the_command_is_called_a_flag(weir_alone):
    assert weir_alone("--servr", "http://127.0.0.1:1", "status").stderr == "weir: unknown flag --servr; did you mean --server?\n"
    assert weir_alone("--detach", "run").stderr == "weir: --detach cannot stand before the command; `weir help` shows how commands look\n"


def test_an_address_has_a_form(weir_alone):
    result = weir_alone("--server", "foo", "status")
    assert (result.returncode, result.stderr) == (2, "weir: 'foo' is no address; http://127.0.0.1:8080 would do\n")


def test_an_agent_with_no_address_ends_at_once(weir_alone):
    refused = weir_alone("agent", "--server", "10.0.0.1:8080", "--join-token", "t", "--dir", "agent")
    assert refused.returncode == 2 and refused.stdout == ""
    assert "--server: an address like http://127.0.0.1:8080 is wanted, not '10.0.0.1:8080'" in refused.stderr


def test_all_problems_of_an_agents_settings_are_shown_at_once(weir_alone, tmp_path):
    settings = tmp_path / "agent.yaml"
    settings.write_text("sever: http://127.0.0.1:1\nslots: many\nlabels: [a]\nhealth_check: check.sh\nstop_after: 5q\n")
    refused = weir_alone("agent", "--config", str(settings), "--dir", "agent")
    assert (refused.returncode, refused.stdout) == (2, "")
    lines = refused.stderr.splitlines()
    said = [line.removeprefix(str(settings)) for line in lines if not line.startswith(" ")]
    assert said[:2] == [":1:1: sever: there is no such setting of an agent; did you mean 'server'?",
                        ":2:8: slots: a whole number from 0 to 100000 is wanted, not 'many'"]
    assert [line.split(" ")[0] + " " + line.split(" ")[1] for line in said[2:5]] == [":3:9: labels:", ":4:15: health_check:", ":5:13: stop_after:"]
    assert said[5:] == [f"weir agent: 5 problems in {settings}"]
    for i, line in enumerate(lines):
        if line.endswith("^"):
            column = int(lines[i - 2].removeprefix(str(settings)).split(":")[2])
            assert line == " " * (4 + column - 1) + "^"
    settings.write_text("slots: 4\n  server: x\n")
    broken = weir_alone("agent", "--config", str(settings), "--dir", "agent")
    assert broken.returncode == 2 and f"{settings}:2:" in broken.stderr and broken.stderr.count("^") == 1


def test_a_department_that_is_not_empty_says_what_is_below_it(shop):
    status, message = said(shop, "department", "delete", "ml", "--yes")
    assert (status, message) == (5, "department 'ml' still has accounts below it: nlp, vision")


def test_an_event_that_does_not_exist_has_a_nearest(shop):
    assert said(shop, "events", "--type", "task-endet") == (2, "type: no event is called 'task-endet'; did you mean 'task-ended'?")


def test_an_ended_task_is_named_once(shop):
    task = shop.submit("true")
    shop.wait_state(task, "completed")
    assert said(shop, "task", "edit", task, "--priority", "3") == (5, f"task {task}: the task has ended: it is completed")
    assert said(shop, "task", "files", f"{task}.7")[1] == f"task {task} has 1 instance, no instance 7"


def test_a_question_without_a_terminal_names_the_tasks_and_the_flag(shop):
    tasks = [shop.submit("sleep", "1000", pool="lab") for _ in range(10)]
    status, message = said(shop, "task", "kill", *tasks)
    assert status == 2
    lines = message.split("\n")
    assert lines[0] == f"this kills 10 tasks: {', '.join(map(str, tasks[:8]))} and 2 more"
    assert lines[-1] == "weir: nothing was changed; give --yes to do it without a terminal to ask on"
    shop.weir("task", "kill", *tasks, "--yes")


def test_several_instances_are_submitted_again(shop):
    task = shop.submit("false", array="5-7", resources={"slots": 0})
    shop.wait_state(task, "failed")
    again = shop.weir("task", "retry", f"{task}.2", f"{task}.0")
    first, second = (int(line) for line in again.stdout.split())
    assert f"INSTANCE_ID 7 of task {task} is submitted again as task {first}" in again.stderr
    assert f"INSTANCE_ID 5 of task {task} is submitted again as task {second}" in again.stderr


def test_explain_says_which_node_the_tasks_hold(shop):
    holder = shop.submit("sleep", "1000", resources={"gpu": 1})
    shop.wait_state(holder, "running")
    waiting = shop.submit("sleep", "1000", resources={"gpu": 1}, depends_on=[])
    [node] = shop.weir_json("node", "list")
    shop.wait_until(lambda: shop.task(waiting)["reason"], "a reason")
    assert f"\n{node['name']} is held by task {holder}\n" in shop.weir("explain", waiting).stdout
    after = shop.weir("submit", "--after", str(waiting), "--", "true").stdout.strip()
    assert f"\nwaits for task {waiting}\n" in shop.weir("explain", after).stdout
    shop.weir("task", "kill", holder, waiting, "--yes")


def test_a_state_is_not_said_twice(shop):
    task = shop.submit("sleep", "1000", pool="lab")
    shop.weir("task", "kill", task)
    shop.wait_state(task, "killed")
    assert shop.weir("task", "list", "--columns", "state,detail", "--limit", "1", "--no-header").stdout.split() == ["killed"]
    way = f"\n      `weir explain {task} --at TIME` says why it waited at an earlier time"
    assert said(shop, "explain", task) == (5, f"task {task} has ended: it is killed{way}")
