"""Texts of files, tasks, nodes and people reach a terminal as text. SPDX-License-Identifier: Apache-2.0"""

import re

import pytest

EVIL = "\x1b[2J\x1b]0;x\x07\u009b31m\u202e"
MILD = "\u009b31m\u202e"  # what names and titles may hold


def seen(weir, *command):
    """What a terminal gets of a command, without the colours that Weir itself sets; nothing in it moves a cursor."""
    text = re.sub(r"\x1b\[\d*m", "", weir.terminal(*command).finish()[1])
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text), (command, text)
    return text


@pytest.fixture(scope="module")
def evil(request):
    from weir_harness import Weir

    weir = Weir(["--slots", "1"])
    weir.start()
    request.addfinalizer(weir.close)
    weir.weir("project", "create", "vision", "--title", MILD)
    weir.weir("pool", "edit", "default", "--title", MILD)
    task = weir.submit("sh", "-c", "sleep 1000", EVIL, name="n" + MILD, description=MILD)
    weir.wait_state(task, "running")
    weir.submit("true", name="waits" + MILD)
    return weir


@pytest.mark.parametrize(
    "command",
    (
        ["task", "list", "--wide"],
        ["task", "show", "1"],
        ["queue"],
        ["explain", "2"],
        ["events"],
        ["project", "list"],
        ["pool", "show", "default"],
        ["pool", "list"],
        ["status"],
        ["whoami"],
    ),
    ids=" ".join,
)
def test_names_are_text(evil, command):
    seen(evil, *command)


@pytest.mark.parametrize(
    "command",
    (
        [EVIL],
        ["task", EVIL],
        ["task", "list", "--" + EVIL],
        ["task", "list", "--state", EVIL],
        ["task", "list", "--name", EVIL],
        ["task", "show", EVIL],
        ["pool", "show", EVIL],
        ["submit", "--resources", EVIL, "--", "true"],
        ["submit", "-f", EVIL],
        ["sim", EVIL],
        ["server", "--config", EVIL],
        ["agent", "--" + EVIL],
        ["help", EVIL],
        ["status", "--server", "http://" + EVIL],
    ),
    ids=repr,
)
def test_what_was_typed_is_text_in_messages(evil, command):
    seen(evil, *command)


def test_files_are_text_in_messages(evil):
    path = evil.root / "task.yaml"
    path.write_text(f"command: [true]\nna{EVIL[:4]}me: x\nresources: {{slots: '{EVIL[:4]}'}}\n")
    seen(evil, "submit", "-f", path)
    path.write_text("pools:\n  - {name: 'a\x1b[2Jb', colour: red}\n")
    seen(evil, "config", "check", path)
    path.write_text('{"pools": [{"name": "a", "\\u001b[2J": 1}]}')
    said = seen(evil, "config", "check", path)
    assert "\\x1b[2J" in said
    path.write_text('{"tasks": [{"name": "\\u001b[2J"}], "\\u001b[31m": 1}')
    seen(evil, "sim", path)
