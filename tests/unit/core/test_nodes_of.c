/* test_nodes_of.c - on which nodes a task may run, and which it takes: nodes to avoid, parts of wide tasks, scores, figures.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/sched/explain/explain.h"

#include <stdlib.h>
#include <string.h>

static int setup(void **state)
{
    struct rig *rig = malloc(sizeof *rig);
    rig_init(rig);
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    rig_done(*state);
    free(*state);
    return 0;
}

static struct task_spec asks(unsigned slots)
{
    struct task_spec spec = rig_spec();
    spec.slots_milli = (int64_t)slots * SLOT_MILLI;
    return spec;
}

static const char *node_of(const struct rig *rig, task_id task)
{
    return query_node_name(rig->core, query_instance(rig->core, task, 0)->node);
}

/* On how many nodes the task holds something. */
static unsigned nodes_held(const struct rig *rig, task_id task)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < query_task(rig->core, task)->instance_count; i++) {
        const struct instance *instance = query_instance(rig->core, task, i);
        seen |= instance->state == INSTANCE_STARTING ? (uint64_t)1 << instance->node.v : 0;
    }
    return (unsigned)__builtin_popcountll(seen);
}

static void pool_change(struct rig *rig, void (*change)(struct pool_spec *spec))
{
    const pool_id pool = query_pool_named(rig->core, "default")->id;
    struct pool_spec spec;
    query_pool_spec(rig->core, pool, &rig->kept, &spec);
    change(&spec);
    struct input in = {.type = INPUT_POOL_EDIT, .pool = {.spec = &spec, .pool = pool}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

static void spread(struct pool_spec *spec)
{
    spec->placement = PLACEMENT_SPREAD;
}

static void even(struct pool_spec *spec)
{
    spec->uneven_off = true;
}

/* ---- nodes to avoid ---- */

static void a_task_never_runs_where_it_must_not(void **state)
{
    static const char *const away[] = {"n1", "n2", "n1"};
    struct rig *rig = *state;
    rig_node(rig, "n1", 1, 0, 1);
    rig_node(rig, "n2", 1, 0, 2);
    rig_node(rig, "n3", 1, 0, 3);
    struct task_spec spec = asks(1);
    spec.avoid = away;
    spec.avoid_count = 3;
    const task_id first = rig_submit(rig, spec);
    const task_id second = rig_submit(rig, spec);
    rig_pass(rig);
    assert_string_equal(node_of(rig, first), "n3");
    assert_int_equal(rig_state(rig, second), TASK_PENDING);
    struct explanation why;
    explain_task(rig->core, second, &why);
    assert_int_equal(why.reason.code, REASON_NO_ROOM);
    assert_string_equal(query_node_name(rig->core, why.near[0].node), "n3");
    assert_int_equal(why.near[1].code, REASON_AVOIDED);
    rig_run(rig, first, 0, 0);
    rig_pass(rig);
    assert_string_equal(node_of(rig, second), "n3");
}

/* ---- labels ---- */

static void labels_set(struct rig *rig, node_id node, const struct label *labels, uint32_t count)
{
    const struct node_edit edit = {
        .fields = NODE_EDIT_LABELS, .labels = labels, .label_count = count};
    struct input in = {.type = INPUT_NODE_EDIT};
    in.node.node = node;
    in.node.edit = &edit;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

static void a_task_runs_only_on_nodes_with_its_labels(void **state)
{
    static const struct label both[] = {{"zone", "a"}, {"gpu.model", "A100"}};
    static const struct label other[] = {{"gpu.model", "V100"}, {"zone", "a"}};
    struct rig *rig = *state;
    const node_id n1 = rig_node(rig, "n1", 1, 0, 1);
    const node_id n2 = rig_node(rig, "n2", 1, 0, 2);
    labels_set(rig, n1, other, 2);
    struct task_spec spec = asks(1);
    spec.node_labels = both;
    spec.node_label_count = 2;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_OTHER_LABELS);
    labels_set(rig, n2, both, 2);
    const task_id first = rig_submit(rig, spec);
    const task_id second = rig_submit(rig, spec);
    rig_pass(rig);
    assert_string_equal(node_of(rig, first), "n2");
    struct explanation why;
    explain_task(rig->core, second, &why);
    assert_int_equal(why.reason.code, REASON_NO_ROOM);
    assert_string_equal(query_node_name(rig->core, why.near[0].node), "n2");
    assert_int_equal(why.near[1].code, REASON_OTHER_LABELS);
    /* What a node is called may change at any time; what runs there stays. */
    labels_set(rig, n1, both, 2);
    labels_set(rig, n2, other, 2);
    rig_pass(rig);
    assert_string_equal(node_of(rig, second), "n1");
    assert_string_equal(node_of(rig, first), "n2");
}

static void labels_are_kept_when_the_amounts_change(void **state)
{
    static const struct label zone[] = {{"zone", "a"}};
    struct rig *rig = *state;
    (void)rig_node(rig, "n1", 4, 0, 1);
    labels_set(rig, rig_node(rig, "n2", 2, 0, 2), zone, 1);
    struct task_spec spec = asks(1);
    spec.node_labels = zone;
    spec.node_label_count = 1;
    spec.stage = true;
    const task_id task = rig_submit(rig, spec);
    const struct task_spec more = asks(2);
    const struct task_edit edit = {.fields = TASK_EDIT_resources, .spec = &more};
    struct input in = {.type = INPUT_TASK_EDIT};
    in.task.task = task;
    in.task.edit = &edit;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(rig_task(rig, INPUT_TASK_START, task), VERDICT_OK);
    rig_pass(rig);
    assert_string_equal(node_of(rig, task), "n2");
    assert_int_equal(query_instance(rig->core, task, 0)->slots_milli, 2000);
}

static void labels_change_while_it_waits(void **state)
{
    static const struct label a[] = {{"zone", "a"}};
    static const struct label b[] = {{"zone", "b"}};
    struct rig *rig = *state;
    labels_set(rig, rig_node(rig, "n1", 1, 0, 1), a, 1);
    const node_id n2 = rig_node(rig, "n2", 1, 0, 2);
    struct task_spec spec = asks(1);
    spec.node_labels = a;
    spec.node_label_count = 1;
    const task_id first = rig_submit(rig, spec);
    const task_id second = rig_submit(rig, spec);
    rig_pass(rig);
    struct task_spec with = {.node_labels = b, .node_label_count = 1};
    struct task_edit edit = {.fields = TASK_EDIT_node_labels, .spec = &with};
    struct input in = {.type = INPUT_TASK_EDIT, .task = {.task = first, .edit = &edit}};
    assert_int_equal(rig_do(rig, in), VERDICT_CONFLICT); /* it runs */
    assert_int_equal(rig->facts.refusal.code, REASON_HOLDS_PLACES);
    assert_string_equal(rig->facts.refusal.text, "node_labels");
    in.task.task = second;
    assert_int_equal(rig_do(rig, in), VERDICT_REFUSED); /* no node is so */
    assert_int_equal(rig->facts.refusal.code, REASON_OTHER_LABELS);
    labels_set(rig, n2, b, 1);
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    rig_pass(rig);
    assert_string_equal(node_of(rig, second), "n2");
    const task_id third = rig_submit(rig, spec);
    with.node_label_count = 0;
    in.task.task = third;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    struct task_spec now;
    query_task_spec(rig->core, third, &rig->kept, &now);
    assert_int_equal(now.node_label_count, 0);
    rig_run(rig, second, 0, 0);
    rig_pass(rig);
    assert_string_equal(node_of(rig, third), "n2");
}

static void avoiding_a_node_that_is_none_is_refused(void **state)
{
    static const char *const away[] = {"n7"};
    struct rig *rig = *state;
    rig_node(rig, "n1", 1, 0, 1);
    struct task_spec spec = asks(1);
    spec.avoid = away;
    spec.avoid_count = 1;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_NODE);
    assert_string_equal(rig->facts.refusal.text, "n7");
}

static void avoiding_every_node_that_could_is_refused(void **state)
{
    static const char *const away[] = {"large"};
    struct rig *rig = *state;
    rig_node(rig, "large", 4, 0, 1);
    rig_node(rig, "small", 1, 0, 2);
    struct task_spec spec = asks(1);
    spec.avoid = away;
    spec.avoid_count = 1;
    spec.gang = true;
    spec.instances = 3;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_AVOIDED);
    assert_int_equal(rig->facts.refusal.have, 1);
    assert_int_equal(rig->facts.refusal.need, 3);
    spec.instances = 1;
    rig_submit(rig, spec);
}

static void nodes_to_avoid_change_while_it_waits(void **state)
{
    static const char *const away[] = {"n1"};
    struct rig *rig = *state;
    rig_node(rig, "n1", 1, 0, 1);
    const task_id first = rig_submit(rig, asks(1));
    const task_id second = rig_submit(rig, asks(1));
    rig_pass(rig);
    rig_node(rig, "n2", 1, 0, 2);
    const struct task_edit edit = {.fields = TASK_EDIT_avoid,
                                   .spec = &(struct task_spec){.avoid = away, .avoid_count = 1}};
    struct input in = {.type = INPUT_TASK_EDIT, .task = {.task = first, .edit = &edit}};
    assert_int_equal(rig_do(rig, in), VERDICT_CONFLICT); /* it runs there */
    assert_int_equal(rig->facts.refusal.code, REASON_HOLDS_PLACES);
    in.task.task = second;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    rig_run(rig, first, 0, 0);
    rig_pass(rig);
    assert_string_equal(node_of(rig, second), "n2");
    struct task_spec spec;
    query_task_spec(rig->core, second, &rig->kept, &spec);
    assert_int_equal(spec.avoid_count, 1);
    assert_string_equal(spec.avoid[0], "n1");
}

/* ---- parts of a wide task ---- */

static void a_wide_task_takes_few_nodes_also_where_tasks_are_spread(void **state)
{
    struct rig *rig = *state;
    pool_change(rig, spread);
    for (uint8_t i = 1; i <= 5; i++) {
        const char name[] = {'n', (char)('0' + i), '\0'};
        rig_node(rig, name, 4, 0, i);
    }
    const task_id wide = rig_submit(rig, asks(8));
    rig_pass(rig);
    assert_int_equal(nodes_held(rig, wide), 2);
}

static void idle_nodes_of_one_size_come_before_fewer_uneven_ones(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 2, 0, 1);
    for (uint8_t i = 2; i <= 5; i++) {
        const char name[] = {'n', (char)('0' + i), '\0'};
        rig_node(rig, name, 1, 0, i);
    }
    const task_id wide = rig_submit(rig, asks(4));
    const task_id next = rig_submit(rig, asks(2));
    rig_pass(rig);
    assert_int_equal(nodes_held(rig, wide), 4);
    assert_string_equal(node_of(rig, next), "n1");
}

static void where_there_are_not_enough_equal_nodes_uneven_ones_serve(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 2, 0, 1);
    rig_node(rig, "n2", 1, 0, 2);
    rig_node(rig, "n3", 1, 0, 3);
    rig_node(rig, "n4", 1, 0, 4);
    const task_id wide = rig_submit(rig, asks(4));
    rig_pass(rig);
    assert_int_equal(nodes_held(rig, wide), 3);
}

static void without_uneven_parts_each_fills_a_node(void **state)
{
    struct rig *rig = *state;
    pool_change(rig, even);
    rig_node(rig, "n1", 4, 0, 1);
    rig_node(rig, "n2", 4, 0, 2);
    rig_node(rig, "n3", 1, 0, 3);
    const task_id wide = rig_submit(rig, asks(8));
    const struct task *task = query_task(rig->core, wide);
    assert_int_equal(task->instance_count, 2);
    assert_true(task->gang);
    rig_pass(rig);
    assert_int_equal(query_instance(rig->core, wide, 0)->slots_milli, 4000);
    assert_int_equal(nodes_held(rig, wide), 2);
}

static void without_uneven_parts_others_are_refused_with_the_next_smaller(void **state)
{
    struct rig *rig = *state;
    pool_change(rig, even);
    rig_node(rig, "n1", 4, 0, 1);
    for (uint8_t i = 2; i <= 6; i++) {
        const char name[] = {'n', (char)('0' + i), '\0'};
        rig_node(rig, name, 1, 0, i);
    }
    assert_int_equal(rig_try_submit(rig, asks(7)), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_TOO_LARGE);
    assert_int_equal(rig->facts.refusal.smallest, 5000);
    assert_int_equal(rig_try_submit(rig, asks(6)), VERDICT_REFUSED);
    assert_int_equal(rig_try_submit(rig, asks(5)), VERDICT_OK);
}

/* Joins nodes n1, n2 … with these slots; 0 ends the list. */
static void nodes_join(struct rig *rig, const unsigned *slots)
{
    for (uint8_t i = 0; slots[i] != 0; i++) {
        const char name[] = {'n', (char)('1' + i), '\0'};
        rig_node(rig, name, slots[i], 0, (uint8_t)(i + 1));
    }
}

static void without_uneven_parts_nodes_are_idle_and_of_one_size(void **state)
{
    struct rig *rig = *state;
    static const char *const but_n4[] = {"n1", "n2", "n3", "n5", "n6", "n7", "n8"};
    pool_change(rig, even);
    pool_change(rig, spread);
    nodes_join(rig, (const unsigned[]){8, 7, 7, 4, 4, 4, 4, 4, 0});
    struct task_spec one = asks(1);
    one.avoid = but_n4;
    one.avoid_count = sizeof but_n4 / sizeof but_n4[0];
    const task_id small = rig_submit(rig, one);
    rig_pass(rig);
    assert_string_equal(node_of(rig, small), "n4");
    const task_id wide = rig_submit(rig, asks(16));
    rig_pass(rig);
    assert_int_equal(nodes_held(rig, wide), 4);
    assert_string_equal(node_of(rig, wide), "n5");
    const task_id next = rig_submit(rig, asks(8));
    rig_pass(rig);
    assert_string_equal(node_of(rig, next), "n1");
}

static void without_uneven_parts_the_size_that_is_idle_is_chosen(void **state)
{
    struct rig *rig = *state;
    pool_change(rig, even);
    nodes_join(rig, (const unsigned[]){6, 6, 3, 3, 3, 3, 0});
    const task_id first = rig_submit(rig, asks(12));
    const task_id second = rig_submit(rig, asks(12)); /* n1 and n2 are spoken for */
    rig_pass(rig);
    assert_int_equal(nodes_held(rig, first), 2);
    assert_int_equal(nodes_held(rig, second), 4);
    const task_id third = rig_submit(rig, asks(12)); /* nothing is idle: the fewest nodes */
    assert_int_equal(query_task(rig->core, third)->instance_count, 2);
}

static void without_uneven_parts_a_larger_node_is_named_as_such(void **state)
{
    struct rig *rig = *state;
    static const char *const but_n1[] = {"n2", "n3"};
    pool_change(rig, even);
    nodes_join(rig, (const unsigned[]){4, 4, 6, 0});
    struct task_spec one = asks(1);
    one.avoid = but_n1;
    one.avoid_count = 2;
    rig_submit(rig, one);
    rig_pass(rig);
    const task_id wide = rig_submit(rig, asks(8));
    rig_pass(rig);
    assert_int_equal(nodes_held(rig, wide), 0);
    struct explanation why;
    explain_task(rig->core, wide, &why);
    assert_int_equal(why.near_count, 3);
    assert_string_equal(query_node_name(rig->core, why.near[2].node), "n3");
    assert_int_equal(why.near[2].code, REASON_TOO_LARGE);
    assert_int_equal(why.near[2].wanted, 4000);
    assert_int_equal(why.near[2].available, 6000);
}

/* ---- scores and figures ---- */

static void score_is(enum pool_placement placement, unsigned slots, unsigned free, int64_t over,
                     int64_t under)
{
    const struct node node = {.id = {1},
                              .slots_milli = (int64_t)slots * SLOT_MILLI,
                              .slots_free = (int64_t)free * SLOT_MILLI,
                              .aux_max = 10,
                              .aux_used = 1};
    const struct request request = {.slots_milli = SLOT_MILLI};
    struct space place;
    space_now(&node, &place);
    const struct score score = score_of(placement, &place, &request);
    assert_int_equal(score_compare(score, (struct score){over, under}), 0);
}

static void packing_likes_the_full_and_spreading_the_empty(void **state)
{
    (void)state;
    score_is(PLACEMENT_PACK, 8, 0, 1, 1);
    score_is(PLACEMENT_PACK, 8, 3, 1, 4);
    score_is(PLACEMENT_SPREAD, 8, 2, 1, 4);
    score_is(PLACEMENT_SPREAD, 8, 8, 1, 1);
    score_is(PLACEMENT_PACK, 0, 0, 0, 1);
    score_is(PLACEMENT_SPREAD, 0, 0, 0, 1);
    assert_true(score_compare((struct score){1, 3}, (struct score){1, 2}) < 0);
}

static void pack(struct pool_spec *spec)
{
    spec->placement = PLACEMENT_PACK;
}

/* The node of a task that requests nothing, beside nodes of which 0, 2 and 3 of 4 slots are in use. */
static const char *aux_goes_to(struct rig *rig, void (*placement)(struct pool_spec *spec))
{
    static const char *const but_n2[] = {"n1", "n3"};
    static const char *const but_n3[] = {"n1", "n2"};
    pool_change(rig, placement);
    nodes_join(rig, (const unsigned[]){4, 4, 4, 0});
    struct task_spec two = asks(2);
    struct task_spec three = asks(3);
    struct task_spec nothing = asks(0);
    two.avoid = but_n2;
    two.avoid_count = 2;
    three.avoid = but_n3;
    three.avoid_count = 2;
    nothing.cpu_milli = ASK_NOTHING;
    nothing.memory_bytes = ASK_NOTHING;
    rig_submit(rig, two);
    rig_submit(rig, three);
    rig_pass(rig);
    const task_id aux = rig_submit(rig, nothing);
    rig_pass(rig);
    return node_of(rig, aux);
}

static void a_task_without_requests_leaves_idle_nodes_idle(void **state)
{
    assert_string_equal(aux_goes_to(*state, pack), "n3");
}

static void a_task_without_requests_is_spread_to_an_idle_node(void **state)
{
    assert_string_equal(aux_goes_to(*state, spread), "n1");
}

static void a_waiting_task_is_shown_the_node_it_will_get_first(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 4, 0, 1);
    rig_node(rig, "n2", 2, 0, 2);
    const task_id task = rig_submit(rig, asks(1));
    struct explanation why;
    explain_task(rig->core, task, &why);
    assert_int_equal(why.reason.code, REASON_NEXT);
    assert_string_equal(query_node_name(rig->core, why.near[0].node), "n2");
    rig_pass(rig);
    assert_string_equal(node_of(rig, task), "n2");
}

static void a_pool_counts_what_its_nodes_are(void **state)
{
    struct rig *rig = *state;
    const pool_id pool = query_pool_named(rig->core, "default")->id;
    struct pool_figures figures;
    query_pool_figures(rig->core, pool, &figures);
    assert_int_equal(figures.slot_type, SLOTS_NONE);
    rig_node(rig, "n1", 2, 5000, 1);
    const node_id away = rig_node(rig, "n2", 0, 0, 2);
    struct named_amount foo = {"foo", 1000};
    struct task_spec spec = rig_spec();
    spec.resources = &foo;
    spec.resource_count = 1;
    rig_submit(rig, spec);
    rig_submit(rig, asks(1));
    rig_pass(rig);
    rig_on_node(rig, INPUT_NODE_SILENT, away);
    query_pool_figures(rig->core, pool, &figures);
    assert_int_equal(figures.slot_type, SLOTS_CPU);
    assert_int_equal(figures.nodes_total, 2);
    assert_int_equal(figures.nodes_up, 1);
    assert_int_equal(figures.slots_used, 1000);
    assert_int_equal(figures.aux_total, 2 * NODE_AUX_TASKS_DEFAULT);
    assert_int_equal(figures.aux_used, 1);
    assert_int_equal(figures.aux_free, NODE_AUX_TASKS_DEFAULT - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_task_never_runs_where_it_must_not),
        TEST(a_task_runs_only_on_nodes_with_its_labels),
        TEST(labels_are_kept_when_the_amounts_change),
        TEST(labels_change_while_it_waits),
        TEST(avoiding_a_node_that_is_none_is_refused),
        TEST(avoiding_every_node_that_could_is_refused),
        TEST(nodes_to_avoid_change_while_it_waits),
        TEST(a_wide_task_takes_few_nodes_also_where_tasks_are_spread),
        TEST(idle_nodes_of_one_size_come_before_fewer_uneven_ones),
        TEST(where_there_are_not_enough_equal_nodes_uneven_ones_serve),
        TEST(without_uneven_parts_each_fills_a_node),
        TEST(without_uneven_parts_others_are_refused_with_the_next_smaller),
        TEST(without_uneven_parts_nodes_are_idle_and_of_one_size),
        TEST(without_uneven_parts_the_size_that_is_idle_is_chosen),
        TEST(without_uneven_parts_a_larger_node_is_named_as_such),
        TEST(a_task_without_requests_leaves_idle_nodes_idle),
        TEST(a_task_without_requests_is_spread_to_an_idle_node),
        TEST(packing_likes_the_full_and_spreading_the_empty),
        TEST(a_waiting_task_is_shown_the_node_it_will_get_first),
        TEST(a_pool_counts_what_its_nodes_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
