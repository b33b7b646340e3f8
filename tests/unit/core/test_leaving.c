/* test_leaving.c - pools that are scaled by hand, nodes that leave, locked nodes, drains with a deadline. After each step the rig
 * checks all invariants and reads the state back from its bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "elastic_rig.h"

static void fixed_three(struct pool_spec *spec)
{
    three_nodes(spec);
    spec->nodes_fixed = 3;
}

/* Three nodes of two slots each, without work. */
static void three(struct org *org)
{
    begin(org, fixed_three);
    assert_int_equal(asks(org), 3);
    for (unsigned i = 1; i <= 3; i++) {
        (void)joins(org, i);
    }
    assert_int_equal(asks(org), 0);
}

/* Scales the pool to `size` nodes, without the nodes of the list. */
static enum verdict scale(struct org *org, uint32_t size, enum busy busy, const node_id *remove,
                          uint32_t count)
{
    struct arena arena;
    struct pool_spec spec;
    arena_init(&arena);
    query_pool_spec(org->rig.core, org_pool_id, &arena, &spec);
    spec.nodes_fixed = size;
    spec.nodes_min = size;
    spec.nodes_max = size;
    const enum verdict verdict = rig_do(&org->rig, (struct input){.type = INPUT_POOL_SCALE,
                                                                  .scale = {.pool = org_pool_id,
                                                                            .spec = &spec,
                                                                            .remove = remove,
                                                                            .remove_count = count,
                                                                            .busy = busy}});
    arena_done(&arena);
    return verdict;
}

static enum verdict edit(struct org *org, node_id node, struct node_edit change)
{
    return rig_do(&org->rig,
                  (struct input){.type = INPUT_NODE_EDIT, .node = {.node = node, .edit = &change}});
}

static const struct launch *launch(const struct org *org, uint64_t id)
{
    return query_launch(org->rig.core, (launch_id){id});
}

static void idle_nodes_leave_first(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    const task_id task = work(&org, 2, 1);
    org_settle(&org);
    const uint64_t busy = query_instance(org.rig.core, task, 0)->node.v;
    assert_int_equal(scale(&org, 1, BUSY_REFUSE, NULL, 0), VERDICT_OK); /* nothing is in the way */
    assert_int_equal(rig_count(&org.rig, FACT_NODE_LEAVING), 2);
    assert_int_equal(pool_of(&org)->launch_live, 1);
    assert_int_equal(pool_of(&org)->launch_leaving, 2);
    later(&org, 0);
    for (uint64_t i = 1; i <= 3; i++) {
        assert_int_equal(state_of(&org, i) == LAUNCH_ENDING, i != busy);
    }
    assert_int_equal(asks(&org), 0);
    assert_true(org_runs(&org, task));
    org_done(&org);
}

static void a_busy_node_leaves_when_its_last_task_ends(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    const task_id task = work(&org, 2, 3);
    org_settle(&org);
    assert_int_equal(scale(&org, 0, BUSY_REFUSE, NULL, 0), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_NODE_BUSY);
    assert_int_equal(pool_of(&org)->nodes_max, 3);
    assert_int_equal(scale(&org, 0, BUSY_WAIT, NULL, 0), VERDICT_OK);
    later(&org, IDLE_MS);
    assert_int_equal(pool_of(&org)->launch_leaving, 3); /* its tasks go on */
    assert_true(org_runs(&org, task));
    const node_id node = query_instance(org.rig.core, task, 1)->node;
    rig_report(&org.rig, task, 1, REPORT_ENDED, 0);
    later(&org, 0);
    assert_int_equal(state_of(&org, query_node(org.rig.core, node)->launch.v), LAUNCH_ENDING);
    assert_int_equal(pool_of(&org)->launch_leaving, 2);
    org_done(&org);
}

static void tasks_of_a_named_node_run_elsewhere(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    const task_id task = work(&org, 2, 1);
    org_settle(&org);
    const node_id node = query_instance(org.rig.core, task, 0)->node;
    assert_int_equal(scale(&org, 2, BUSY_REQUEUE, &node, 1), VERDICT_OK);
    assert_int_equal(query_instance(org.rig.core, task, 0)->state, INSTANCE_STOPPING);
    rig_report(&org.rig, task, 0, REPORT_ENDED, 143);
    org_settle(&org);
    assert_true(org_runs(&org, task));
    assert_true(query_instance(org.rig.core, task, 0)->node.v != node.v);
    assert_int_equal(query_task(org.rig.core, task)->preempted_count, 1);
    later(&org, 0);
    assert_int_equal(state_of(&org, query_node(org.rig.core, node)->launch.v), LAUNCH_ENDING);
    assert_int_equal(asks(&org), 0); /* two nodes are wanted, and two are there */
    org_done(&org);
}

static void a_gang_stops_as_a_whole(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    const task_id gang =
        org_submit(&org, (struct org_task){.slots = 2, .instances = 2, .gang = true});
    org_settle(&org);
    const node_id node = query_instance(org.rig.core, gang, 0)->node;
    assert_int_equal(scale(&org, 2, BUSY_REQUEUE, &node, 1), VERDICT_OK);
    assert_int_equal(query_task(org.rig.core, gang)->stopping_count, 2);
    org_done(&org);
}

static void tasks_of_a_named_node_are_killed(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    const task_id task = work(&org, 2, 1);
    org_settle(&org);
    const node_id node = query_instance(org.rig.core, task, 0)->node;
    assert_int_equal(scale(&org, 2, BUSY_KILL, &node, 1), VERDICT_OK);
    assert_true(query_task(org.rig.core, task)->kill_asked);
    rig_report(&org.rig, task, 0, REPORT_ENDED, 143);
    assert_int_equal(query_task_outcome(org.rig.core, task), TASK_KILLED);
    org_done(&org);
}

static void the_least_loss_leaves(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    const task_id old = work(&org, 2, 2);
    org_settle(&org);
    org.rig.now_ms += IDLE_MS;
    const task_id young = work(&org, 2, 1);
    org_settle(&org);
    assert_int_equal(scale(&org, 2, BUSY_REQUEUE, NULL, 0), VERDICT_OK);
    assert_int_equal(query_task(org.rig.core, young)->stopping_count, 1);
    assert_int_equal(query_task(org.rig.core, old)->stopping_count, 0);
    org_done(&org);
}

static void nodes_on_their_way_are_given_up_first(void **state)
{
    (void)state;
    struct org org;
    begin(&org, fixed_three);
    assert_int_equal(asks(&org), 3);
    (void)joins(&org, 2);
    assert_int_equal(scale(&org, 1, BUSY_WAIT, NULL, 0), VERDICT_OK);
    assert_int_equal(state_of(&org, 1), LAUNCH_ENDING);
    assert_int_equal(state_of(&org, 3), LAUNCH_ENDING);
    assert_int_equal(state_of(&org, 2), LAUNCH_RUNNING);
    assert_int_equal(pool_of(&org)->launch_failures, 0); /* nobody failed */
    assert_int_equal(asks(&org), 0);
    assert_int_equal(scale(&org, 2, BUSY_WAIT, NULL, 0), VERDICT_OK);
    assert_int_equal(asks(&org), 1);
    org_done(&org);
}

static void locked_nodes_stay(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    const node_id node = launch(&org, 1)->node;
    assert_int_equal(edit(&org, node, (struct node_edit){.fields = NODE_EDIT_LOCK, .locked = true}),
                     VERDICT_OK);
    assert_int_equal(scale(&org, 0, BUSY_WAIT, NULL, 0), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_NODES_LOCKED);
    assert_int_equal(scale(&org, 2, BUSY_WAIT, &node, 1), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_NODE_LOCKED);
    /* The maximum alone ends idle nodes, too, but no locked one. */
    struct pool_spec spec;
    struct arena arena;
    arena_init(&arena);
    query_pool_spec(org.rig.core, org_pool_id, &arena, &spec);
    spec.nodes_fixed = 0;
    spec.nodes_min = 0;
    spec.nodes_max = 0;
    assert_int_equal(rig_do(&org.rig, (struct input){.type = INPUT_POOL_EDIT,
                                                     .pool = {.spec = &spec, .pool = org_pool_id}}),
                     VERDICT_OK);
    arena_done(&arena);
    later(&org, IDLE_MS);
    later(&org, IDLE_MS);
    assert_int_equal(state_of(&org, 1), LAUNCH_RUNNING);
    assert_int_equal(state_of(&org, 2), LAUNCH_ENDING);
    assert_int_equal(state_of(&org, 3), LAUNCH_ENDING);
    assert_int_equal(edit(&org, node, (struct node_edit){.fields = NODE_EDIT_LOCK}), VERDICT_OK);
    later(&org, IDLE_MS);
    assert_int_equal(state_of(&org, 1), LAUNCH_ENDING);
    org_done(&org);
}

static void a_node_that_leaves_can_be_resumed(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    const task_id task = work(&org, 2, 3);
    org_settle(&org);
    const node_id node = launch(&org, 2)->node;
    assert_int_equal(scale(&org, 2, BUSY_WAIT, &node, 1), VERDICT_OK);
    assert_int_equal(pool_of(&org)->launch_live, 2);
    assert_int_equal(edit(&org, node, (struct node_edit){.fields = NODE_EDIT_DRAIN}), VERDICT_OK);
    assert_int_equal(pool_of(&org)->launch_live, 3);
    assert_int_equal(pool_of(&org)->launch_leaving, 0);
    assert_true(org_runs(&org, task));
    org_done(&org);
}

static void a_drain_with_a_deadline_requeues_what_still_runs(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    const task_id task = work(&org, 2, 1);
    org_settle(&org);
    const node_id node = query_instance(org.rig.core, task, 0)->node;
    const struct node_edit drain = {.fields = NODE_EDIT_DRAIN | NODE_EDIT_BUSY,
                                    .drain = true,
                                    .busy = BUSY_REQUEUE,
                                    .within_ms = IDLE_MS};
    assert_int_equal(edit(&org, node, drain), VERDICT_OK);
    assert_int_equal(query_deadline(org.rig.core), org.rig.now_ms + IDLE_MS);
    later(&org, IDLE_MS - 1);
    assert_true(org_runs(&org, task));
    later(&org, 1);
    assert_int_equal(query_instance(org.rig.core, task, 0)->state, INSTANCE_STOPPING);
    assert_int_equal(query_node(org.rig.core, node)->drain_by_ms, 0);
    rig_report(&org.rig, task, 0, REPORT_ENDED, 143);
    org_settle(&org);
    assert_true(query_instance(org.rig.core, task, 0)->node.v != node.v);
    later(&org, 2 * IDLE_MS);
    assert_int_equal(state_of(&org, query_node(org.rig.core, node)->launch.v), LAUNCH_RUNNING);
    org_done(&org);
}

enum { LAUNCHES = 12 }; /* more than a test makes */

static enum verdict replace(struct org *org, uint32_t at_once)
{
    return rig_do(&org->rig, (struct input){.type = INPUT_POOL_REPLACE,
                                            .replace = {.pool = org_pool_id, .at_once = at_once}});
}

/* The machines that should end are gone, the nodes that are wanted join. Returns how many joined. */
static size_t turn(struct org *org)
{
    later(org, 0);
    size_t joined = 0;
    for (uint64_t id = 1; id <= LAUNCHES; id++) {
        const struct launch *row = launch(org, id);
        if (row != NULL && row->state == LAUNCH_ENDING) {
            says(org, id, PROVIDER_GONE, "");
        }
    }
    (void)org_pass(org);
    for (uint64_t id = 1; id <= LAUNCHES; id++) {
        const struct launch *row = launch(org, id);
        if (row != NULL && row->node.v == 0) {
            (void)joins(org, (unsigned)id);
            joined++;
        }
    }
    return joined;
}

static void nodes_are_replaced_one_after_the_other(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    assert_int_equal(edit(&org, launch(&org, 2)->node,
                          (struct node_edit){.fields = NODE_EDIT_LOCK, .locked = true}),
                     VERDICT_OK);
    assert_int_equal(replace(&org, 1), VERDICT_OK);
    assert_int_equal(pool_of(&org)->replacement.total, 2);
    later(&org, 0);
    assert_int_equal(pool_of(&org)->launch_live, 2); /* one leaves, and no more until it is gone */
    assert_int_equal(rig_count(&org.rig, FACT_NODE_LEAVING), 1);
    later(&org, 0);
    assert_int_equal(pool_of(&org)->launch_live, 2);
    for (unsigned i = 0; i < 6; i++) {
        assert_true(turn(&org) <= 1);
        assert_true(pool_of(&org)->launch_live >= 2);
    }
    assert_int_equal(pool_of(&org)->replacement.at_once, 0);
    assert_string_equal(query_pool_replaced(pool_of(&org)), "all nodes are replaced");
    assert_null(launch(&org, 1));
    assert_non_null(launch(&org, 2)); /* locked */
    assert_null(launch(&org, 3));
    assert_int_equal(pool_of(&org)->launch_live, 3);
    org_done(&org);
}

/* A locked node is not replaced. Where the newest node is locked the replacement ends behind the nodes before it. */
static void a_replacement_ends_before_a_locked_last_node(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    assert_int_equal(edit(&org, launch(&org, 3)->node,
                          (struct node_edit){.fields = NODE_EDIT_LOCK, .locked = true}),
                     VERDICT_OK);
    assert_int_equal(replace(&org, 1), VERDICT_OK);
    for (unsigned i = 0; i < 6; i++) {
        (void)turn(&org);
    }
    assert_int_equal(pool_of(&org)->replacement.begun, 2);
    assert_string_equal(query_pool_replaced(pool_of(&org)), "all nodes are replaced");
    assert_null(launch(&org, 1));
    assert_null(launch(&org, 2));
    assert_int_equal(state_of(&org, 3), LAUNCH_RUNNING);
    org_done(&org);
}

static void no_more_nodes_leave_than_may_leave_at_once(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    assert_int_equal(replace(&org, 2), VERDICT_OK);
    uint32_t fewest = pool_of(&org)->launch_live;
    size_t most = 0;
    for (unsigned i = 0; i < 8 && pool_of(&org)->replacement.at_once != 0; i++) {
        later(&org, 0);
        fewest = pool_of(&org)->launch_live < fewest ? pool_of(&org)->launch_live : fewest;
        const size_t joined = turn(&org);
        most = joined > most ? joined : most;
        assert_true(pool_of(&org)->launch_live >= 1);
        assert_true(joined <= 2);
    }
    assert_string_equal(query_pool_replaced(pool_of(&org)), "all nodes are replaced");
    assert_true(fewest <= 2);
    assert_true(most >= 1);
    for (uint64_t id = 1; id <= 3; id++) {
        assert_null(launch(&org, id));
    }
    assert_int_equal(pool_of(&org)->launch_live, 3);
    org_done(&org);
}

static void a_replacement_stops_when_the_provider_fails(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    assert_int_equal(replace(&org, 1), VERDICT_OK);
    later(&org, 0);
    (void)org_pass(&org);
    says(&org, 4, PROVIDER_FAILED, "no capacity");
    later(&org, 0);
    assert_int_equal(pool_of(&org)->replacement.at_once, 0);
    assert_int_equal(pool_of(&org)->replacement.begun, 1);
    assert_string_equal(query_pool_replaced(pool_of(&org)), "no capacity");
    later(&org, IDLE_MS);
    assert_int_equal(pool_of(&org)->launch_live, 2); /* the other two stay */
    org_done(&org);
}

/* The agent of the node says what is wrong with the node; "": nothing is. */
static void trouble(struct org *org, unsigned id, const char *words)
{
    char name[32];
    struct arena arena;
    struct node_spec spec;
    arena_init(&arena);
    (void)snprintf(name, sizeof name, "default-%u", id);
    query_node_spec(org->rig.core, query_node_named(org->rig.core, name)->id, &arena, &spec);
    spec.name = name;
    spec.trouble = words;
    assert_int_equal(
        rig_do(&org->rig, (struct input){.type = INPUT_NODE_JOIN, .node = {.spec = &spec}}),
        VERDICT_OK);
    arena_done(&arena);
}

static void a_node_out_of_service_is_replaced_after_a_while(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    trouble(&org, 1, "the disk is full");
    later(&org, NODE_UNFIT_MS - 1);
    trouble(&org, 1, ""); /* it recovers by itself */
    later(&org, NODE_UNFIT_MS);
    assert_int_equal(pool_of(&org)->launch_live, 3);
    trouble(&org, 1, "the disk is full");
    later(&org, NODE_UNFIT_MS);
    assert_int_equal(pool_of(&org)->launch_live, 2);
    assert_string_equal(query_launch_words(launch(&org, 1)), "the disk is full");
    assert_int_equal(asks(&org), 1);
    later(&org, 0);
    assert_int_equal(state_of(&org, 1), LAUNCH_ENDING);
    org_done(&org);
}

static void a_node_that_lacks_what_was_promised_is_a_failed_launch(void **state)
{
    (void)state;
    struct org org;
    begin(&org, three_nodes);
    (void)work(&org, 2, 1);
    assert_int_equal(asks(&org), 1);
    (void)rig_node(&org.rig, "default-1", 1, 0, 101); /* the pool promises two slots */
    assert_int_equal(state_of(&org, 1), LAUNCH_ENDING);
    assert_int_equal(pool_of(&org)->launch_failures, 1);
    assert_string_equal(query_pool_refusal(pool_of(&org)),
                        "its node has fewer slots than the pool promises");
    assert_int_equal(asks(&org), 0); /* the pool waits before it asks again */
    says(&org, 1, PROVIDER_GONE, "");
    assert_true(pool_of(&org)->launch_retry_ms > org.rig.now_ms);
    org.rig.now_ms = pool_of(&org)->launch_retry_ms;
    assert_int_equal(asks(&org), 1);
    org_done(&org);
}

static void rows_of_removed_nodes_leave_after_a_day(void **state)
{
    (void)state;
    struct org org;
    three(&org);
    const node_id node = launch(&org, 3)->node;
    assert_int_equal(scale(&org, 2, BUSY_WAIT, &node, 1), VERDICT_OK);
    later(&org, 0);
    later(&org, NODE_FORGET_MS);
    assert_non_null(query_node(org.rig.core, node)); /* its machine may be up */
    says(&org, 3, PROVIDER_GONE, "");
    assert_int_equal(query_node(org.rig.core, node)->state, NODE_REMOVED);
    later(&org, NODE_FORGET_MS - 1);
    assert_non_null(query_node(org.rig.core, node));
    later(&org, 1);
    assert_int_equal(rig_count(&org.rig, FACT_NODE_FORGOTTEN), 1);
    assert_null(query_node(org.rig.core, node));
    /* Its number is not given again. */
    const node_id next = rig_node(&org.rig, "other", 1, 0, 150);
    assert_true(next.v > node.v);
    org_done(&org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_nodes_leave_first),
        cmocka_unit_test(a_busy_node_leaves_when_its_last_task_ends),
        cmocka_unit_test(tasks_of_a_named_node_run_elsewhere),
        cmocka_unit_test(a_gang_stops_as_a_whole),
        cmocka_unit_test(tasks_of_a_named_node_are_killed),
        cmocka_unit_test(the_least_loss_leaves),
        cmocka_unit_test(nodes_on_their_way_are_given_up_first),
        cmocka_unit_test(locked_nodes_stay),
        cmocka_unit_test(a_node_that_leaves_can_be_resumed),
        cmocka_unit_test(a_drain_with_a_deadline_requeues_what_still_runs),
        cmocka_unit_test(nodes_are_replaced_one_after_the_other),
        cmocka_unit_test(a_replacement_ends_before_a_locked_last_node),
        cmocka_unit_test(no_more_nodes_leave_than_may_leave_at_once),
        cmocka_unit_test(a_replacement_stops_when_the_provider_fails),
        cmocka_unit_test(a_node_out_of_service_is_replaced_after_a_while),
        cmocka_unit_test(a_node_that_lacks_what_was_promised_is_a_failed_launch),
        cmocka_unit_test(rows_of_removed_nodes_leave_after_a_day),
    };
    return cmocka_run_group_tests_name("leaving", tests, NULL, NULL);
}
