"""Jobs, hardware constraints, and every public method of the newest Qarnot SDK: each works, or raises one of the SDK's own exceptions
with a sentence. SPDX-License-Identifier: Apache-2.0"""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "api"))

import qarnot_sdk as sdk  # noqa: E402
from weir_harness import REPOSITORY, Weir, weir_bin  # noqa: E402

sys.path.insert(0, str(REPOSITORY / "bench"))
import slurm as private_slurm  # noqa: E402


def server_of_a_file(weir, config):
    """Starts a server alone, with its file; `weir.close()` ends it."""
    ready, write = os.pipe()
    weir.log = open(weir.root / "up.log", "ab")
    weir.process = subprocess.Popen([weir_bin(), "server", "--config", config, "--ready-fd", str(write)], pass_fds=[write],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=weir.log, env=weir.env(), start_new_session=True)
    os.close(write)
    with os.fdopen(ready) as file:
        weir.url = file.readline().strip()
    weir.port = int(weir.url.rsplit(":", 1)[1])


# ---- jobs ----

@pytest.mark.parametrize("version", ["2.5.2", sdk.NEWEST])
def test_a_job_groups_tasks_and_ends_them(server, version):
    got = sdk.check(server, """
        pool = conn.create_pool('of the job', 'docker-batch', 1); pool.submit()
        job = conn.create_job('jöb', pool); job.tags = ['of jobs']; job.submit()
        first = [job.state, job.name, job.shortname == job.uuid, job.pool.uuid == pool.uuid, job.tags, job.use_dependencies]
        task = conn.create_task('in', None, 2, job=job); task.constants['DOCKER_CMD'] = 'echo $INSTANCE_ID; basename $(dirname $PWD)'
        task.submit(); ended(task)
        long = conn.create_task('long', None, 1, job=job); long.constants['DOCKER_CMD'] = 'sleep 60'; long.submit()
        reaches(long, 'FullyExecuting')
        members = sorted(t['name'] for t in conn._get(f'/jobs/{job.uuid}/tasks').json())
        lists = [[j.name for j in conn.all_jobs(tags=['of jobs'])], [j.name for j in conn.all_jobs(tags=['other'])],
            [t.name for t in conn.all_tasks() if t.name == 'jöb']]
        refused = raises(UnauthorizedException, conn.retrieve_job(job.uuid).delete)
        job.terminate(); ended(long); job = conn.retrieve_job(job.uuid)
        late = conn.create_task('late', None, 1, job=job); late.constants['DOCKER_CMD'] = 'true'
        late = raises(QarnotGenericException, late.submit)
        uuid = job.uuid; last = [job.state, long.state, task.state]; job.delete()
        print(json.dumps([first, task.stdout(), members, lists, refused, last, late,
            raises(MissingJobException, lambda: conn.retrieve_job(uuid)), uuid])); pool.close()""", version=version)
    first, out, members, lists, refused, last, late, gone, uuid = got
    assert first == ["Active", "jöb", True, True, ["of jobs"], False]
    assert out.split()[::2] == ["0", "1"]
    assert members == ["in", "long"] and lists == [["jöb"], [], []]
    assert "running tasks" in refused and "takes tasks" in late and uuid in gone
    assert last == ["Completed", "Cancelled", "Success"]


def test_a_job_without_a_pool_and_what_is_refused(server):
    got = sdk.check(server, """
        job = conn.create_job('free', useDependencies=True); job.submit()
        task = conn.create_task('t', 'docker-batch', 1, job=job); task.constants['DOCKER_CMD'] = 'sleep 60'; task.submit()
        bare = conn.create_task('bare', None, 1, job=job); bare.constants['DOCKER_CMD'] = 'true'
        words = [raises(QarnotGenericException, bare.submit), raises(QarnotGenericException, conn.create_job('j', 'none').submit)]
        timed = conn.create_job('timed'); timed.max_wall_time = '01:00:00'; words.append(raises(QarnotGenericException, timed.submit))
        uuid = job.uuid; depends = job.use_dependencies; job.delete(True)
        print(json.dumps([depends, words, ended(task).state, raises(MissingJobException, lambda: conn.retrieve_job(uuid))]))""")
    assert got[0] and got[2] == "Cancelled"
    assert [word in text for word, text in zip(["profile", "no pool", "maxWallTime"], got[1])] == [True] * 3
    # A job is a staged task of Weir; `weir task list` shows which tasks it has.
    jobs = [t for t in server.api("GET", "tasks?tag=qarnot-job").json["items"] if t["name"] == "free"]
    assert [t["state"] for t in jobs] == ["killed"]


# ---- lists ----

def test_a_running_task_is_whole_in_every_list(server):
    got = sdk.check(server, """
        task = task_of(conn, 'docker-batch', 3, 'test $INSTANCE_ID = 0 || sleep 60'); task.tags = ['whole']; task.submit()
        until = time.monotonic() + 60
        while len(task.completed_instances) < 1 and time.monotonic() < until: task.update(True); time.sleep(0.05)
        seen = []
        for which in (dict(summary=False), dict(tags=['whole']), dict()):
            [one] = [t for t in conn.all_tasks(**which) if t.uuid == task.uuid]
            one.auto_update = False
            seen.append([one.state, one.running_instance_count, [i.instance_id for i in one.completed_instances], one.status.succeeded_range])
        task.abort(); print(json.dumps(seen))""")
    assert got == [["FullyExecuting", 2, [0], "0"]] * 3


# ---- hardware ----

def test_hardware_constraints_are_kept_or_refused_by_name(server):
    got = sdk.check(server, """
        from qarnot.hardware_constraint import *
        def pool_with(hardware):
            pool = conn.create_pool('hw', 'docker-batch', 1); pool.hardware_constraints = [hardware]; pool.submit(); return pool
        def task_with(hardware):
            task = task_of(conn, 'docker-batch', 1, 'true'); task.hardware_constraints = [hardware]; task.submit(); return task
        well = [pool_with(h) for h in (MinimumCoreHardware(1), MinimumRamHardware(64), NoGpuHardware())]
        kept = [type(conn.retrieve_pool(p.uuid).hardware_constraints[0]).__name__ for p in well]
        [p.close() for p in well]
        ran = [ended(task_with(h)).state for h in (MinimumCoreHardware(1), MinimumRamHardware(64.0), NoGpuHardware())]
        bad = (MinimumCoreHardware(4000), MinimumRamHardware(10 ** 9), GpuHardware(), SSDHardware(), CpuModelHardware('x'), MaximumCoreHardware(1))
        print(json.dumps([kept, ran, [raises(QarnotGenericException, lambda: pool_with(h)) for h in bad],
            [raises(QarnotGenericException, lambda: task_with(h)) for h in bad]]))""")
    kept, ran, pools, tasks = got
    assert kept == ["MinimumCoreHardware", "MinimumRamHardware", "NoGpuHardware"] and ran == ["Success"] * 3
    assert ["server's machine" in words for words in pools] == [True] * 3 + [False] * 3
    assert [kind in words for kind, words in zip(["SSDHardware", "CpuModelHardware", "MaximumCore"], pools[3:])] == [True] * 3
    assert [part in words for part, words in zip(["cpu", "memory", "devices", "SSD", "CpuModel", "MaximumCore"], tasks)] == [True] * 6


# ---- where nodes come from ----

@pytest.mark.timeout(180)
@pytest.mark.skipif(not private_slurm.installed(), reason="SLURM IS NOT INSTALLED: apt-get install slurmctld slurmd slurm-client munge")
def test_nodes_come_from_the_provider_that_the_servers_file_names():
    cluster = private_slurm.Slurm(nodes=2, cpus=2)
    weir = Weir(env={"SLURM_CONF": cluster.env["SLURM_CONF"]})
    config = weir.root / "server.yaml"
    config.write_text(f"listen: 127.0.0.1:0\ndata: {weir.dir}\ncompat: {{qarnot: {{provider: slurm}}}}\n")
    jobs = lambda: cluster.run("squeue", "-h", "-o", "%i").split()  # noqa: E731
    try:
        server_of_a_file(weir, config)
        got = sdk.check(weir, """
            pool = conn.create_pool('of slurm', 'docker-batch', 2); pool.submit()
            task = task_of(conn, pool, 4, 'echo $INSTANCE_ID $WEIR_NODE; sleep 1'); task.submit(); ended(task, 120)
            print(json.dumps([task.state, task.stdout(), pool.state])); pool.close()""")
        lines = [line.split() for line in got[1].splitlines()]
        assert got[0] == "Success" and [line[0] for line in lines] == ["0", "1", "2", "3"] and len({line[1] for line in lines}) == 2
        weir.wait_until(lambda: jobs() == [], "the jobs of the closed pool")
    finally:
        for job in jobs():
            cluster.run("scancel", job)
        weir.close()
        cluster.stop()


# ---- limits ----

def test_elastic_settings_that_cannot_be_are_refused(server):
    words = sdk.check(server, """
        def elastic(**settings):
            pool = conn.create_pool('e', 'docker-batch', 1); pool.setup_elastic(**settings); return raises(QarnotGenericException, pool.submit)
        print(json.dumps([elastic(minimum_total_slots=3, maximum_total_slots=2), elastic(maximum_total_slots=0), elastic(resize_period=0),
            elastic(resize_factor=0), elastic(resize_factor=1.5)]))""")
    assert [part in text for part, text in zip(["3 to 2", "0 to 0", "resizePeriod", "factor", "factor"], words)] == [True] * 5


@pytest.mark.timeout(120)
def test_a_server_full_of_pools_says_so_by_the_sdks_own_exception(weir_factory):
    weir = weir_factory("--slots", "1")
    for number in range(1023):  # beside the pool `default`
        assert weir.api("POST", "pools", {"name": f"p{number}"}).status == 201
    words = sdk.check(weir, "print(json.dumps(raises(MaxPoolException, conn.create_pool('one more', 'docker-batch', 1).submit)))")
    assert words == "maximum number of pools reached: the server takes at most 1024 pools"


def test_what_a_program_cannot_send_is_refused_in_the_sdks_form(server, tmp_path):
    """A body beyond the bound, and the name and password that requests takes from ~/.netrc in place of the token."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login a password b\n")
    got = sdk.check(server, f"""
        long = conn._post('/tasks', json='x' * (17 << 20))
        conn._http.trust_env = True
        import os; os.environ['NETRC'] = {str(tmp_path / '.netrc')!r}
        named = conn._http.get(conn.cluster + '/settings')
        print(json.dumps([long.status_code, long.json(), named.status_code, named.json()['message']]))""")
    assert got[0] == 413 and list(got[1]) == ["message"] and "16777216 bytes" in got[1]["message"]
    assert got[2] == 401 and "netrc" in got[3]


# ---- every method ----

# What is called on each object. A value is a list of arguments; the others have none.
CALLS = """
connection = {'retrieve_pool': [gone], 'retrieve_task': [gone], 'retrieve_job': [gone], 'retrieve_bucket': ['b'], 'retrieve_or_create_bucket': ['b'],
    'create_bucket': ['b'], 'create_pool': ['p', 'docker-batch'], 'create_elastic_pool': ['p', 'docker-batch'], 'create_task': ['t'], 'create_job': ['j'],
    'submit_tasks': [[task_of(conn, 'docker-batch', 1, 'true')]], 'profile_details': ['docker-batch'], 'retrieve_profile': ['docker-batch'],
    'search_cpu_model_constraints': ['xeon gold']}
# Each of these is for a task or pool that was not submitted yet; run() is submit() and wait().
before = ['allow_credentials_to_be_exported_to_pool_environment', 'allow_credentials_to_be_exported_to_task_environment', 'clear_task_dependencies',
    'remove_task_dependency', 'set_task_advanced_dependencies', 'set_task_dependencies_from_tasks', 'set_task_dependencies_from_uuids']
thing = {**dict.fromkeys(before), 'resume': [home], 'run': None, 'download_results': [home], 'snapshot': [5], 'snapshot_status': ['1'], 'wait_snapshot': ['1'],
    'from_json': None, 'delete': None, 'close': None, 'terminate': None}
secret = {'get_secret': ['a/b'], 'create_secret': ['a/b', 'v'], 'update_secret': ['a/b', 'v'], 'delete_secret': ['a/b'], 'list_secrets': ['']}
"""

SWEEP = """
    import inspect, io, contextlib, qarnot.exceptions, qarnot.secrets
    own = tuple(c for c in vars(qarnot.exceptions).values() if inspect.isclass(c))
    gone = '00000000-0000-8000-8000-000000000000'
    home = HOME
    CALLS
    outcomes, wrong = {}, []
    def call(where, name, arguments, method):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                result = method(*arguments)
                if inspect.isgenerator(result): list(result)
            outcomes[f'{where}.{name}'] = 'ok'
        except own as e:
            outcomes[f'{where}.{name}'] = f'{type(e).__name__}: {e}'
        except Exception as e:
            wrong.append(f'{where}.{name}: {type(e).__name__}: {e}')
    def sweep(where, thing_itself, given):
        for name, member in inspect.getmembers(type(thing_itself)):
            if name.startswith('_'): continue
            if isinstance(member, property):
                call(where, name, [], lambda: getattr(thing_itself, name))
            elif callable(member) and given.get(name, []) is not None:
                call(where, name, given.get(name, []), getattr(thing_itself, name))
    sweep('connection', conn, connection)
    pool = conn.create_pool('swept', 'docker-batch', 1); pool.submit()
    job = conn.create_job('swept', pool); job.submit()
    live = task_of(conn, pool, 1, 'sleep 60'); live.submit(); reaches(live, 'FullyExecuting')
    ends = task_of(conn, 'docker-batch', 1, 'echo out'); ends.submit(); ended(ends)
    sweep('pool', pool, thing); sweep('job', job, thing); sweep('ended', ends, thing)
    sweep('live', live, dict(thing, abort=None, resume=None, wait=[0.1], submit=None))
    sweep('secrets', qarnot.secrets.Secrets(conn), secret)
    for name in ('stdout', 'fresh_stdout', 'stderr', 'fresh_stderr'):
        for where, one in (('pool', pool), ('ended', ends)):
            call(where, name + '(0)', [0], getattr(one, name)); call(where, name + '(9)', [9], getattr(one, name))
    for where, one, name in (('job', job, 'terminate'), ('pool', pool, 'close'), ('pool', pool, 'delete'), ('job', job, 'delete'), ('ended', ends, 'delete'), ('live', live, 'delete')):
        call(where, name, [], getattr(one, name))
    print(json.dumps([outcomes, wrong]))"""

# The methods that do not work here, and a part of the sentence that the program sees. SDK exceptions that carry no words have "".
REFUSED = {
    "connection.buckets": "", "connection.create_bucket": "", "connection.retrieve_bucket": "", "connection.retrieve_or_create_bucket": "",
    "connection.get_organization_computing_quotas": "no organizations",
    "connection.retrieve_job": "no job", "connection.retrieve_pool": "no pool", "connection.retrieve_task": "no task",
    "ended.pool": "no pool None",  # the SDK asks for the pool of a task that has none
    "ended.commit": "has ended", "ended.instant": "has ended", "ended.snapshot": "has ended", "ended.snapshot_status": "no snapshot",
    "ended.wait_snapshot": "no snapshot", "ended.stdout(9)": "no instance 9", "ended.fresh_stdout(9)": "no instance 9",
    "ended.stderr(9)": "no instance 9", "ended.fresh_stderr(9)": "no instance 9",
    "live.instant": "result bucket", "live.snapshot": "result bucket", "live.snapshot_status": "no snapshot", "live.wait_snapshot": "no snapshot",
    "pool.stdout(9)": "no instance 9", "pool.fresh_stdout(9)": "no instance 9", "pool.stderr(9)": "no instance 9",
    "pool.fresh_stderr(9)": "no instance 9",
    "secrets.get_secret": "", "secrets.update_secret": "", "secrets.delete_secret": "", "secrets.create_secret": "no secrets",
}


@pytest.mark.timeout(120)
def test_every_method_works_or_says_why_not(server, tmp_path):
    outcomes, wrong = sdk.check(server, SWEEP.replace("HOME", repr(str(tmp_path))).replace("CALLS", sdk.textwrap.indent(CALLS, "    ")))
    assert wrong == []
    failed = {name: words for name, words in outcomes.items() if words != "ok"}
    assert {name: words for name, words in failed.items() if name not in REFUSED or REFUSED[name] not in words} == {}
    assert len(outcomes) > 150  # the methods and properties of the connection, a pool, a job, two tasks and the secrets
