"""The second look of tools/test: what stays a failure, and what is only named. SPDX-License-Identifier: Apache-2.0"""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
SHAKY_TEST = """
import pathlib, pytest
def test_good(): assert True
@pytest.mark.parametrize("n", [1])
def test_once(n):
    mark = pathlib.Path(__file__).with_name("seen")
    known = mark.exists()
    mark.write_text("")
    assert known
"""
BAD_TEST = "def test_bad(): assert False\n"


@pytest.fixture
def runner(tmp_path, monkeypatch):
    """tools/test as a module that runs in a directory of its own."""
    loader = importlib.machinery.SourceFileLoader("weir_tools_test", str(ROOT / "tools/test"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", str(tmp_path))
    monkeypatch.setattr(module, "OUT", str(tmp_path / "build-results"))
    monkeypatch.setattr(module, "PYTEST", [sys.executable, *module.PYTEST[1:6]])
    (tmp_path / "build-results").mkdir()
    (tmp_path / "tests/some").mkdir(parents=True)
    return module


def result(runner, tmp_path, **files):
    for name, text in files.items():
        (tmp_path / "tests/some" / f"{name}.py").write_text(text)
    return runner.run(runner.pytest_suite("some", 1), 0)


@pytest.mark.parametrize("settings,name", [("pytest.ini", "tests.some.test_a"), ("tests/pytest.ini", "some.test_a")])
def test_a_test_that_passes_alone_is_named_and_no_failure(runner, tmp_path, capsys, settings, name):
    (tmp_path / settings).write_text("[pytest]\n")
    passed, faults, _ = result(runner, tmp_path, test_a=SHAKY_TEST)
    assert (passed, faults) == (2, [])
    assert runner.SHAKY == [f"SHAKY some: {name} test_once[1]: failed among others, passed alone"]
    assert f"SHAKY {name} test_once[1]" in capsys.readouterr().out


def test_every_suite_with_a_second_look_is_found_by_its_names(runner, monkeypatch):
    monkeypatch.setattr(runner, "ROOT", str(ROOT))
    assert runner.node("e2e.test_ports test_x[off]") == "tests/e2e/test_ports.py::test_x[off]"


def test_a_test_that_fails_again_is_a_failure(runner, tmp_path):
    passed, faults, _ = result(runner, tmp_path, test_a=SHAKY_TEST, test_b=BAD_TEST)
    assert passed == 2 and [name for name, _ in faults] == ["some: tests.some.test_b test_bad"]


def test_many_failures_get_no_second_look(runner, tmp_path):
    passed, faults, _ = result(runner, tmp_path, test_a=SHAKY_TEST, test_b=BAD_TEST.replace("bad", "b") + BAD_TEST.replace("bad", "c") + BAD_TEST)
    assert passed == 1 and len(faults) == 4 and runner.SHAKY == []


def test_deterministic_suites_get_no_second_look(runner):
    assert {suite.name for suite in runner.SUITES if suite.again} == {"cli", "api", "browser", "clients", "attack", "attack-asan", "e2e", "e2e-asan"}


def test_a_failure_ends_the_program_with_1():
    done = subprocess.run([ROOT / "tools/test", "no-such-suite"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "no suite 'no-such-suite'" in done.stderr
