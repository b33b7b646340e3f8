"""A company's cluster for the browser: departments, people, three pools, and tasks in every state a day brings.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from organisation import Site  # noqa: E402

CONFIG = """
pools:
  - {name: a100, title: Training, contact: gpu-desk, scheduler: {turn: 0s}}
  - {name: h100, title: Large models, scheduler: {turn: 0s}}
  - {name: cpu, title: Preparation of data}
  - name: cloud
    title: Rented by the hour
    provider: {type: local, min: 1, max: 2, idle: 1h, gpus: 4}
departments: [{name: research}, {name: product}]
projects: [{name: vision, department: research}, {name: nlp, department: research}, {name: speech, department: product}]
"""
TRAIN = """echo "loading imagenet-21k"; i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo "epoch $i loss 0.$((90-i)) lr 3e-4"; done
echo "\033[33mWARNING\033[0m gradient norm 14.2 above 10"; echo "checkpoint saved to /data/run/40.pt"; sleep 86400"""
CRASH = """echo "loading model"; echo "epoch 1 loss 2.31"; echo "Traceback (most recent call last):" >&2; echo '  File "train.py", line 88, in step' >&2
echo "RuntimeError: CUDA out of memory. Tried to allocate 2.50 GiB" >&2; exit 1"""


class Company(Site):
    """`stories()` makes the day; the ids of its tasks are in `at`."""

    def __init__(self):
        super().__init__(CONFIG)
        self.at = {}
        self.people = {}

    def as_person(self, name):
        """The token of a person: what that person submits is theirs."""
        if name not in self.people:
            answer = self.api("POST", "tokens", {"scope": "admin", "name": name})
            assert answer.status == 201, answer.body
            self.people[name] = answer.json["token"]
        return self.people[name]

    def run(self, key, person, name, command="sleep 86400", **fields):
        answer = self.api("POST", "tasks", {"name": name, "entrypoint": command, **fields}, token=self.as_person(person))
        assert answer.status == 201, answer.body
        self.at[key] = answer.json["tasks"][0]["id"]
        return self.at[key]

    def quotas_set(self):
        for account, pool, guaranteed, limit in (("research/", "a100", 16, "unlimited"), ("product/", "a100", 8, 16), ("vision", "a100", 6, "unlimited"),
                                                 ("nlp", "a100", 10, "unlimited"), ("speech", "a100", 8, 16), ("nlp", "h100", 8, "unlimited")):
            self.quota(account, pool, guaranteed, 1, limit)

    def stories(self):
        self.nodes("n1", "n2", "n3", pool="a100", gpus=8)
        self.nodes("n7", "n8", pool="h100", gpus=8)
        self.nodes("c1", pool="cpu", gpus=1)
        self.quotas_set()
        gpu = lambda n, **more: {"resources": {"gpu": n, **more}}  # noqa: E731
        for i in range(3):  # speech borrows what nlp leaves
            self.run(f"speech-{i}", "dan", f"asr-conformer-{i}", TRAIN, project="speech", pool="a100", kind="experiment", tags=["asr", "q4"], **gpu(4))
        self.run("vision", "ann", "vit-large", TRAIN, project="vision", pool="a100", kind="experiment", description="ViT-L/16 on ImageNet-21k", **gpu(6))
        self.run("gang", "carol", "llama-70b-sft", TRAIN, project="nlp", pool="h100", kind="experiment", instances=2, gang=True, **gpu(6))
        for key in ("speech-0", "speech-1", "speech-2", "vision"):
            self.wait_state(self.at[key], "running")
        # The guarantee of nlp is called in: what was borrowed goes back.
        self.run("called", "bob", "bert-base", TRAIN, project="nlp", pool="a100", kind="experiment", **gpu(8))
        self.wait_state(self.at["called"], "running")
        self.run("crash", "ann", "resnet-oom", CRASH, project="vision", pool="cpu", resources={"slots": 0})
        self.run("fine", "ann", "tokenise-wiki", "echo 12,411 articles; echo done", project="nlp", pool="cpu", resources={"slots": 0})
        self.run("retried", "dan", "flaky-download", "echo timeout after 30 s >&2; exit 7", project="speech", pool="cpu", max_retries=2, resources={"slots": 0})
        self.run("notebook", "ann", "notebook", "sleep 86400", kind="notebook", project="vision", pool="cpu", resources={"slots": 0})
        self.run("killed", "bob", "wrong-config", project="nlp", pool="cpu", resources={"slots": 0})
        self.wait_state(self.at["killed"], "running")
        self.end(self.at["killed"])
        self.run("wide", "ann", "vit-huge", TRAIN, project="vision", pool="a100", kind="experiment", priority=60, **gpu(8))
        self.run("large", "carol", "llama-70b-eval", project="nlp", pool="h100", kind="experiment", **gpu(8))
        self.run("sweep", "ann", "lr-sweep", project="vision", pool="cloud", instances=12, **gpu(1))
        self.run("after", "carol", "report", "echo ok", project="nlp", pool="cpu", depends_on=[self.at["gang"]], resources={"slots": 0})
        self.run("held", "bob", "nightly", project="nlp", pool="a100", **gpu(4))
        self.api("POST", f"tasks/{self.at['held']}/pause")
        for key, states in (("crash", "failed"), ("fine", "completed"), ("retried", "failed"), ("gang", "running"), ("killed", "killed"), ("notebook", "running")):
            self.wait_state(self.at[key], states)
        self.weir("node", "drain", "n8")
        return self
