"""Fixtures of the API tests. SPDX-License-Identifier: Apache-2.0"""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from server_process import FakeAgent, Server  # noqa: E402


@pytest.fixture
def server():
    """A fresh server."""
    server = Server()
    try:
        yield server.start()
    finally:
        server.close()


@pytest.fixture(scope="module")
def shared():
    """One server for all tests of a file that leave nothing behind that disturbs the others."""
    server = Server()
    try:
        yield server.start()
    finally:
        server.close()


@pytest.fixture
def agent(server):
    """A connected node n1 with two slots on the fresh server."""
    agent = FakeAgent(server).join().connect()
    yield agent
    agent.close()
