"""Fixtures of the attacks: the server and the scripted agent of the API tests.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))

from server_fixtures import agent, server  # noqa: E402,F401
