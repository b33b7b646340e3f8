/* test_life.c - the life cycle of pools: states and health as nodes come and go; close, delete, restore. After each step the rig
 * checks all invariants and reads the state back from its bytes, and a tick tells the changes of state.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/names.h"
#include "core/model/object.h"
#include "core/sched/explain/explain.h"
#include "core/state/life.h"
#include "org_rig.h"

static const int64_t IDLE_MS = 60 * 1000;

static const struct pool *pool_of(const struct org *org, const char *name)
{
    return query_pool_named(org->rig.core, name);
}

static enum verdict pool_input(struct org *org, enum input_type type, bool force)
{
    struct input in = {.type = type};
    in.pool.pool = pool_of(org, "p")->id;
    in.pool.force = force;
    in.pool.kill = force;
    return rig_do(&org->rig, in);
}

/* The pool `p`. `max` 0: without a provider. */
static void begin(struct org *org, uint32_t min, uint32_t max)
{
    struct pool_spec spec;
    org_init(org);
    object_init(&pool_object, &spec);
    spec.name = "p";
    spec.provider = max > 0 ? POOL_LOCAL : POOL_STATIC;
    spec.nodes_min = min;
    spec.nodes_max = max;
    spec.node_slots = 1;
    spec.node_idle_ms = IDLE_MS;
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}

static void is(const struct org *org, enum pool_state state, enum pool_health health,
               enum pool_why why)
{
    const struct pool_life *life = &pool_of(org, "p")->life;
    assert_string_equal(names_pool_state((enum pool_state)life->state), names_pool_state(state));
    assert_string_equal(names_pool_health((enum pool_health)life->health),
                        names_pool_health(health));
    assert_string_equal(names_pool_why((enum pool_why)life->why), names_pool_why(why));
    assert_false(life->stale);
}

static node_id joins(struct org *org, const char *name, uint8_t supervisor)
{
    struct node_spec spec = {.name = name,
                             .pool = "p",
                             .slots_milli = SLOT_MILLI,
                             .boot_id = "",
                             .address = "",
                             .version = "",
                             .supervisor = {supervisor}};
    struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    return query_node_named(org->rig.core, name)->id;
}

static void is_lost(struct org *org, node_id node)
{
    struct input in = {.type = INPUT_NODE_SILENT, .node = {.node = node}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    in.type = INPUT_NODE_LOST;
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}

static void says(struct org *org, uint64_t launch, enum provider_says what)
{
    const struct provider_answer answer = {
        .launch = {launch}, .says = what, .name = "", .node = "", .words = "no capacity"};
    struct input in = {.type = INPUT_PROVIDER, .provider = {.answers = &answer, .count = 1}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}

static void pass(struct org *org)
{
    struct input in = {.type = INPUT_PASS};
    in.pass.pool = pool_of(org, "p")->id;
    in.pass.work_max = 100000;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
        if (org->rig.facts.count == 0) {
            return;
        }
    }
}

static void later(struct org *org, int64_t ms)
{
    org->rig.now_ms += ms;
    assert_int_equal(rig_do(&org->rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
}

static task_id work(struct org *org, uint32_t instances)
{
    struct task_spec spec = rig_spec();
    spec.pools = (const char *const[]){"p"};
    spec.pool_count = 1;
    spec.slots_milli = SLOT_MILLI;
    spec.instances = instances;
    return rig_submit(&org->rig, spec);
}

static enum reason_code waits_for(const struct org *org, task_id task)
{
    struct explanation why;
    explain_task(org->rig.core, task, &why);
    return why.reason.code;
}

/* ---- states and health ---- */

static void a_pool_without_a_provider(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 0, 0);
    is(&org, POOL_SUBMITTED, HEALTH_UNAVAILABLE, WHY_NO_NODES);
    const node_id a = joins(&org, "a", 1);
    is(&org, POOL_FULLY_EXECUTING, HEALTH_RUNNING, WHY_ALL_UP);
    const node_id b = joins(&org, "b", 2);
    is_lost(&org, a);
    is(&org, POOL_PARTIALLY_EXECUTING, HEALTH_DEGRADED, WHY_LOST);
    is_lost(&org, b);
    is(&org, POOL_FULLY_DISPATCHED, HEALTH_UNAVAILABLE, WHY_ALL_LOST);
    (void)joins(&org, "b", 2);
    is(&org, POOL_PARTIALLY_EXECUTING, HEALTH_DEGRADED, WHY_LOST);
    struct input in = {.type = INPUT_NODE_REMOVE, .node = {.node = a}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    is(&org, POOL_FULLY_EXECUTING, HEALTH_RUNNING, WHY_ALL_UP);
    org_done(&org);
}

static void a_server_that_starts_again_says_nothing_new(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 0, 0);
    (void)joins(&org, "a", 1);
    const int64_t since_ms = pool_of(&org, "p")->life.since_ms;
    org.rig.now_ms += 1000;
    assert_int_equal(rig_do(&org.rig, (struct input){.type = INPUT_SERVER_START}), VERDICT_OK);
    is(&org, POOL_FULLY_EXECUTING, HEALTH_RUNNING, WHY_ALL_UP);
    assert_int_equal(pool_of(&org, "p")->life.since_ms, since_ms);
    org_done(&org);
}

static void an_elastic_pool_grows_through_its_states(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 0, 2);
    is(&org, POOL_FULLY_EXECUTING, HEALTH_RUNNING, WHY_EMPTY);
    (void)work(&org, 2);
    pass(&org);
    is(&org, POOL_PARTIALLY_DISPATCHED, HEALTH_RUNNING, WHY_STARTING);
    says(&org, 1, PROVIDER_REQUESTED);
    is(&org, POOL_PARTIALLY_DISPATCHED, HEALTH_RUNNING, WHY_STARTING);
    says(&org, 2, PROVIDER_REQUESTED);
    is(&org, POOL_FULLY_DISPATCHED, HEALTH_RUNNING, WHY_STARTING);
    (void)joins(&org, "p-1", 1);
    is(&org, POOL_PARTIALLY_EXECUTING, HEALTH_RUNNING, WHY_STARTING);
    (void)joins(&org, "p-2", 2);
    is(&org, POOL_FULLY_EXECUTING, HEALTH_RUNNING, WHY_ALL_UP);
    org_done(&org);
}

static void a_fixed_pool_that_lost_nodes_is_degraded_until_they_are_replaced(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 2, 2);
    is(&org, POOL_SUBMITTED, HEALTH_RUNNING, WHY_STARTING);
    pass(&org);
    const node_id first = joins(&org, "p-1", 1);
    (void)joins(&org, "p-2", 2);
    is(&org, POOL_FULLY_EXECUTING, HEALTH_RUNNING, WHY_ALL_UP);
    is_lost(&org, first);
    is(&org, POOL_PARTIALLY_EXECUTING, HEALTH_DEGRADED, WHY_LOST);
    says(&org, 1, PROVIDER_GONE);
    is(&org, POOL_PARTIALLY_EXECUTING, HEALTH_DEGRADED, WHY_LOST);
    pass(&org);
    is(&org, POOL_PARTIALLY_EXECUTING, HEALTH_DEGRADED, WHY_LOST);
    (void)joins(&org, "p-3", 3);
    is(&org, POOL_FULLY_EXECUTING, HEALTH_RUNNING, WHY_ALL_UP);
    org_done(&org);
}

static void a_provider_that_fails_for_long_is_a_failure(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 0, 2);
    (void)work(&org, 1);
    for (uint64_t launch = 1; launch <= 8; launch++) {
        pass(&org);
        says(&org, launch, PROVIDER_FAILED);
        is(&org, launch < 8 ? POOL_SUBMITTED : POOL_FAILURE, HEALTH_UNAVAILABLE, WHY_PROVIDER);
        later(&org, (int64_t)3600 * 1000);
    }
    pass(&org);
    (void)joins(&org, "p-9", 1);
    is(&org, POOL_FULLY_EXECUTING, HEALTH_RUNNING, WHY_ALL_UP);
    org_done(&org);
}

/* ---- close ---- */

static void closing_waits_for_tasks_and_nodes(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 1, 2);
    pass(&org);
    (void)joins(&org, "p-1", 1);
    const task_id runs = work(&org, 1);
    pass(&org);
    const task_id waits = work(&org, 1);
    pass(&org); /* asks for a second node */
    assert_int_equal(pool_of(&org, "p")->launch_starting, 1);
    assert_int_equal(pool_input(&org, INPUT_POOL_CLOSE, false), VERDICT_OK);
    is(&org, POOL_CLOSING, HEALTH_UNAVAILABLE, WHY_CLOSED);
    assert_int_equal(pool_of(&org, "p")->launch_starting,
                     0); /* the node on its way is not awaited */
    says(&org, 2, PROVIDER_GONE);
    assert_int_equal(waits_for(&org, waits), REASON_POOL_CLOSED);
    struct task_spec spec = rig_spec();
    spec.pools = (const char *const[]){"p"};
    spec.pool_count = 1;
    assert_int_equal(rig_try_submit(&org.rig, spec), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_POOL_CLOSED);
    rig_report(&org.rig, runs, 0, REPORT_ENDED, 0);
    pass(&org);
    assert_int_equal(rig_state(&org.rig, waits), TASK_PENDING);
    later(&org, 0);
    assert_int_equal(pool_of(&org, "p")->launch_live, 0); /* at once, below the minimum */
    says(&org, 1, PROVIDER_GONE);
    is(&org, POOL_CLOSED, HEALTH_UNAVAILABLE, WHY_CLOSED);
    pass(&org);
    assert_int_equal(pool_of(&org, "p")->launch_count, 0);
    assert_int_equal(pool_input(&org, INPUT_POOL_RESTORE, false), VERDICT_OK);
    pass(&org);
    is(&org, POOL_PARTIALLY_DISPATCHED, HEALTH_RUNNING, WHY_STARTING);
    org_done(&org);
}

/* A locked node never goes, so the pool would close for ever. */
static void no_node_is_locked_while_its_pool_closes(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 1, 1);
    pass(&org);
    const node_id node = joins(&org, "p-1", 1);
    const task_id runs = work(&org, 1);
    pass(&org);
    assert_int_equal(pool_input(&org, INPUT_POOL_CLOSE, false), VERDICT_OK);
    struct node_edit edit = {.fields = NODE_EDIT_LOCK, .locked = true};
    const struct input lock = {.type = INPUT_NODE_EDIT, .node = {.node = node, .edit = &edit}};
    assert_int_equal(rig_do(&org.rig, lock), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_WRONG_STATE);
    edit.locked = false;
    assert_int_equal(rig_do(&org.rig, lock), VERDICT_OK);
    rig_report(&org.rig, runs, 0, REPORT_ENDED, 0);
    later(&org, 0);
    says(&org, 1, PROVIDER_GONE);
    is(&org, POOL_CLOSED, HEALTH_UNAVAILABLE, WHY_CLOSED);
    org_done(&org);
}

static void a_close_may_kill(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 0, 0);
    (void)joins(&org, "a", 1);
    const task_id runs = work(&org, 1);
    pass(&org);
    assert_int_equal(pool_input(&org, INPUT_POOL_CLOSE, true), VERDICT_OK);
    is(&org, POOL_CLOSING, HEALTH_UNAVAILABLE, WHY_CLOSED);
    rig_report(&org.rig, runs, 0, REPORT_ENDED, 143);
    assert_int_equal(query_task_outcome(org.rig.core, runs), TASK_KILLED);
    is(&org, POOL_CLOSED, HEALTH_UNAVAILABLE, WHY_CLOSED);
    org_done(&org);
}

/* ---- delete and restore ---- */

static void a_deleted_pool_keeps_its_tasks_and_comes_back(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 0, 2);
    const task_id runs = work(&org, 1);
    pass(&org);
    (void)joins(&org, "p-1", 1);
    pass(&org);
    const task_id waits = work(&org, 1);
    assert_int_equal(pool_input(&org, INPUT_POOL_DELETE, false), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_IN_USE);
    assert_int_equal(org.rig.facts.refusal.need, 2);
    assert_int_equal(pool_input(&org, INPUT_POOL_DELETE, true), VERDICT_OK);
    is(&org, POOL_PENDING_DELETE, HEALTH_UNAVAILABLE, WHY_DELETED);
    assert_int_equal(rig_state(&org.rig, runs), TASK_STOPPING);
    assert_int_equal(rig_state(&org.rig, waits), TASK_UNAVAILABLE);
    assert_int_equal(waits_for(&org, waits), REASON_POOL_DELETED);
    rig_report(&org.rig, runs, 0, REPORT_ENDED, 143);
    assert_int_equal(rig_state(&org.rig, runs), TASK_UNAVAILABLE);
    later(&org, 0);
    says(&org, 1, PROVIDER_GONE);
    assert_int_equal(pool_of(&org, "p")->launch_count, 0);
    assert_int_equal(pool_input(&org, INPUT_POOL_DELETE, true), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_POOL_DELETED);
    assert_int_equal(pool_input(&org, INPUT_POOL_RESTORE, false), VERDICT_OK);
    assert_int_equal(rig_count(&org.rig, FACT_LAUNCH_ASKED), 1); /* as many nodes as before */
    (void)joins(&org, "p-2", 2);
    pass(&org);
    assert_int_equal(rig_state(&org.rig, runs), TASK_STARTING);
    assert_int_equal(rig_state(&org.rig, waits), TASK_PENDING);
    org_done(&org);
}

static void a_task_of_a_deleted_pool_runs_in_another(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 0, 0);
    org_nodes(&org, 1, 1); /* of the pool `default` */
    const node_id node = joins(&org, "a", 9);
    const task_id task = work(&org, 1);
    assert_int_equal(pool_input(&org, INPUT_POOL_DELETE, true), VERDICT_OK);
    assert_int_equal(rig_state(&org.rig, task), TASK_UNAVAILABLE);
    const struct task_edit edit = {
        .fields = TASK_EDIT_pools,
        .spec = &(struct task_spec){.pools = (const char *const[]){"default"}, .pool_count = 1}};
    struct input in = {.type = INPUT_TASK_EDIT, .task = {.task = task, .edit = &edit}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    (void)org_pass(&org);
    assert_int_equal(rig_state(&org.rig, task), TASK_STARTING);
    later(&org, POOL_RESTORE_MS - 1);
    assert_non_null(pool_of(&org, "p"));
    later(&org, 1); /* the nodes of agents go with the pool */
    assert_null(pool_of(&org, "p"));
    assert_int_equal(query_node(org.rig.core, node)->state, NODE_REMOVED);
    org_done(&org);
}

static void a_name_is_taken_until_the_pool_is_gone(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 0, 1);
    assert_int_equal(pool_input(&org, INPUT_POOL_DELETE, false), VERDICT_OK);
    struct pool_spec spec;
    object_init(&pool_object, &spec);
    spec.name = "p";
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_POOL_DELETED);
    assert_string_equal(org.rig.facts.refusal.text, "p");
    assert_int_equal(pool_input(&org, INPUT_POOL_CLOSE, false), VERDICT_CONFLICT);
    later(&org, POOL_RESTORE_MS);
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    org_done(&org);
}

static void a_pool_with_machines_is_not_gone(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 1, 1);
    pass(&org);
    (void)joins(&org, "p-1", 1);
    assert_int_equal(pool_input(&org, INPUT_POOL_DELETE, false), VERDICT_OK);
    later(&org, POOL_RESTORE_MS);
    assert_non_null(pool_of(&org, "p")); /* the provider has not said that the machine is gone */
    says(&org, 1, PROVIDER_GONE);
    later(&org, 0);
    assert_null(pool_of(&org, "p"));
    org_done(&org);
}

static void the_pool_default_always_is_open(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    struct input in = {.type = INPUT_POOL_CLOSE, .pool = {.pool = org_pool_id}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_CONFLICT);
    in.type = INPUT_POOL_DELETE;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_CONFLICT);
    in.pool.pool.v = 77;
    in.type = INPUT_POOL_RESTORE;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_NOT_FOUND);
    org_done(&org);
}

/* The pool `p` takes the tasks without slots that name no pool. */
static void a_default_pool_is_open_while_it_is_one(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 0, 1);
    struct input in = {.type = INPUT_DEFAULTS_SET, .defaults = {.pools = {"default", "p"}}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    assert_int_equal(pool_input(&org, INPUT_POOL_CLOSE, true), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_DEFAULT_POOL);
    assert_int_equal(pool_input(&org, INPUT_POOL_DELETE, true), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_DEFAULT_POOL);
    in.defaults.pools[1] = "default";
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    assert_int_equal(pool_input(&org, INPUT_POOL_CLOSE, true), VERDICT_OK);
    org_done(&org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_without_a_provider),
        cmocka_unit_test(a_server_that_starts_again_says_nothing_new),
        cmocka_unit_test(an_elastic_pool_grows_through_its_states),
        cmocka_unit_test(a_fixed_pool_that_lost_nodes_is_degraded_until_they_are_replaced),
        cmocka_unit_test(a_provider_that_fails_for_long_is_a_failure),
        cmocka_unit_test(closing_waits_for_tasks_and_nodes),
        cmocka_unit_test(no_node_is_locked_while_its_pool_closes),
        cmocka_unit_test(a_close_may_kill),
        cmocka_unit_test(a_deleted_pool_keeps_its_tasks_and_comes_back),
        cmocka_unit_test(a_task_of_a_deleted_pool_runs_in_another),
        cmocka_unit_test(a_name_is_taken_until_the_pool_is_gone),
        cmocka_unit_test(a_pool_with_machines_is_not_gone),
        cmocka_unit_test(the_pool_default_always_is_open),
        cmocka_unit_test(a_default_pool_is_open_while_it_is_one),
    };
    return cmocka_run_group_tests_name("life", tests, NULL, NULL);
}
