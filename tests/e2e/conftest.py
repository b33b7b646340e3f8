"""End to end: a real server, agents and tasks as processes, each test on a directory of its own.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from organisation import Site  # noqa: E402
from weir_harness import Weir  # noqa: E402


# With WEIR_QUICK these are left out: most of their time goes to a real Slurm, to moto, and to programs that are slow on purpose. The run
# without it has them all.
SLOW = {"test_slurm_provider.py", "test_slurm_to_ec2.py", "test_ec2.py", "test_exec_provider.py"}


def pytest_collection_modifyitems(items):
    for item in items:
        if os.environ.get("WEIR_QUICK") and item.path.name in SLOW:
            item.add_marker(pytest.mark.skip(reason="not quick: Slurm, moto and slow programs"))


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
