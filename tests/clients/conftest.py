"""Fixtures of the tests with other systems' clients: each version of a client lives in a virtual environment of its own below
.cache/clients. Where no package index can be reached the tests are skipped. SPDX-License-Identifier: Apache-2.0"""

import fcntl
import pathlib
import subprocess
import sys

import pytest
from weir_harness import Weir

sys.path.insert(0, str(pathlib.Path(__file__).parent))

CACHE = pathlib.Path(__file__).resolve().parents[2] / ".cache" / "clients"
INSTALL_S = 600


def environment(name, *packages):
    """The Python of a virtual environment with these packages; skips the test where they cannot be had."""
    CACHE.mkdir(parents=True, exist_ok=True)
    home = CACHE / name
    with open(CACHE / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes share the directory
        if not (home / "done").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
            got = subprocess.run([home / "bin" / "pip", "install", "-q", "--disable-pip-version-check", *packages],
                                 timeout=INSTALL_S, capture_output=True, text=True)
            if got.returncode != 0:
                pytest.skip(f"no package index gives {' '.join(packages)}: {got.stderr.strip().splitlines()[-1][:120]}")
            (home / "done").write_text("\n".join(packages))
    return str(home / "bin" / "python")


@pytest.fixture(scope="module")
def server():
    """A Weir of four slots, shared by the tests of a file."""
    weir = Weir(["--slots", "4"])
    weir.start()
    yield weir
    weir.close()
