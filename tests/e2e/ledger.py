"""What the tasks themselves wrote down, and what must be true of it.

A task appends one line per happening to a file (O_APPEND, one write each), so the record is independent of Weir:
    start TASK INSTANCE ATTEMPT        end TASK INSTANCE ATTEMPT

SPDX-License-Identifier: Apache-2.0
"""
import collections
import os

SCRIPT = """#!/bin/sh
# ledger FILE SECONDS: write down the start, some output, sleep, the end.
echo "start $WEIR_TASK_ID $WEIR_INSTANCE_ID $WEIR_ATTEMPT" >>"$1"
echo "out $WEIR_TASK_ID a"
echo "err $WEIR_TASK_ID" >&2
[ "$2" = 0 ] || sleep "$2"
echo "out $WEIR_TASK_ID b"
echo "end $WEIR_TASK_ID $WEIR_INSTANCE_ID $WEIR_ATTEMPT" >>"$1"
"""


class Ledger:
    def __init__(self, directory):
        self.path = directory / "ledger"
        self.path.touch()
        os.chmod(self.path, 0o666)
        self.script = directory / "ledger.sh"
        self.script.write_text(SCRIPT)
        self.script.chmod(0o755)

    def command(self, seconds=0):
        return [str(self.script), str(self.path), str(seconds)]

    def lines(self):
        return [line.split() for line in self.path.read_text().splitlines()]

    def breaches(self, acknowledged, once=True):
        """What is wrong, in words. `once`: no attempt may have been lost, so each task started exactly once."""
        starts, ends, attempts = collections.Counter(), collections.Counter(), collections.Counter()
        for what, task, instance, attempt in self.lines():
            (starts if what == "start" else ends)[int(task)] += 1
            attempts[what, task, instance, attempt] += 1
        wrong = [f"{' '.join(key)} written {n} times" for key, n in attempts.items() if n > 1]
        for task in acknowledged:
            if ends[task] == 0:
                wrong.append(f"task {task} was acknowledged and never ended")
            if once and starts[task] > 1:
                wrong.append(f"task {task} was started {starts[task]} times")
            if once and ends[task] > 1:
                wrong.append(f"task {task} ended {ends[task]} times")
        for task in set(starts) - set(acknowledged):
            wrong.append(f"task {task} ran and was never acknowledged")
        return wrong


def output_of(task):
    """Exactly what SCRIPT writes to its two streams."""
    return f"out {task} a\nout {task} b\n", f"err {task}\n"
