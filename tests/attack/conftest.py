"""Fixtures of the attacks: the server and the scripted agent of the API tests.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))

from server_process import FakeAgent, Server  # noqa: E402


@pytest.fixture
def server():
    """A fresh server that must end cleanly after the attack."""
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
