/* test_adopt.c - instances that hold places already: taken as they are, or not at all.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

static enum verdict adopt(struct rig *rig, task_id task, const struct adopted *places,
                          uint32_t count)
{
    struct input in = {.type = INPUT_TASK_ADOPT};
    in.task.task = task;
    in.task.places = places;
    in.task.place_count = count;
    return rig_do(rig, in);
}

static task_id submit(struct rig *rig, unsigned slots, uint32_t instances, bool gang)
{
    struct task_spec spec = rig_spec();
    spec.slots_milli = (int64_t)slots * SLOT_MILLI;
    spec.instances = instances;
    spec.gang = gang;
    return rig_submit(rig, spec);
}

static void an_instance_is_where_it_is_said_to_be(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    (void)rig_node(&rig, "n1", 4, 0, 1);
    const node_id second = rig_node(&rig, "n2", 4, 0, 2);
    const task_id task = submit(&rig, 1, 3, false);
    const struct adopted place = {.index = 1, .node = second};
    assert_int_equal(adopt(&rig, task, &place, 1), VERDICT_OK);
    assert_int_equal(rig_count(&rig, FACT_ALLOCATED), 1);
    assert_int_equal(rig.effects.count, 1);
    assert_int_equal(query_instance(rig.core, task, 1)->node.v, second.v);
    assert_int_equal(query_node(rig.core, second)->slots_free, 3 * SLOT_MILLI);
    assert_int_equal(rig_instance(&rig, task, 0), INSTANCE_WAITING);
    rig_pass(&rig); /* the rest goes its usual way */
    assert_int_equal(rig_state(&rig, task), TASK_STARTING);
    assert_int_equal(query_task(rig.core, task)->waiting_count, 0);
    rig_done(&rig);
}

static void what_is_not_free_is_not_taken(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    const node_id node = rig_node(&rig, "n1", 4, 0, 1);
    const task_id task = submit(&rig, 3, 2, false);
    const struct adopted both[] = {{.index = 0, .node = node}, {.index = 1, .node = node}};
    assert_int_equal(adopt(&rig, task, both, 2), VERDICT_REFUSED);
    assert_int_equal(rig.facts.refusal.code, REASON_NO_ROOM);
    assert_int_equal(rig.facts.refusal.node.v, node.v);
    assert_string_equal(rig.facts.refusal.text, "n1");
    assert_int_equal(query_task(rig.core, task)->active_count, 0);
    assert_int_equal(adopt(&rig, task, both, 1), VERDICT_OK);
    assert_int_equal(adopt(&rig, task, both, 1), VERDICT_CONFLICT); /* it runs already */
    const struct adopted device = {.index = 1, .node = node, .devices = 1};
    assert_int_equal(adopt(&rig, task, &device, 1), VERDICT_REFUSED); /* the node has none */
    rig_done(&rig);
}

static void a_gang_is_taken_whole(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    const node_id first = rig_node(&rig, "n1", 4, 0, 1);
    const node_id second = rig_node(&rig, "n2", 4, 0, 2);
    const task_id task = submit(&rig, 4, 2, true);
    const struct adopted both[] = {{.index = 0, .node = second}, {.index = 1, .node = first}};
    assert_int_equal(adopt(&rig, task, both, 1), VERDICT_REFUSED);
    assert_int_equal(rig.facts.refusal.code, REASON_GANG_SHORT);
    assert_int_equal(rig.facts.refusal.have, 1);
    assert_int_equal(rig.facts.refusal.need, 2);
    assert_int_equal(adopt(&rig, task, both, 2), VERDICT_OK);
    assert_int_equal(query_instance(rig.core, task, 0)->node.v, second.v);
    assert_int_equal(query_instance(rig.core, task, 1)->node.v, first.v);
    rig_done(&rig);
}

static void nodes_that_take_no_work_and_unknown_ones_are_refused(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    const node_id node = rig_node(&rig, "n1", 4, 0, 1);
    const task_id task = submit(&rig, 1, 1, false);
    const struct adopted nowhere = {.index = 0, .node = {99}};
    const struct adopted beyond = {.index = 7, .node = node};
    const struct adopted there = {.index = 0, .node = node};
    assert_int_equal(adopt(&rig, task, &nowhere, 1), VERDICT_REFUSED);
    assert_int_equal(adopt(&rig, task, &beyond, 1), VERDICT_CONFLICT);
    assert_int_equal(adopt(&rig, (task_id){99}, &there, 1), VERDICT_NOT_FOUND);
    assert_int_equal(rig_on_node(&rig, INPUT_NODE_SILENT, node), VERDICT_OK);
    assert_int_equal(adopt(&rig, task, &there, 1), VERDICT_REFUSED);
    assert_int_equal(rig_state(&rig, task), TASK_PENDING);
    rig_done(&rig);
}

static void a_paused_task_has_no_places(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    const node_id node = rig_node(&rig, "n1", 4, 0, 1);
    const task_id task = submit(&rig, 1, 1, false);
    const struct adopted there = {.index = 0, .node = node};
    assert_int_equal(rig_task(&rig, INPUT_TASK_PAUSE, task), VERDICT_OK);
    assert_int_equal(adopt(&rig, task, &there, 1), VERDICT_CONFLICT);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instance_is_where_it_is_said_to_be),
        cmocka_unit_test(what_is_not_free_is_not_taken),
        cmocka_unit_test(a_gang_is_taken_whole),
        cmocka_unit_test(nodes_that_take_no_work_and_unknown_ones_are_refused),
        cmocka_unit_test(a_paused_task_has_no_places),
    };
    return cmocka_run_group_tests_name("core_adopt", tests, NULL, NULL);
}
