"""Data directories that older programs wrote: they open, run on, and are equal after a restart.

samples/data-state-10.tar.gz is from `weir up` of the last commit before the fields of objects stood in tables (version 10 of the state), stopped
while two tasks ran: departments, projects, quotas, two pools, and tasks that ended, run, wait, are a gang, an array, or staged.
SPDX-License-Identifier: Apache-2.0"""

import pathlib
import tarfile

SAMPLES = pathlib.Path(__file__).parent / "samples"
TASKS = {  # name: project, pool, priority
    "runs": ("vision", "default", 50), "after": ("default", "default", 70), "waits": ("speech", "default", 60),
    "gang": ("default", "default", 50), "staged": ("default", "default", 50), "elsewhere": ("default", "spare", 50),
    "array": ("default", "spare", 50),
}


def whole(w):
    """What users see of the state, without what changes by itself: moments, and what the node has told."""
    tasks = [w.task(task["id"]) for task in w.api("GET", "tasks").json["items"]]
    return {
        "tasks": {task["id"]: (task.get("spec"), task["state"], task["priority"], task["pool"]) for task in tasks},
        "quotas": w.api("GET", "quotas").json,
        "pools": {pool["name"]: pool["spec"] for pool in w.api("GET", "pools").json["items"]},
        "projects": w.api("GET", "projects").json,
        "departments": w.api("GET", "departments").json,
    }


def opened(weir_factory, name):
    w = weir_factory("--slots", "4", "--resources", "foo=7", start=False)
    with tarfile.open(SAMPLES / f"data-{name}.tar.gz") as sample:
        sample.extractall(w.dir)
    w.dir.chmod(0o711)
    return w.start()


def test_a_directory_of_version_10_opens_runs_on_and_is_equal_after_a_restart(weir_factory):
    w = opened(weir_factory, "state-10")
    tasks = {task["name"]: task for task in w.api("GET", "tasks").json["items"]}
    for name, (project, pool, priority) in TASKS.items():
        task = tasks[name]
        assert (task["project"], task["pool"], task["priority"]) == (project, pool, priority), name
    after = w.task(tasks["after"]["id"])
    assert after["tags"] == ["t1", "t2"] and after["spec"]["env"] == {"A": "b"}, after
    assert after["depends_on"] == [1]
    line = next(q for q in w.api("GET", "quotas?pool=default").json["items"] if q["account"] == "vision")
    assert (line["guaranteed"], line["limit"], line["weight"]) == (2, 3, 2)
    assert w.task(1)["state"] == "completed" and w.task(2)["state"] == "failed"

    # The machine has started anew since: what ran is ended and runs again. Then the tasks that waited get their turn.
    w.wait_state(tasks["after"]["id"], "running")
    w.weir("task", "kill", "--yes", str(tasks["runs"]["id"]), str(tasks["after"]["id"]))
    w.wait_state(tasks["gang"]["id"], "running")
    w.weir("task", "start", str(tasks["staged"]["id"]))
    w.wait_state(tasks["staged"]["id"], "completed")

    before = whole(w)
    assert before["tasks"][tasks["gang"]["id"]][1] == "running"
    w.stop()
    w.weir("db", "check", "--dir", str(w.dir))
    w.start()
    w.wait_state(tasks["gang"]["id"], "running")
    assert whole(w) == before
    w.kill()
    w.start()
    w.wait_state(tasks["gang"]["id"], "running")
    assert whole(w) == before
    w.weir("task", "kill", "--yes", str(tasks["gang"]["id"]))
    w.wait_state(tasks["waits"]["id"], "completed")
