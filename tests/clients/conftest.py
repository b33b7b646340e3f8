"""Real clients of other systems, unmodified, from PyPI. Each set of packages gets a virtual environment below .cache, made once.

SPDX-License-Identifier: Apache-2.0"""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
CACHE = ROOT / ".cache" / "clients"
INSTALL_S = 600

sys.path.insert(0, str(HERE))


def client_venv(name, packages):
    """The bin directory of a virtual environment with these packages. Skips the test where PyPI cannot be reached."""
    CACHE.mkdir(parents=True, exist_ok=True)
    mark = hashlib.sha256("\n".join(packages).encode()).hexdigest()[:12]
    place = CACHE / f"{name}-{mark}"
    with open(CACHE / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        if not (place / "done").exists():
            shutil.rmtree(place, ignore_errors=True)
            python = sysconfig.get_config_var("BINDIR") + "/python3"
            python = python if os.path.exists(python) else "/usr/bin/python3"
            subprocess.run([python, "-m", "venv", str(place)], check=True)
            pip = subprocess.run([str(place / "bin/pip"), "install", "-q", *packages], capture_output=True, text=True, timeout=INSTALL_S)
            if pip.returncode != 0:
                words = [line for line in pip.stderr.splitlines() if line.strip()]
                shutil.rmtree(place, ignore_errors=True)
                pytest.skip(f"PyPI cannot be reached, so {name} was not tried: {words[-1] if words else 'pip failed'}"[:200])
            (place / "done").touch()
    return place / "bin"
