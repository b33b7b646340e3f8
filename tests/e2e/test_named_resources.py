"""Named resources: what fits runs side by side, what does not waits its turn, what never fits is refused.

The tasks write down when they run; the overlap is read from that, not from Weir.
SPDX-License-Identifier: Apache-2.0
"""
import time

import pytest

from weir_harness import Weir

# Writes "+NAME", stays until the gate file exists (or for SECONDS), writes "-NAME".
SPAN = 'echo "+$1" >>"$2"; until [ -e "$3" ]; do sleep 0.02; done; echo "-$1" >>"$2"'
TIMED = 'echo "+$1 $(date +%s.%N)" >>"$2"; sleep "$3"; echo "-$1 $(date +%s.%N)" >>"$2"'


@pytest.fixture
def spans(weir):
    class Spans:
        def __init__(self, *args):
            self.w = weir(*args)
            self.path = self.w.root / "spans"
            self.path.touch()
            self.path.chmod(0o666)

        def submit(self, name, resources):
            gate = self.w.root / f"gate-{name}"
            return self.w.submit("sh", "-c", SPAN, "sh", name, str(self.path), str(gate), name=name, resources=resources)

        def open(self, name):
            (self.w.root / f"gate-{name}").touch()

        def seen(self, word):
            self.w.wait_until(lambda: word in self.path.read_text().split(), f"{word} in {self.path.read_text()!r}")

        def words(self):
            return self.path.read_text().split()

        def settle(self, task):
            """The pass over the queue that follows the submission has been made: the task has a lasting reason."""
            return self.w.wait_until(
                lambda: (self.w.task(task)["reason"] or {}).get("code") not in (None, "next") and self.w.task(task),
                f"a reason for task {task}")

    return Spans


def test_two_fives_do_not_fit_seven(spans):
    s = spans("--resources", "foo=7")
    s.submit("a", {"foo": 5})
    b = s.submit("b", {"foo": 5})
    s.seen("+a")
    waiting = s.settle(b)
    assert waiting["state"] == "pending"
    assert waiting["reason"]["code"] == "no-room"
    assert waiting["reason"]["resource"] == "foo"
    assert waiting["reason"]["wanted"] == 5 and waiting["reason"]["available"] == 2
    s.open("a")
    s.open("b")
    s.seen("-b")
    assert s.words() == ["+a", "-a", "+b", "-b"]


def test_two_fives_fit_twelve_side_by_side(spans):
    s = spans("--resources", "foo=12")
    s.submit("a", {"foo": 5})
    s.submit("b", {"foo": 5})
    s.seen("+a")
    s.seen("+b")
    s.open("a")
    s.open("b")
    s.seen("-a")
    s.seen("-b")


def test_sixteen_and_eight_share_and_a_second_sixteen_waits(spans):
    s = spans("--resources", "gpu0=24")
    s.submit("a", {"gpu0": 16})
    c = s.submit("c", {"gpu0": 16})
    s.submit("b", {"gpu0": 8})
    s.seen("+a")
    s.seen("+b")
    assert s.settle(c)["state"] == "pending"
    assert "+c" not in s.words()
    s.open("b")
    s.seen("-b")
    s.w.wait_until(lambda: s.settle(c)["reason"]["available"] == 8, "the place of b to fall free")
    s.open("a")
    s.open("c")
    s.seen("-c")


def test_a_task_that_fits_passes_one_that_does_not(spans):
    s = spans("--resources", "gpu0=1 gpu1=1")
    s.submit("aaa", {"gpu0": 1})
    s.submit("bbb", {"gpu0": 1})
    s.submit("ccc", {"gpu0": 1, "gpu1": 1})
    s.submit("ddd", {"gpu1": 1})
    s.seen("+aaa")
    s.seen("+ddd")
    assert set(s.words()) == {"+aaa", "+ddd"}
    for name in ("aaa", "bbb", "ccc", "ddd"):
        s.open(name)
    s.seen("-ccc")


def test_an_undefined_name_is_refused_by_name(weir):
    w = weir("--resources", "foo=7")
    for verb in ("submit", "run"):
        refused = w.weir(verb, "--resources", "bar=1", "--", "true", check=False)
        assert refused.returncode == 9
        assert "bar" in refused.stderr
    too_much = w.weir("submit", "--resources", "foo=8", "--", "true", check=False)
    assert too_much.returncode == 9
    assert "foo" in too_much.stderr and "7" in too_much.stderr
    assert w.api("GET", "tasks").json["items"] == []


@pytest.mark.parametrize("text, named", [("foo", "foo"), ("foo=-1", "foo"), ("foo=NaN", "foo"), ("foo=1e99", "foo"), ("=1", "name"),
                                         ("foo=1 foo=2", "foo"), ("foo=", "foo"), ("foo=1.2345", "foo")])
def test_malformed_resources_submit_nothing(weir, text, named):
    w = weir("--resources", "foo=7")
    refused = w.weir("submit", "--resources", text, "--", "true", check=False)
    assert refused.returncode == 2, refused.stderr
    assert named in refused.stderr
    assert w.api("GET", "tasks").json["items"] == []


@pytest.mark.parametrize("value", ["x", -1, 1e99, None, [], "NaN", ""])
def test_malformed_amounts_in_a_body_name_the_path(weir, value):
    w = weir("--resources", "foo=7")
    answer = w.api("POST", "tasks", {"command": ["true"], "resources": {"foo": value}})
    assert answer.status == 400, answer.body
    assert answer.json["error"]["path"] == "resources.foo"
    assert w.api("GET", "tasks").json["items"] == []


def test_patience_ends_overtaking(weir):
    """Two streams of one-second tasks keep gpu0 and gpu1 busy in turn, so that never both are free: the task that needs both is
    overtaken for its pool's patience, then starts within one task's length."""
    w = weir("--resources", "gpu0=1 gpu1=1")
    assert w.weir("pool", "edit", "default", "--patience", "5s").returncode == 0
    spans = w.root / "spans"
    spans.touch()
    spans.chmod(0o666)

    def submit(name, resources, seconds):
        return w.submit("sh", "-c", TIMED, "sh", name, str(spans), str(seconds), resources=resources)

    submit("aaa", {"gpu0": 1}, 1)
    time.sleep(0.5)  # the load is part of the scenario: one new task of each kind every half second, out of step
    submit("ddd", {"gpu1": 1}, 1)
    ccc = submit("ccc", {"gpu0": 1, "gpu1": 1}, 0)
    submitted = time.time()
    number = 0
    while "+ccc" not in spans.read_text() and time.time() < submitted + 60:
        submit(f"aaa{number}", {"gpu0": 1}, 1)
        submit(f"ddd{number}", {"gpu1": 1}, 1)
        number += 1
        time.sleep(0.5)
    assert w.wait(ccc)["state"] == "completed"
    lines = dict(line.split() for line in spans.read_text().splitlines())
    waited = float(lines["+ccc"]) - submitted
    overtook = [n for n in lines if n[:4] in ("+aaa", "+ddd") and submitted < float(lines[n]) < float(lines["+ccc"])]
    assert len(overtook) >= 4, f"nobody overtook it before its patience was over: {lines}"
    # Patience is 5 s and a task 1 s; what a slow machine adds is seconds, never the minute of load.
    assert waited < 15, f"waited {waited:.1f} s"


@pytest.mark.parametrize(
    "asked,shown,text",
    [
        ({}, {"slots": 1}, "slots=1"),
        ({"foo": 5}, {"foo": 5}, "foo=5"),
        ({"gpu": 1}, {"gpu": 1}, "gpu=1"),
        ({"gpu": 0.5, "foo": 1}, {"gpu": 0.5, "foo": 1}, "gpu=0.5 foo=1"),
        ({"slots": 2, "cpu": 0}, {"slots": 2, "cpu": 0}, "slots=2"),
        ({"slots": 0}, {"slots": 0}, "slots=0"),
        ({"cpu": 0.5, "memory": 1048576}, {"cpu": 0.5, "memory": 1048576}, "cpu=0.5 memory=1Mi"),
    ],
)
def test_resources_are_shown_as_they_were_asked(weir_shown, asked, shown, text):
    w = weir_shown
    task = w.submit("true", resources=asked, stage=True)
    assert w.task(task)["resources"] == shown
    line = w.weir("task", "list", "--columns", "id,resources").stdout.splitlines()
    assert [one.split(None, 1)[1] for one in line if one.split()[0] == str(task)] == [text]


@pytest.fixture(scope="module")
def weir_shown():
    w = Weir(["--fake-gpus", "2", "--resources", "foo=7"]).start()
    yield w
    w.close()
