"""The manual pages: one for each command, made from the program's own table. SPDX-License-Identifier: Apache-2.0"""

import os
import re
import shutil
import subprocess

import pytest
from weir_harness import REPOSITORY, weir_bin


def said(*words):
    return subprocess.run([weir_bin(), *words], capture_output=True, text=True, check=True).stdout


def commands():
    return said("help", "--commands").splitlines()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The directory into which an installation below DESTDIR writes."""
    root = tmp_path_factory.mktemp("dest")
    env = dict(os.environ, MESON_INSTALL_DESTDIR_PREFIX=str(root / "usr"))
    subprocess.run([REPOSITORY / "docs" / "man" / "generate", weir_bin(), "share/man/man1"], env=env, check=True)
    return root / "usr" / "share" / "man" / "man1"


def test_every_command_has_a_page_and_every_page_a_command(pages):
    assert {page.name for page in pages.iterdir()} == {"weir.1", *(f"weir-{name.replace(' ', '-')}.1" for name in commands())}


def test_a_page_says_what_the_help_says(pages):
    for name in commands():
        page = (pages / f"weir-{name.replace(' ', '-')}.1").read_text()
        help_ = said(*name.split(), "--help")
        plain = page.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
        assert plain.count("\n.SH ") >= 3
        head, usage = help_.split("\nUsage: ")
        for example in re.findall(r"^  (\S.*)$", head, re.M):
            assert example in plain, f"{name}: the example '{example}' is not in its page"
        for flag in re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", usage, re.M):
            assert flag in plain, f"{name}: {flag} is not in its page"
        offered = set(re.findall(r"(?m)^\.B (?:-\w, )?(--[a-z-]+)", plain))
        assert offered == set(re.findall(r"(?m)^ +(?:-\w, )?(--[a-z-]+)", usage)), name


def test_the_pages_are_right_for_man(pages):
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed here: apt-get install groff-base")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", *sorted(pages.iterdir())], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_make_builds_and_installs_them():
    text = (REPOSITORY / "Makefile").read_text()
    for target, command in (("man", "ninja --quiet -C $(BUILD) man"), ("install", "meson install -C $(BUILD)")):
        recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", text, re.M)
        assert recipe and command in recipe[1], target
        dry = subprocess.run(["make", "-n", target], cwd=REPOSITORY, capture_output=True, text=True)
        assert dry.returncode == 0, dry.stderr


def test_every_example_of_the_help_is_of_its_command_and_has_only_its_flags():
    """An example that nobody can type is worse than none."""
    names = sorted(commands(), key=len, reverse=True)
    for name in names:
        head, usage = said(*name.split(), "--help").split("\nUsage: ")
        examples = re.findall(r"^  (\S.*)$", head, re.M)
        assert examples, f"{name}: no example"
        known = set(re.findall(r"(?m)^ +(?:-\w, )?(--[a-z-]+)", usage)) | set(re.findall(r"(?m)^ +(-\w), ", usage))
        own = 0
        for example in examples:
            for call in re.findall(r"\bweir ((?:(?! \| |; | && ).)*)", example):
                words = re.sub(r"'[^']*'|\"[^\"]*\"", "x", call.split(" -- ")[0]).split()
                if " ".join(words[: len(name.split())]) != name:
                    continue
                own += 1
                for word in words[len(name.split()) :]:
                    if re.match(r"--?[a-z]", word):
                        assert word.split("=")[0] in known, f"{name}: {word} of the example '{example}'"
        assert own > 0, f"{name}: no example calls it"


def test_the_table_of_features_names_tests_and_pages_that_exist():
    text = (REPOSITORY / "docs/dev/ux-rows.md").read_text()
    assert [int(n) for n in re.findall(r"^\| (\d+) \|", text, re.M)] == list(range(1, 33))
    named = re.findall(r"`((?:tests|docs)/[^`:]+)(?:::(\w+))?`", text)
    assert len(named) > 90
    for path, case in named:
        assert case == "" or f"\ndef {case}(" in (REPOSITORY / path).read_text(), (path, case)
        assert (REPOSITORY / path).exists(), path
