"""tools/tidy finds what it is there to find: each test breaks one rule in a copy of the sources.
SPDX-License-Identifier: Apache-2.0"""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUNCTION = "\nvoid {name}(int x)\n{{\n    (void)x;\n}}\n"
FIELD = "FIELD(flavour, {kept}, 99, {change}, TOP, NO_FLAG)\n"
TEXT, NUMBER = "TEXT(flavour, 0, 10)", "NUMBER(flavour, 0, 10, 0)"

# the check, the file, what is added to its end, what the finding says
ADDED = {
    "a room of the scheduler includes one above": (
        "check_rooms", "src/core/sched/order/turns.c", '#include "core/sched/take/solve.h"\n', "may not include core/sched/take/"),
    "the model includes the state": (
        "check_rooms", "src/core/model/codec.c", '#include "core/state/fact.h"\n', "may not include core/state/"),
    "the scheduler includes what changes the state": (
        "check_rooms", "src/core/sched/pass.c", '#include "core/apply/apply.h"\n', "may not include core/apply/"),
    "a directory of the core that is no room": ("check_rooms", "src/core/attic/attic.c", "\n", "core/attic/ is no room"),
    "the core includes what reads files": (
        "check_layers", "src/core/model/codec.c", '#include "spec/fields.h"\n', "core/ (layer 1) may not include spec/"),
    "siblings of one layer include each other": (
        "check_layers", "src/wire/agent.c", '#include "spec/fields.h"\n', "wire/ (layer 2) may not include spec/"),
    "an exported name without its file's stem": (
        "check_names", "src/core/model/codec.c", FUNCTION.format(name="strange"), "strange() is defined here"),
    "a declared name without its header's stem": (
        "check_names", "src/core/model/codec.h", "void strange(int x);\n", "strange() is declared here"),
    "a tag of a struct used twice": (
        "check_tags", "src/core/model/codec.c", "struct core {\n    int x;\n};\n", "the tag core is used at src/core/"),
    "floating point in the core": ("check_pure", "src/core/model/codec.c", "double half(void);\n", "floating point in the core"),
    "a function that is too long": (
        "check_lengths", "src/core/model/label.c", "int label_f(void)\n{\n" + "    work();\n" * 71 + "}\n", "function of 71 lines"),
    "a field of a task nowhere described": (
        "check_field_pages", "src/core/model/task_fields.def", FIELD.format(kept=TEXT, change="EDIT(63, ANYTIME)"),
        ["TaskSubmit has no 'flavour'", "TaskEdit has no 'flavour'", "schema Task has no 'flavour'", "task-file.md: no word about 'flavour'"]),
    "a field of a pool nowhere described": (
        "check_field_pages", "src/core/model/pool_fields.def", FIELD.format(kept=TEXT, change="WHOLE"),
        ["PoolCreate has no 'flavour'", "schema Pool has no 'flavour'", "server-file.md: no word about 'flavour'"]),
    "a field of a quota nowhere described": (
        "check_field_pages", "src/core/model/quota_fields.def", FIELD.format(kept=NUMBER, change="WHOLE"),
        ["QuotaSet has no 'flavour'", "schema Quota has no 'flavour'", "server-file.md: no word about 'flavour'"]),
    "a field of an account nowhere described": (
        "check_field_pages", "src/core/model/account_fields.def", FIELD.format(kept=TEXT, change="WHOLE"),
        ["DepartmentCreate has no 'flavour'", "ProjectCreate has no 'flavour'", "schema Project has no 'flavour'"]),
    "a field of a flavor nowhere described": (
        "check_field_pages", "src/core/model/flavor_fields.def", FIELD.format(kept=TEXT, change="WHOLE"),
        ["FlavorCreate has no 'flavour'", "schema Flavor has no 'flavour'", "server-file.md: no word about 'flavour'"]),
    "a field of a node nowhere described": (
        "check_field_pages", "src/core/model/node_fields.def", FIELD.format(kept=TEXT, change="FIXED"),
        ["schema Node has no 'flavour'", "agent-protocol.md: no word about 'flavour'"]),
}
# the check, the file, text that stands there, what replaces each of its places, what the finding says
CHANGED = {
    "the API's description loses a field": (
        "check_field_pages", "docs/api/openapi.yaml", " max_losses:", " max_loss:", "TaskSubmit has no 'max_losses'"),
    "a page loses a field": ("check_field_pages", "docs/dev/formats/task-file.md", "stale_grace", "staleness", "no word about 'stale_grace'"),
    "the page of the agent's protocol loses a field": (
        "check_agent_page", "docs/dev/formats/agent-protocol.md", "incarnation", "rebirth", "has the field 'incarnation'"),
}


@pytest.fixture(scope="module")
def tidy(tmp_path_factory):
    """tools/tidy as a module that looks at a copy of the sources."""
    root = tmp_path_factory.mktemp("tree")
    for part in ("src", "docs", "tools"):
        shutil.copytree(ROOT / part, root / part)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    sys.path.insert(0, str(ROOT / "tools"))
    loader = importlib.machinery.SourceFileLoader("tidy", str(ROOT / "tools/tidy"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
    loader.exec_module(module)
    sys.path.pop(0)
    module.archive = lambda name: ROOT / f"build/src/{name}/lib{name}.a"
    module.ROOT = str(root)
    broken = [check for check in {row[0] for row in [*ADDED.values(), *CHANGED.values()]} if getattr(module, check)()]
    assert broken == [], "the sources as they are break these rules already"
    return module


def findings(tidy, check, path, text):
    """What a check says of a copy in which the file `path` has this text; afterwards the copy is as it was."""
    file = pathlib.Path(tidy.ROOT) / path
    before = file.read_text() if file.exists() else None
    file.parent.mkdir(exist_ok=True)
    file.write_text(text(before))
    try:
        return getattr(tidy, check)()
    finally:
        if before is None:
            file.unlink()
        else:
            file.write_text(before)


def test_every_check_is_in_the_list(tidy):
    checks = {name for name in dir(tidy) if name.startswith("check_")}
    assert checks == {check.__name__ for check in tidy.CHECKS}


@pytest.mark.parametrize("what", ADDED)
def test_tidy_finds_what_is_added(tidy, what):
    check, path, text, told = ADDED[what]
    found = findings(tidy, check, path, lambda before: (before or "") + text)
    for words in [told] if isinstance(told, str) else told:
        assert any(words in line for line in found), (words, found)


@pytest.mark.parametrize("what", CHANGED)
def test_tidy_finds_what_is_missing(tidy, what):
    check, path, old, new, told = CHANGED[what]
    found = findings(tidy, check, path, lambda before: before.replace(old, new))
    assert any(told in line for line in found), found
