"""Fixtures of the API tests. SPDX-License-Identifier: Apache-2.0"""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from server_fixtures import agent, server  # noqa: E402,F401
from server_process import Server  # noqa: E402


@pytest.fixture(scope="module")
def shared():
    """One server for all tests of a file that leave nothing behind that disturbs the others."""
    server = Server()
    try:
        yield server.start()
    finally:
        server.close()
