"""Paths of the CLI tests. SPDX-License-Identifier: Apache-2.0"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
