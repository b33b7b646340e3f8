"""Pools whose nodes are machines of EC2: the real moto server on loopback, with and without faults in front of it.

Every machine is a real agent, started from the user data that moto recorded. How many machines there are is moto's word, not the server's.
SPDX-License-Identifier: Apache-2.0
"""
import datetime
import http.server
import json
import os
import signal
import threading

import pytest

from ec2_cloud import IMAGE, Door, Machines, Moto

NEAR, FAR = "us-east-1", "eu-west-1"


@pytest.fixture(scope="module")
def moto():
    made = Moto()
    yield made
    made.close()


@pytest.fixture
def machines(moto):
    made = Machines(moto, [NEAR, FAR])
    yield made
    made.close()
    for region, client in made.clients.items():
        for left in made.instances(region):
            client.terminate_instances(InstanceIds=[left])


@pytest.fixture
def door(moto):
    made = Door(moto)
    yield made
    made.close()


def pool(w, name, endpoint, *more, region=NEAR, most=2):
    w.weir("pool", "create", name, "--provider", "ec2", "--max", most, "--idle", "1s", "--region", region, "--endpoint", endpoint,
           "--image", IMAGE, "--instance-type", "t3.micro", *more)


def pool_of(w, name):
    return w.api("GET", f"pools/{name}").json


def nodes(w, name):
    return sorted(node["name"] for node in w.api("GET", f"nodes?pool={name}").json["items"])


def outputs(w):
    made = w.root / "outputs"
    made.mkdir()
    made.chmod(0o777)
    return made


def wait_none(w, machines, name="cloud"):
    def none():
        launches = pool_of(w, name)["launches"]
        return launches["live"] + launches["ending"] == 0 and nodes(w, name) == [] and not any(one["weir:pool"] == name for one in machines.tags())
    w.wait_until(none, "no machine is left")


def test_from_zero_to_two_and_back(weir, moto, machines):
    """Straight to moto, which checks every signature."""
    w = weir(env=moto.env)
    out = outputs(w)
    pool(w, "cloud", moto.url, "--availability-zones", "us-east-1b", "--tag", "team=vision")
    task = w.weir("submit", "--pool", "cloud", "-n", "2", "--", "sh", "-c",
                  f"echo $WEIR_NODE > {out}/$WEIR_INDEX; while [ ! -e {out}/go ]; do sleep 0.1; done").stdout.strip()
    w.wait_until(lambda: len([path for path in out.iterdir() if path.read_text().endswith("\n")]) == 2, "two instances at once")
    assert {path.read_text().strip() for path in out.iterdir()} == set(nodes(w, "cloud"))
    tags = machines.tags()
    assert len(tags) == 2 and {one["weir:pool"] for one in tags} == {"cloud"} and {one["team"] for one in tags} == {"vision"}
    assert {one["Name"] for one in tags} == set(nodes(w, "cloud"))
    assert {one["Placement"]["AvailabilityZone"] for one in machines.instances().values()} == {"us-east-1b"}
    (out / "go").touch()
    w.weir("wait", task)
    wait_none(w, machines)
    secret = moto.keys["aws_secret_access_key"]
    assert secret not in w.log_text() and secret not in w.weir("events", "--json").stdout


def test_spot_without_capacity_says_so_in_the_cloud_s_words(weir, moto, machines, door):
    w = weir(env=moto.env)
    words = "We currently do not have sufficient t3.micro capacity in zones with support for &apos;gp2&apos; volumes"
    sold_out = door.fault("RunInstances", times=10**6, error=(500, "InsufficientInstanceCapacity", words),
                          where=lambda form: form.get("InstanceMarketOptions.MarketType") == "spot")
    pool(w, "spot", door.url, "--spot", "on", "--max-price", "0.01", "--availability-zones", "us-east-1a,us-east-1c")
    task = w.weir("submit", "--pool", "spot", "--", "true").stdout.strip()
    told = "InsufficientInstanceCapacity: We currently do not have sufficient t3.micro capacity in zones with support for 'gp2' volumes"
    w.wait_until(lambda: told in w.weir("explain", task).stdout, "the words on the task")
    assert told in w.weir("pool", "show", "spot").stdout and told == pool_of(w, "spot")["launches"]["refusal"]
    tried = [form for _, form in door.calls if form["Action"] == "RunInstances"]
    assert [form["Placement.AvailabilityZone"] for form in tried[:2]] == ["us-east-1a", "us-east-1c"]  # each zone once
    assert tried[0]["InstanceMarketOptions.SpotOptions.MaxPrice"] == "0.01" and tried[0]["ClientToken"] != tried[1]["ClientToken"]
    assert machines.instances() == {}
    sold_out.times = 0
    w.weir("pool", "edit", "spot", "--idle", "2s")  # an edit asks again at once
    w.weir("wait", task)
    wait_none(w, machines, "spot")


FAULTS = {
    "throttled": {"times": 2, "error": (503, "RequestLimitExceeded", "Request limit exceeded.")},
    "internal": {"times": 2, "error": (500, "InternalError", "An internal error has occurred")},
    "request-lost": {"lose": "before"},
    "answer-lost": {"lose": "after"},
    "malformed": {"body": b"<RunInstancesResponse><instancesSet><item></instancesSet>"},
    "another-document": {"body": b"<html><body>proxy</body></html>"},
    "no-machine-in-the-answer": {"body": b"<RunInstancesResponse><instancesSet/></RunInstancesResponse>"},
    "made-twice": {"twice": True},
}


def of_pool(name):
    return lambda form: form.get("TagSpecification.1.Tag.3.Value") == name


def waiting_task(w, out, name):
    """A task of the pool that notes each of its starts in a file and runs until the file NAME-go is there."""
    return w.weir("submit", "--pool", name, "--", "sh", "-c", f"echo x >> {out}/{name}; while [ ! -e {out}/{name}-go ]; do sleep 0.1; done").stdout.strip()


def finish(w, machines, out, tasks):
    """Lets the tasks end: each has started once, and no machine is left."""
    for name in tasks:
        (out / f"{name}-go").touch()
    for name, task in tasks.items():
        w.weir("wait", task)
        assert (out / name).read_text() == "x\n", name
    for name in tasks:
        wait_none(w, machines, name)


def test_one_machine_for_one_launch_whatever_the_answer(weir, moto, machines, door):
    w = weir(env=moto.env)
    out = outputs(w)
    faults = {name: door.fault("RunInstances", where=of_pool(name), **what) for name, what in FAULTS.items()}
    machines.held.add("made-twice")  # as a real machine, it boots slower than a list comes
    tasks = {}
    for name in FAULTS:
        pool(w, name, door.url, most=1)
        tasks[name] = waiting_task(w, out, name)
    w.wait_until(lambda: faults["made-twice"].acted.is_set() and sorted(one["weir:pool"] for one in machines.tags()) == sorted(FAULTS), "one machine for each")
    machines.held.clear()
    for name in FAULTS:
        w.wait_until((out / name).exists, f"the task of {name}")
    assert sorted(one["weir:pool"] for one in machines.tags()) == sorted(FAULTS)
    assert {name: fault.seen for name, fault in faults.items()} == {name: fault.times for name, fault in faults.items()}
    finish(w, machines, out, tasks)


def restart(w):
    os.kill(w.pid_of("server"), signal.SIGKILL)
    w.kill()
    w.start()


STEPS = {
    "before-the-request": ("RunInstances", {"hold": "before", "lose": "before"}),
    "before-the-answer": ("RunInstances", {"hold": "after", "lose": "after"}),
    "while-it-boots": None,
    "while-it-works": None,
    "before-the-end": ("TerminateInstances", {"hold": "before", "lose": "before"}),
    "after-the-end": ("TerminateInstances", {"hold": "after", "lose": "after"}),
}


@pytest.mark.parametrize("listed", ["at once", "late"])
def test_a_server_killed_at_any_step_has_one_machine_and_no_orphan(weir, moto, machines, door, listed):
    """Six launches stand at six steps when the server is killed."""
    w = weir(env=moto.env)
    out = outputs(w)
    faults = {}
    tasks = {}
    machines.held.add("while-it-boots")

    def instance_of(name):
        return [one for one, tags in zip(machines.instances(), machines.tags()) if tags["weir:pool"] == name]

    for name, held in STEPS.items():
        pool(w, name, door.url, most=1)
        if held and held[0] == "RunInstances":
            faults[name] = door.fault("RunInstances", where=of_pool(name), **held[1])
        tasks[name] = waiting_task(w, out, name)
    for name in ["while-it-works", "before-the-end", "after-the-end"]:
        w.wait_until((out / name).exists, f"the task of {name}")
    for name in ["before-the-end", "after-the-end"]:
        (one,) = instance_of(name)
        faults[name] = door.fault("TerminateInstances", where=lambda form, one=one: form["InstanceId.1"] == one, **STEPS[name][1])
        (out / f"{name}-go").touch()
    for name, fault in faults.items():
        w.wait_until(fault.held.is_set, name)
    w.wait_until(lambda: instance_of("while-it-boots"), "the machine that boots")
    os.kill(w.pid_of("server"), signal.SIGKILL)
    w.kill()
    if listed == "late":
        door.fault("DescribeInstances", times=2, hide=True)  # the second RunInstances finds its token used
    for fault in faults.values():
        fault.release()
    w.start()
    machines.held.clear()
    for name in STEPS:
        w.wait_until((out / name).exists, f"the task of {name}")
    finish(w, machines, out, tasks)
    assert len(machines.scripts) == len(STEPS)  # no second machine ever ran
    assert door.count("RunInstances") == len(STEPS) + (2 if listed == "late" else 1)


def test_a_machine_that_nobody_knows_is_ended_and_others_are_left_alone(weir, moto, machines, door):
    w = weir(env=moto.env)
    pool(w, "cloud", door.url, most=1)
    w.weir("run", "--pool", "cloud", "--", "true")
    run = next(form for _, form in door.calls if form["Action"] == "RunInstances")
    uuid = run["TagSpecification.1.Tag.2.Value"]
    wait_none(w, machines)
    machines.held.add("")

    def tagged(server, key):
        tags = [{"Key": "weir:server", "Value": server}, {"Key": "weir:key", "Value": key}]
        made = machines.clients[NEAR].run_instances(ImageId=IMAGE, MinCount=1, MaxCount=1, UserData="true",
                                                    TagSpecifications=[{"ResourceType": "instance", "Tags": tags}])
        return made["Instances"][0]["InstanceId"]

    orphan = tagged(uuid, f"weir-{uuid}-77")
    foreign = tagged("0" * 32, f"weir-{'0' * 32}-77")
    odd = tagged(uuid, f"weir-{uuid}-x")  # the server's tag with a key that it never made
    restart(w)
    w.wait_until(lambda: orphan not in machines.instances(), "the end of the machine that nobody knows")
    assert {foreign, odd} <= set(machines.instances())
    machines.clients[NEAR].terminate_instances(InstanceIds=[foreign, odd])


def test_a_machine_that_the_cloud_takes_back_costs_a_requeue(weir, moto, machines, door):
    w = weir(env=moto.env)
    out = outputs(w)
    pool(w, "cloud", door.url, most=1)
    task = w.weir("submit", "--pool", "cloud", "--", "sh", "-c", f"echo $WEIR_NODE >> {out}/ran; while [ ! -e {out}/go ]; do sleep 0.1; done").stdout.strip()
    w.wait_until((out / "ran").exists, "the task")
    machines.clients[NEAR].terminate_instances(InstanceIds=list(machines.instances()))
    w.wait_until(lambda: len((out / "ran").read_text().split()) == 2, "another machine")
    (out / "go").touch()
    w.weir("wait", task)
    assert len(set((out / "ran").read_text().split())) == 2
    wait_none(w, machines)


def test_two_regions_are_two_clouds(weir, moto, machines, door):
    """Falling back from one region to the other is a task's `pools: [near, far]`."""
    w = weir(env=moto.env)
    pool(w, "near", door.url, most=1)
    pool(w, "far", door.url, region=FAR, most=1)
    near = w.weir("submit", "--pool", "near", "--", "sleep", "600").stdout.strip()
    far = w.weir("submit", "--pool", "far", "--", "sleep", "600").stdout.strip()
    w.wait_until(lambda: [len(machines.instances(region)) for region in (NEAR, FAR)] == [1, 1], "one machine in each")
    assert [one["weir:pool"] for one in machines.tags(FAR)] == ["far"]
    assert {region for region, form in door.calls if form["Action"] == "RunInstances"} == {NEAR, FAR}
    w.weir("kill", "--yes", near, far)
    wait_none(w, machines, "near")
    wait_none(w, machines, "far")


NO_ROOM = (500, "InsufficientInstanceCapacity", "We currently do not have sufficient capacity.")


def falls_back(w, machines, out, pools, first_words):
    """A task of two pools: the first has no capacity, so the task starts once, in the second. The task itself notes each start."""
    task = w.weir("submit", "--pool", ",".join(pools), "--", "sh", "-c", f"echo $WEIR_POOL >> {out}/ran").stdout.strip()
    w.weir("wait", task)
    assert (out / "ran").read_text() == f"{pools[1]}\n"
    events = [json.loads(line) for line in w.weir("events", "--json").stdout.splitlines()]
    assert [(e["pool"], e["why"]) for e in events if e["type"] == "pool-opened"] == [(pools[1], "no-capacity")]
    assert first_words in pool_of(w, pools[0])["launches"]["refusal"]
    for name in pools:
        w.weir("pool", "edit", name, "--max", "0")
    wait_none(w, machines, pools[1])


def test_a_task_falls_back_to_another_region(weir, moto, machines, door):
    w = weir(env=moto.env)
    pool(w, "near", door.url, most=1)
    pool(w, "far", door.url, region=FAR, most=1)
    door.fault("RunInstances", times=10**6, where=of_pool("near"), error=NO_ROOM)
    falls_back(w, machines, outputs(w), ["near", "far"], "InsufficientInstanceCapacity")
    assert not machines.instances(NEAR)


def test_a_task_falls_back_from_spot_to_on_demand(weir, moto, machines, door):
    w = weir(env=moto.env)
    pool(w, "spot", door.url, "--spot", "on", most=1)
    pool(w, "on-demand", door.url, most=1)
    door.fault("RunInstances", times=10**6, where=of_pool("spot"), error=NO_ROOM)
    falls_back(w, machines, outputs(w), ["spot", "on-demand"], "InsufficientInstanceCapacity")
    bought = [form for _, form in door.calls if form["Action"] == "RunInstances" and not of_pool("spot")(form)]
    assert bought and not any("Spot" in key for form in bought for key in form)


def test_a_zone_without_capacity_falls_back_to_another(weir, moto, machines, door):
    """Determined's second story: a flavor in two zones, the first of which has no capacity."""
    w = weir(env=moto.env)
    out = outputs(w)
    zones = ["us-east-1a", "us-east-1b"]
    sold_out = door.fault("RunInstances", times=10**6, where=lambda form: form.get("Placement.AvailabilityZone") == zones[0], error=NO_ROOM)
    w.weir("flavor", "create", "micro", "--provider", "ec2", "--native", "t3.micro", "--slots", "1", "--zones", ",".join(zones))
    w.weir("pool", "create", "cloud", "--provider", "ec2", "--flavor", "micro", "--max", "2", "--idle", "1s", "--region", NEAR, "--endpoint", door.url,
           "--image", IMAGE)

    def asked():
        return [form["Placement.AvailabilityZone"] for _, form in door.calls if form["Action"] == "RunInstances"]

    for number, tried in enumerate((zones, [*zones, zones[1]])):  # the second time nobody asks in the first zone: its refusal is remembered
        task = w.weir("submit", "--pool", "cloud", "--", "sh", "-c", f"echo $WEIR_NODE >> {out}/{number}; while [ ! -e {out}/go{number} ]; do sleep 0.1; done")
        w.wait_until((out / str(number)).exists, "the task")
        assert [one["Placement"]["AvailabilityZone"] for one in machines.instances().values()] == [zones[1]] and asked() == tried
        assert "us-east-1a: first refused" in w.weir("flavor", "show", "micro").stdout
        (out / f"go{number}").touch()
        w.weir("wait", task.stdout.strip())
        assert len((out / str(number)).read_text().split()) == 1
        wait_none(w, machines)
    assert sold_out.seen == 1


def test_credentials_come_from_a_file_that_nobody_else_may_read(site, moto, machines, tmp_path):
    """The file is read at each call: what is wrong with it stands at the task, and mending it is enough."""
    keys = tmp_path / "keys"
    w = site(f"pools: [{{name: cloud, provider: {{type: ec2, max: 1, idle: 1s, region: {NEAR}, endpoint: '{moto.url}', image: {IMAGE}, instance_type: t3.micro}}}}]\n"
             f"ec2: {{credentials: {keys}}}\n")
    task = w.weir("submit", "--pool", "cloud", "--", "true").stdout.strip()

    def waits_for(words):
        w.weir("pool", "edit", "cloud", "--title", words)  # an edit asks again at once
        w.wait_until(lambda: words in w.weir("explain", task).stdout, words)

    waits_for("No such file")
    good = "[default]\n" + "".join(f"{key} = {value}\n" for key, value in moto.keys.items())
    keys.write_text(good)
    keys.chmod(0o644)
    waits_for("chmod 600")
    keys.chmod(0o600)
    keys.write_text(good.replace(moto.keys["aws_secret_access_key"], "wrong"))
    waits_for("AuthFailure")
    keys.write_text(good)
    w.weir("pool", "edit", "cloud", "--title", "")
    w.weir("wait", task)
    wait_none(w, machines)


class Metadata:
    """The metadata service of a machine of EC2, version 2: a token first, then the role, then keys that expire."""

    def __init__(self, keys):
        self.keys, self.life_s, self.asked, self.role = keys, 3600, [], "weir-role"
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def answer(self, status, text):
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def do_PUT(self):
                outer.asked.append(("PUT", self.path))
                good = self.path == "/latest/api/token" and self.headers.get("X-aws-ec2-metadata-token-ttl-seconds")
                self.answer(200 if good else 400, "token-1" if good else "")

            def do_GET(self):
                outer.asked.append(("GET", self.path))
                base = "/latest/meta-data/iam/security-credentials/"
                if self.headers.get("X-aws-ec2-metadata-token") != "token-1":
                    return self.answer(401, "")
                if self.path == base:
                    return self.answer(200 if outer.role else 404, outer.role)
                if self.path != base + outer.role:
                    return self.answer(404, "")
                until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=outer.life_s)
                return self.answer(200, json.dumps({"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": outer.keys["aws_access_key_id"],
                                                    "SecretAccessKey": outer.keys["aws_secret_access_key"], "Token": outer.keys["session"],
                                                    "Expiration": until.strftime("%Y-%m-%dT%H:%M:%SZ")}))

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def test_a_machine_s_role_gives_the_credentials(site, moto, machines):
    """Keys of the role run out after five minutes and a few seconds here: they are asked for again five minutes before."""
    metadata = Metadata(moto.role_keys())
    metadata.life_s = 303
    text = ("listen: 127.0.0.1:0\npools:\n  - name: default\n  - name: cloud\n    provider:\n"
            f"      {{type: ec2, max: 1, idle: 1s, region: {NEAR}, image: {IMAGE}, instance_type: t3.micro, endpoint: '{moto.url}'}}\n"
            f"ec2: {{credentials: '{metadata.url}/'}}\n")
    try:
        s = site(text)
        task = s.weir("submit", "--pool", "cloud", "--", "true").stdout.strip()
        s.weir("wait", task)
        assert [one for one in metadata.asked if one[0] == "PUT"] and ("GET", "/latest/meta-data/iam/security-credentials/weir-role") in metadata.asked
        rounds = lambda: len([one for one in metadata.asked if one[0] == "PUT"])  # noqa: E731

        def renewed():  # keys are looked at when a call is made, and each task makes some
            s.weir("wait", s.weir("submit", "--pool", "cloud", "--", "true").stdout.strip())
            return rounds() >= 2

        s.wait_until(renewed, "the keys are renewed")
        assert metadata.keys["aws_secret_access_key"] not in s.log_text() and metadata.keys["session"] not in s.log_text()
    finally:
        metadata.close()


def test_a_machine_without_a_role_says_so(site, moto):
    metadata = Metadata(moto.keys)
    metadata.role = ""
    text = ("listen: 127.0.0.1:0\npools:\n  - name: default\n  - name: cloud\n    provider:\n"
            f"      {{type: ec2, max: 1, idle: 1s, region: {NEAR}, image: {IMAGE}, instance_type: t3.micro, endpoint: '{moto.url}'}}\n"
            f"ec2: {{credentials: '{metadata.url}'}}\n")
    try:
        s = site(text)
        task = s.weir("submit", "--pool", "cloud", "--", "true").stdout.strip()
        s.wait_until(lambda: "has the machine one?" in s.weir("explain", task).stdout, "what is missing")
    finally:
        metadata.close()


def test_without_credentials_the_pool_says_what_is_missing(weir, moto):
    w = weir(env={"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""})
    pool(w, "cloud", moto.url, most=1)
    task = w.weir("submit", "--pool", "cloud", "--", "true").stdout.strip()
    w.wait_until(lambda: "AWS_ACCESS_KEY_ID" in w.weir("explain", task).stdout, "what is missing")
    assert "ec2: {credentials: FILE}" in w.weir("pool", "show", "cloud").stdout


def test_settings_that_do_not_fit_are_refused(weir):
    w = weir()
    good = ["--provider", "ec2", "--max", "1", "--region", "eu-west-1", "--image", IMAGE, "--instance-type", "t3.micro"]
    wrong = [
        (["--provider", "local", "--max", "1", "--region", "eu-west-1"], "region", "setting of the provider ec2"),
        (["--provider", "ec2", "--max", "1", "--image", IMAGE, "--instance-type", "t3.micro"], "region", "needs it"),
        (good + ["--endpoint", "http://cloud.example.com"], "endpoint", "https://"),
        (good + ["--max-price", "0.1"], "max_price", "spot"),
        (good + ["--spot", "on", "--max-price", "1,5"], "max_price", "0.25"),
        (good + ["--availability-zones", "a", "--subnets", "b"], "subnets", "not both"),
        (good + ["--tag", "weir:key=x"], "tags", "taken"),
        (good + ["--tag", "team"], "tags", "team=vision"),
        (good + ["--region", "Eu West"], "region", "eu-west-1"),
    ]
    for flags, place, text in wrong:
        answer = w.weir("pool", "create", "bad", *flags, check=False)
        assert answer.returncode == 2 and f"provider.{place}" in answer.stderr and text in answer.stderr, (flags, answer.stderr)
    assert w.api("GET", "pools/bad").status == 404
    w.weir("pool", "create", "good", *good, "--spot", "on", "--max-price", "0.25", "--tag", "team=vision", "--user-data", "echo 'hi'\necho there")
    shown = pool_of(w, "good")
    assert shown["provider"]["user_data"] == "echo 'hi'\necho there"
    assert shown["provider"]["spot"] == "on" and shown["provider"]["tags"] == ["team=vision"] and "subnets" not in shown["provider"]
    w.weir("pool", "edit", "good", "--instance-type", "t3.large")
    w.stop()
    w.start()
    assert pool_of(w, "good")["provider"] == {**shown["provider"], "instance_type": "t3.large"}
