"""Fixtures of all Python tests. SPDX-License-Identifier: Apache-2.0"""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "harness"))

from weir_harness import Weir  # noqa: E402


@pytest.fixture
def weir_factory():
    """weir_factory('--resources', 'foo=7') starts a Weir; all are ended after the test."""
    made = []

    def make(*args, start=True, **options):
        weir = Weir(args, **options)
        made.append(weir)
        return weir.start() if start else weir

    yield make
    for weir in made:
        weir.close()


@pytest.fixture
def weir(weir_factory):
    """A fresh Weir with two slots."""
    return weir_factory("--slots", "2")


@pytest.fixture(scope="module")
def weir_shared():
    """One Weir for all tests of a file that leave nothing behind that disturbs the others."""
    weir = Weir(["--slots", "2"])
    weir.start()
    yield weir
    weir.close()
