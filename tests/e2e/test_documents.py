"""What the documents for users say is so. SPDX-License-Identifier: Apache-2.0"""

import pathlib
import re
import shutil
import subprocess

from weir_harness import REPOSITORY, weir_bin

USER = REPOSITORY / "docs" / "user"


def test_every_command_of_the_first_steps_works_in_order(weir):
    text = (USER / "first-steps.md").read_text()
    (up,) = re.findall(r"^weir up (.*)$", text, re.M)
    w = weir("--fake-gpus", "2", "--resources", "foo=7")
    assert up == "--fake-gpus 2 --resources 'foo=7'"
    path = pathlib.Path(w.root / "bin")
    path.mkdir()
    shutil.copy(weir_bin(), path / "weir")
    said = {}
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S):
        for line in block.splitlines():
            env = w.env()
            env["PATH"] = f"{path}:{env['PATH']}"
            done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=env, cwd=w.root, timeout=60)
            assert done.returncode == 0, f"{line}: {done.stderr}"
            said[line] = done.stdout
    assert said["weir run -- echo hello"] == "hello\n"
    assert said["weir task logs 2"].startswith("seed 1 on GPU ")
    assert "5 foo" in said["weir explain 9"]
    gang = next(out for line, out in said.items() if "--gang" in line)
    assert sorted(line.split(",")[0] for line in gang.splitlines()) == ["0: rank 0 of 2", "1: rank 1 of 2"]
    assert w.weir("submit", "--resources", "foo=9", "--", "true", check=False).returncode == 9


def test_the_exit_codes_of_help_and_document_are_the_same(weir):
    told = subprocess.run([weir_bin(), "help", "exit-codes"], capture_output=True, text=True, check=True).stdout
    helped = dict(re.findall(r"^ *(\d+) {2,}(\S.*)$", told, re.M))
    written = dict(re.findall(r"^\| (\d+) \| (.*) \|$", (USER / "exit-codes.md").read_text(), re.M))
    assert len(helped) == 10
    assert {code: text for code, text in written.items() if int(code) < 10} == helped


def test_the_glossary_has_each_word_once_in_order_and_names_files_that_exist():
    text = (REPOSITORY / "docs" / "dev" / "glossary.md").read_text()
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| .* \| (.*) \| .* \|$", text, re.M)
    words = [word.lower() for word, _ in rows]
    assert len(words) > 200
    assert words == sorted(set(words))
    for word, where in rows:
        for path in re.findall(r"`([a-z_]+/[a-z_/-]*(?:\.[a-z]+)?)`", where):
            assert any((REPOSITORY / above / path).exists() for above in ("src", ".")), f"{word}: {path}"
