/* test_attempt.c - starts, ends, retries, kills, gangs, dependencies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/sched/explain/explain.h"

static int setup(void **state)
{
    struct rig *rig = malloc(sizeof *rig);
    rig_init(rig);
    rig_node(rig, "n1", 2, 0, 1);
    rig_node(rig, "n2", 2, 0, 2);
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    rig_done(*state);
    free(*state);
    return 0;
}

static task_id start(struct rig *rig, struct task_spec spec)
{
    task_id id = rig_submit(rig, spec);
    rig_pass(rig);
    for (uint32_t i = 0; i < spec.instances; i++) {
        rig_report(rig, id, i, REPORT_STARTED, 0);
    }
    assert_int_equal(rig_state(rig, id), TASK_RUNNING);
    return id;
}

static int64_t slots_free(const struct rig *rig)
{
    return query_pool_named(rig->core, "default")->slots_free;
}

/* The newest attempt ends, having used so much. */
static void ends(struct rig *rig, task_id id, uint32_t index, int code, int64_t cpu_ms,
                 int64_t memory_peak)
{
    const struct instance *instance = query_instance(rig->core, id, index);
    const struct report report = {.type = REPORT_ENDED,
                                  .key = {id, index, instance->attempt},
                                  .incarnation = instance->incarnation,
                                  .exit_code = code,
                                  .at_ms = rig->now_ms,
                                  .cpu_ms = cpu_ms,
                                  .memory_peak_bytes = memory_peak};
    struct input in = {.type = INPUT_REPORT,
                       .report = {.node = instance->node, .reports = &report, .count = 1}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

static void assert_used(const struct rig *rig, task_id id, int64_t cpu_ms, int64_t memory_peak)
{
    assert_int_equal(query_task(rig->core, id)->cpu_ms, cpu_ms);
    assert_int_equal(query_task(rig->core, id)->memory_peak_bytes, memory_peak);
}

static void what_attempts_use_is_counted(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.instances = 2;
    spec.max_retries = 1;
    const task_id id = start(rig, spec);
    assert_used(rig, id, 0, 0);
    ends(rig, id, 0, 1, 700, 5000);
    assert_used(rig, id, 700, 5000);
    assert_int_equal(query_instance(rig->core, id, 0)->cpu_ms, 700);
    assert_int_equal(query_instance(rig->core, id, 0)->memory_peak_bytes, 5000);
    assert_int_equal(query_instance(rig->core, id, 1)->cpu_ms, 0);

    rig_pass(rig); /* the next attempt has used nothing yet; what the first used stays counted */
    assert_int_equal(query_instance(rig->core, id, 0)->attempt, 2);
    assert_int_equal(query_instance(rig->core, id, 0)->cpu_ms, 0);
    assert_int_equal(query_instance(rig->core, id, 0)->memory_peak_bytes, 0);
    assert_used(rig, id, 700, 5000);
    ends(rig, id, 0, 0, 50, 4000);
    assert_used(rig, id, 750, 5000);
    assert_int_equal(query_instance(rig->core, id, 0)->cpu_ms, 50);
    assert_int_equal(query_instance(rig->core, id, 0)->memory_peak_bytes, 4000);
}

/* Whatever an agent says, the numbers stay numbers. */
static void impossible_use_does_no_harm(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.instances = 4;
    const task_id id = start(rig, spec);
    ends(rig, id, 0, 0, -5, -9);
    assert_used(rig, id, 0, 0);
    ends(rig, id, 1, 0, INT64_MAX, INT64_MAX);
    assert_used(rig, id, INT64_MAX, INT64_MAX);
    ends(rig, id, 2, 0, 10, 10);
    assert_used(rig, id, INT64_MAX, INT64_MAX);
}

static void a_task_runs_and_completes(void **state)
{
    struct rig *rig = *state;
    task_id id = rig_submit(rig, rig_spec());
    rig_pass(rig);
    assert_int_equal(rig_state(rig, id), TASK_STARTING);
    assert_int_equal(rig->effects.count, 1);
    assert_int_equal(rig->effects.at[0].type, EFFECT_START);
    assert_int_equal(rig->effects.at[0].key.attempt, 1);
    assert_int_equal(slots_free(rig), 3000);
    rig->now_ms += 5;
    rig_report(rig, id, 0, REPORT_STARTED, 0);
    assert_int_equal(rig_state(rig, id), TASK_RUNNING);
    rig_report(rig, id, 0, REPORT_ENDED, 0);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.state, TASK_COMPLETED);
    assert_int_equal(rig_count(rig, FACT_TASK_ARCHIVED), 1);
    assert_int_equal(rig->effects.at[0].type, EFFECT_ARCHIVE);
    assert_null(query_task(rig->core, id));
    assert_int_equal(query_task_outcome(rig->core, id), TASK_COMPLETED);
    assert_int_equal(query_task_count(rig->core, TASK_COMPLETED), 1);
    assert_int_equal(slots_free(rig), 4000);
}

static void an_end_without_a_start_report_counts(void **state)
{
    struct rig *rig = *state;
    task_id id = rig_submit(rig, rig_spec());
    rig_pass(rig);
    rig_report(rig, id, 0, REPORT_ENDED, 7);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.exit_code, 7);
    assert_int_equal(query_task_outcome(rig->core, id), TASK_FAILED);
}

static void repeated_and_stale_reports_change_nothing(void **state)
{
    struct rig *rig = *state;
    task_id id = start(rig, rig_spec());
    const struct instance *instance = query_instance(rig->core, id, 0);
    struct report reports[] = {
        {.type = REPORT_STARTED, .key = {id, 0, 1}, .incarnation = 1}, /* said before */
        {.type = REPORT_ENDED, .key = {id, 0, 2}, .incarnation = 1},   /* no such attempt */
        {.type = REPORT_ENDED, .key = {id, 1, 1}, .incarnation = 1},   /* no such instance */
        {.type = REPORT_ENDED, .key = {{99}, 0, 1}, .incarnation = 1}, /* no such task */
        {.type = REPORT_ENDED, .key = {id, 0, 1}, .incarnation = 2},   /* other supervisor */
    };
    struct input in = {.type = INPUT_REPORT,
                       .report = {.node = instance->node, .reports = reports, .count = 5}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(rig->facts.count, 0);
    in.report.node.v = instance->node.v == 1 ? 2 : 1; /* another node speaks */
    in.report.count = 1;
    reports[0].type = REPORT_ENDED;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(rig->facts.count, 0);
    in.report.node.v = 9;
    assert_int_equal(rig_do(rig, in), VERDICT_NOT_FOUND);
}

static void one_batch_may_start_and_end_the_same_attempts(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.instances = 2;
    task_id id = rig_submit(rig, spec);
    rig_pass(rig);
    node_id node = query_instance(rig->core, id, 0)->node;
    assert_int_equal(query_instance(rig->core, id, 1)->node.v, node.v);
    struct report reports[] = {
        {.type = REPORT_STARTED, .key = {id, 0, 1}, .incarnation = 1},
        {.type = REPORT_ENDED, .key = {id, 0, 1}, .incarnation = 1},
        {.type = REPORT_ENDED, .key = {id, 0, 1}, .incarnation = 1},
        {.type = REPORT_STARTED, .key = {id, 1, 1}, .incarnation = 1},
        {.type = REPORT_ENDED, .key = {id, 1, 1}, .incarnation = 1, .exit_code = 3},
        {.type = REPORT_ENDED, .key = {id, 1, 1}, .incarnation = 1, .exit_code = 4},
    };
    struct input in = {.type = INPUT_REPORT,
                       .report = {.node = node, .reports = reports, .count = 6}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(rig_count(rig, FACT_ATTEMPT_ENDED), 2);
    assert_int_equal(rig_count(rig, FACT_TASK_ENDED), 1);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.exit_code, 3);
}

static void only_the_time_counts_in_which_something_runs(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.instances = 2;
    spec.max_retries = 1;
    const task_id id = start(rig, spec);
    assert_int_equal(query_task(rig->core, id)->running_ms, rig->now_ms);
    rig->now_ms += 10000;
    rig_report(rig, id, 0, REPORT_ENDED, 1);
    assert_int_equal(query_task(rig->core, id)->ran_ms, 0); /* the other one still runs */
    rig->now_ms += 5000;
    rig_report(rig, id, 1, REPORT_ENDED, 1);
    assert_int_equal(query_task(rig->core, id)->ran_ms, 15000);
    assert_int_equal(query_task(rig->core, id)->running_ms, 0);
    rig->now_ms += 60000; /* nothing of it runs */
    rig_pass(rig);
    assert_int_equal(query_task(rig->core, id)->running_ms, 0);
    rig->now_ms += 1000;
    rig_report(rig, id, 1, REPORT_STARTED, 0);
    assert_int_equal(query_task(rig->core, id)->running_ms, rig->now_ms);
    rig->now_ms += 2000;
    rig_report(rig, id, 1, REPORT_ENDED, 0); /* the other one has not started yet */
    assert_int_equal(query_task(rig->core, id)->ran_ms, 17000);
    assert_int_equal(query_task(rig->core, id)->running_ms, 0);
    core_check(rig->core);
}

static void failures_are_retried_as_often_as_allowed(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.max_retries = 1;
    task_id id = start(rig, spec);
    rig_report(rig, id, 0, REPORT_ENDED, 9);
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
    rig_pass(rig);
    assert_int_equal(query_instance(rig->core, id, 0)->attempt, 2);
    rig_report(rig, id, 0, REPORT_SPAWN_FAILED, 2);
    assert_int_equal(query_task_outcome(rig->core, id), TASK_FAILED);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.cause, END_SPAWN);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.exit_code, 127);
}

static void the_exit_code_is_that_of_the_lowest_failed_instance(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.instances = 3;
    task_id id = start(rig, spec);
    rig_report(rig, id, 2, REPORT_ENDED, 22);
    assert_int_equal(rig_state(rig, id), TASK_RUNNING); /* independent: the others go on */
    rig_report(rig, id, 1, REPORT_ENDED, 11);
    rig_report(rig, id, 0, REPORT_ENDED, 0);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.state, TASK_FAILED);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.exit_code, 11);
}

static void a_pending_task_is_killed_at_once(void **state)
{
    struct rig *rig = *state;
    task_id id = rig_submit(rig, rig_spec());
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, id), VERDICT_OK);
    assert_int_equal(query_task_outcome(rig->core, id), TASK_KILLED);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, id), VERDICT_CONFLICT);
    assert_string_equal(rig->facts.refusal.text, "killed");
}

static void a_running_task_is_told_to_stop_and_counts_as_killed(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.instances = 6; /* four run, two wait */
    spec.max_retries = 3;
    task_id id = rig_submit(rig, spec);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, id), TASK_STARTING);
    assert_int_equal(query_task(rig->core, id)->waiting_count, 2);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, id), VERDICT_OK);
    assert_int_equal(rig_state(rig, id), TASK_STOPPING);
    assert_int_equal(rig->effects.count, 4);
    assert_int_equal(rig->effects.at[0].type, EFFECT_STOP);
    assert_int_equal(rig->effects.at[0].grace_ms, 10000);
    assert_int_equal(rig->effects.at[0].cause, END_KILLED);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, id), VERDICT_OK);
    assert_int_equal(rig->facts.count, 0);
    for (uint32_t i = 0; i < 4; i++) {
        rig_report(rig, id, i, REPORT_ENDED, i == 0 ? 0 : 137);
    }
    assert_int_equal(query_task_outcome(rig->core, id), TASK_KILLED);
    assert_int_equal(slots_free(rig), 4000);
}

static void a_stop_that_is_not_obeyed_is_ordered_again_without_grace(void **state)
{
    struct rig *rig = *state;
    task_id id = start(rig, rig_spec());
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, id), VERDICT_OK);
    int64_t due = query_deadline(rig->core);
    assert_int_equal(due, rig->now_ms + 10000 + 5000);
    rig->now_ms = due;
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    assert_int_equal(rig->effects.count, 1);
    assert_int_equal(rig->effects.at[0].type, EFFECT_STOP);
    assert_int_equal(rig->effects.at[0].grace_ms, 0);
    assert_true(query_deadline(rig->core) == INT64_MAX);
}

/* Whoever waits for those who leave waits for those only who can be expected to. */
static void nobody_is_promised_the_place_of_one_that_will_not_stop(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.slots_milli = 2000;
    task_id leaves = start(rig, spec);
    (void)start(rig, spec);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, leaves), VERDICT_OK);
    task_id waits = rig_submit(rig, spec);
    rig_pass(rig);
    assert_non_null(query_instance_claim(rig->core, waits, 0));
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, waits), VERDICT_OK);
    rig->now_ms = query_deadline(rig->core);
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    waits = rig_submit(rig, spec);
    rig_pass(rig);
    assert_null(query_instance_claim(rig->core, waits, 0));
    rig_report(rig, leaves, 0, REPORT_ENDED, 137);
    rig_pass(rig);
    assert_int_equal(rig_instance(rig, waits, 0), INSTANCE_STARTING);
}

static void a_time_limit_fails_the_task(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.time_limit_ms = 60000;
    spec.max_retries = 5;
    task_id id = start(rig, spec);
    assert_int_equal(query_deadline(rig->core), rig->now_ms + 60000);
    rig->now_ms += 60000;
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    assert_int_equal(rig_state(rig, id), TASK_STOPPING);
    assert_int_equal(rig->effects.at[0].cause, END_TIME_LIMIT);
    rig_report(rig, id, 0, REPORT_ENDED, 143);
    assert_int_equal(query_task_outcome(rig->core, id), TASK_FAILED);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.cause, END_TIME_LIMIT);
}

static void an_edited_time_limit_counts_from_the_start(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.time_limit_ms = 60000;
    task_id id = start(rig, spec);
    int64_t started_ms = rig->now_ms;
    rig->now_ms += 10;
    struct task_edit edit = {.fields = TASK_EDIT_time_limit | TASK_EDIT_name | TASK_EDIT_tags,
                             .spec = &(struct task_spec){.time_limit_ms = 90000,
                                                         .name = "renamed",
                                                         .tags = (const char *const[]){"x"},
                                                         .tag_count = 1}};
    struct input in = {.type = INPUT_TASK_EDIT, .task = {.task = id, .edit = &edit}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(query_deadline(rig->core), started_ms + 90000);
    struct task_spec now;
    query_task_spec(rig->core, id, &rig->kept, &now);
    assert_string_equal(now.name, "renamed");
    assert_string_equal(now.tags[0], "x");
    assert_int_equal(now.time_limit_ms, 90000);
    assert_string_equal(now.argv[0], "true");
}

/* ---- gangs ---- */

static struct task_spec gang(uint32_t instances)
{
    struct task_spec spec = rig_spec();
    spec.instances = instances;
    spec.gang = true;
    return spec;
}

static void a_gang_that_breaks_stops_and_fails_as_a_whole(void **state)
{
    struct rig *rig = *state;
    task_id id = start(rig, gang(3));
    rig_report(rig, id, 1, REPORT_ENDED, 5);
    assert_int_equal(rig->effects.count, 2);
    assert_int_equal(rig->effects.at[0].cause, END_GANG);
    assert_int_equal(rig_state(rig, id), TASK_STOPPING);
    rig_report(rig, id, 0, REPORT_ENDED, 143);
    rig_report(rig, id, 2, REPORT_ENDED, 143);
    assert_int_equal(query_task_outcome(rig->core, id), TASK_FAILED);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.exit_code, 5);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.cause, END_EXIT);
}

static void a_gang_begins_again_as_a_whole(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = gang(3);
    spec.max_retries = 1;
    task_id id = start(rig, spec);
    rig_report(rig, id, 0, REPORT_ENDED, 0); /* done, but its gang will break */
    assert_int_equal(rig_instance(rig, id, 0), INSTANCE_ENDED);
    rig_report(rig, id, 1, REPORT_ENDED, 5);
    assert_int_equal(rig_instance(rig, id, 0), INSTANCE_WAITING);
    rig_pass(rig);
    assert_int_equal(rig_instance(rig, id, 0), INSTANCE_WAITING); /* the rest still ends */
    rig_report(rig, id, 2, REPORT_ENDED, 143);
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
    rig_pass(rig);
    assert_int_equal(query_task(rig->core, id)->active_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        rig_run(rig, id, i, 0);
    }
    assert_int_equal(query_task_outcome(rig->core, id), TASK_COMPLETED);
}

static void a_gang_that_cannot_be_repeated_ends_unknown(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = gang(4);
    spec.repeatable = false;
    task_id id = start(rig, spec);
    rig_report(rig, id, 3, REPORT_LOST, 0);
    for (uint32_t i = 0; i < 3; i++) {
        rig_report(rig, id, i, REPORT_ENDED, 143);
    }
    assert_int_equal(query_task_outcome(rig->core, id), TASK_UNKNOWN);
}

static void a_gang_over_its_time_is_stopped_as_a_whole(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = gang(4);
    spec.time_limit_ms = 1000;
    task_id id = start(rig, spec);
    rig->now_ms += 1000;
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    assert_int_equal(rig->effects.count, 4);
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    assert_int_equal(rig->facts.count, 0);
    for (uint32_t i = 0; i < 4; i++) {
        rig_report(rig, id, i, REPORT_ENDED, 143);
    }
    assert_int_equal(query_task_outcome(rig->core, id), TASK_FAILED);
}

/* ---- dependencies ---- */

static task_id submit_after(struct rig *rig, const uint64_t *depends, uint32_t count)
{
    struct task_spec spec = rig_spec();
    spec.depends_on = depends;
    spec.depends_count = count;
    return rig_submit(rig, spec);
}

static void a_dependent_waits_for_success(void **state)
{
    struct rig *rig = *state;
    task_id a = rig_submit(rig, rig_spec());
    task_id b = rig_submit(rig, rig_spec());
    task_id c = submit_after(rig, (const uint64_t[]){a.v, b.v, a.v}, 3);
    assert_int_equal(query_task(rig->core, c)->depends_left, 2);
    struct explanation why;
    explain_task(rig->core, c, &why);
    assert_int_equal(why.reason.code, REASON_DEPENDENCY);
    assert_int_equal(why.blocker_count, 2); /* each is named, once */
    assert_int_equal(why.blockers[0].v, a.v);
    assert_int_equal(why.blockers[1].v, b.v);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, c), TASK_PENDING);
    rig_run(rig, a, 0, 0);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, c), TASK_PENDING);
    rig_run(rig, b, 0, 0);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, c), TASK_STARTING);
    task_id d = submit_after(rig, (const uint64_t[]){a.v}, 1);
    assert_int_equal(query_task(rig->core, d)->depends_left, 0);
}

static void a_failed_dependency_fails_the_chain(void **state)
{
    struct rig *rig = *state;
    task_id a = rig_submit(rig, rig_spec());
    task_id b = submit_after(rig, (const uint64_t[]){a.v}, 1);
    task_id c = submit_after(rig, (const uint64_t[]){b.v}, 1);
    task_id both = submit_after(rig, (const uint64_t[]){a.v, c.v}, 2);
    assert_int_equal(rig_task(rig, INPUT_TASK_PAUSE, both), VERDICT_OK);
    rig_pass(rig);
    rig_run(rig, a, 0, 1);
    assert_int_equal(rig_count(rig, FACT_TASK_ENDED), 4);
    assert_int_equal(rig_count(rig, FACT_TASK_ARCHIVED), 4);
    assert_int_equal(query_task_outcome(rig->core, b), TASK_FAILED);
    assert_int_equal(query_task_outcome(rig->core, c), TASK_FAILED);
    assert_int_equal(query_task_outcome(rig->core, both), TASK_FAILED);
    task_id late = submit_after(rig, (const uint64_t[]){c.v}, 1);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.cause, END_DEPENDENCY);
    assert_int_equal(query_task_outcome(rig->core, late), TASK_FAILED);
}

static void a_killed_dependency_fails_dependents_too(void **state)
{
    struct rig *rig = *state;
    task_id a = rig_submit(rig, rig_spec());
    task_id b = submit_after(rig, (const uint64_t[]){a.v}, 1);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, a), VERDICT_OK);
    assert_int_equal(query_task_outcome(rig->core, a), TASK_KILLED);
    assert_int_equal(query_task_outcome(rig->core, b), TASK_FAILED);
}

static void a_killed_dependent_is_forgotten(void **state)
{
    struct rig *rig = *state;
    task_id a = rig_submit(rig, rig_spec());
    task_id b = submit_after(rig, (const uint64_t[]){a.v}, 1);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, b), VERDICT_OK);
    rig_pass(rig);
    rig_run(rig, a, 0, 0);
    assert_int_equal(query_task_outcome(rig->core, a), TASK_COMPLETED);
    assert_int_equal(query_task_outcome(rig->core, b), TASK_KILLED);
}

/* Its agent says when it ended; the instance's time, and the task's where it was the last one. */
static int64_t ended_at(struct rig *rig, task_id task, uint32_t index, int64_t at_ms)
{
    const struct instance *instance = query_instance(rig->core, task, index);
    struct report report = {.type = REPORT_ENDED,
                            .key = {task, index, instance->attempt},
                            .incarnation = instance->incarnation,
                            .at_ms = at_ms};
    struct input in = {.type = INPUT_REPORT,
                       .report = {.node = instance->node, .reports = &report, .count = 1}};
    struct core *copy = core_copy(rig->core);
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    for (size_t i = 0; i < rig->facts.count && rig->facts.at[i].type != FACT_TASK_ARCHIVED; i++) {
        core_apply(copy, &rig->facts.at[i]);
    }
    const struct task *ended = query_task(copy, task);
    int64_t instance_ms = query_instance(copy, task, index)->ended_ms;
    int64_t task_ms = ended->ended_ms;
    assert_true(task_ms == 0 || task_ms >= instance_ms);
    core_free(copy);
    return task_ms > 0 ? task_ms : instance_ms;
}

static void an_end_is_when_the_agent_saw_it(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 4, 0, 1);
    struct task_spec spec = rig_spec();
    spec.instances = 4;
    task_id task = rig_submit(rig, spec);
    rig_pass(rig);
    rig->now_ms = 2000;
    for (uint32_t i = 0; i < 4; i++) {
        rig_report(rig, task, i, REPORT_STARTED, 0);
    }
    rig->now_ms = 90000; /* the server was away */
    assert_int_equal(ended_at(rig, task, 0, 5000), 5000);
    assert_int_equal(rig_fact(rig, FACT_ATTEMPT_ENDED)->attempt_ended.report.at_ms, 5000);
    assert_int_equal(ended_at(rig, task, 1, 1), 2000); /* a clock behind: not before it started */
    assert_int_equal(ended_at(rig, task, 2, 7000), 7000);
    assert_int_equal(ended_at(rig, task, 3, 6000), 7000); /* the task's: when the last one ended */
    task = rig_submit(rig, rig_spec());
    rig_pass(rig);
    assert_int_equal(ended_at(rig, task, 0, 1000000), 90000); /* a clock ahead: not after now */
}

int main(void)
{
#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_task_runs_and_completes),
        RIG_TEST(what_attempts_use_is_counted),
        RIG_TEST(impossible_use_does_no_harm),
        RIG_TEST(an_end_without_a_start_report_counts),
        RIG_TEST(an_end_is_when_the_agent_saw_it),
        RIG_TEST(repeated_and_stale_reports_change_nothing),
        RIG_TEST(one_batch_may_start_and_end_the_same_attempts),
        RIG_TEST(only_the_time_counts_in_which_something_runs),
        RIG_TEST(failures_are_retried_as_often_as_allowed),
        RIG_TEST(the_exit_code_is_that_of_the_lowest_failed_instance),
        RIG_TEST(a_pending_task_is_killed_at_once),
        RIG_TEST(a_running_task_is_told_to_stop_and_counts_as_killed),
        RIG_TEST(a_stop_that_is_not_obeyed_is_ordered_again_without_grace),
        RIG_TEST(nobody_is_promised_the_place_of_one_that_will_not_stop),
        RIG_TEST(a_time_limit_fails_the_task),
        RIG_TEST(an_edited_time_limit_counts_from_the_start),
        RIG_TEST(a_gang_that_breaks_stops_and_fails_as_a_whole),
        RIG_TEST(a_gang_begins_again_as_a_whole),
        RIG_TEST(a_gang_that_cannot_be_repeated_ends_unknown),
        RIG_TEST(a_gang_over_its_time_is_stopped_as_a_whole),
        RIG_TEST(a_dependent_waits_for_success),
        RIG_TEST(a_failed_dependency_fails_the_chain),
        RIG_TEST(a_killed_dependency_fails_dependents_too),
        RIG_TEST(a_killed_dependent_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
