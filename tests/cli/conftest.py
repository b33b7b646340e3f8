"""Paths and fixtures of the CLI tests. SPDX-License-Identifier: Apache-2.0"""

import os
import pathlib
import subprocess
import sys

import pytest
from weir_harness import weir_bin

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture
def weir_alone(tmp_path):
    """Runs a command that knows no server."""

    def run(*args, env=None, input=None):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("WEIR_")}
        clean.update(HOME=str(tmp_path), WEIR_CONFIG_HOME=str(tmp_path / "config"), **(env or {}))
        return subprocess.run(
            [weir_bin(), *args], capture_output=True, text=True, env=clean, cwd=tmp_path, input=input, timeout=60
        )

    return run
