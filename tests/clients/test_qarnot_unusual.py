"""Unusual calls of the newest Qarnot SDK: values of other kinds, names instead of UUIDs, changes after the submission, objects that another
object has deleted, paging by hand. SPDX-License-Identifier: Apache-2.0"""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "api"))

import qarnot_sdk as sdk  # noqa: E402


# ---- values ----

def test_every_constant_reaches_the_command_by_its_own_name(server):
    """Also names that a shell around the command might use itself, and values that are no texts."""
    got = sdk.check(server, """
        task = task_of(conn, 'docker-batch', 1, 'echo "[$n][$i][$r][$a][$b][$flag][$off][$number][$none][$two]"')
        given = {'n': '5', 'i': '6', 'r': '7', 'a': '8', 'b': '9', 'flag': True, 'off': False, 'number': 3, 'none': None, 'two': 'x\\ny "é"'}
        for key, value in given.items(): task.constants[key] = value
        task.submit(); ended(task)
        listed = task_of(conn, 'docker-batch', 1, 'true'); listed.constants['L'] = [1]
        print(json.dumps([task.stdout(), conn.retrieve_task(task.uuid).constants['flag'], raises(QarnotGenericException, listed.submit)]))""")
    assert got[0] == '[5][6][7][8][9][true][false][3][][x\ny "é"]\n'
    assert got[1] is True and "L is a list" in got[2]


def test_a_pools_constants_are_under_those_of_the_task(server):
    got = sdk.check(server, """
        pool = conn.create_pool('constants', 'docker-batch', 1)
        for key in ('A', 'B', 'DOCKER_CMD'): pool.constants[key] = 'echo pool' if key == 'DOCKER_CMD' else 'pool'
        pool.submit()
        task = task_of(conn, pool, 1, 'echo $A $B'); task.constants['B'] = 'task'; task.submit(); ended(task)
        own = conn.create_task('of the pool', pool, 1); own.submit(); ended(own)
        print(json.dumps([task.stdout(), own.stdout()])); pool.close()""")
    assert got == ["pool task\n", "pool\n"]


def test_values_of_other_kinds_are_refused_by_their_names(server):
    """Read as a default they would give the program something else than it asked for."""
    got = sdk.check(server, """
        from qarnot.multi_slots_settings import MultiSlotsSettings
        from qarnot.retry_settings import RetrySettings
        def elastic(**settings):
            pool = conn.create_pool('e', 'docker-batch', 1); pool.setup_elastic(**settings); return raises(QarnotGenericException, pool.submit)
        def multi(slots):
            pool = conn.create_pool('m', 'docker-batch', 4); pool.multi_slots_settings = MultiSlotsSettings(slots); return raises(QarnotGenericException, pool.submit)
        def retry(total, each):
            task = task_of(conn, 'docker-batch', 1, 'true'); task.retry_settings = RetrySettings(total, each); return raises(QarnotGenericException, task.submit)
        def pool(name='p', profile='docker-batch', count=1):
            return raises(QarnotGenericException, conn.create_pool(name, profile, count).submit)
        def task(name='t', profile='docker-batch', count=1):
            return raises(QarnotGenericException, task_of(conn, profile, count, 'true', name).submit)
        before = len(list(conn.all_pools()))
        words = [elastic(minimum_total_slots=-1), elastic(maximum_total_slots='5'), elastic(maximum_total_slots=5.5), elastic(minimum_idle_slots=-4),
            elastic(minimum_idle_time_seconds='soon'), elastic(resize_period=None, resize_factor='1'), multi('4'), multi(0), multi(2.5), retry(-1, None),
            retry(None, 'twice'), pool(count='3'), pool(count=2.5), pool(count=-1), pool(profile='docker-nonsense'), pool(name='x' * 300),
            task(profile='nonsense'), task(name='a\\nb'), task(name='x' * 300), task(count=0), task(count='01-'), task(count='3-1')]
        print(json.dumps([words, len(list(conn.all_pools())) - before]))""")
    names = ["minTotalSlots", "maxTotalSlots", "maxTotalSlots", "minIdleSlots", "minIdleTimeSeconds", "factor", "slotsPerNode", "slotsPerNode",
             "slotsPerNode", "maxTotalRetries", "maxPerInstanceRetries", "instanceCount", "instanceCount", "instanceCount", "profile", "title", "profile",
             "name", "name", "instanceCount", "advancedRanges", "advancedRanges"]
    assert [name in words for name, words in zip(names, got[0], strict=True)] == [True] * len(names), got[0]
    assert not any(words.count("name:") + words.count("title:") > 1 for words in got[0]) and got[1] == 0


@pytest.mark.parametrize("ranges,numbers", [("3 - 5", [3, 4, 5]), ("08-10", [8, 9, 10]), ("1, 7", [1, 7]), ("999999999-1000000000", [999999999, 1000000000])])
def test_ranges_as_people_write_them(server, ranges, numbers):
    got = sdk.check(server, f"""
        task = task_of(conn, 'docker-batch', {ranges!r}, 'echo $INSTANCE_ID/$INSTANCE_COUNT'); task.submit(); ended(task)
        print(json.dumps([task.stdout(), task.advanced_range, [i.instance_id for i in task.completed_instances], task.stdout({numbers[1]})]))""")
    lines = [f"{n}/{len(numbers)}\n" for n in numbers]
    assert got == ["".join(lines), ranges, numbers, lines[1]]


def test_bodies_that_no_sdk_sends(server):
    def post(path, body):
        answer = server.api("POST", f"/qarnot{path}", body)
        return answer.status, answer.json.get("message", "") if isinstance(answer.json, dict) else answer.json

    task = {"name": "t", "profile": "docker-batch", "instanceCount": 1, "constants": [{"key": "DOCKER_CMD", "value": "true"}]}
    for key, value in {"constants": {"a": 1}, "tags": "x", "labels": [], "dependencies": [1], "retrySettings": "x", "name": 5, "poolUuid": 7}.items():
        status, words = post("/tasks", {**task, key: value})
        assert status == 400 and words.startswith(f"{key}: "), words
    assert [row["statusCode"] for row in post("/tasks", [1, [], task])[1]] == [400, 400, 200]
    for where in ("tasks", "pools", "jobs"):
        for body, word in [({"token": 5}, "token"), ({"token": "x"}, "token"), ({"maximumResults": "x"}, "maximumResults"), ({"maximumResults": -1}, "maximumResults"),
                           ({"filter": 5}, "filter"), ({"filter": {"operator": "Like", "field": "Name", "value": "x"}}, "filter"), ([], "object")]:
            status, words = post(f"/{where}/paginate", body)
            assert status == 400 and word in words, (where, body, words)


# ---- names ----

def test_a_pool_is_found_by_its_shortname_and_by_any_case_of_its_uuid(server):
    got = sdk.check(server, """
        pool = conn.create_pool('', 'docker-batch', 1, shortname='my-pool'); pool.submit()
        again = conn.create_pool('second', 'docker-batch', 1, shortname='my-pool')
        refused = raises(QarnotGenericException, again.submit)
        found = [conn.retrieve_pool('my-pool').uuid == pool.uuid, conn.retrieve_pool(pool.uuid.upper()).uuid == pool.uuid, conn.retrieve_pool(pool.uuid).name]
        pool.delete(); gone = raises(MissingPoolException, lambda: conn.retrieve_pool('my-pool'))
        again.submit(); print(json.dumps([refused, found, gone, conn.retrieve_pool('my-pool').uuid == again.uuid])); again.delete()""")
    assert "shortname" in got[0] and got[1] == [True, True, ""] and "my-pool" in got[2] and got[3]


def test_the_registry_of_an_image(server):
    images = sdk.check(server, """
        for server in ('https://registry.example.org/', 'registry.example.org:5000', ''):
            task = task_of(conn, 'docker-batch', 1, 'true')
            task.constants.update({'DOCKER_REPO': 'group/image', 'DOCKER_TAG': '2', 'DOCKER_SRV': server}); task.tags = ['of a registry']; task.submit()
            task.abort()
        print(json.dumps(0))""")
    assert images == 0
    tasks = [task for task in server.api("GET", "tasks?limit=200").json["items"] if task.get("image")]
    assert sorted(task["image"] for task in tasks) == ["group/image:2", "registry.example.org/group/image:2", "registry.example.org:5000/group/image:2"]


# ---- after the submission ----

def test_what_a_submitted_task_keeps_and_what_can_change(server):
    got = sdk.check(server, """
        task = task_of(conn, 'docker-batch', 1, 'sleep 60'); task.tags = ['first']; task.submit(); reaches(task, 'FullyExecuting')
        task.tags = ['b', 'c']; task.commit()
        other = conn.retrieve_task(task.uuid); seen = other.tags
        other.constants['NEW'] = '1'; refused = raises(QarnotGenericException, other.commit)
        after = dict(conn.retrieve_task(task.uuid).constants)
        next_one = task_of(conn, 'docker-batch', 1, 'true'); next_one.set_task_dependencies_from_tasks([task]); next_one.submit()
        waits = str(next_one.dependencies.state)
        again = conn.retrieve_task(next_one.uuid); again.tags = ['x']; again.commit()
        kept = conn.retrieve_task(next_one.uuid).dependencies.depends_on == [task.uuid]
        task.abort(); ended(next_one)
        well = task_of(conn, 'docker-batch', 1, 'true'); well.submit(); ended(well)
        last = task_of(conn, 'docker-batch', 1, 'true'); last.set_task_dependencies_from_uuids([well.uuid]); last.submit(); ended(last)
        print(json.dumps([seen, refused, after, waits, kept, str(next_one.dependencies.state), str(last.dependencies.state)]))""")
    assert got[0] == ["b", "c"] and "constants" in got[1] and got[2] == {"DOCKER_CMD": "sleep 60"}
    assert got[3:] == ["waiting", True, "dependencyConditionsNotFulfilled", "dependencyConditionsFulfilled"]


def test_a_task_that_another_object_deleted_is_gone_for_every_call(server):
    got = sdk.check(server, """
        done = task_of(conn, 'docker-batch', 1, 'echo out'); done.submit(); ended(done)
        live = task_of(conn, 'docker-batch', 1, 'echo out; sleep 60'); live.submit(); reaches(live, 'FullyExecuting')
        words, codes = [], []
        for task in (done, live):
            other = conn.retrieve_task(task.uuid); path = f'/tasks/{task.uuid}'; task.delete()
            words.append(raises(MissingTaskInstanceException, lambda: other.stdout(0)))
            words += [raises(MissingTaskException, call) for call in (other.stdout, other.fresh_stderr, other.abort, other.commit, other.update_resources,
                lambda: other.update(True), other.delete)]
            codes += [conn._post(path + '/abort').status_code, conn._patch(path).status_code, conn._delete(path).status_code]
        print(json.dumps([len(words), codes]))""")
    assert got == [16, [404] * 6]


# ---- slots ----

def test_slots_of_the_last_node_that_were_not_asked_for_stay_free(server):
    got = sdk.check(server, """
        from qarnot.multi_slots_settings import MultiSlotsSettings
        pool = conn.create_pool('six', 'docker-batch', 6); pool.multi_slots_settings = MultiSlotsSettings(4); pool.submit(); reaches(pool, 'FullyExecuting')
        task = task_of(conn, pool, 9, 'begin=$(date +%s%N); sleep 1; echo $WEIR_NODE $begin $(date +%s%N)'); task.submit(); ended(task)
        print(json.dumps([pool.running_instance_count, pool.total_slot_capacity, task.stdout()])); pool.close()""")
    spans = [line.split() for line in got[2].splitlines()]
    at_once = max(sum(int(b) <= int(begin) < int(e) for _, b, e in spans) for _, begin, _ in spans)
    assert got[:2] == [6, 6] and len(spans) == 9 and len({node for node, _, _ in spans}) == 2
    assert at_once == 6


# ---- lists ----

def test_lists_by_hand(server):
    got = sdk.check(server, """
        jobs = [conn.create_job(f'job {i}') for i in range(5)]
        for number, job in enumerate(jobs): job.tags = ['even' if number % 2 == 0 else 'odd', 'by hand']; job.submit()
        def pages(call, **options):
            seen, token, count = [], None, 0
            while True:
                page = call(token=token, maximum=2, **options); count += 1
                seen += [thing.name for thing in page.page_data]; token = page.next_token
                if not page.is_truncated: return sorted(seen), count
        tasks = [task_of(conn, 'docker-batch', 1, 'true', f'task {i}') for i in range(7)]
        for task in tasks: task.tags = ['by hand']
        conn.submit_tasks(tasks)
        one = pages(conn.jobs_page, tags=['even']); both = pages(conn.jobs_page, tags_intersect=['odd', 'by hand']); all_tasks = pages(conn.tasks_page, tags=['by hand'])
        for job in jobs: job.delete(True)
        print(json.dumps([one, both, all_tasks, [j.name for j in conn.all_jobs(tags=['by hand'])]]))""")
    assert got[0][0] == ["job 0", "job 2", "job 4"] and got[1][0] == ["job 1", "job 3"]
    assert got[2][0] == [f"task {i}" for i in range(7)] and got[2][1] >= 4 and got[3] == []
