"""Fixtures that tests/api and tests/attack share. SPDX-License-Identifier: Apache-2.0"""

import pytest

from server_process import FakeAgent, Server


@pytest.fixture
def server():
    """A fresh server."""
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
