"""A site: a `weir server`, `weir agent` processes as its nodes, accounts with quotas, and tasks that stay until they are told to go.

What runs where is read from the tasks themselves: each instance appends one line to a file when it starts and one when it ends
(O_APPEND, one write each), with its attempt, its node and its GPUs:
    + TASK.INSTANCE:ATTEMPT NODE 0,1,2,3        - TASK.INSTANCE:ATTEMPT NODE 0,1,2,3

SPDX-License-Identifier: Apache-2.0
"""
import collections
import json
import os
import select
import signal
import subprocess
import urllib.parse

from weir_harness import DEADLINE_S, Weir, weir_bin

SCRIPT = """#!/bin/sh
# stay FILE: write down the start, stay, write down the end.
line="$WEIR_TASK_ID.$WEIR_INSTANCE_ID:$WEIR_ATTEMPT $WEIR_NODE $CUDA_VISIBLE_DEVICES"
trap 'echo "- $line" >>"$1"; exit 0' TERM
echo "+ $line" >>"$1"
sleep 86400 &
wait
"""
PASSES_MORE = 5
MEMORY = "/dev/shm"  # many nodes have thousands of small directories, which a disk takes longer to remove than the scenario to run


def server_file(pools, departments):
    """Pools that take back what was lent and keep no places (on a slow machine a scenario may outlast the usual patience), and
    departments with their projects."""
    text = "pools:\n" + "".join(f"  - {{name: {pool}, patience: 1h, scheduler: {{policy: fair-share, preemption: on, turn: 0s}}}}\n" for pool in pools)
    text += "departments:\n" + "".join(f"  - {{name: {name}}}\n" for name in departments)
    return text + "projects:\n" + "".join(f"  - {{name: {name}, department: {department}}}\n"
                                          for department, projects in departments.items() for name in projects)


class Site(Weir):
    """`weir server` with a server file and no node of its own; nodes() brings some."""

    def __init__(self, config="pools: [{name: default}]"):
        super().__init__(base=MEMORY if os.access(MEMORY, os.W_OK) else None)
        self.config = config
        self.agents = {}
        self.evicted_before = 0
        self.record = self.root / "record"
        self.record.touch()
        self.record.chmod(0o666)
        self.script = self.root / "stay.sh"
        self.script.write_text(SCRIPT)
        self.script.chmod(0o755)

    # ---- life ----

    def start(self, args=None, port=None):
        read_fd, write_fd = os.pipe()
        path = self.root / "server.yaml"
        path.write_text(self.config)
        self.log = open(self.root / "up.log", "ab")
        command = [weir_bin(), "server", "--config", str(path), "--dir", str(self.dir), "--ready-fd", str(write_fd)]
        self.process = subprocess.Popen([*command, "--listen", f"127.0.0.1:{self.port}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=self.log, env=super().env(), cwd=self.root, pass_fds=[write_fd], start_new_session=True)
        os.close(write_fd)
        line = os.read(read_fd, 4096).decode() if select.select([read_fd], [], [], DEADLINE_S)[0] else ""
        os.close(read_fd)
        assert line.startswith("http://"), f"not ready: {line!r}\n{self.log_text()}"
        self.url = line.strip()
        self.port = urllib.parse.urlsplit(self.url).port
        return self

    def nodes(self, *names, pool="default", gpus=4):
        """Starts one agent for each name and waits until all of them may take work."""
        for name in names:
            self.agent(name, "agent", "--server", self.url, "--pool", pool, "--join-token-file", str(self.dir / "join.token"),
                       "--fake-gpus", str(gpus))
        self.wait_until(lambda: self.nodes_ready(pool) >= set(names), f"{len(names)} nodes in pool {pool}")

    def agent(self, name, *command):
        """Starts the agent of one node with this command, on a directory of its own."""
        directory = self.root / "nodes" / name
        directory.mkdir(parents=True, exist_ok=True)
        with open(directory / "agent.log", "ab") as log:
            self.agents[name] = subprocess.Popen([weir_bin(), *command, "--dir", str(directory), "--name", name], stdin=subprocess.DEVNULL,
                                                 stdout=log, stderr=log, env=super().env(), cwd=self.root, start_new_session=True)

    def nodes_ready(self, pool):
        items = self.api("GET", "nodes?limit=1000").json["items"]
        return {node["name"] for node in items if node["state"] == "up" and node["pool"] == pool}

    def nodes_end(self, *names):
        """Ends these agents; what their supervisors hold they hold on to."""
        for name in names:
            self.agents[name].send_signal(signal.SIGTERM)
        for name in names:
            self.agents.pop(name).wait(timeout=DEADLINE_S)

    def close(self):
        """Ends the tasks, the agents, their supervisors and the server, each by its process id."""
        try:
            if self.process is not None and self.process.poll() is None:
                self.clear()
        finally:
            self.nodes_end(*self.agents)
            super().close()

    def tasks_end(self):
        """clear() has ended them."""

    def env(self, **more):
        return super().env(**{"WEIR_SERVER": self.url, "WEIR_TOKEN": self.token, **more})

    # ---- what is set ----

    def pool_edit(self, pool, **fields):
        answer = self.api("PATCH", f"pools/{pool}", fields)
        assert answer.status == 200, (answer.status, answer.body)

    def quota(self, account, pool, guaranteed, weight, limit="unlimited"):
        """Sets what an account has of a pool's GPUs; a department has a slash behind its name."""
        kind = "department" if account.endswith("/") else "project"
        answer = self.api("PUT", "quotas", {kind: account.rstrip("/"), "pool": pool,
                                            "resources": {"gpu": {"guaranteed": guaranteed, "weight": weight, "limit": limit}}})
        assert answer.status == 200, (answer.status, answer.body)

    # ---- what is submitted ----

    def stay(self, project, gpus=4, count=1, **fields):
        """Submits `count` tasks that stay, one after the other in the queue; their ids."""
        task = {"command": [str(self.script), str(self.record)], "project": project, "resources": {"gpu": gpus}, "kind": "experiment", **fields}
        answer = self.api("POST", "tasks", [task] * count)
        assert answer.status == 201, (answer.status, answer.body)
        return [one["id"] for one in answer.json["tasks"]]

    def end(self, *tasks):
        answer = self.api("POST", "tasks/kill", {"ids": list(tasks)})
        assert answer.status in (200, 202), (answer.status, answer.body)

    def clear(self):
        """Ends every task and waits until nothing holds or wants anything."""
        live = [t["id"] for t in self.tasks("staged,pending,paused,starting,running,unavailable")]
        if live:
            self.end(*live)
        self.wait_until(lambda: not self.tasks("staged,pending,paused,starting,running,stopping,unavailable"), "all tasks to end")
        self.evicted_before = len(self.evictions())

    def tasks(self, states):
        return self.api("GET", f"tasks?state={states}&limit=1000").json["items"]

    # ---- what happened ----

    def running(self):
        """What runs by the tasks' own record: {task: {instance: (node, GPUs)}}. Fails where a GPU was in two hands at once or an
        attempt was started twice."""
        held, seen, runs = {}, set(), collections.defaultdict(dict)
        for line in self.record.read_text().splitlines():
            sign, key, node, gpus = line.split(" ")
            task, instance = key.split(":")[0].split(".")
            devices = [(node, gpu) for gpu in gpus.split(",")]
            if sign == "+":
                assert key not in seen, f"{key} was started twice"
                seen.add(key)
                for device in devices:
                    assert device not in held, f"{key} and {held[device]} on GPU {device}"
                    held[device] = key
                runs[int(task)][int(instance)] = (node, tuple(gpus.split(",")))
            else:
                for device in devices:
                    assert held.pop(device) == key
                del runs[int(task)][int(instance)]
        return {task: instances for task, instances in runs.items() if instances}

    def held(self):
        """GPUs in use by project: what the tasks wrote, which is also what the quota list says."""
        projects = {t["id"]: t["project"] for t in self.api("GET", "tasks?limit=1000").json["items"]}
        return dict(sum((collections.Counter({projects[task]: sum(len(gpus) for _, gpus in instances.values())})
                         for task, instances in self.running().items()), collections.Counter()))

    def evictions(self):
        """Every eviction so far, oldest first."""
        lines = self.weir("events", "--type", "evicted", "--json=lines").stdout.splitlines()
        return [json.loads(line) for line in lines]

    def evictions_since_clear(self):
        return self.evictions()[self.evicted_before:]

    def quotas(self, pool="default"):
        """Lines of slots by account: those of projects by name, those of departments with a slash behind."""
        items = self.weir_json("quota", "list", "--pool", pool, "--limit", "0")
        return {item["account"] + ("/" if item["kind"] == "department" else ""): item for item in items if item["resource"] == "slots"}

    def shares(self, *accounts, pool="default"):
        lines = self.quotas(pool)
        return [lines[account]["share"] for account in accounts]

    def passes(self):
        text = self.api("GET", "/metrics").body.decode()
        numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        return int(numbers["weir_scheduler_pass_tries_total"]), int(numbers["weir_scheduler_passes_total"])

    def settled(self, pool="default", **held):
        """Waits until the projects hold what is named here and nobody else anything, by the tasks' own record and by the API, then
        has the scheduler look five times more: nothing may change."""
        def same():
            return self.held() == held and not self.tasks("starting,stopping") and all(
                line["allocated"] == held.get(name, 0) for name, line in self.quotas(pool).items() if not name.endswith("/"))
        self.wait_until(same, lambda: f"{held}; it is {self.held()}")
        self.still(pool)
        assert self.held() == held

    def reason(self, task):
        """Why it waits, once a pass has looked at it."""
        return self.wait_until(lambda: (self.task(task)["reason"] or {}).get("code") not in (None, "next") and self.task(task)["reason"],
                               f"a reason for task {task}")

    def still(self, pool="default"):
        """Five further passes evict nobody, start nobody and promise nothing."""
        evicted, running = len(self.evictions()), self.running()
        for number in range(PASSES_MORE):
            tries, changed = self.passes()
            self.pool_edit(pool, description=f"look {number}")
            now = self.wait_until(lambda: self.passes()[0] > tries and self.passes(), "a pass")
            assert now[1] == changed, f"pass {number + 1} of the further ones changed something"
        assert len(self.evictions()) == evicted
        assert self.running() == running
