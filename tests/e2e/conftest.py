"""End to end: a real server, agents and tasks as processes, each test on a directory of its own.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from organisation import Site  # noqa: E402
from weir_harness import Weir  # noqa: E402


@pytest.fixture
def weir():
    """A factory: weir('--resources', 'foo=7') is a running `weir up`; all are ended after the test."""
    made = []

    def make(*args, **options):
        made.append(Weir(args, **options))
        return made[-1].start()

    yield make
    for one in made:
        one.close()


@pytest.fixture
def site():
    """A factory: site(SERVER_FILE) is a running server without nodes; all are ended after the test."""
    made = []

    def make(config):
        made.append(Site(config))
        return made[-1].start()

    yield make
    for one in made:
        one.close()
