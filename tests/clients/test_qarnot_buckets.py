"""The unmodified Qarnot SDK, Weir, and a real S3 server: files of buckets in tasks, results, snapshots.

SPDX-License-Identifier: Apache-2.0"""

import contextlib
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "api"))

import qarnot_sdk as sdk  # noqa: E402
from weir_harness import DEADLINE_S, Weir, weir_bin  # noqa: E402

ROOT = os.geteuid() == 0
KEYS = "[default]\naws_access_key_id = site\naws_secret_access_key = of the site\n"


class Store:
    """A real S3 server, moto's, in a process of its own."""

    def __init__(self):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self):
        program = pathlib.Path(sys.executable).parent / "moto_server"
        self.process = subprocess.Popen([sys.executable, str(program), "-H", "127.0.0.1", "-p", str(self.port)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + DEADLINE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline
                select.select([], [], [], 0.05)

    def stop(self):
        self.process.terminate()
        self.process.wait()


@pytest.fixture(scope="module")
def store():
    one = Store()
    one.start()
    yield one
    one.stop()


class Site(Weir):
    """A server by its file, which names the store, and one agent with two slots."""

    def __init__(self, store, *agent_args, keys=True):
        super().__init__()
        path = self.root / "keys"
        path.write_text(KEYS)
        path.chmod(0o600)
        more = f", storage_credentials: {path}" if keys else ""
        self.config = self.root / "server.yaml"
        self.config.write_text(f"listen: 127.0.0.1:0\ndata: {self.dir}\ncompat: {{qarnot: {{storage: '{store.url}'{more}}}}}\n")
        self.agent, self.agent_args = None, agent_args

    def start(self):
        ready, write = os.pipe()
        self.log = open(self.root / "up.log", "ab")
        self.process = subprocess.Popen([weir_bin(), "server", "--config", self.config, "--ready-fd", str(write)], pass_fds=[write],
                                        stdin=subprocess.DEVNULL, stderr=self.log, env=self.env(), start_new_session=True)
        os.close(write)
        with os.fdopen(ready) as file:
            self.url = file.readline().strip()
        self.port = int(self.url.rsplit(":", 1)[1])
        self.agent = subprocess.Popen([weir_bin(), "agent", "--server", self.url, "--dir", self.root / "n1", "--name", "n1", "--slots", "2",
                                       "--join-token-file", self.dir / "join.token", *self.agent_args],
                                      stdin=subprocess.DEVNULL, stderr=self.log, env=self.env(), start_new_session=True)
        self.wait_until(lambda: [n["state"] for n in self.api("GET", "nodes").json["items"]] == ["up"], "the node")
        return self

    def stop(self, sig=signal.SIGTERM):
        for process in [self.agent, self.process]:
            if process is not None and process.poll() is None:
                process.send_signal(sig)
                process.wait(timeout=DEADLINE_S)
        if self.process is not None:
            self.log.close()
        self.process = self.agent = None

    def tasks_end(self):
        pass


@contextlib.contextmanager
def weir_with(store, *args, keys=True):
    site = Site(store, *args, keys=keys)
    try:
        yield site.start()
    finally:
        site.close()


@pytest.fixture(scope="module")
def weir(store):
    with weir_with(store) as one:
        yield one


# Puts a text into a bucket.
PUT = """
def put(bucket, path, text):
    with open(f'{home}/file', 'w') as f: f.write(text)
    bucket.add_file(f'{home}/file', path)

def text_of(bucket, path):
    bucket.get_file(path, f'{home}/back')
    return open(f'{home}/back').read()

def keys(bucket):
    return sorted(f.key for f in bucket.list_files())
"""


def check(weir, tmp_path, body, **options):
    import textwrap
    return sdk.check(weir, f"home = {str(tmp_path)!r}\n" + PUT + textwrap.dedent(body), **options)


def test_bucket_calls_reach_the_store(weir, tmp_path):
    got = check(weir, tmp_path, """
        bucket = conn.create_bucket('calls')
        put(bucket, 'dir/file.txt', 'from the client')
        print(json.dumps(['calls' in [b.uuid for b in conn.buckets()], keys(bucket), text_of(bucket, 'dir/file.txt')]))""")
    assert got == [True, ["dir/file.txt"], "from the client"]


@pytest.mark.parametrize("version", sdk.VERSIONS)
def test_resources_are_there_and_results_come_back(weir, tmp_path, version):
    name = "v" + version.replace(".", "-")
    got = check(weir, tmp_path, f"""
        bucket = conn.create_bucket('in-{name}'); out = conn.create_bucket('out-{name}')
        put(bucket, 'data/été.txt', 'ä resource'); put(bucket, 'plain', 'one')
        task = task_of(conn, 'docker-batch', 2, 'cat data/été.txt plain; echo new > made-$INSTANCE_ID; mkdir sub; echo deep > sub/$INSTANCE_ID; echo more >> plain')
        task.resources = [bucket]; task.results = out
        task.submit(); ended(task)
        task.download_results(f'{{home}}/results')
        import os
        print(json.dumps([task.state, task.stdout(), keys(out), sorted(os.listdir(f'{{home}}/results')), task.results.uuid, [r.uuid for r in task.resources], [e.message for e in task.errors]]))""",
                version=version)
    assert got[0] == "Success", got
    assert got[1] == "ä resourceone" * 2
    assert got[2] == ["made-0", "made-1", "plain", "sub/0", "sub/1"]
    assert got[3] == ["made-0", "made-1", "plain", "sub"]
    assert got[4:6] == [f"out-{name}", [f"in-{name}"]]


def test_filters_prefixes_and_patterns(weir, tmp_path):
    got = check(weir, tmp_path, """
        from qarnot.advanced_bucket import BucketPrefixFiltering, PrefixResourcesTransformation
        bucket = conn.create_bucket('filters'); out = conn.create_bucket('filtered')
        for path in ['a/one', 'a/two', 'b/three']: put(bucket, path, path)
        task = task_of(conn, 'docker-batch', 1, 'find . -type f | sort; touch keep.txt keep.log drop.txt')
        task.resources = [bucket.with_filtering(BucketPrefixFiltering('a/')).with_resource_transformation(PrefixResourcesTransformation('a/'))]
        task.results = out; task.results_whitelist = r'keep\\.[a-z]+$'
        task.submit(); ended(task)
        bad = task_of(conn, 'docker-batch', 1, 'true'); bad.results = out; bad.results_whitelist = '['
        print(json.dumps([task.stdout().split(), keys(out), raises(QarnotGenericException, bad.submit)]))""")
    assert got[0] == ["./one", "./two"] and got[1] == ["keep.log", "keep.txt"] and "regular expression" in got[2]


def test_large_files_and_many_files(weir, tmp_path):
    got = check(weir, tmp_path, """
        bucket = conn.create_bucket('large'); out = conn.create_bucket('large-out')
        with open(f'{home}/big', 'wb') as f: f.write(bytes(range(256)) * (40 * 4096))
        bucket.add_file(f'{home}/big', 'big')
        for i in range(1100): conn.s3client.put_object(Bucket='large', Key=f'many/{i}', Body=b'')
        task = task_of(conn, 'docker-batch', 1, 'ls many | wc -l; cat big big > twice; : > nothing')
        task.resources = [bucket]; task.results = out
        task.submit(); ended(task, 200)
        out.get_file('twice', f'{home}/twice')
        big = open(f'{home}/big', 'rb').read()
        print(json.dumps([task.state, task.stdout(), keys(out), open(f'{home}/twice', 'rb').read() == big + big]))""")
    assert got == ["Success", "1100\n", ["nothing", "twice"], True]


def test_files_of_a_pool(weir, tmp_path):
    got = check(weir, tmp_path, """
        shared = conn.create_bucket('shared'); own = conn.create_bucket('own'); out = conn.create_bucket('pool-out')
        put(shared, 'model/weights', 'shared'); put(shared, 'top', 'at the top'); put(own, 'mine', 'own')
        pool = conn.create_pool('files', 'docker-batch', 1); pool.resources = [shared]; pool.submit()
        task = task_of(conn, pool, 2, 'pwd; cat $QARNOT_JOB_DIRECTORY/model/weights $QARNOT_JOB_DIRECTORY/top mine; echo done > result')
        task.resources = [own]; task.results = out; task.submit(); ended(task)
        put(shared, 'model/weights', 'newer'); pool.update_resources()
        second = task_of(conn, pool, 1, 'cat $QARNOT_JOB_DIRECTORY/model/weights'); second.submit(); ended(second)
        print(json.dumps([task.state, task.uuid, task.stdout(), task.stderr(), keys(out), second.stdout(), [r.uuid for r in conn.retrieve_pool(pool.uuid).resources]])); pool.close()""")
    state, uuid, out, err, results, second, buckets = got
    assert (state, err, results, second, buckets) == ("Success", "", ["result"], "newer", ["shared"])
    line = "sharedat the topown"
    if ROOT:
        assert out == f"/job/{uuid}\n{line}" * 2
    else:
        assert out.count(line) == 2


@pytest.mark.skipif(not ROOT, reason="only root has mount namespaces of its own")
def test_the_directories_of_a_task(weir, tmp_path):
    got = check(weir, tmp_path, """
        free = task_of(conn, 'docker-batch', 1, 'pwd; echo $TASK_PATH; touch /job/here; ls; test -w / || echo closed'); free.submit(); ended(free)
        pool = conn.create_pool('dirs', 'docker-batch', 1); pool.submit()
        task = task_of(conn, pool, 1, 'pwd; echo $TASK_PATH $QARNOT_JOB_DIRECTORY; touch /job/$(basename $PWD)/here; ls; ls /job; mount | grep -c " /job/"')
        task.submit(); ended(task)
        print(json.dumps([free.stdout().split(), task.uuid, task.stdout().split(), free.stderr() + task.stderr()])); pool.close()""")
    free, uuid, out, err = got
    assert free == ["/job", "/job", "here", "closed"]
    assert out == [f"/job/{uuid}", f"/job/{uuid}", "/job", "here", uuid, "1"]
    assert err == ""
    assert not pathlib.Path("/job").exists()  # nothing was written to the machine


def test_snapshots(weir, tmp_path):
    got = check(weir, tmp_path, """
        out = conn.create_bucket('snaps'); other = conn.create_bucket('snaps-other')
        bad = task_of(conn, 'docker-batch', 1, 'sleep 60'); bad.results = out; bad.submit()
        task = task_of(conn, 'docker-batch', 1, 'echo early > early; echo no > no.log; until test -e stop; do sleep 0.2; done; echo late > late')
        task.results = out; task.submit(); reaches(task, 'FullyExecuting')
        unknown = conn._get(f'/tasks/{task.uuid}/snapshot/77').status_code
        one = task.instant(whitelist='early', bucket=other, bucket_prefix='at/')
        first = task.snapshot_status(one)._status.status
        task.wait_snapshot(one, timeout=60)
        status = task.snapshot_status(one)
        seen = keys(other)
        task.snapshot(1, blacklist='log$')
        until = time.monotonic() + 60
        while len(keys(out)) < 1 and time.monotonic() < until: time.sleep(0.1)
        periodic = keys(out)
        task.update(True); interval = task.snapshot_interval
        task.abort(); ended(task)
        refused = raises(ValueError, lambda: bad.snapshot(0)); bad.abort()
        print(json.dumps([first, status._status.status, status._transferred_size, seen, periodic, interval, keys(out), task.state, unknown,
            raises(UnauthorizedException, lambda: task.instant()), task.snapshot_status(one)._status.status]))""")
    assert got[0] in ("Triggered", "InProgress", "Success") and got[1] == "Success" and got[2] == 6
    assert got[3] == ["at/early"]
    assert got[4] == ["early"] and got[5] == 1
    assert got[6] == ["early"] and got[7] == "Cancelled" and got[8] == 404
    assert "ended" in got[9] and got[10] == "Success"


def test_results_of_a_cancelled_task(weir, tmp_path):
    got = check(weir, tmp_path, """
        out = conn.create_bucket('cancelled')
        task = task_of(conn, 'docker-batch', 1, 'echo part > part; sleep 60')
        task.results = out; task.upload_results_on_cancellation = True; task.submit(); reaches(task, 'FullyExecuting')
        time.sleep(0.5); task.abort(); ended(task)
        print(json.dumps([task.state, keys(out)]))""")
    assert got == ["Cancelled", ["part"]]


def test_a_store_that_refuses_fails_the_task_with_its_words(weir, tmp_path):
    got = check(weir, tmp_path, """
        from qarnot.bucket import Bucket
        missing = task_of(conn, 'docker-batch', 1, 'echo ran'); missing.resources = [Bucket(conn, 'not-there', create=False)]; missing.submit(); ended(missing)
        late = task_of(conn, 'docker-batch', 1, 'echo result > result; echo ran')
        late._result_object = Bucket(conn, 'no-results-here', create=False); late.submit(); ended(late)
        print(json.dumps([missing.state, missing.stdout(), [e.message for e in missing.errors], late.state, late.stdout(), [e.message for e in late.errors]]))""")
    assert got[0] == "Failure" and got[1] == "" and "NoSuchBucket" in got[2][0] and "not-there" in got[2][0]
    assert got[3] == "Failure" and got[4] == "ran\n" and "NoSuchBucket" in got[5][0]


def test_a_store_that_is_away_fails_the_task_with_its_words(tmp_path):
    away = Store()
    away.start()
    with weir_with(away) as one:
        check(one, tmp_path, "put(conn.create_bucket('inputs'), 'file', 'text')")
        body = {"name": "t", "profile": "docker-batch", "instanceCount": 1, "constants": [{"key": "DOCKER_CMD", "value": "echo ran"}],
                "advancedResourceBuckets": [{"bucketName": "inputs"}]}
        away.stop()
        uuid = one.api("POST", "/qarnot/tasks", body).json["uuid"]
        one.wait_until(lambda: one.api("GET", f"/qarnot/tasks/{uuid}").json["state"] == "Failure", "the task has failed")
        task = one.api("GET", f"/qarnot/tasks/{uuid}").json
        words = task["errors"][0]["message"]
        assert "inputs" in words and "cannot be reached" in words and str(away.port) in words


def test_without_keys_files_are_refused(store, tmp_path):
    with weir_with(store, keys=False) as one:
        got = check(one, tmp_path, """
            bucket = conn.create_bucket('refused')
            task = task_of(conn, 'docker-batch', 1, 'true'); task.resources = [bucket]
            print(json.dumps([raises(QarnotGenericException, task.submit)]))""")
        assert "storage_credentials" in got[0]


def test_a_node_gets_signatures_for_its_own_tasks_and_their_buckets(weir, tmp_path):
    uuid = check(weir, tmp_path, """
        bucket = conn.create_bucket('mine'); out = conn.create_bucket('mine-out')
        from qarnot.advanced_bucket import BucketPrefixFiltering
        task = task_of(conn, 'docker-batch', 1, 'sleep 60'); task.resources = [bucket.with_filtering(BucketPrefixFiltering('a/'))]; task.results = out
        task.submit(); reaches(task, 'FullyExecuting'); print(json.dumps(task.uuid))""")
    number = max(t["id"] for t in weir.api("GET", "tasks").json["items"])
    node = (weir.root / "n1" / "credential").read_text().strip()

    def sign(token=node, attempt=1, **wish):
        wish = {"verb": "get", "bucket": "mine", "key": "a/x", **wish}
        return weir.api("POST", f"/qarnot/node/sign?task={number}&index=0&attempt={attempt}", wish, token=token)

    assert sign().status == 200 and f"/mine/a/x?X-Amz-Algorithm" in sign().json["url"]
    assert sign(bucket="mine-out", verb="put", key="any").status == 200
    refused = [sign(key="b/x"), sign(key=""), sign(bucket="mine-out"), sign(verb="put"), sign(bucket="mine-out", verb="part", token=weir.token),
               sign(attempt=2), sign(token=weir.token), sign(verb="delete"), sign(bucket="../mine")]
    assert [r.status for r in refused] == [403] * len(refused)
    assert weir.api("GET", f"/qarnot/node/buckets?task={number}&index=0&attempt=1").status == 403
    assert weir.api("POST", f"/qarnot/tasks/{uuid}/abort").status == 200


@pytest.mark.skipif(not ROOT or not shutil.which("busybox") or not (shutil.which("crun") or shutil.which("runc")),
                    reason="needs root, busybox, and crun or runc")
def test_files_in_a_container(store, tmp_path):
    images = pathlib.Path(tempfile.mkdtemp(prefix="weir-images-"))
    try:
        root = sdk.busybox_image(images)
        with weir_with(store, "--image-dirs", str(images)) as one:
            got = check(one, tmp_path, f"""
                bucket = conn.create_bucket('container'); out = conn.create_bucket('container-out'); put(bucket, 'in', 'text')
                task = task_of(conn, 'docker-batch', 1, 'cat /etc/image; pwd; cat in; echo new > made'); task.constants['DOCKER_REPO'] = 'dir:{root}'
                task.resources = [bucket]; task.results = out; task.submit(); ended(task)
                print(json.dumps([task.state, task.stdout(), keys(out), task.stderr()]))""")
            assert got == ["Success", "the image\n/job\ntext", ["made"], ""]
    finally:
        shutil.rmtree(images)


def test_a_storage_that_is_no_address_is_refused(tmp_path):
    path = tmp_path / "server.yaml"
    path.write_text("compat: {qarnot: {storage: s3.example.org, provider: cloud}}\n")
    done = subprocess.run([weir_bin(), "config", "check", str(path)], capture_output=True, text=True)
    assert done.returncode != 0
    words = done.stdout + done.stderr
    assert "compat.qarnot.storage" in words and "compat.qarnot.provider" in words
