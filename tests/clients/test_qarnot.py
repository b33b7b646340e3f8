"""The unmodified Qarnot SDK against Weir: the documented programs, pools, tasks, output, errors.

SPDX-License-Identifier: Apache-2.0"""

import json
import os
import pathlib
import queue
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "api"))

import qarnot_sdk as sdk  # noqa: E402
from weir_harness import DEADLINE_S, supervisors_end, weir_bin  # noqa: E402

LONG = os.environ.get("WEIR_LONG") == "1"


class PoolWatch(threading.Thread):
    """The most nodes that a pool with this title had, and the states it was seen in."""

    def __init__(self, weir, title):
        super().__init__(daemon=True)
        self.weir, self.title, self.done = weir, title, threading.Event()
        self.most, self.up, self.live = 0, 0, 0
        self.start()

    def run(self):
        while not self.done.is_set():
            self.look()
            self.done.wait(0.02)

    def look(self):
        for pool in self.weir.api("GET", "pools").json["items"]:
            if pool["title"] == self.title:
                self.up, self.live = pool["nodes"]["up"], pool["launches"]["live"]
                self.most = max(self.most, self.up)


def lines(numbers):
    return "".join(f"Hello World from node {n}!\n" for n in numbers)


# ---- the documented programs ----

@pytest.mark.timeout(180)
@pytest.mark.parametrize("version", sdk.VERSIONS)
def test_hello_world(weir_factory, version):
    weir = weir_factory("--slots", "1")
    tail = "\nimport json; pool.update(True); task.update(True)\nprint(json.dumps([pool.state, task.state, task.stdout(), THIRD]))"
    third = "task.stdout(2)" if version != "2.5.2" else "conn._get(f'/tasks/{task.uuid}/stdout/2').text"  # 2.5 has no method for it
    tail = tail.replace("THIRD", third)
    pool, task, out, third = json.loads(sdk.run(weir, sdk.HELLO + tail, version).splitlines()[-1])
    assert (task, out, third) == ("Success", lines(range(4)), lines([2]))
    assert pool in ("Closing", "Closed")
    # What the tasks wrote, as Weir's own log has it.
    assert weir.api("GET", "tasks/1/logs?format=raw&stream=stdout").body.decode().count("Hello World from node") == 4
    weir.wait_until(lambda: [p["state"] for p in weir.api("GET", "pools").json["items"] if p["title"]] == ["closed"], "the pool is closed")


@pytest.mark.timeout(240)
@pytest.mark.parametrize("version", sdk.VERSIONS if LONG else [sdk.NEWEST])
def test_elastic_pool(weir_factory, version):
    weir = weir_factory("--slots", "1")
    watch = PoolWatch(weir, "Hello world - elastic pool")
    tail = "\nimport json; print(json.dumps([task_1.stdout(), task_2.stdout(), elastic_pool.state, task_1.state, task_2.state]))"
    out = sdk.run(weir, sdk.ELASTIC + sdk.ELASTIC_CLOSE + tail, version)
    watch.done.set()
    watch.join()
    first, second, pool, *states = json.loads(out.splitlines()[-1])
    assert [first, second] == [lines([0]), lines(range(5))]
    assert pool in ("Closing", "Closed") and states == ["Success"] * 2
    assert watch.most == 5


@pytest.mark.timeout(300)
@pytest.mark.skipif(not LONG, reason="takes two minutes; WEIR_LONG=1 runs it")
def test_elastic_pool_empties_itself(weir_factory):
    weir = weir_factory("--slots", "1")
    watch = PoolWatch(weir, "Hello world - elastic pool")
    sdk.run(weir, sdk.ELASTIC)
    assert watch.most == 5
    deadline = time.monotonic() + 150
    while watch.up + watch.live > 0 and time.monotonic() < deadline:
        time.sleep(0.5)
    watch.done.set()
    assert (watch.up, watch.live, watch.most) == (0, 0, 5)


def test_sixteen_instances_on_four_nodes(server):
    got = sdk.check(server, """
        pool = conn.create_pool('four', 'docker-batch', 4); pool.submit()
        reaches(pool, 'FullyExecuting')
        task = task_of(conn, pool, 16, 'sleep 0.4; echo $WEIR_NODE $(date +%s%N)')
        task.submit(); ended(task)
        print(json.dumps([task.state, task.stdout()])); pool.close()""")
    assert got[0] == "Success"
    nodes = [line.split()[0] for line in got[1].splitlines()]
    assert sorted(nodes.count(n) for n in set(nodes)) == [4, 4, 4, 4]


# ---- pools ----

def test_slots_per_node(server):
    got = sdk.check(server, """
        from qarnot.multi_slots_settings import MultiSlotsSettings
        pool = conn.create_pool('multi', 'docker-batch', 8)
        pool.multi_slots_settings = MultiSlotsSettings(4)
        pool.submit(); reaches(pool, 'FullyExecuting')
        task = task_of(conn, pool, 8, 'echo $WEIR_NODE; sleep 2')
        task.submit(); reaches(task, 'FullyExecuting'); running = task.running_instance_count
        ended(task)
        print(json.dumps([running, task.stdout().split(), pool.running_instance_count, conn.retrieve_pool(pool.uuid).multi_slots_settings.to_json()]))
        pool.close()""")
    assert got[0] == 8 and len(got[1]) == 8 and len(set(got[1])) == 2
    assert got[2:] == [8, {"slotsPerNode": 4}]


def test_a_pool_is_kept_listed_changed_closed_and_deleted(server):
    got = sdk.check(server, """
        pool = conn.create_pool('kept é', 'docker-batch', 1)
        pool.constants['A'] = 'b'; pool.tags = ['x', 'y']; pool.labels = {'k': 'v'}
        pool.setup_elastic(minimum_total_slots=0, maximum_total_slots=5, resize_period=1)
        pool.submit()
        again = conn.retrieve_pool(pool.uuid)
        kept = [again.name, again.constants['A'], again.tags, again.labels, again.elastic_maximum_slots, again.is_elastic]
        again.elastic_maximum_slots = 8; again.commit()
        changed = conn.retrieve_pool(pool.uuid).elastic_maximum_slots
        other = conn.create_pool('other', 'docker-batch', 1); other.setup_elastic(0, 1); other.tags = ['y']; other.submit()
        names = lambda pools: sorted(p.name for p in pools)
        lists = [names(conn.all_pools(tags=['x'])), names(conn.all_pools(tags=['x', 'y'])), names(conn.all_pools(tags_intersect=['x', 'y']))]
        every = [p.uuid for p in conn.all_pools()]
        paged = []; token = None
        while True:
            page = conn.pools_page(token=token, maximum=1)
            paged += [p.uuid for p in page.page_data]; token = page.next_token
            if not page.is_truncated: break
        repr(pool); repr(pool.status)
        pool.close(); reaches(pool, 'Closed')
        refused = raises(UnauthorizedException, conn.retrieve_pool(pool.uuid).close)
        uuid = pool.uuid; pool.delete()
        gone = raises(MissingPoolException, lambda: conn.retrieve_pool(uuid))
        other.delete()
        print(json.dumps([kept, changed, lists, sorted(every) == sorted(paged) and len(set(every)) == len(every), refused, uuid in every]))""")
    kept, changed, lists, paged, refused, listed = got
    assert kept == ["kept é", "b", ["x", "y"], {"k": "v"}, 5, True]
    assert changed == 8
    assert lists == [["kept é"], ["kept é", "other"], ["kept é"]]
    assert paged and listed and "not running" in refused


def test_a_pool_closed_with_tasks_running(server):
    got = sdk.check(server, """
        pool = conn.create_pool('closing', 'docker-batch', 1); pool.submit()
        running = task_of(conn, pool, 1, 'trap "" TERM; sleep 60'); running.submit()
        waiting = task_of(conn, pool, 3, 'true'); waiting.submit()
        reaches(running, 'FullyExecuting')
        pool.close(); states = [pool.state]
        late = task_of(conn, pool, 1, 'true')
        refused = raises(QarnotGenericException, late.submit)
        reaches(waiting, 'Cancelled')
        print(json.dumps([states, refused, running.uuid, pool.uuid]))""")
    assert got[0] == ["Closing"] and "closed" in got[1]
    ends = sdk.check(server, f"""
        task = ended(conn.retrieve_task('{got[2]}')); pool = reaches(conn.retrieve_pool('{got[3]}'), 'Closed')
        print(json.dumps([task.state, pool.running_instance_count]))""")
    assert ends == ["Cancelled", 0]


@pytest.mark.parametrize("version", sdk.VERSIONS)
def test_everything_can_be_read_at_any_time(server, version):
    """Every public property of a pool and of its task, from the first state to the last."""
    got = sdk.check(server, """
        def read(thing):
            repr(thing)
            for name in dir(type(thing)):
                if not name.startswith('_') and isinstance(getattr(type(thing), name), property):
                    try: repr(getattr(thing, name))
                    except BucketStorageUnavailableException: pass
        pool = conn.create_pool('read', 'docker-batch', 2); pool.submit()
        task = task_of(conn, pool, 3, 'sleep 0.5; exit $INSTANCE_ID'); task.submit()
        states = [[], []]
        while not states[1] or states[1][-1] not in ('Failure', 'Success'):
            for thing, seen in zip((pool, task), states):
                thing.update(True); read(thing)
                if not seen or seen[-1] != thing.state: seen.append(thing.state)
        pool.close()
        while pool.state != 'Closed':
            pool.update(True); read(pool); states[0].append(pool.state)
        print(json.dumps([states, [i.instance_id for i in task.completed_instances], len(task.errors)]))""", version=version)
    assert got[0][1][-1] == "Failure" and got[1] == [0, 1, 2] and got[2] == 1
    known = {"Submitted", "PartiallyDispatched", "FullyDispatched", "PartiallyExecuting", "FullyExecuting", "Closing", "Closed", "Failure"}
    assert set(got[0][0] + got[0][1]) <= known


# ---- tasks ----

def test_a_task_fails_with_its_reason(server):
    got = sdk.check(server, """
        task = task_of(conn, 'docker-batch', 3, 'echo out; echo err >&2; exit $INSTANCE_ID'); task.submit(); ended(task)
        print(json.dumps([task.state, [e.message for e in task.errors], [(i.instance_id, i.state) for i in task.completed_instances],
            task.stderr(), task.status.succeeded_range, task.status.failed_range])); repr(task)""")
    state, errors, instances, stderr, well, failed = got
    assert state == "Failure" and errors == ["instance 1: the command ended with exit code 1"]
    assert instances == [[0, "success"], [1, "failure"], [2, "failure"]]
    assert (stderr, well, failed) == ("err\n" * 3, "0", "1-2")


def test_ranges_name_the_instances(server):
    got = sdk.check(server, """
        task = task_of(conn, 'docker-batch', '1,3-5', 'echo $INSTANCE_ID $FRAME_ID $INSTANCE_COUNT'); task.submit(); ended(task)
        print(json.dumps([task.stdout(), task.stdout(4), task.status.succeeded_range, raises(MissingTaskInstanceException, lambda: task.stdout(2))]))""")
    assert got[0].split("\n") == ["1 1 4", "3 3 4", "4 4 4", "5 5 4", ""]
    assert got[1] == "4 4 4\n" and got[2] == "1,3-5" and "no instance 2" in got[3]


def test_output_comes_back_unchanged_and_once(server):
    got = sdk.check(server, """
        task = task_of(conn, 'docker-batch', 1, "printf 'Zürich \\\\360\\\\237\\\\230\\\\200\\\\n'; sleep 1; echo two"); task.submit()
        seen = ''
        until = time.monotonic() + 60
        while 'two' not in seen and time.monotonic() < until:
            seen += task.fresh_stdout(); time.sleep(0.05)
        ended(task)
        print(json.dumps([seen, task.fresh_stdout(), task.stdout(), task.fresh_stdout(0)]))""")
    text = "Zürich \N{GRINNING FACE}\ntwo\n"
    assert got == [text, "", text, text]


def test_a_task_waits_for_others(server):
    got = sdk.check(server, """
        first = task_of(conn, 'docker-batch', 1, 'sleep 1; date +%s%N'); first.submit()
        second = task_of(conn, 'docker-batch', 1, 'date +%s%N'); second.set_task_dependencies_from_uuids([first.uuid]); second.submit()
        bad = task_of(conn, 'docker-batch', 1, 'exit 3'); bad.submit()
        never = task_of(conn, 'docker-batch', 1, 'echo ran'); never.set_task_dependencies_from_uuids([bad.uuid]); never.submit()
        [ended(t) for t in (first, second, bad, never)]
        print(json.dumps([first.stdout(), second.stdout(), never.state, never.stdout(), [[e.code, e.message] for e in never.errors]]))""")
    assert int(got[0]) < int(got[1]) and got[2:4] == ["Failure", ""]
    assert got[4] == [["dependency", "a task that this one depends on did not succeed"]]


def test_a_failed_instance_is_tried_again(server):
    got = sdk.check(server, """
        from qarnot.retry_settings import RetrySettings
        task = task_of(conn, 'docker-batch', 2, 'echo try $WEIR_ATTEMPT; test $WEIR_ATTEMPT -gt 2')
        task.retry_settings = RetrySettings(maxPerInstanceRetries=2); task.submit(); ended(task)
        print(json.dumps([task.state, task.stdout(), task.retry_settings._maxPerInstanceRetries]))""")
    assert got == ["Success", "try 3\n" * 2, 2]


def test_run_with_a_time_limit_cancels(server):
    got = sdk.check(server, """
        task = task_of(conn, 'docker-batch', 1, 'sleep 60')
        task.run(job_timeout=1)
        short = task_of(conn, 'docker-batch', 1, 'true'); short.submit(); ended(short); short.abort()
        print(json.dumps([ended(task).state, short.state]))""")
    assert got == ["Cancelled", "Success"]


def test_many_tasks_in_one_call_and_their_list(server):
    got = sdk.check(server, """
        tasks = [task_of(conn, 'docker-batch', 1, f'echo {i}', f'bulk {i}') for i in range(25)]
        for task in tasks: task.tags = ['bulk']
        tasks.append(conn.create_task('no command', 'docker-batch', 1))
        refused = raises(QarnotGenericException, lambda: conn.submit_tasks(tasks))
        [ended(t) for t in tasks[:25]]
        listed = list(conn.all_tasks(tags=['bulk']))
        every = [t.uuid for t in conn.all_tasks()]
        print(json.dumps([[t.stdout() for t in tasks[:25]], sorted(t.name for t in listed), len(every) == len(set(every)), refused]))""")
    assert "DOCKER_CMD" in got[3]
    assert got[0] == [f"{i}\n" for i in range(25)]
    assert got[1] == sorted(f"bulk {i}" for i in range(25)) and got[2]


def test_a_deleted_task_is_gone(server):
    got = sdk.check(server, """
        ended_one = task_of(conn, 'docker-batch', 1, 'echo gone'); ended_one.submit(); ended(ended_one)
        running = task_of(conn, 'docker-batch', 1, 'sleep 60'); running.submit(); reaches(running, 'FullyExecuting')
        ids = [ended_one.uuid, running.uuid]
        ended_one.delete(); running.delete()
        [raises(MissingTaskException, lambda: conn.retrieve_task(i)) for i in ids]
        print(json.dumps([t.uuid in ids for t in conn.all_tasks()] + [False]))""")
    assert not any(got)


# ---- restarts ----

class Standing:
    """A parent process that keeps the listening socket, and starts the server again whenever it is killed."""

    def __init__(self, root):
        self.root = root
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen(128)
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.process = None

    def start(self):
        number = self.socket.fileno()
        script = f"exec 9<&{number} 8>&{{ready}} 3<&9 9<&-; LISTEN_PID=$$ LISTEN_FDS=1 exec {weir_bin()} server --dir {self.root}/data --ready-fd 8 2>>{self.root}/log"
        read, write = os.pipe()
        self.process = subprocess.Popen(["/bin/bash", "-c", script.format(ready=write)], pass_fds=[number, write],
                                        stdin=subprocess.DEVNULL, start_new_session=True)
        os.close(write)
        ready = select.select([read], [], [], DEADLINE_S)[0]
        line = os.read(read, 200).decode() if ready else ""
        os.close(read)
        assert line.strip() == self.url, (line, pathlib.Path(f"{self.root}/log").read_text()[-2000:])
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    @property
    def token(self):
        return pathlib.Path(f"{self.root}/data/admin.token").read_text().strip()

    def close(self):
        self.kill()
        self.socket.close()
        supervisors_end(pathlib.Path(self.root))


# Tells when each answer came: the SDK looks again ten seconds later.
FOLLOWED = sdk.PRELUDE + """
conn = qarnot.connection.Connection()
conn._http.hooks['response'].append(lambda answer, *a, **k: print('answer', time.time(), flush=True))
pool = conn.create_pool('kill', 'docker-batch', 1); pool.submit()
task = task_of(conn, pool, 1, 'sleep SECONDS; echo done'); task.run()
print('result', task.state, task.stdout().strip()); pool.close()
"""


@pytest.mark.timeout(600)
def test_killed_servers_break_no_client():
    kills = 20 if LONG else 4
    root = pathlib.Path(tempfile.mkdtemp(prefix="weir-clients-"))
    root.chmod(0o711)
    standing = Standing(root).start()
    try:
        clients = [sdk.start(standing, FOLLOWED.replace("SECONDS", str(9 * kills // 4 + 8))) for _ in range(3)]
        answers = queue.Queue()
        outputs = [[] for _ in clients]

        def follow(client, lines):
            for line in client.stdout:
                lines.append(line)
                if line.startswith("answer"):
                    answers.put(float(line.split()[1]))

        for client, lines in zip(clients, outputs):
            threading.Thread(target=follow, args=(client, lines), daemon=True).start()
        time.sleep(3)
        for kill in range(kills):
            if kill % 2 == 0:  # as the next look of a client is due: it meets no server, or one that is dying
                due = [t + 10 for t in list(answers.queue) if t + 10 > time.time() + 0.2]
                wait = min(due, default=time.time() + 2) - (0.05 if kill % 4 == 0 else 0.004) - time.time()
            else:
                wait = 0.7
            time.sleep(max(0, wait))
            standing.kill()
            time.sleep(0.1)
            standing.start()
        for client in clients:
            assert client.wait(timeout=200) == 0, client.stderr.read()[-3000:]
        time.sleep(0.5)
        assert ["".join(lines).count("result Success done") for lines in outputs] == [1, 1, 1]
    finally:
        standing.close()


@pytest.mark.timeout(300)
def test_an_outage_longer_than_a_poll():
    """The parent keeps the socket, so the client's next look waits until the server is back."""
    root = pathlib.Path(tempfile.mkdtemp(prefix="weir-clients-"))
    root.chmod(0o711)
    standing = Standing(root).start()
    try:
        client = sdk.start(standing, FOLLOWED.replace("SECONDS", "8"))
        while not client.stdout.readline().startswith("answer"):
            assert client.poll() is None
        time.sleep(3)  # all calls of its start are answered
        standing.kill()
        time.sleep(25 if LONG else 14)
        standing.start()
        out, err = client.communicate(timeout=120)
        assert client.returncode == 0, err[-3000:]
        assert out.count("result Success done") == 1
    finally:
        standing.close()


@pytest.mark.timeout(400)
@pytest.mark.skipif(not LONG, reason="takes two minutes; WEIR_LONG=1 runs it")
def test_two_hundred_tasks_from_eight_processes(weir_factory):
    weir = weir_factory("--slots", "8")
    programs = [sdk.start(weir, sdk.PRELUDE + f"""
conn = qarnot.connection.Connection()
tasks = [task_of(conn, 'docker-batch', 1, f'echo {n}-{{i}}') for i in range(25)]
for task in tasks: task.submit()
print([ended(t, 200).stdout() for t in tasks] == [f'{n}-{{i}}\\n' for i in range(25)])""") for n in range(8)]
    assert [sdk.finish(p, 300).strip() for p in programs] == ["True"] * 8


# ---- containers ----

@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("busybox") or not (shutil.which("crun") or shutil.which("runc")),
                    reason="needs root, busybox, and crun or runc")
def test_a_command_runs_in_its_image(weir_factory):
    images = pathlib.Path(tempfile.mkdtemp(prefix="weir-images-"))
    try:
        root = sdk.busybox_image(images)
        weir = weir_factory("--slots", "1", "--image-dirs", str(images))
        got = sdk.check(weir, f"""
            task = task_of(conn, 'docker-batch', '4-5', 'cat /etc/image; echo $INSTANCE_ID'); task.constants['DOCKER_REPO'] = 'dir:{root}'
            task.submit(); ended(task)
            bad = task_of(conn, 'docker-batch', 1, 'true'); bad.constants['DOCKER_REPO'] = 'dir:/etc'; bad.submit(); ended(bad)
            print(json.dumps([task.state, task.stdout(), task.stderr(), bad.state, bad.stderr()]))""")
        assert got[:3] == ["Success", "the image\n4\nthe image\n5\n", ""]
        assert got[3] == "Failure" and "outside --image-dirs" in got[4]
    finally:
        shutil.rmtree(images)


# ---- errors and the account ----

def test_the_exceptions_of_the_real_service(server):
    got = sdk.check(server, """
        pool = conn.create_pool('x', 'docker-batch', 0)
        gone = '00000000-0000-8000-8000-000000000000'
        bad_pool = task_of(conn, 'docker-batch', 1, 'true'); bad_pool._pool_uuid = gone; bad_pool._profile = None
        print(json.dumps([
            raises(MissingPoolException, lambda: conn.retrieve_pool(gone)),
            raises(MissingTaskException, lambda: conn.retrieve_task(gone)),
            raises(MissingTaskException, lambda: conn.retrieve_task('None')),
            raises(QarnotGenericException, pool.submit),
            raises(QarnotGenericException, bad_pool.submit),
            raises(QarnotGenericException, conn.create_task('t', 'docker-batch', 1).submit),
            raises(BucketStorageUnavailableException, lambda: conn.create_bucket('b')),
            raises(MissingProfileException, lambda: conn.retrieve_profile('none')),
            conn.profiles_names(), conn.user_info.email, list(conn.all_hardware_constraints())]))""")
    assert "from 1 to" in got[3] and "no pool" in got[4] and "DOCKER_CMD" in got[5]
    assert got[8] == ["docker-batch"] and got[10] == []


def test_tokens(server):
    sdk.run(server, sdk.PRELUDE + "raises(UnauthorizedException, lambda: qarnot.connection.Connection())", token="weir_admin_" + "0" * 64)
    reader = server.api("POST", "tokens", {"scope": "read", "name": "reader"}).json["token"]
    got = sdk.check(server, """
        list(conn.all_pools())
        print(json.dumps([raises(UnauthorizedException, conn.create_pool('p', 'docker-batch', 1).submit),
            raises(UnauthorizedException, task_of(conn, 'docker-batch', 1, 'true').submit)]))""", token=reader)
    assert all("'read'" in words for words in got)


def test_an_address_with_a_slash_at_its_end(server):
    sdk.check(server, "list(conn.all_pools()); print(1)", env={"QARNOT_CLUSTER_URL": f"{server.url}/qarnot/"})
