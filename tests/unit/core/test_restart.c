/* test_restart.c - instances that start again after they ended: which ends count, the waits between, and the most starts in a row.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/decide/settle.h"
#include "core/model/instance.h"
#include "core/model/restart.h"
#include "core/sched/explain/explain.h"

#include <stdio.h>

enum { SECOND_MS = 1000, FAILS = 3 };

static int setup(void **state)
{
    static struct rig rig;
    rig_init(&rig);
    (void)rig_node(&rig, "n1", 8, 0, 1);
    *state = &rig;
    return 0;
}

static int teardown(void **state)
{
    rig_done(*state);
    return 0;
}

static struct task_spec service(enum restart restart)
{
    struct task_spec spec = rig_spec();
    spec.kind = TASK_SERVICE;
    spec.restart = restart;
    spec.restart_delay_ms = SECOND_MS;
    return spec;
}

/* Starts the waiting instance and lets it end with `code` after `ran_ms`. Returns how long the task waits then. */
static int64_t ends(struct rig *rig, task_id id, int64_t ran_ms, int32_t code)
{
    rig_pass(rig);
    assert_int_equal(rig_state(rig, id), TASK_STARTING);
    rig_report(rig, id, 0, REPORT_STARTED, 0);
    rig->now_ms += ran_ms;
    rig_report(rig, id, 0, REPORT_ENDED, code);
    const struct task *task = query_task(rig->core, id);
    return task == NULL || task->hold_until_ms == 0 ? 0 : task->hold_until_ms - rig->now_ms;
}

/* Lets the wait pass. */
static void waits(struct rig *rig, task_id id)
{
    const int64_t until_ms = query_task(rig->core, id)->hold_until_ms;
    rig->now_ms = until_ms - 1;
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
    rig->now_ms = until_ms;
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
}

static void each_start_in_a_row_waits_twice_as_long(void **state)
{
    struct rig *rig = *state;
    const task_id id = rig_submit(rig, service(RESTART_AUTO));
    for (uint32_t i = 0; i < 12; i++) {
        const int64_t wait_ms = (int64_t)SECOND_MS << i;
        assert_int_equal(ends(rig, id, SECOND_MS, FAILS),
                         wait_ms < RESTART_WAIT_MS_MAX ? wait_ms : RESTART_WAIT_MS_MAX);
        struct explanation why = {0};
        explain_task(rig->core, id, &why);
        assert_int_equal(why.reason.code, REASON_RESTARTS);
        assert_int_equal(why.reason.have, i + 1);
        assert_int_equal(why.reason.need, 0);
        waits(rig, id);
    }
    assert_int_equal(query_instance(rig->core, id, 0)->attempt, 12);
}

static void an_attempt_that_ran_long_ends_the_row(void **state)
{
    struct rig *rig = *state;
    const task_id id = rig_submit(rig, service(RESTART_ON_FAILURE));
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(ends(rig, id, SECOND_MS, FAILS), (int64_t)SECOND_MS << i);
        waits(rig, id);
    }
    assert_int_equal(ends(rig, id, RESTART_STEADY_MS, FAILS), SECOND_MS);
}

static void a_service_that_ends_well_is_done_unless_it_starts_always(void **state)
{
    struct rig *rig = *state;
    const task_id done = rig_submit(rig, service(RESTART_AUTO));
    assert_int_equal(ends(rig, done, SECOND_MS, 0), 0);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.state, TASK_COMPLETED);
    const task_id id = rig_submit(rig, service(RESTART_ALWAYS));
    assert_int_equal(ends(rig, id, SECOND_MS, 0), SECOND_MS);
    waits(rig, id);
    assert_int_equal(ends(rig, id, SECOND_MS, FAILS), 2 * SECOND_MS);
}

static void after_the_most_starts_in_a_row_the_task_fails(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = service(RESTART_ON_FAILURE);
    spec.max_restarts = 2;
    const task_id id = rig_submit(rig, spec);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(ends(rig, id, SECOND_MS, FAILS) > 0);
        waits(rig, id);
    }
    assert_int_equal(ends(rig, id, SECOND_MS, FAILS), 0);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.state, TASK_FAILED);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.exit_code, FAILS);
}

static void other_kinds_do_not_start_again_by_themselves(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = service(RESTART_AUTO);
    spec.kind = TASK_COMMAND;
    const task_id id = rig_submit(rig, spec);
    assert_int_equal(ends(rig, id, SECOND_MS, FAILS), 0);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.state, TASK_FAILED);
    spec.restart = RESTART_ON_FAILURE;
    const task_id again = rig_submit(rig, spec);
    assert_int_equal(ends(rig, again, SECOND_MS, FAILS), SECOND_MS);
}

static void check(struct rig *rig, task_id id, enum service_health now, bool give_up)
{
    struct input in = {.type = INPUT_HEALTH};
    in.health.key = (struct attempt_key){id, 0, query_instance(rig->core, id, 0)->attempt};
    in.health.now = now;
    in.health.words = now == SERVICE_UNHEALTHY ? "GET / was answered with status 503" : "";
    in.health.give_up = give_up;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

static bool ready(const struct rig *rig, task_id id)
{
    return instance_ready(query_task(rig->core, id), query_instance(rig->core, id, 0));
}

static task_id checked_service(struct rig *rig, uint32_t max_restarts)
{
    struct task_spec spec = service(RESTART_AUTO);
    spec.health = "/";
    spec.max_restarts = max_restarts;
    const task_id id = rig_submit(rig, spec);
    rig_pass(rig);
    rig_report(rig, id, 0, REPORT_STARTED, 0);
    return id;
}

static void an_instance_takes_requests_once_and_while_it_is_healthy(void **state)
{
    struct rig *rig = *state;
    const task_id id = checked_service(rig, 0);
    assert_false(ready(rig, id));
    check(rig, id, SERVICE_HEALTHY, false);
    assert_true(ready(rig, id));
    const uint64_t seq = rig->core->seq;
    check(rig, id, SERVICE_HEALTHY, false);
    assert_int_equal(rig->core->seq, seq); /* nothing new, no fact */
    check(rig, id, SERVICE_UNHEALTHY, false);
    assert_false(ready(rig, id));
    assert_int_equal(rig_state(rig, id), TASK_RUNNING);
    check(rig, id, SERVICE_HEALTHY, false);
    assert_true(ready(rig, id));
}

static void an_instance_that_is_given_up_starts_again_by_the_rule(void **state)
{
    struct rig *rig = *state;
    const task_id id = checked_service(rig, 1);
    check(rig, id, SERVICE_HEALTHY, false);
    check(rig, id, SERVICE_UNHEALTHY, true);
    assert_int_equal(rig_state(rig, id), TASK_STOPPING);
    assert_int_equal(query_instance(rig->core, id, 0)->cause, END_UNHEALTHY);
    rig_report(rig, id, 0, REPORT_ENDED,
               0); /* its program obeys the signal, and that is no success */
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
    struct explanation why = {0};
    explain_task(rig->core, id, &why);
    assert_int_equal(why.reason.code, REASON_RESTARTS);
    assert_string_equal(why.reason.text, "unhealthy");
    waits(rig, id);
    rig_pass(rig);
    assert_int_equal(query_instance(rig->core, id, 0)->health, SERVICE_UNKNOWN);
    rig_report(rig, id, 0, REPORT_STARTED, 0);
    check(rig, id, SERVICE_UNHEALTHY, true);
    rig_report(rig, id, 0, REPORT_ENDED, 0);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.state, TASK_FAILED);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.cause, END_UNHEALTHY);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.exit_code, EXIT_CODE_WEIR);
}

static void a_check_of_an_old_attempt_or_of_a_task_without_one_is_nothing(void **state)
{
    struct rig *rig = *state;
    const task_id id = checked_service(rig, 0);
    rig_report(rig, id, 0, REPORT_ENDED, FAILS);
    const uint64_t seq = rig->core->seq;
    check(rig, id, SERVICE_UNHEALTHY, true);
    assert_int_equal(rig->core->seq, seq);
    const task_id plain = rig_submit(rig, service(RESTART_AUTO));
    rig_pass(rig);
    rig_report(rig, plain, 0, REPORT_STARTED, 0);
    assert_true(ready(rig, plain));
    check(rig, plain, SERVICE_UNHEALTHY, true);
    assert_int_equal(rig_state(rig, plain), TASK_RUNNING);
    assert_true(ready(rig, plain));
}

static void a_kill_ends_a_service_that_waits_and_one_that_runs(void **state)
{
    struct rig *rig = *state;
    const task_id waiting = rig_submit(rig, service(RESTART_ALWAYS));
    assert_true(ends(rig, waiting, SECOND_MS, FAILS) > 0);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, waiting), VERDICT_OK);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.state, TASK_KILLED);
    const task_id running = rig_submit(rig, service(RESTART_ALWAYS));
    rig_pass(rig);
    rig_report(rig, running, 0, REPORT_STARTED, 0);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, running), VERDICT_OK);
    rig_report(rig, running, 0, REPORT_ENDED, 143);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.state, TASK_KILLED);
}

/* The services that a look by this name visits, as a text of their numbers, newest first. */
static const char *named(const struct rig *rig, account_id project, const char *name)
{
    static char text[128];
    size_t len = 0;
    const struct task *task = NULL;
    text[0] = '\0';
    while ((task = query_task_service_next(rig->core, project, name,
                                           task != NULL ? task->id : (task_id){0})) != NULL) {
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%u", len > 0 ? " " : "",
                                (unsigned)task->id.v);
    }
    return text;
}

static void a_look_by_name_visits_only_services_of_this_name_that_have_not_ended(void **state)
{
    struct rig *rig = *state;
    static const char *const names[] = {"chat", "other", "chat", "chat2", "chat"};
    struct task_spec plain = rig_spec();
    task_id ids[5];
    plain.name = "chat";
    (void)rig_submit(rig, plain); /* no service */
    for (size_t i = 0; i < 5; i++) {
        struct task_spec spec = service(RESTART_AUTO);
        spec.name = names[i];
        ids[i] = rig_submit(rig, spec);
    }
    const account_id project = query_task(rig->core, ids[0])->account;
    assert_string_equal(named(rig, project, "chat"), "6 4 2");
    assert_string_equal(named(rig, project, "chat2"), "5");
    assert_string_equal(named(rig, project, "nobody"), "");
    assert_string_equal(named(rig, (account_id){project.v + 1}, "chat"), "");
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, ids[2]), VERDICT_OK);
    assert_string_equal(named(rig, project, "chat"), "6 2");
}

static void only_tasks_with_a_check_and_active_instances_are_looked_at(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = service(RESTART_NEVER);
    (void)rig_submit(rig, spec); /* without a check */
    rig_pass(rig);
    spec.health = HEALTH_TCP;
    const task_id id = rig_submit(rig, spec);
    assert_null(query_task_checked_next(rig->core, (task_id){0})); /* it waits */
    rig_pass(rig);
    assert_int_equal(query_task_checked_next(rig->core, (task_id){0})->id.v, id.v);
    assert_null(query_task_checked_next(rig->core, id));
    rig_run(rig, id, 0, 0);
    assert_null(query_task_checked_next(rig->core, (task_id){0}));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_start_in_a_row_waits_twice_as_long),
        TEST(an_attempt_that_ran_long_ends_the_row),
        TEST(a_service_that_ends_well_is_done_unless_it_starts_always),
        TEST(after_the_most_starts_in_a_row_the_task_fails),
        TEST(other_kinds_do_not_start_again_by_themselves),
        TEST(an_instance_takes_requests_once_and_while_it_is_healthy),
        TEST(an_instance_that_is_given_up_starts_again_by_the_rule),
        TEST(a_check_of_an_old_attempt_or_of_a_task_without_one_is_nothing),
        TEST(a_look_by_name_visits_only_services_of_this_name_that_have_not_ended),
        TEST(only_tasks_with_a_check_and_active_instances_are_looked_at),
        TEST(a_kill_ends_a_service_that_waits_and_one_that_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
