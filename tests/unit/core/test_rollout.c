/* test_rollout.c - a service takes the place of another, instance by instance: the order of the moves, the ways it stops, the way back,
 * and what a kill of one side leaves. SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/model/instance.h"
#include "core/model/rollout.h"
#include "core/sched/explain/explain.h"
#include "core/state/state.h"

enum { DRAIN_MS = 2000, WITHIN_MS = 60000, SLOTS = 4, INSTANCES = 3 };

static int setup(void **state)
{
    static struct rig rig;
    rig_init(&rig);
    (void)rig_node(&rig, "n1", SLOTS, 0, 1);
    *state = &rig;
    return 0;
}

static int teardown(void **state)
{
    rig_done(*state);
    return 0;
}

static struct task_spec service(uint32_t instances)
{
    struct task_spec spec = rig_spec();
    spec.kind = TASK_SERVICE;
    spec.name = "chat";
    spec.instances = instances;
    spec.preemptible = true;
    spec.health = "/";
    spec.grace_ms = 1000;
    return spec;
}

static void check(struct rig *rig, task_id id, uint32_t index, enum service_health now)
{
    struct input in = {.type = INPUT_HEALTH};
    in.health.key = (struct attempt_key){id, index, query_instance(rig->core, id, index)->attempt};
    in.health.now = now;
    in.health.words = "";
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

/* Starts what waits, and lets the instance be healthy. */
static void becomes_ready(struct rig *rig, task_id id, uint32_t index)
{
    rig_pass(rig);
    assert_int_equal(rig_instance(rig, id, index), INSTANCE_STARTING);
    rig_report(rig, id, index, REPORT_STARTED, 0);
    check(rig, id, index, SERVICE_HEALTHY);
}

static task_id runs(struct rig *rig, uint32_t instances)
{
    const task_id id = rig_submit(rig, service(instances));
    for (uint32_t i = 0; i < instances; i++) {
        becomes_ready(rig, id, i);
    }
    return id;
}

static enum verdict try_update(struct rig *rig, struct task_spec spec, task_id from, bool old_first)
{
    const struct rollout_ask ask = {from, old_first, DRAIN_MS, WITHIN_MS};
    const struct input in = {.type = INPUT_TASK_SUBMIT,
                             .submit = {.specs = &spec, .count = 1, .replaces = &ask}};
    return rig_do(rig, in);
}

static task_id update(struct rig *rig, uint32_t instances, task_id from, bool old_first)
{
    assert_int_equal(try_update(rig, service(instances), from, old_first), VERDICT_OK);
    return query_task_last(rig->core);
}

static void after(struct rig *rig, int64_t ms)
{
    rig->now_ms += ms;
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
}

static enum verdict ask(struct rig *rig, task_id id, bool back)
{
    struct input in = {.type = INPUT_ROLLOUT, .task = {.task = id}};
    in.task.back = back;
    return rig_do(rig, in);
}

static uint32_t takes(const struct rig *rig, task_id id)
{
    const struct task *task = query_task(rig->core, id);
    uint32_t count = 0;
    for (uint32_t i = 0; task != NULL && i < task->instance_count; i++) {
        count += query_task_takes(rig->core, task, query_instance(rig->core, id, i));
    }
    return count;
}

static enum reason_code why(const struct rig *rig, task_id id)
{
    struct explanation ret = {0};
    explain_task(rig->core, id, &ret);
    return ret.reason.code;
}

/* The old instance that drains ends. */
static void old_ends(struct rig *rig, task_id old, uint32_t index)
{
    assert_int_equal(rig_instance(rig, old, index), INSTANCE_RUNNING);
    after(rig, DRAIN_MS - 1);
    assert_int_equal(rig_instance(rig, old, index), INSTANCE_RUNNING);
    after(rig, 1);
    assert_int_equal(rig_instance(rig, old, index), INSTANCE_STOPPING);
    rig_report(rig, old, index, REPORT_ENDED, 143);
}

static void each_old_instance_goes_once_a_new_one_takes_requests(void **state)
{
    struct rig *rig = *state;
    const task_id old = runs(rig, INSTANCES);
    const task_id new = update(rig, INSTANCES, old, false);
    for (uint32_t i = 0; i < INSTANCES; i++) {
        const struct task *task = query_task(rig->core, new);
        assert_int_equal(task->held_count, INSTANCES - i - 1);
        assert_int_equal(takes(rig, old), INSTANCES - i);
        becomes_ready(rig, new, i);
        assert_int_equal(takes(rig, new), i + 1);
        assert_int_equal(takes(rig, old), INSTANCES - i - 1); /* one drains */
        old_ends(rig, old, i);
    }
    assert_int_equal(rig_state(rig, old), TASK_COMPLETED);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.cause, END_REPLACED);
    assert_int_equal(rig_state(rig, new), TASK_RUNNING);
    const struct task *task = query_task(rig->core, new);
    assert_int_equal(task->held_count, 0);
    assert_int_equal(task->rollout.v, 0);
    assert_int_equal(task->origin.v, old.v);
    assert_int_equal(query_task(rig->core, update(rig, 1, new, false))->origin.v, old.v);
}

static void a_new_instance_that_is_not_healthy_in_time_stops_the_update(void **state)
{
    struct rig *rig = *state;
    const task_id old = runs(rig, INSTANCES);
    const task_id new = update(rig, INSTANCES, old, false);
    rig_pass(rig);
    rig_report(rig, new, 0, REPORT_STARTED, 0);
    check(rig, new, 0, SERVICE_UNHEALTHY);
    after(rig, WITHIN_MS - 1);
    assert_int_equal(rig_instance(rig, new, 0), INSTANCE_RUNNING);
    after(rig, 1);
    const struct fact *fact = rig_fact(rig, FACT_ROLLOUT);
    assert_int_equal(fact->rollout.row.phase, ROLLOUT_STOPPED);
    assert_int_equal(fact->rollout.row.why, ROLLOUT_NOT_READY);
    assert_int_equal(rig_instance(rig, new, 0), INSTANCE_STOPPING);
    rig_report(rig, new, 0, REPORT_ENDED, 143);
    assert_int_equal(rig_instance(rig, new, 0), INSTANCE_HELD);
    assert_int_equal(takes(rig, old), INSTANCES);
    assert_int_equal(why(rig, new), REASON_ROLLOUT_STOPPED);
    after(rig, 100 * WITHIN_MS);
    assert_int_equal(takes(rig, old), INSTANCES); /* nothing goes on by itself */
    assert_int_equal(ask(rig, new, false), VERDICT_OK);
    becomes_ready(rig, new, 0);
    assert_int_equal(takes(rig, new), 1);
}

static void an_update_without_room_stops_and_says_so(void **state)
{
    struct rig *rig = *state;
    const task_id old = runs(rig, SLOTS);
    const task_id new = update(rig, SLOTS, old, false);
    rig_pass(rig);
    assert_int_equal(why(rig, new), REASON_NO_ROOM);
    after(rig, WITHIN_MS);
    assert_int_equal(rig_fact(rig, FACT_ROLLOUT)->rollout.row.why, ROLLOUT_NO_PLACE);
    assert_int_equal(takes(rig, old), SLOTS);
    assert_int_equal(ask(rig, new, true),
                     VERDICT_OK); /* the new task has done nothing: it goes at once */
    assert_int_equal(rig_state(rig, new), TASK_COMPLETED);
    assert_int_equal(query_task(rig->core, old)->rollout.v, 0);
    assert_int_equal(takes(rig, old), SLOTS);
}

static void with_old_first_an_old_instance_makes_room(void **state)
{
    struct rig *rig = *state;
    const task_id old = runs(rig, SLOTS);
    const task_id new = update(rig, SLOTS, old, true);
    for (uint32_t i = 0; i < SLOTS; i++) {
        assert_int_equal(takes(rig, old), SLOTS - i - 1);
        assert_int_equal(why(rig, new), i == 0 ? REASON_ROLLOUT_TURN : REASON_NONE);
        old_ends(rig, old, i);
        becomes_ready(rig, new, i);
    }
    assert_int_equal(rig_state(rig, old), TASK_COMPLETED);
    assert_int_equal(takes(rig, new), SLOTS);
}

static void the_way_back_brings_the_old_instances_again(void **state)
{
    struct rig *rig = *state;
    const task_id old = runs(rig, INSTANCES);
    const task_id new = update(rig, INSTANCES, old, false);
    becomes_ready(rig, new, 0);
    old_ends(rig, old, 0);
    rig_pass(rig);
    assert_int_equal(rig_instance(rig, new, 1), INSTANCE_STARTING);
    assert_int_equal(ask(rig, old, true), VERDICT_OK);
    assert_int_equal(rig_instance(rig, new, 1), INSTANCE_STOPPING);
    rig_report(rig, new, 1, REPORT_ENDED, 143);
    becomes_ready(rig, old, 0);
    old_ends(rig, new, 0);
    assert_int_equal(rig_state(rig, new), TASK_COMPLETED);
    assert_int_equal(takes(rig, old), INSTANCES);
    assert_int_equal(query_task(rig->core, old)->rollout.v, 0);
    assert_int_equal(ask(rig, old, true), VERDICT_CONFLICT);
}

static void a_kill_of_one_side_leaves_the_other_one_whole(void **state)
{
    struct rig *rig = *state;
    const task_id old = runs(rig, INSTANCES);
    const task_id new = update(rig, INSTANCES, old, false);
    becomes_ready(rig, new, 0);
    old_ends(rig, old, 0);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, new), VERDICT_OK);
    assert_int_equal(rig_instance(rig, old, 0), INSTANCE_WAITING);
    assert_int_equal(query_task(rig->core, old)->rollout.v, 0);
    rig_report(rig, new, 0, REPORT_ENDED, 143);
    becomes_ready(rig, old, 0);
    assert_int_equal(takes(rig, old), INSTANCES);
    const task_id next = update(rig, INSTANCES, old, false);
    becomes_ready(rig, next, 0);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, old), VERDICT_OK);
    assert_int_equal(query_task(rig->core, next)->waiting_count, INSTANCES - 1);
    assert_int_equal(query_task(rig->core, next)->rollout.v, 0);
}

static void an_instance_that_still_stops_when_the_update_ends_starts_again(void **state)
{
    struct rig *rig = *state;
    const task_id old = runs(rig, INSTANCES);
    const task_id new = update(rig, INSTANCES, old, false);
    becomes_ready(rig, new, 0);
    after(rig, DRAIN_MS);
    assert_int_equal(rig_instance(rig, old, 0), INSTANCE_STOPPING);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, new), VERDICT_OK);
    assert_int_equal(query_task(rig->core, old)->rollout.v, 0);
    rig_report(rig, old, 0, REPORT_ENDED, 143);
    assert_int_equal(rig_instance(rig, old, 0), INSTANCE_WAITING);
    becomes_ready(rig, old, 0);
    assert_int_equal(takes(rig, old), INSTANCES);
}

static void a_new_instance_that_fails_for_good_stops_the_update(void **state)
{
    struct rig *rig = *state;
    const task_id old = runs(rig, INSTANCES);
    struct task_spec spec = service(INSTANCES);
    spec.restart = RESTART_NEVER;
    assert_int_equal(try_update(rig, spec, old, false), VERDICT_OK);
    const task_id new = query_task_last(rig->core);
    rig_pass(rig);
    rig_report(rig, new, 0, REPORT_STARTED, 0);
    rig_report(rig, new, 0, REPORT_ENDED, 3);
    assert_int_equal(rig_fact(rig, FACT_ROLLOUT)->rollout.row.why, ROLLOUT_FAILED);
    assert_int_equal(why(rig, new), REASON_ROLLOUT_STOPPED);
    assert_int_equal(takes(rig, old), INSTANCES);
    assert_int_equal(ask(rig, new, false), VERDICT_CONFLICT);
    assert_int_equal(ask(rig, new, true), VERDICT_OK);
    assert_true(task_state_ended(rig_state(rig, new)));
}

static void other_numbers_of_instances_are_replaced_in_proportion(void **state)
{
    struct rig *rig = *state;
    const task_id old = runs(rig, 2);
    const task_id new = update(rig, 1, old, false);
    becomes_ready(rig, new, 0);
    for (uint32_t i = 0; i < 2; i++) {
        old_ends(rig, old, i);
    }
    assert_int_equal(rig_state(rig, old), TASK_COMPLETED);
    const task_id wide = update(rig, INSTANCES, new, false);
    for (uint32_t i = 0; i < INSTANCES; i++) {
        assert_int_equal(takes(rig, new), 1);
        becomes_ready(rig, wide, i);
    }
    old_ends(rig, new, 0);
    assert_int_equal(takes(rig, wide), INSTANCES);
}

/* Three instances wait for room, and the new task needs only one instance: its readiness holds the three with one fact. */
static void old_instances_that_wait_go_together(void **state)
{
    struct rig *rig = *state;
    struct task_spec wide = service(INSTANCES);
    wide.slots_milli = (int64_t)SLOTS * 1000;
    (void)runs(rig, 1);
    const task_id old = rig_submit(rig, wide);
    struct task_spec spec = service(1);
    spec.priority = PRIORITY_MAX;
    assert_int_equal(try_update(rig, spec, old, false), VERDICT_OK);
    const task_id new = query_task_last(rig->core);
    becomes_ready(rig, new, 0);
    assert_int_equal(rig_count(rig, FACT_INSTANCES_HELD), 1);
    assert_int_equal(rig_fact(rig, FACT_INSTANCES_HELD)->held.count, INSTANCES);
    assert_int_equal(rig_state(rig, old), TASK_COMPLETED);
    assert_int_equal(takes(rig, new), 1);
}

static void what_cannot_be_replaced_is_refused(void **state)
{
    struct rig *rig = *state;
    const task_id old = runs(rig, 1);
    struct task_spec spec = service(1);
    spec.kind = TASK_COMMAND;
    spec.health = "";
    assert_int_equal(try_update(rig, spec, old, false), VERDICT_CONFLICT);
    assert_int_equal(try_update(rig, service(1), (task_id){99}, false), VERDICT_CONFLICT);
    const task_id command = rig_submit(rig, spec);
    assert_int_equal(try_update(rig, service(1), command, false), VERDICT_CONFLICT);
    spec = service(2);
    spec.gang = true;
    assert_int_equal(try_update(rig, spec, old, false), VERDICT_CONFLICT);
    const task_id new = update(rig, 1, old, false);
    assert_int_equal(try_update(rig, service(1), old, false), VERDICT_CONFLICT);
    assert_int_equal(rig->facts.refusal.code, REASON_ROLLOUT_GOES);
    assert_int_equal(try_update(rig, service(1), new, false), VERDICT_CONFLICT);
    assert_int_equal(ask(rig, new, false), VERDICT_CONFLICT);
}

static void a_restart_gives_a_new_instance_its_whole_time_again(void **state)
{
    struct rig *rig = *state;
    const task_id old = runs(rig, 1);
    const task_id new = update(rig, 1, old, false);
    rig->now_ms += 10 * WITHIN_MS;
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_SERVER_START}), VERDICT_OK);
    after(rig, WITHIN_MS - 1);
    assert_int_equal(query_task_rollout(rig->core, new)->phase, ROLLOUT_GOING);
    after(rig, 1);
    assert_int_equal(query_task_rollout(rig->core, new)->phase, ROLLOUT_STOPPED);
    assert_int_equal(takes(rig, old), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_old_instance_goes_once_a_new_one_takes_requests),
        TEST(a_new_instance_that_is_not_healthy_in_time_stops_the_update),
        TEST(an_update_without_room_stops_and_says_so),
        TEST(with_old_first_an_old_instance_makes_room),
        TEST(the_way_back_brings_the_old_instances_again),
        TEST(a_kill_of_one_side_leaves_the_other_one_whole),
        TEST(an_instance_that_still_stops_when_the_update_ends_starts_again),
        TEST(a_new_instance_that_fails_for_good_stops_the_update),
        TEST(other_numbers_of_instances_are_replaced_in_proportion),
        TEST(old_instances_that_wait_go_together),
        TEST(what_cannot_be_replaced_is_refused),
        TEST(a_restart_gives_a_new_instance_its_whole_time_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
