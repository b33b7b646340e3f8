#!/usr/bin/env python3
"""A bad program for a pool with the provider exec: the example of docs/user/examples, which fails, is slow and lies.

Which fault a call has follows from a counter and a seed beside this file, so that a run can be repeated.
SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import importlib.machinery
import importlib.util
import json
import pathlib
import random
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
loader = importlib.machinery.SourceFileLoader("weir_nodes", str(HERE / "weir-nodes"))
nodes = importlib.util.module_from_spec(importlib.util.spec_from_loader("weir_nodes", loader))
loader.exec_module(nodes)

SLOW_S = 0.7
FAULTS = {
    "launch": ("fails", "fails after", "garbage", "nothing", "slow", "refuses"),
    "list": ("fails", "garbage", "slow", "invents", "forgets", "foreign", "twice"),
    "terminate": ("fails", "fails after", "garbage", "slow", "lies"),
}


def draw(call):
    """The fault of this call, or None. Every third call or so has one."""
    with open(HERE / "calls", "a+", encoding="ascii") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        log.seek(0)
        number = len(log.readlines())
        seed = (HERE / "seed").read_text()
        chance = random.Random(f"{seed}-{number}")
        fault = chance.choice(FAULTS[call]) if chance.random() < 0.35 else None
        log.write(f"{number} {call} {fault}\n")
    return fault


def main():
    call, order = sys.argv[1], json.load(sys.stdin)
    (HERE / "alive").exists() or sys.exit("the program was put away")
    fault = draw(call)
    if fault == "slow":
        time.sleep(SLOW_S)
    if fault == "fails":
        sys.exit("no luck today")
    if fault == "refuses":
        print(json.dumps({"state": "failed", "words": "sold out"}))
        return
    if fault == "lies":
        print(json.dumps({"state": "gone"}))  # and the machine stays
        return
    answer = nodes.CALLS[call](order)
    if fault == "fails after":
        sys.exit("the answer was lost")
    if fault in ("garbage", "nothing"):
        print('{"state": "runn' if fault == "garbage" else "")
        return
    if call == "list":
        lie(fault, answer["machines"])
    print(json.dumps(answer))


def lie(fault, machines):
    keys = [m["key"] for m in machines] + ["weir-" + "0" * 32 + "-1"]
    if fault == "invents":
        machines.append({"key": keys[0].rsplit("-", 1)[0] + "-900000", "state": "running"})
    elif fault == "forgets":
        del machines[:1]
    elif fault == "foreign":
        machines.append({"key": "weir-" + "0" * 32 + "-1", "state": "running"})
        machines.append({"key": "somebody else's", "state": "starting"})
    elif fault == "twice":
        machines.extend(machines[:1])


main()
