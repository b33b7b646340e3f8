"""What the experiments of `bench/sim` share: running the programs, and bars."""
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WEIR = os.path.join(ROOT, "build", "src", "weir")
QUEUE = os.path.join(ROOT, "build", "bench", "sim_queue")
NODES = "nodes: [{name: n, count: 64, gpus: 8}]\n"


def run(*command):
    """Standard output of a command; how long it took goes to standard error."""
    began = time.time()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    print(f"{time.time() - began:7.2f} s  {' '.join(os.path.basename(str(c)) for c in command[:3])}", file=sys.stderr)
    return done.stdout


def play_text(scenario, *flags):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "scenario.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(scenario)
        return run(WEIR, "sim", path, "--quiet", *flags)


def play(scenario):
    """The result of a scenario."""
    return json.loads(play_text(scenario, "--json"))


BARS = {"short": 0}


def bar(text, value, bound, less=False, more=False, digits=0, file=sys.stdout):
    """One line behind the figures: does it hold?"""
    holds = value >= bound if more else value < bound if less else value <= bound
    BARS["short"] += not holds
    word = "at least" if more else "less than" if less else "at most"
    print(f"  {text}: {value:.{digits}f}, {word} {bound:.{digits}f}: {'ok' if holds else 'MISSED'}", file=file)
