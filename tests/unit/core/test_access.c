/* test_access.c - which tasks a pool takes: kinds, dedicated pools, pools without slots.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/sched/explain/explain.h"

#include <string.h>

static void account(struct rig *rig, enum account_kind kind, const char *name, const char *parent)
{
    const struct account_spec spec = {
        .kind = kind, .name = name, .parent = parent, .title = "", .description = ""};
    const struct input in = {.type = INPUT_ACCOUNT_SET, .account = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

static struct pool_spec pool_spec(struct rig *rig, const char *name)
{
    struct pool_spec spec;
    const struct pool *pool = query_pool_named(rig->core, name);
    query_pool_spec(rig->core, pool != NULL ? pool->id : (pool_id){1}, &rig->kept, &spec);
    spec.name = name;
    return spec;
}

static enum verdict pool_put(struct rig *rig, const struct pool_spec *spec, bool force)
{
    const struct pool *pool = query_pool_named(rig->core, spec->name);
    struct input in = {.type = pool != NULL ? INPUT_POOL_EDIT : INPUT_POOL_CREATE};
    in.pool.spec = spec;
    in.pool.pool = pool != NULL ? pool->id : (pool_id){0};
    in.pool.force = force;
    return rig_do(rig, in);
}

static enum verdict dedicate(struct rig *rig, const char *name, const char *const *guests,
                             uint32_t count, bool force)
{
    struct pool_spec spec = pool_spec(rig, name);
    spec.access = count > 0 ? ACCESS_DEDICATED : ACCESS_PUBLIC;
    spec.guests = guests;
    spec.guest_count = count;
    return pool_put(rig, &spec, force);
}

static struct task_spec task_in(const char *const *pool, const char *project)
{
    struct task_spec spec = rig_spec();
    spec.pools = pool;
    spec.pool_count = 1;
    spec.project = project;
    return spec;
}

static enum reason_code waits_for(const struct rig *rig, task_id task)
{
    struct explanation explanation;
    explain_task(rig->core, task, &explanation);
    return explanation.reason.code;
}

static const char *const own[] = {"own"};
static const char *const nlp[] = {"nlp"};

/* Departments rd (projects nlp, vision) and ops (project web). */
static int begin(void **state)
{
    static struct rig rig;
    rig_init(&rig);
    account(&rig, ACCOUNT_DEPARTMENT, "rd", NULL);
    account(&rig, ACCOUNT_DEPARTMENT, "ops", NULL);
    account(&rig, ACCOUNT_PROJECT, "nlp", "rd");
    account(&rig, ACCOUNT_PROJECT, "vision", "rd");
    account(&rig, ACCOUNT_PROJECT, "web", "ops");
    *state = &rig;
    return 0;
}

static int end(void **state)
{
    rig_done(*state);
    return 0;
}

static void a_dedicated_pool_takes_its_guests_only(void **state)
{
    struct rig *rig = *state;
    const char *const rd[] = {"rd"};
    assert_int_equal(dedicate(rig, "own", nlp, 1, false), VERDICT_OK);
    assert_int_equal(rig_try_submit(rig, task_in(own, "nlp")), VERDICT_OK);
    assert_int_equal(rig_try_submit(rig, task_in(own, "vision")), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_NOT_ADMITTED);
    assert_int_equal(rig_try_submit(rig, task_in(own, NULL)), VERDICT_REFUSED);
    assert_int_equal(dedicate(rig, "own", rd, 1, false), VERDICT_OK);
    assert_int_equal(rig_try_submit(rig, task_in(own, "vision")), VERDICT_OK);
    assert_int_equal(rig_try_submit(rig, task_in(own, "web")), VERDICT_REFUSED);
    struct pool_spec spec = pool_spec(rig, "own");
    assert_string_equal(spec.guests[0], "department/rd");
}

static void names_that_nobody_has_or_two_have_are_refused(void **state)
{
    struct rig *rig = *state;
    const char *const unknown[] = {"nobody"};
    const char *const unclear[] = {"default"};
    const char *const wrong[] = {"department/nlp"};
    const char *const odd[] = {"team/nlp"};
    const char *const right[] = {"project/default", "nlp", "project/nlp"};
    assert_int_equal(dedicate(rig, "own", unknown, 1, false), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_GUEST);
    assert_int_equal(dedicate(rig, "own", unclear, 1, false), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_GUEST_UNCLEAR);
    assert_int_equal(dedicate(rig, "own", wrong, 1, false), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_GUEST);
    assert_int_equal(dedicate(rig, "own", odd, 1, false), VERDICT_REFUSED);
    assert_null(query_pool_named(rig->core, "own"));
    assert_int_equal(dedicate(rig, "own", right, 3, false), VERDICT_OK);
    const struct pool_spec spec = pool_spec(rig, "own");
    assert_int_equal(spec.guest_count, 2);
    assert_string_equal(spec.guests[1], "project/nlp");
}

static void a_project_that_is_taken_out_makes_its_tasks_unavailable(void **state)
{
    struct rig *rig = *state;
    const char *const both[] = {"nlp", "vision"};
    assert_int_equal(dedicate(rig, "own", both, 2, false), VERDICT_OK);
    const task_id stays = rig_submit(rig, task_in(own, "nlp"));
    const task_id goes = rig_submit(rig, task_in(own, "vision"));
    assert_int_equal(dedicate(rig, "own", nlp, 1, false), VERDICT_CONFLICT);
    assert_int_equal(rig->facts.refusal.need, 1);
    assert_int_equal(rig->facts.refusal.task.v, goes.v);
    assert_int_equal(dedicate(rig, "own", nlp, 1, true), VERDICT_OK);
    assert_int_equal(rig_state(rig, stays), TASK_PENDING);
    assert_int_equal(rig_state(rig, goes), TASK_UNAVAILABLE);
    assert_int_equal(waits_for(rig, goes), REASON_NOT_ADMITTED);
    /* another edit that does not change it for this task needs no force */
    struct pool_spec spec = pool_spec(rig, "own");
    spec.title = "t";
    assert_int_equal(pool_put(rig, &spec, false), VERDICT_OK);
    assert_int_equal(rig_state(rig, goes), TASK_UNAVAILABLE);
    /* back in: the task waits again */
    assert_int_equal(dedicate(rig, "own", both, 2, false), VERDICT_OK);
    assert_int_equal(rig_state(rig, goes), TASK_PENDING);
}

/* The pool is dedicated to department rd, and project vision moves to department ops and back. */
static void a_project_that_moves_is_judged_anew(void **state)
{
    struct rig *rig = *state;
    const char *const rd[] = {"rd"};
    assert_int_equal(dedicate(rig, "own", rd, 1, false), VERDICT_OK);
    const task_id stays = rig_submit(rig, task_in(own, "nlp"));
    const task_id moves = rig_submit(rig, task_in(own, "vision"));
    struct account_spec spec = {
        .kind = ACCOUNT_PROJECT, .name = "vision", .parent = "ops", .title = "", .description = ""};
    struct input in = {.type = INPUT_ACCOUNT_SET, .account = {.spec = &spec}};
    in.account.account = query_account_named(rig->core, ACCOUNT_PROJECT, "vision")->id;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(rig_state(rig, stays), TASK_PENDING);
    assert_int_equal(rig_state(rig, moves), TASK_UNAVAILABLE);
    assert_int_equal(waits_for(rig, moves), REASON_NOT_ADMITTED);
    spec.parent = "rd";
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(rig_state(rig, moves), TASK_PENDING);
}

static void an_unavailable_task_runs_again_in_another_pool_or_project(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n1", 4, 0, 1);
    assert_int_equal(dedicate(rig, "own", nlp, 1, false), VERDICT_OK);
    const task_id task = rig_submit(rig, task_in(own, "nlp"));
    const char *const vision[] = {"vision"};
    assert_int_equal(dedicate(rig, "own", vision, 1, true), VERDICT_OK);
    assert_int_equal(rig_state(rig, task), TASK_UNAVAILABLE);
    struct task_spec spec = rig_spec();
    struct task_edit edit = {.fields = TASK_EDIT_project, .spec = &spec};
    struct input in = {.type = INPUT_TASK_EDIT, .task = {.task = task, .edit = &edit}};
    spec.project = "web";
    assert_int_equal(rig_do(rig, in), VERDICT_REFUSED);
    spec.project = "vision";
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(rig_state(rig, task), TASK_PENDING);
    const char *const def[] = {"default"};
    edit.fields = TASK_EDIT_pools;
    spec.pools = def;
    spec.pool_count = 1;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, task), TASK_STARTING);
    spec.pools = own;
    edit.fields = TASK_EDIT_pools;
    assert_int_equal(dedicate(rig, "own", nlp, 1, true), VERDICT_OK);
    assert_int_equal(rig_do(rig, in), VERDICT_REFUSED); /* its project is vision now */
}

static void a_running_task_goes_on_and_does_not_start_again(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n1", 4, 0, 1);
    struct task_spec spec = rig_spec();
    spec.max_retries = 1;
    const task_id task = rig_submit(rig, spec);
    rig_pass(rig);
    rig_report(rig, task, 0, REPORT_STARTED, 0);
    struct pool_spec pool = pool_spec(rig, "default");
    pool.accepts = 1u << TASK_SERVICE;
    assert_int_equal(pool_put(rig, &pool, false), VERDICT_CONFLICT);
    assert_int_equal(pool_put(rig, &pool, true), VERDICT_OK);
    assert_int_equal(rig_state(rig, task), TASK_RUNNING);
    rig_report(rig, task, 0, REPORT_ENDED, 1);
    assert_int_equal(rig_state(rig, task), TASK_UNAVAILABLE);
    assert_int_equal(waits_for(rig, task), REASON_KIND_NOT_ACCEPTED);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, task), TASK_UNAVAILABLE);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, task), VERDICT_OK);
    assert_int_equal(rig_state(rig, task), TASK_KILLED);
}

static void a_pool_without_slots_refuses_tasks_with_slots_at_once(void **state)
{
    struct rig *rig = *state;
    struct pool_spec pool = pool_spec(rig, "own");
    pool.slots_per_node = 1; /* none */
    assert_int_equal(pool_put(rig, &pool, false), VERDICT_OK);
    assert_int_equal(rig_try_submit(rig, task_in(own, NULL)), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_TOO_LARGE);
    struct task_spec none = task_in(own, NULL);
    none.slots_milli = 0;
    const task_id task = rig_submit(rig, none);
    struct node_spec node = {.name = "n1",
                             .pool = "own",
                             .slots_milli = 4000,
                             .cpu_milli = 4000,
                             .device_count = 4,
                             .boot_id = "",
                             .address = "",
                             .version = ""};
    struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &node}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(query_node_named(rig->core, "n1")->slots_milli, 0);
    assert_int_equal(rig_try_submit(rig, task_in(own, NULL)), VERDICT_REFUSED);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, task), TASK_STARTING);
    pool = pool_spec(rig, "own");
    pool.slots_per_node = 3;
    assert_int_equal(pool_put(rig, &pool, false), VERDICT_OK);
    assert_int_equal(query_node_named(rig->core, "n1")->slots_milli, 2000);
    assert_int_equal(query_node_named(rig->core, "n1")->device_count, 2);
    assert_int_equal(rig_try_submit(rig, task_in(own, NULL)), VERDICT_OK);
    pool = pool_spec(rig, "own");
    pool.slots_per_node = 0;
    assert_int_equal(pool_put(rig, &pool, false), VERDICT_OK);
    assert_int_equal(query_node_named(rig->core, "n1")->slots_milli, 4000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_dedicated_pool_takes_its_guests_only),
        TEST(names_that_nobody_has_or_two_have_are_refused),
        TEST(a_project_that_is_taken_out_makes_its_tasks_unavailable),
        TEST(a_project_that_moves_is_judged_anew),
        TEST(an_unavailable_task_runs_again_in_another_pool_or_project),
        TEST(a_running_task_goes_on_and_does_not_start_again),
        TEST(a_pool_without_slots_refuses_tasks_with_slots_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
