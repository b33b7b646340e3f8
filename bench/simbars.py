"""Three experiments of `bench/sim` with default settings: `waits`, `draws` and `pools`.

waits: one account. How long tasks wait, beside reference policies on the same nodes (sim_queue.c): lengths unknown, true limits, and
short-first with lengths learned from each user's tasks or, where the trace names no users, from all tasks. draws: the same on made traces with
other random numbers, so that a change can be told from chance. pools: projects without quotas and tasks without checkpoints. What
preemption costs there, and how far a project was below its fair share.

A line of a bar has four words: its name, the value, the bound, and `ok` or `missed`. Times are in seconds. A line that begins with # has
no bar. Traces are those in TRACES, and in `waits` four made ones at 0.9 of their nodes.
"""
import glob
import json
import os
import random
import statistics
import tempfile

from simbench import BARS, QUEUE, play, run


def told(name, value, bound, digits=0):
    """One bar: at most."""
    holds = round(value, digits) <= round(bound, digits)
    BARS["short"] += not holds
    print(f"{name} {value:.{digits}f} {bound:.{digits}f} {'ok' if holds else 'missed'}")


class Trace:
    """A trace, the nodes that it is played on, and which of its columns are what."""

    def __init__(self, name, path, kind, nodes, columns, arrivals=None):
        self.name, self.path, self.kind, self.nodes, self.arrivals = name, path, kind, nodes, arrivals
        self.length, self.user = columns

    def scenario(self, scheduler, columns):
        stretch = f", arrivals: {self.arrivals}" if self.arrivals else ""
        roles = f", columns: '{columns}'" if columns else ""
        return (f"pools: [{{name: default, scheduler: {{{scheduler}}}}}]\nnodes: [{{name: n, count: {self.nodes[0]}, gpus: {self.nodes[1]}}}]\n"
                f"trace: {{file: '{self.path}', format: {self.kind}{roles}{stretch}}}\n")

    def weir(self, scheduler="", columns=""):
        return play(self.scenario(scheduler, columns))

    def reference(self, policy, nodes=None):
        count, gpus = nodes or self.nodes
        return json.loads(run(QUEUE, self.path, self.kind, str(count), str(gpus), policy, *([str(self.arrivals)] if self.arrivals else [])))

    def months(self):
        return self.kind == "philly"


NASA_ARRIVALS = "0.5178"  # 0.90 of 128 slots


def nasa(traces):
    path = os.path.join(traces, "swf", "NASA-iPSC-1993-3.1-cln.swf")
    return [Trace("nasa", path, "swf", (16, 8), ("#4", "#12"), NASA_ARRIVALS)] if os.path.exists(path) else []


def philly(traces):
    return [Trace("philly-" + os.path.basename(path)[len("philly_"):-len(".csv")], path, "philly", (64, 8), ("duration", "cluster"))
            for path in sorted(glob.glob(os.path.join(traces, "philly", "philly_*.csv")))]


# ---- made traces ----

MADE_TASKS, MADE_NODES, MADE_LOAD = 6000, (16, 8), 0.9
# Name: how many tasks have which GPUs; mean of the logarithm of the length in s and its spread; tasks that arrive at once.
MADE = {"made-small": (((0.55, 1), (0.25, 2), (0.12, 4), (0.08, 8)), 7.0, 1.8, 1),
        "made-wide": (((0.35, 1), (0.20, 4), (0.20, 8), (0.15, 16), (0.08, 32), (0.02, 64)), 6.5, 1.5, 1),
        "made-even": (((0.25, 2), (0.25, 4), (0.25, 8), (0.25, 16)), 8.0, 0.5, 1),
        "made-bursts": (((0.60, 1), (0.20, 2), (0.10, 8), (0.10, 24)), 7.0, 2.0, 40)}


def made_rows(name, number):
    """Rows (submit, duration, gpus, user), the same on every machine. Each of 20 users has tasks of a like length. Another number gives
    other random numbers."""
    sizes, middle, spread, burst = MADE[name]
    draw = random.Random(f"{name}#{number}" if number else name)
    habit = [draw.gauss(0, spread * 0.8) for _ in range(20)]
    rows = []
    for _ in range(MADE_TASKS):
        user = draw.randrange(len(habit))
        length = max(1, min(7 * 86400, round(2.718281828 ** (middle + habit[user] + draw.gauss(0, spread * 0.6)))))
        gpus = draw.choices([size for _, size in sizes], [part for part, _ in sizes])[0]
        rows.append((length, gpus, user))
    span = sum(length * gpus for length, gpus, _ in rows) / (MADE_NODES[0] * MADE_NODES[1] * MADE_LOAD)
    arrivals = sorted(draw.random() * span for _ in range(MADE_TASKS // burst))
    return [(round(arrivals[i // burst % len(arrivals)]), *row) for i, row in enumerate(rows)]


def made(directory, number=0):
    """The made traces, as files in the directory."""
    found = []
    for name in MADE:
        path = os.path.join(directory, name + ".csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("submit,duration,gpus,user\n")
            file.writelines(",".join(map(str, row)) + "\n" for row in sorted(made_rows(name, number)))
        found.append(Trace(name, path, "csv", MADE_NODES, ("duration", "user")))
    return found


# ---- one account ----

POLICIES = ("fifo-fit", "sjf-fit", "easy", "easy-blind", "fifo")
# Name: scheduler settings, and columns of the trace.
SETTINGS = {"unknown": ("", "time_limit=-"), "limits": ("", "time_limit={length}"),
            "learned": ("order: short-first", "time_limit=-,user={user}"),
            "learned-one-user": ("order: short-first", "time_limit=-,user=-")}


def waits_of(trace):
    """Mean and longest wait by policy."""
    found = {}
    for name, (scheduler, columns) in SETTINGS.items():
        result = trace.weir(scheduler, "project=-," + columns.format(length=trace.length, user=trace.user))
        found[name] = (result["wait"]["mean"], result["wait"]["max"], result["tasks"]["evictions"])
    for policy in POLICIES:
        row = trace.reference(policy)
        found[policy] = (row["mean"], row["max"], 0)
    return found


def bounds_of(trace, found):
    """The bars of each setting: mean and longest wait."""
    fit, easy, strict = (found[policy] for policy in ("fifo-fit", "easy", "fifo"))
    # In a month of Philly strict order may itself be above fifo-fit; then it is the bound.
    longest = max(fit[1], strict[1]) if trace.months() else fit[1]
    return {"unknown": (1.25 * fit[0], longest), "limits": (1.1 * easy[0], 1.1 * easy[1]),
            "learned": (fit[0], 1.5 * fit[1]), "learned-one-user": (fit[0], 1.5 * fit[1])}


def waits_told(trace):
    found = waits_of(trace)
    print(f"# {trace.name}: one account, {trace.nodes[0]} nodes of {trace.nodes[1]}; mean wait, longest wait, evictions")
    for name, (mean, longest, evicted) in found.items():
        print(f"#   {'weir, ' if name not in POLICIES else ''}{name}: {mean:.0f} {longest:.0f} {evicted}")
    for name, (mean, longest) in bounds_of(trace, found).items():
        told(f"{trace.name}.{name}.mean", found[name][0], mean)
        told(f"{trace.name}.{name}.longest", found[name][1], longest)
        if name == "unknown":
            print(f"#   {trace.name}.unknown.longest against strict order: {found[name][1] / max(1, found['fifo'][1]):.2f}")
        if name == "limits" and trace.name == "nasa":  # the figures that are known for this trace are of one node
            whole = trace.reference("easy", (1, trace.nodes[0] * trace.nodes[1]))
            told(f"{trace.name}.limits.mean-one-node", found[name][0], 1.1 * whole["mean"])
            told(f"{trace.name}.limits.longest-one-node", found[name][1], 1.1 * whole["max"])
    print()


def waits(traces, short):
    with tempfile.TemporaryDirectory() as directory:
        for trace in nasa(traces) + ([] if short else philly(traces) + made(directory)):
            waits_told(trace)


# ---- the made traces with other random numbers ----

DRAWS = 10


def drawn():
    """Each made trace so many times: value against bound by trace and setting, a list of (mean, longest)."""
    found = {}
    for number in range(1, DRAWS + 1):
        with tempfile.TemporaryDirectory() as directory:
            for trace in made(directory, number):
                waits_by = waits_of(trace)
                for name, bounds in bounds_of(trace, waits_by).items():
                    ratios = [value / max(1, bound) for value, bound in zip(waits_by[name], bounds)]
                    found.setdefault(f"{trace.name}.{name}", []).append(ratios)
    return found


def draws():
    """No bars: how far the settings are from their bars when chance is averaged out."""
    print(f"# made traces, {DRAWS} draws of each; geometric mean of value / bound, and how many draws miss the bar")
    missed = [0, 0]
    for name, ratios in drawn().items():
        told_parts = []
        for part, word in enumerate(("mean", "longest")):
            above = sum(ratio[part] > 1 for ratio in ratios)
            missed[part] += above
            told_parts.append(f"{word} {statistics.geometric_mean(ratio[part] for ratio in ratios):.2f} ({above} missed)")
        print(f"#   {name}: {', '.join(told_parts)}")
    print(f"#   missed in all: {missed[0]} means, {missed[1]} longest\n")


# ---- projects without quotas and checkpoints ----

LOST_MAX, LATER_MAX = 1.0, 2.0  # % of the work; % of the mean completion time


def pools_told(trace):
    columns = "time_limit=-" + (",project=" + trace.user if trace.months() else "")
    taken, kept = (trace.weir(scheduler, columns) for scheduler in ("", "preemption: off"))
    held = taken["allocated_mean"] * taken["span"] / 3600
    lost = taken["tasks"]["work_lost_slot_hours"]
    print(f"# {trace.name}: {len(taken['accounts'])} projects, {trace.nodes[0]} nodes of {trace.nodes[1]}, preemption on and off")
    for word, result in (("on", taken), ("off", kept)):
        worst = max(result["accounts"], key=lambda account: account["share_short_day"])
        print(f"#   {word}: evictions {result['tasks']['evictions']}, work lost {result['tasks']['work_lost_slot_hours']:.0f} slot-hours, "
              f"mean completion {result['completion']['mean']:.0f}, below the fair share, mean of a day, at most "
              f"{worst['share_short_day']:.1f} slots ({worst['name']})")
    told(f"{trace.name}.lost-percent", 100 * lost / (held - lost), LOST_MAX, digits=2)
    told(f"{trace.name}.completion-later-percent", 100 * (taken["completion"]["mean"] / kept["completion"]["mean"] - 1), LATER_MAX, digits=2)
    print()


def pools(traces, short):
    for trace in nasa(traces) + ([] if short else philly(traces)):
        pools_told(trace)


def experiments(short):
    """Name and function of each, for bench/sim."""
    return (("waits", lambda traces, _seeds: waits(traces, short)), ("draws", lambda _traces, _seeds: draws()),
            ("pools", lambda traces, _seeds: pools(traces, short)))
