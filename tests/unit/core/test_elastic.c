/* test_elastic.c - pools whose provider brings nodes up and down: how many nodes a pool asks for, when a node goes, what
 * happens when the provider fails. After each step the rig checks all invariants and reads the state back from its bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain.h"
#include "core/state/elastic.h"
#include "elastic_rig.h"

static void one_always(struct pool_spec *spec)
{
    three_nodes(spec);
    spec->nodes_min = 1;
}

static void two_free_slots(struct pool_spec *spec)
{
    three_nodes(spec);
    spec->headroom = 2;
}

/* ---- growth ---- */

static void a_pool_grows_for_tasks_without_a_place(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    assert_int_equal(asks(&org), 0); /* nothing waits */
    const task_id task = work(&org, 1, 3);
    assert_int_equal(asks(&org), 2); /* two instances share a node */
    assert_int_equal(asks(&org), 0); /* the nodes on their way count */
    (void)joins(&org, 1);
    assert_int_equal(asks(&org), 0);
    assert_int_equal(query_task(org.rig.core, task)->waiting_count, 1);
    (void)joins(&org, 2);
    org_settle(&org);
    assert_true(org_runs(&org, task));
    assert_int_equal(pool_of(&org)->launch_live, 2);
    org_done(&org);
}

static void a_pool_never_grows_beyond_its_maximum(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    (void)work(&org, 2, 50);
    assert_int_equal(asks(&org), 3);
    for (unsigned i = 1; i <= 3; i++) {
        (void)joins(&org, i);
    }
    org_settle(&org);
    assert_int_equal(pool_of(&org)->launch_count, 3);
    org_done(&org);
}

static void what_no_node_can_run_is_refused_and_launches_nothing(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    struct task_spec spec = rig_spec();
    spec.slots_milli = SLOT_MILLI;
    spec.memory_bytes = (int64_t)3 << 30;
    assert_int_equal(rig_try_submit(&org.rig, spec), VERDICT_REFUSED);
    assert_int_equal(org.rig.facts.refusal.code, REASON_TOO_LARGE);
    assert_int_equal(org.rig.facts.refusal.available, (int64_t)2 << 30);
    spec.memory_bytes = ASK_NOTHING;
    spec.gang = true;
    spec.instances = 7; /* three nodes hold six */
    assert_int_equal(rig_try_submit(&org.rig, spec), VERDICT_REFUSED);
    assert_int_equal(org.rig.facts.refusal.code, REASON_GANG_TOO_LARGE);
    assert_int_equal(asks(&org), 0);
    spec.instances = 6;
    assert_int_equal(rig_try_submit(&org.rig, spec), VERDICT_OK);
    assert_int_equal(asks(&org), 3);
    assert_int_equal(rig_try_submit(&org.rig, spec), VERDICT_OK); /* nodes on their way count */
    org_done(&org);
}

static void two_gpus_each(struct pool_spec *spec)
{
    three_nodes(spec);
    spec->node_gpus = 2;
}

static void nodes_with_gpus_come_for_tasks_that_need_gpus(void **state)
{
    (void)state;
    struct org org;
    struct task_spec spec = rig_spec();
    spec.slots_milli = SLOT_MILLI;
    spec.needs_gpu = true;
    begin(&org, three_nodes);
    assert_int_equal(rig_try_submit(&org.rig, spec), VERDICT_REFUSED);
    assert_int_equal(org.rig.facts.refusal.code, REASON_NO_DEVICES);
    org_pool(&org, two_gpus_each);
    assert_int_equal(rig_try_submit(&org.rig, spec), VERDICT_OK);
    assert_int_equal(asks(&org), 1);
    org_done(&org);
}

static void tasks_beyond_a_limit_launch_nothing(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    const account_id small = org_add(&org, ACCOUNT_PROJECT, "small", "default");
    org_quota(&org, small, (struct org_quota){.guaranteed = 0, .limit = 2, .weight = 1});
    for (unsigned i = 0; i < 5; i++) {
        (void)org_submit(&org, (struct org_task){.project = "small", .slots = 1});
    }
    assert_int_equal(asks(&org), 1);
    org_done(&org);
}

static void a_gang_counts_the_places_that_are_free(void **state)
{
    (void)state;
    struct org org;
    begin(&org, one_always);
    assert_int_equal(asks(&org), 1); /* the minimum */
    (void)joins(&org, 1);
    (void)org_submit(&org, (struct org_task){.slots = 2, .instances = 2, .gang = true});
    assert_int_equal(asks(&org), 1); /* one of the two instances has a place on the first node */
    org_done(&org);
}

static void tasks_without_slots_share_the_nodes_of_others(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    struct task_spec spec = rig_spec();
    spec.slots_milli = 0;
    spec.cpu_milli = ASK_NOTHING;
    spec.memory_bytes = ASK_NOTHING;
    spec.instances = 3;
    (void)work(&org, 2, 2);
    assert_int_equal(rig_try_submit(&org.rig, spec), VERDICT_OK);
    assert_int_equal(asks(&org), 2); /* three tasks without slots have places on the two nodes */
    org_done(&org);
}

static void equal_parts(struct pool_spec *spec)
{
    three_nodes(spec);
    spec->uneven_off = true;
}

static void uneven_parts(struct pool_spec *spec)
{
    spec->uneven_off = false;
}

static void a_wide_task_is_divided_over_nodes_that_are_to_come(void **state)
{
    (void)state;
    struct org org;
    struct task_spec spec = rig_spec();
    begin(&org, equal_parts);
    spec.slots_milli = 3 * SLOT_MILLI;
    assert_int_equal(rig_try_submit(&org.rig, spec), VERDICT_REFUSED); /* no multiple of a node */
    assert_int_equal(org.rig.facts.refusal.smallest, 2 * SLOT_MILLI);
    spec.slots_milli = 8 * SLOT_MILLI;
    assert_int_equal(rig_try_submit(&org.rig, spec), VERDICT_REFUSED); /* more than three nodes */
    assert_int_equal(org.rig.facts.refusal.smallest, 6 * SLOT_MILLI);
    spec.slots_milli = 4 * SLOT_MILLI;
    const task_id task = rig_submit(&org.rig, spec);
    assert_int_equal(asks(&org), 2);
    (void)joins(&org, 1);
    (void)joins(&org, 2);
    org_settle(&org);
    assert_true(org_runs(&org, task));
    org_pool(&org, uneven_parts);
    spec.slots_milli = 5 * SLOT_MILLI;
    assert_int_equal(rig_try_submit(&org.rig, spec), VERDICT_OK);
    org_done(&org);
}

static void free_slots_are_kept_ready(void **state)
{
    (void)state;
    struct org org;
    begin(&org, two_free_slots);
    assert_int_equal(asks(&org), 1);
    (void)joins(&org, 1);
    org_settle(&org);
    assert_int_equal(pool_of(&org)->launch_live, 1);
    (void)work(&org, 1, 1);
    org_settle(&org); /* the task starts, one slot is free, two are wanted */
    assert_int_equal(pool_of(&org)->launch_live, 2);
    (void)joins(&org, 2);
    org_settle(&org);
    later(&org, IDLE_MS); /* three slots are free: the node without work would leave one */
    assert_int_equal(state_of(&org, 2), LAUNCH_RUNNING);
    org_done(&org);
}

/* ---- shrinking ---- */

static void a_node_without_work_goes_after_a_time(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    const task_id task = work(&org, 2, 2);
    assert_int_equal(asks(&org), 2);
    const node_id first = joins(&org, 1);
    (void)joins(&org, 2);
    org_settle(&org);
    const unsigned idle = query_instance(org.rig.core, task, 0)->node.v == first.v ? 1 : 2;
    rig_report(&org.rig, task, 0, REPORT_ENDED, 0);
    later(&org, IDLE_MS - 1);
    assert_int_equal(state_of(&org, idle), LAUNCH_RUNNING);
    later(&org, 1);
    assert_int_equal(state_of(&org, idle), LAUNCH_ENDING);
    assert_int_equal(state_of(&org, 3 - idle), LAUNCH_RUNNING); /* its node has work */
    (void)work(&org, 1, 1);
    assert_int_equal(asks(&org), 1); /* the node that ends takes no more work */
    says(&org, idle, PROVIDER_GONE, "");
    assert_null(query_launch(org.rig.core, (launch_id){idle}));
    assert_int_equal(pool_of(&org)->node_count, 1);
    org_done(&org);
}

static void no_idle_time(struct pool_spec *spec)
{
    three_nodes(spec);
    spec->node_idle_ms = 0;
}

/* A tick comes before the pass that gives the new node its work. */
static void a_new_node_gets_its_work_before_it_is_idle(void **state)
{
    (void)state;
    struct org org;
    begin(&org, no_idle_time);
    const task_id task = work(&org, 2, 1);
    assert_int_equal(asks(&org), 1);
    (void)joins(&org, 1);
    later(&org, 0);
    assert_int_equal(state_of(&org, 1), LAUNCH_RUNNING);
    org_settle(&org);
    assert_true(org_runs(&org, task));
    rig_report(&org.rig, task, 0, REPORT_ENDED, 0);
    later(&org, 1000);
    assert_int_equal(state_of(&org, 1), LAUNCH_ENDING);
    org_done(&org);
}

static void the_minimum_stays(void **state)
{
    (void)state;
    struct org org;
    begin(&org, one_always);
    assert_int_equal(asks(&org), 1);
    (void)joins(&org, 1);
    org_settle(&org);
    later(&org, 100 * IDLE_MS);
    assert_int_equal(state_of(&org, 1), LAUNCH_RUNNING);
    assert_int_equal(pool_of(&org)->shrink_ms, 0); /* no deadline wakes anybody */
    org_pool(&org, three_nodes);                   /* without a minimum */
    later(&org, 0);
    assert_int_equal(state_of(&org, 1), LAUNCH_ENDING);
    org_done(&org);
}

static void no_nodes(struct pool_spec *spec)
{
    three_nodes(spec);
    spec->nodes_max = 0;
}

static void a_smaller_maximum_ends_nodes_without_work_at_once(void **state)
{
    (void)state;
    struct org org;
    begin(&org, one_always);
    assert_int_equal(asks(&org), 1);
    (void)joins(&org, 1);
    org_pool(&org, no_nodes);
    later(&org, 0);
    assert_int_equal(state_of(&org, 1), LAUNCH_ENDING);
    assert_string_equal(query_launch_words(query_launch(org.rig.core, (launch_id){1})),
                        "the pool has more nodes than its maximum");
    org_done(&org);
}

/* ---- what goes wrong ---- */

static void one_node(struct pool_spec *spec)
{
    three_nodes(spec);
    spec->nodes_max = 1;
}

static void a_smaller_maximum_ends_machines_on_their_way(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    const task_id task = work(&org, 2, 3);
    assert_int_equal(asks(&org), 3);
    (void)joins(&org, 1);
    says(&org, 3, PROVIDER_RUNNING, "");
    org_settle(&org);
    org_pool(&org, one_node);
    later(&org, 0);
    assert_int_equal(state_of(&org, 2), LAUNCH_ENDING); /* has no machine yet */
    assert_int_equal(state_of(&org, 3), LAUNCH_RUNNING);
    later(&org, 0);
    assert_int_equal(state_of(&org, 3), LAUNCH_ENDING);
    later(&org, 0);
    assert_int_equal(state_of(&org, 1), LAUNCH_RUNNING); /* works */
    assert_int_equal(query_task(org.rig.core, task)->active_count, 1);
    org_done(&org);
}

static void launches_that_fail_together_are_one_failure(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    (void)work(&org, 2, 3);
    assert_int_equal(asks(&org), 3);
    org.rig.now_ms += 10;
    says(&org, 1, PROVIDER_FAILED, "no room");
    const int64_t retry_ms = pool_of(&org)->launch_retry_ms;
    org.rig.now_ms += 10;
    says(&org, 2, PROVIDER_FAILED, "no room");
    says(&org, 3, PROVIDER_FAILED, "no room at all");
    assert_int_equal(pool_of(&org)->launch_failures, 1);
    assert_int_equal(pool_of(&org)->launch_retry_ms, retry_ms);
    assert_string_equal(query_pool_refusal(pool_of(&org)), "no room at all");
    org.rig.now_ms = retry_ms;
    assert_int_equal(asks(&org), 3);
    says(&org, 4, PROVIDER_FAILED, "no room");
    assert_int_equal(pool_of(&org)->launch_failures, 2);
    assert_int_equal(elastic_failed_ms(pool_of(&org)), retry_ms);
    org_done(&org);
}

static void a_provider_that_fails_is_asked_again_later(void **state)
{
    (void)state;
    struct org org;
    struct explanation why;
    begin(&org, three_nodes);
    const task_id task = work(&org, 2, 1);
    int64_t wait_ms = 0;
    for (unsigned launch = 1; launch < 5; launch++) {
        assert_int_equal(asks(&org), 1);
        explain_task(org.rig.core, task, &why);
        assert_int_equal(why.reason.code, REASON_NODES_STARTING);
        says(&org, launch, PROVIDER_FAILED, "no capacity");
        assert_string_equal(query_pool_refusal(pool_of(&org)), "no capacity");
        const int64_t next_ms = pool_of(&org)->launch_retry_ms - org.rig.now_ms;
        assert_true(next_ms > wait_ms); /* each time later */
        wait_ms = next_ms;
        assert_int_equal(asks(&org), 0);
        assert_int_equal(pool_of(&org)->wake_ms, pool_of(&org)->launch_retry_ms);
        explain_task(org.rig.core, task, &why);
        assert_int_equal(why.reason.code, REASON_PROVIDER_FAILED);
        assert_int_equal(why.reason.until_ms, pool_of(&org)->launch_retry_ms);
        org.rig.now_ms += next_ms;
    }
    assert_int_equal(asks(&org), 1);
    (void)joins(&org, 5);
    assert_string_equal(query_pool_refusal(pool_of(&org)), "");
    org_settle(&org);
    assert_true(org_runs(&org, task));
    org_done(&org);
}

static void an_agent_that_does_not_join_is_given_up(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    (void)work(&org, 2, 1);
    assert_int_equal(asks(&org), 1);
    says(&org, 1, PROVIDER_REQUESTED, "");
    later(&org, STARTING_MS - 1);
    assert_int_equal(state_of(&org, 1), LAUNCH_REQUESTED);
    later(&org, 1);
    assert_int_equal(state_of(&org, 1), LAUNCH_ENDING);
    assert_string_equal(query_pool_refusal(pool_of(&org)), "its agent has not joined in time");
    assert_int_equal(asks(&org), 0); /* the provider is asked again later */
    const node_id late = joins(&org, 1);
    assert_int_equal(query_launch(org.rig.core, (launch_id){1})->node.v, late.v);
    assert_true(query_node(org.rig.core, late)->draining); /* too late: it takes no work */
    says(&org, 1, PROVIDER_GONE, "");
    assert_int_equal(pool_of(&org)->node_count, 0);
    org_done(&org);
}

static void tasks_of_a_machine_that_is_gone_run_again(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    const task_id task = work(&org, 2, 1);
    assert_int_equal(asks(&org), 1);
    (void)joins(&org, 1);
    org_settle(&org);
    assert_true(org_runs(&org, task));
    says(&org, 1, PROVIDER_GONE, "spot taken back");
    assert_int_equal(query_task(org.rig.core, task)->waiting_count, 1);
    assert_int_equal(pool_of(&org)->node_count, 0);
    assert_int_equal(asks(&org), 1); /* a machine that had joined is no failed launch */
    (void)joins(&org, 2);
    org_settle(&org);
    assert_true(org_runs(&org, task));
    org_done(&org);
}

static void the_machine_of_a_lost_node_ends(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    (void)work(&org, 2, 1);
    assert_int_equal(asks(&org), 1);
    const node_id node = joins(&org, 1);
    org_settle(&org);
    assert_int_equal(rig_on_node(&org.rig, INPUT_NODE_SILENT, node), VERDICT_OK);
    assert_int_equal(rig_on_node(&org.rig, INPUT_NODE_LOST, node), VERDICT_OK);
    assert_int_equal(state_of(&org, 1), LAUNCH_ENDING);
    assert_int_equal(asks(&org), 1); /* another node takes its place */
    org_done(&org);
}

static void a_provider_with_nodes_cannot_be_changed(void **state)
{
    (void)state;
    struct org org;
    struct arena arena;
    struct pool_spec spec;
    begin(&org, three_nodes);
    (void)work(&org, 2, 1);
    assert_int_equal(asks(&org), 1);
    arena_init(&arena);
    query_pool_spec(org.rig.core, org_pool_id, &arena, &spec);
    spec.provider = POOL_STATIC;
    struct input in = {.type = INPUT_POOL_EDIT, .pool = {.pool = org_pool_id, .spec = &spec}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_CONFLICT);
    spec.provider = POOL_LOCAL;
    spec.nodes_min = 4;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_REFUSED);
    arena_done(&arena);
    org_done(&org);
}

/* ---- words, and machines whose time is over ---- */

/* The words of the provider about a machine that takes long or does not end stand at the pool. */
static void the_last_words_of_the_provider_stand_at_the_pool(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    (void)work(&org, 2, 1);
    assert_int_equal(asks(&org), 1);
    says(&org, 1, PROVIDER_REQUESTED, "waits for resources");
    assert_string_equal(query_pool_refusal(pool_of(&org)), "waits for resources");
    assert_int_equal(pool_of(&org)->launch_failures, 0);
    says(&org, 1, PROVIDER_REQUESTED, "");
    assert_string_equal(query_pool_refusal(pool_of(&org)), "");
    says(&org, 1, PROVIDER_RUNNING, "boots");
    struct input stop = {.type = INPUT_LAUNCH_STOP, .launch = {.launch = {1}}};
    assert_int_equal(rig_do(&org.rig, stop), VERDICT_OK);
    says(&org, 1, PROVIDER_REQUESTED, "late");
    assert_string_equal(query_pool_refusal(pool_of(&org)), "boots");
    says(&org, 1, PROVIDER_RUNNING, "cannot be ended");
    assert_string_equal(query_pool_refusal(pool_of(&org)), "cannot be ended");
    assert_int_equal(state_of(&org, 1), LAUNCH_ENDING);
    says(&org, 1, PROVIDER_RUNNING, "cannot be ended");
    assert_int_equal(org.rig.facts.count, 0);
    org_done(&org);
}

/* A machine whose launch has failed comes up all the same: it is not taken in, because it will be ended. */
static void a_machine_that_comes_too_late_is_not_taken_in(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    (void)work(&org, 2, 1);
    assert_int_equal(asks(&org), 1);
    says(&org, 1, PROVIDER_FAILED, "no answer");
    const struct node_spec late = {.name = "default-1", .slots_milli = 2000, .supervisor = {9}};
    struct input join = {.type = INPUT_NODE_JOIN, .node = {.spec = &late}};
    assert_int_equal(rig_do(&org.rig, join), VERDICT_REFUSED);
    assert_int_equal(org.rig.facts.refusal.code, REASON_UNKNOWN_OBJECT);
    const struct node_spec own = {.name = "default-99", .slots_milli = 2000, .supervisor = {8}};
    join.node.spec = &own; /* somebody's own node */
    assert_int_equal(rig_do(&org.rig, join), VERDICT_OK);
    org_done(&org);
}

/* The tasks of a machine whose time is over stop as by an eviction and wait again; only then the machine ends. */
static void tasks_leave_before_their_machine(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    const task_id task = work(&org, 1, 1);
    assert_int_equal(asks(&org), 1);
    (void)joins(&org, 1);
    org_settle(&org);
    assert_true(org_runs(&org, task));
    struct input stop = {.type = INPUT_LAUNCH_STOP, .launch = {.launch = {1}, .requeue = true}};
    assert_int_equal(rig_do(&org.rig, stop), VERDICT_OK);
    assert_int_equal(state_of(&org, 1), LAUNCH_RUNNING);
    const struct instance *instance = query_instance(org.rig.core, task, 0);
    assert_int_equal(instance->state, INSTANCE_STOPPING);
    assert_int_equal(instance->cause, END_PREEMPTED);
    assert_int_equal(rig_do(&org.rig, stop), VERDICT_OK); /* it is told to stop once */
    assert_int_equal(org.rig.facts.count, 0);
    org_settle(&org);
    org_done(&org);
    begin(&org, three_nodes);
    (void)work(&org, 1, 1);
    assert_int_equal(asks(&org), 1);
    assert_int_equal(rig_do(&org.rig, stop), VERDICT_OK); /* no task runs there */
    assert_int_equal(state_of(&org, 1), LAUNCH_ENDING);
    org_done(&org);
}

/* ---- spare nodes ---- */

static void one_spare(struct pool_spec *spec)
{
    three_nodes(spec);
    spec->spare_nodes = 1;
}

static bool is_spare(const struct org *org, node_id node)
{
    return query_node(org->rig.core, node)->spare;
}

static void goes_silent_and_is_lost(struct org *org, node_id node)
{
    assert_int_equal(rig_on_node(&org->rig, INPUT_NODE_SILENT, node), VERDICT_OK);
    assert_int_equal(rig_on_node(&org->rig, INPUT_NODE_LOST, node), VERDICT_OK);
}

/* The pool keeps one idle node out of use. When the other node is lost, its task starts on the spare node at once. */
static void a_spare_node_takes_the_work_of_a_lost_node(void **state)
{
    (void)state;
    struct org org;
    begin(&org, one_spare);
    assert_int_equal(asks(&org), 1);
    const node_id spare = joins(&org, 1);
    (void)org_pass(&org);
    assert_true(is_spare(&org, spare));
    assert_int_equal(asks(&org), 0);
    const task_id task = work(&org, 2, 1);
    assert_int_equal(asks(&org), 1); /* the spare node takes no work */
    const node_id node = joins(&org, 2);
    org_settle(&org);
    assert_int_equal(query_instance(org.rig.core, task, 0)->node.v, node.v);
    later(&org, 10 * IDLE_MS); /* a spare node has no work, and stays */
    assert_int_equal(state_of(&org, 1), LAUNCH_RUNNING);
    goes_silent_and_is_lost(&org, node);
    assert_false(is_spare(&org, spare));
    assert_int_equal(rig_count(&org.rig, FACT_NODE_SPARE), 1);
    (void)org_pass(&org);
    assert_int_equal(query_instance(org.rig.core, task, 0)->node.v, spare.v);
    assert_int_equal(asks(&org), 1); /* for the next spare node */
    const node_id next = joins(&org, 3);
    (void)org_pass(&org);
    assert_true(is_spare(&org, next));
    org_done(&org);
}

static void a_machine_that_goes_or_is_out_of_service_is_made_up_for(void **state)
{
    (void)state;
    struct org org;
    begin(&org, one_spare);
    assert_int_equal(asks(&org), 1);
    const node_id one = joins(&org, 1);
    (void)org_pass(&org);
    const task_id task = work(&org, 2, 1);
    assert_int_equal(asks(&org), 1);
    (void)joins(&org, 2);
    org_settle(&org);
    says(&org, 2, PROVIDER_GONE, "taken back");
    assert_false(is_spare(&org, one));
    org_settle(&org);
    assert_int_equal(query_instance(org.rig.core, task, 0)->node.v, one.v);
    org_done(&org);
}

static void no_spare(struct pool_spec *spec)
{
    spec->spare_nodes = 0;
}

static void fewer_spare_nodes_go_back_to_work(void **state)
{
    (void)state;
    struct org org;
    begin(&org, one_spare);
    (void)asks(&org);
    const node_id node = joins(&org, 1);
    (void)org_pass(&org);
    const task_id task = work(&org, 2, 1);
    org_pool(&org, no_spare);
    org_settle(&org);
    assert_false(is_spare(&org, node));
    assert_int_equal(query_instance(org.rig.core, task, 0)->node.v, node.v);
    org_done(&org);
}

/* ---- pools that cut the slots of their nodes ---- */

static void without_slots(struct pool_spec *spec)
{
    three_nodes(spec);
    spec->slots_per_node = 1; /* none */
    spec->headroom = 4;       /* of slots that no node has */
}

static void one_slot_each(struct pool_spec *spec)
{
    three_nodes(spec);
    spec->slots_per_node = 2; /* one */
    spec->headroom = 2;
}

static task_id board(struct org *org)
{
    return org_submit(org, (struct org_task){.instances = 1});
}

/* A node has in the pool what the pool lets it have: that is what the pool promises. */
static void a_pool_without_slots_grows_for_tasks_without_slots(void **state)
{
    (void)state;
    struct org org;
    begin(&org, without_slots);
    assert_int_equal(asks(&org), 0);
    const task_id task = board(&org);
    assert_int_equal(asks(&org), 1);
    const node_id node = joins(&org, 1);
    assert_int_equal(state_of(&org, 1), LAUNCH_RUNNING);
    assert_int_equal(pool_of(&org)->launch_failures, 0);
    org_settle(&org);
    assert_int_equal(query_instance(org.rig.core, task, 0)->node.v, node.v);
    assert_int_equal(asks(&org), 0);
    rig_report(&org.rig, task, 0, REPORT_ENDED, 0);
    later(&org, IDLE_MS);
    assert_int_equal(state_of(&org, 1), LAUNCH_ENDING);
    org_done(&org);
}

static void a_pool_that_cuts_slots_counts_those_that_are_left(void **state)
{
    (void)state;
    struct org org;
    begin(&org, one_slot_each);
    assert_int_equal(asks(&org), 2); /* nodes of one slot for two free slots */
    (void)joins(&org, 1);
    (void)joins(&org, 2);
    assert_int_equal(state_of(&org, 2), LAUNCH_RUNNING);
    assert_int_equal(asks(&org), 0);
    org_done(&org);
}

static void one_spare_without_slots(struct pool_spec *spec)
{
    without_slots(spec);
    spec->spare_nodes = 1;
}

static void a_pool_without_slots_has_spare_nodes(void **state)
{
    (void)state;
    struct org org;
    begin(&org, one_spare_without_slots);
    assert_int_equal(asks(&org), 1);
    const node_id node = joins(&org, 1);
    (void)org_pass(&org);
    assert_true(is_spare(&org, node));
    assert_int_equal(asks(&org), 0);
    org_done(&org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_grows_for_tasks_without_a_place),
        cmocka_unit_test(a_pool_without_slots_grows_for_tasks_without_slots),
        cmocka_unit_test(a_pool_that_cuts_slots_counts_those_that_are_left),
        cmocka_unit_test(a_pool_without_slots_has_spare_nodes),
        cmocka_unit_test(a_pool_never_grows_beyond_its_maximum),
        cmocka_unit_test(what_no_node_can_run_is_refused_and_launches_nothing),
        cmocka_unit_test(nodes_with_gpus_come_for_tasks_that_need_gpus),
        cmocka_unit_test(tasks_beyond_a_limit_launch_nothing),
        cmocka_unit_test(a_gang_counts_the_places_that_are_free),
        cmocka_unit_test(tasks_without_slots_share_the_nodes_of_others),
        cmocka_unit_test(a_wide_task_is_divided_over_nodes_that_are_to_come),
        cmocka_unit_test(free_slots_are_kept_ready),
        cmocka_unit_test(a_node_without_work_goes_after_a_time),
        cmocka_unit_test(a_new_node_gets_its_work_before_it_is_idle),
        cmocka_unit_test(the_minimum_stays),
        cmocka_unit_test(a_smaller_maximum_ends_nodes_without_work_at_once),
        cmocka_unit_test(a_smaller_maximum_ends_machines_on_their_way),
        cmocka_unit_test(launches_that_fail_together_are_one_failure),
        cmocka_unit_test(a_provider_that_fails_is_asked_again_later),
        cmocka_unit_test(an_agent_that_does_not_join_is_given_up),
        cmocka_unit_test(tasks_of_a_machine_that_is_gone_run_again),
        cmocka_unit_test(the_machine_of_a_lost_node_ends),
        cmocka_unit_test(a_provider_with_nodes_cannot_be_changed),
        cmocka_unit_test(the_last_words_of_the_provider_stand_at_the_pool),
        cmocka_unit_test(tasks_leave_before_their_machine),
        cmocka_unit_test(a_machine_that_comes_too_late_is_not_taken_in),
        cmocka_unit_test(a_spare_node_takes_the_work_of_a_lost_node),
        cmocka_unit_test(a_machine_that_goes_or_is_out_of_service_is_made_up_for),
        cmocka_unit_test(fewer_spare_nodes_go_back_to_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
