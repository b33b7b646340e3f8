"""Golden outputs: the text a command is expected to print. SPDX-License-Identifier: Apache-2.0"""

import os
import pathlib
import re

HERE = pathlib.Path(__file__).parent / "golden"


def plain(text):
    """What differs from run to run, as marks."""
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>", text)
    text = re.sub(r"\b\d+[smhd] ago\b|\bjust now\b", "<ago>", text)
    text = re.sub(r"http://127\.0\.0\.1:\d+", "<url>", text)
    return text


def differs(name, text):
    return not os.environ.get("WEIR_GOLDEN_WRITE") and plain(text) != (HERE / f"{name}.txt").read_text()


def check(name, text):
    """Compares with golden/NAME.txt, or writes it when WEIR_GOLDEN_WRITE is set."""
    path = HERE / f"{name}.txt"
    if os.environ.get("WEIR_GOLDEN_WRITE"):
        path.write_text(plain(text))
        return
    assert not differs(name, text), f"{name} differs from {path}:\n{plain(text)}"
