"""docs/user/from-qarnot.md: the commands of its first block are typed as they stand, with the page's program. SPDX-License-Identifier: Apache-2.0"""

import os
import pathlib
import re
import shutil
import subprocess

import qarnot_sdk as sdk
from conftest import environment
from weir_harness import REPOSITORY, weir_bin

PAGE = (REPOSITORY / "docs" / "user" / "from-qarnot.md").read_text()
SERVED = "http://127.0.0.1:8080"  # what the page's `weir up` serves


def test_the_commands_of_the_page_run_its_program(weir_factory):
    weir = weir_factory("--slots", "4")
    commands = re.search(r"^```\n(weir up.*?)^```", PAGE, re.M | re.S)[1].splitlines()
    assert commands[0].startswith("weir up ") and commands[-1] == "python hello.py", "the server of this test is up already"
    program = re.search(r"^```python\n(.*?)^```", PAGE, re.M | re.S)[1]
    (weir.root / "hello.py").write_text(program)
    python = pathlib.Path(environment(f"qarnot-{sdk.NEWEST}", "qarnot", "setuptools"))
    (weir.root / "bin").mkdir()
    shutil.copy(weir_bin(), weir.root / "bin" / "weir")
    env = {k: v for k, v in {**os.environ, **weir.env()}.items() if not k.startswith("QARNOT_")}
    env.update(PATH=f"{weir.root}/bin:{python.parent}:{env['PATH']}", NO_PROXY="*")
    script = "set -e\n" + "\n".join(commands[1:]).replace(SERVED, weir.url)
    done = subprocess.run(["sh", "-c", script], cwd=weir.root, env=env, capture_output=True, text=True, timeout=sdk.PROGRAM_S)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("Hello World from node")]
    assert sorted(lines) == sorted(f"Hello World from node {n}!" for n in range(16)), done.stdout
