/* test_membership.c - which pool a node belongs to by its labels, and how nodes change their pools.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/state/membership.h"

#include <stdio.h>
#include <string.h>

static const struct label zone_a = {"zone", "a"};
static const struct label gpu_big = {"gpu", "big"};

static enum verdict try_pool(struct rig *rig, const char *name, const struct label *labels,
                             uint32_t count)
{
    struct pool_spec spec;
    const struct pool *pool = query_pool_named(rig->core, name);
    query_pool_spec(rig->core, pool != NULL ? pool->id : (pool_id){1}, &rig->kept, &spec);
    spec.name = name;
    spec.selector = labels;
    spec.selector_count = count;
    struct input in = {.type = pool != NULL ? INPUT_POOL_EDIT : INPUT_POOL_CREATE};
    in.pool.spec = &spec;
    in.pool.pool = pool != NULL ? pool->id : (pool_id){0};
    return rig_do(rig, in);
}

static void set_pool(struct rig *rig, const char *name, const struct label *labels, uint32_t count)
{
    assert_int_equal(try_pool(rig, name, labels, count), VERDICT_OK);
}

static node_id join(struct rig *rig, const char *name, const char *pool, const struct label *labels,
                    uint32_t count)
{
    struct node_spec spec = {.name = name,
                             .pool = pool,
                             .labels = labels,
                             .label_count = count,
                             .slots_milli = 4000,
                             .cpu_milli = 4000,
                             .memory_bytes = 1 << 30,
                             .supervisor = {1},
                             .boot_id = "",
                             .address = "",
                             .version = ""};
    struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    return query_node_named(rig->core, name)->id;
}

static const struct node *node_at(const struct rig *rig, node_id id)
{
    return query_node(rig->core, id);
}

static const char *pool_of(const struct rig *rig, node_id id)
{
    return query_pool_name(rig->core, node_at(rig, id)->pool);
}

static const char *goes_to(const struct rig *rig, node_id id)
{
    return query_pool_name(rig->core, node_at(rig, id)->pool_next);
}

static enum verdict label(struct rig *rig, node_id node, const struct label *labels, uint32_t count,
                          enum busy busy)
{
    const struct node_edit edit = {.fields = NODE_EDIT_LABELS | NODE_EDIT_BUSY,
                                   .labels = labels,
                                   .label_count = count,
                                   .busy = busy};
    struct input in = {.type = INPUT_NODE_EDIT, .node = {.node = node, .edit = &edit}};
    return rig_do(rig, in);
}

/* Ticks while a move is due. Returns how many nodes moved. */
static size_t settle(struct rig *rig)
{
    size_t moved = 0;
    while (query_deadline(rig->core) <= rig->now_ms) {
        assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
        const size_t more = rig_count(rig, FACT_NODE_MOVED);
        assert_true(more > 0);
        moved += more;
    }
    return moved;
}

static int begin(void **state)
{
    static struct rig rig;
    rig_init(&rig);
    *state = &rig;
    return 0;
}

static int end(void **state)
{
    rig_done(*state);
    return 0;
}

static void the_first_of_name_selector_and_default_counts(void **state)
{
    struct rig *rig = *state;
    const struct label both[] = {zone_a, gpu_big};
    set_pool(rig, "big", both, 2);
    set_pool(rig, "a", &zone_a, 1);
    assert_string_equal(pool_of(rig, join(rig, "n1", "", both, 2)), "big");
    assert_string_equal(pool_of(rig, join(rig, "n2", "", &zone_a, 1)), "a");
    assert_string_equal(pool_of(rig, join(rig, "n3", "", &gpu_big, 1)), "default");
    assert_string_equal(pool_of(rig, join(rig, "n4", "", NULL, 0)), "default");
    assert_string_equal(pool_of(rig, join(rig, "n5", "a", both, 2)), "a");
    assert_string_equal(pool_of(rig, join(rig, "n6", "default", both, 2)), "default");
    assert_int_equal(settle(rig), 0);
}

static void two_matching_selectors_are_counted(void **state)
{
    struct rig *rig = *state;
    const struct label both[] = {zone_a, gpu_big};
    set_pool(rig, "a", &zone_a, 1);
    set_pool(rig, "big", &gpu_big, 1);
    const node_id id = join(rig, "n1", "", both, 2);
    assert_string_equal(pool_of(rig, id), "a");
    assert_int_equal(node_at(rig, id)->selector_matches, 2);
    assert_int_equal(query_pool_named(rig->core, "a")->contested_count, 1);
    assert_int_equal(query_pool_named(rig->core, "big")->contested_count, 0);
    const struct pool *first = query_pool_named(rig->core, "a");
    assert_int_equal(membership_contested_next(rig->core, first->id, (node_id){0})->id.v, id.v);
    assert_int_equal(membership_contested_count(rig->core), 1);
    set_pool(rig, "a", NULL, 0);
    assert_int_equal(membership_contested_count(rig->core), 0);
    assert_int_equal(settle(rig), 1);
    assert_string_equal(pool_of(rig, id), "big");
}

static void an_empty_node_moves_when_its_labels_change(void **state)
{
    struct rig *rig = *state;
    set_pool(rig, "a", &zone_a, 1);
    const node_id id = join(rig, "n1", "", NULL, 0);
    assert_int_equal(label(rig, id, &zone_a, 1, BUSY_WAIT), VERDICT_OK);
    assert_string_equal(goes_to(rig, id), "a");
    assert_false(node_takes_work(node_at(rig, id)));
    assert_int_equal(settle(rig), 1);
    assert_string_equal(pool_of(rig, id), "a");
    assert_true(node_takes_work(node_at(rig, id)));
    assert_int_equal(label(rig, id, NULL, 0, BUSY_WAIT), VERDICT_OK);
    assert_int_equal(settle(rig), 1);
    assert_string_equal(pool_of(rig, id), "default");
}

static void a_busy_node_takes_no_starts_and_moves_when_its_task_has_ended(void **state)
{
    struct rig *rig = *state;
    set_pool(rig, "a", &zone_a, 1);
    const node_id id = join(rig, "n1", "", NULL, 0);
    const task_id first = rig_submit(rig, rig_spec());
    rig_pass(rig);
    assert_int_equal(label(rig, id, &zone_a, 1, BUSY_WAIT), VERDICT_OK);
    const task_id second = rig_submit(rig, rig_spec());
    rig_pass(rig);
    assert_int_equal(rig_state(rig, second), TASK_PENDING);
    assert_int_equal(settle(rig), 0);
    assert_string_equal(pool_of(rig, id), "default");
    rig_run(rig, first, 0, 0);
    assert_int_equal(settle(rig), 1);
    assert_string_equal(pool_of(rig, id), "a");
    rig_pass(rig);
    assert_int_equal(rig_state(rig, second), TASK_PENDING); /* its pool has no node now */
}

static void a_label_that_is_taken_back_lets_the_node_stay(void **state)
{
    struct rig *rig = *state;
    set_pool(rig, "a", &zone_a, 1);
    const node_id id = join(rig, "n1", "", NULL, 0);
    (void)rig_submit(rig, rig_spec());
    rig_pass(rig);
    assert_int_equal(label(rig, id, &zone_a, 1, BUSY_WAIT), VERDICT_OK);
    assert_int_equal(label(rig, id, NULL, 0, BUSY_WAIT), VERDICT_OK);
    assert_int_equal(node_at(rig, id)->pool_next.v, 0);
    const task_id second = rig_submit(rig, rig_spec());
    rig_pass(rig);
    assert_int_equal(rig_state(rig, second), TASK_STARTING);
}

static void busy_says_what_becomes_of_the_tasks(void **state)
{
    struct rig *rig = *state;
    set_pool(rig, "a", &zone_a, 1);
    const node_id id = join(rig, "n1", "", NULL, 0);
    const task_id task = rig_submit(rig, rig_spec());
    rig_pass(rig);
    rig_report(rig, task, 0, REPORT_STARTED, 0);
    assert_int_equal(label(rig, id, &zone_a, 1, BUSY_REFUSE), VERDICT_CONFLICT);
    assert_int_equal(node_at(rig, id)->pool_next.v, 0);
    assert_int_equal(label(rig, id, &gpu_big, 1, BUSY_REFUSE), VERDICT_OK); /* moves nothing */
    assert_int_equal(label(rig, id, &zone_a, 1, BUSY_REQUEUE), VERDICT_OK);
    assert_int_equal(rig_state(rig, task), TASK_STOPPING);
    rig_report(rig, task, 0, REPORT_ENDED, 143);
    assert_int_equal(rig_state(rig, task), TASK_PENDING); /* not failed: it waits again */
    assert_int_equal(settle(rig), 1);
    const node_id other = join(rig, "n2", "", NULL, 0);
    rig_pass(rig);
    rig_report(rig, task, 0, REPORT_STARTED, 0);
    assert_int_equal(label(rig, other, &zone_a, 1, BUSY_KILL), VERDICT_OK);
    rig_report(rig, task, 0, REPORT_ENDED, 143);
    assert_int_equal(rig_state(rig, task), TASK_KILLED);
    assert_int_equal(settle(rig), 1);
}

static void a_gang_is_requeued_as_a_whole(void **state)
{
    struct rig *rig = *state;
    set_pool(rig, "a", &zone_a, 1);
    const node_id id = join(rig, "n1", "", NULL, 0);
    (void)join(rig, "n2", "", NULL, 0);
    struct task_spec spec = rig_spec();
    spec.slots_milli = 4000;
    spec.instances = 2;
    spec.gang = true;
    const task_id gang = rig_submit(rig, spec);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, gang), TASK_STARTING);
    assert_int_equal(label(rig, id, &zone_a, 1, BUSY_REQUEUE), VERDICT_OK);
    rig_report(rig, gang, 0, REPORT_ENDED, 143);
    rig_report(rig, gang, 1, REPORT_ENDED, 143);
    assert_int_equal(rig_state(rig, gang), TASK_PENDING);
    assert_int_equal(settle(rig), 1);
}

static void selectors_that_come_change_and_go_move_nodes(void **state)
{
    struct rig *rig = *state;
    const node_id a = join(rig, "n1", "", &zone_a, 1);
    const node_id big = join(rig, "n2", "", &gpu_big, 1);
    const node_id named = join(rig, "n3", "default", &zone_a, 1);
    set_pool(rig, "p", &zone_a, 1);
    assert_int_equal(settle(rig), 1);
    assert_string_equal(pool_of(rig, a), "p");
    set_pool(rig, "p", &gpu_big, 1);
    assert_int_equal(settle(rig), 2);
    assert_string_equal(pool_of(rig, a), "default");
    assert_string_equal(pool_of(rig, big), "p");
    set_pool(rig, "p", NULL, 0);
    assert_int_equal(settle(rig), 1);
    assert_string_equal(pool_of(rig, big), "default");
    assert_string_equal(pool_of(rig, named), "default");
    const struct pool *pool = query_pool_named(rig->core, "p");
    struct input in = {.type = INPUT_POOL_DELETE, .pool = {.pool = pool->id}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

static void a_deleted_pool_calls_no_node(void **state)
{
    struct rig *rig = *state;
    const node_id id = join(rig, "n1", "", &zone_a, 1);
    const task_id task = rig_submit(rig, rig_spec());
    rig_pass(rig);
    set_pool(rig, "p", &zone_a, 1);
    assert_string_equal(goes_to(rig, id), "p");
    const struct pool *pool = query_pool_named(rig->core, "p");
    struct input in = {.type = INPUT_POOL_DELETE, .pool = {.pool = pool->id}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(node_at(rig, id)->pool_next.v, 0);
    rig_run(rig, task, 0, 0);
    assert_int_equal(settle(rig), 0);
}

static void the_pool_default_has_no_selector(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(try_pool(rig, "default", &zone_a, 1), VERDICT_REFUSED);
}

static void an_agent_that_names_no_pool_any_more_follows_its_labels(void **state)
{
    struct rig *rig = *state;
    set_pool(rig, "a", &zone_a, 1);
    const node_id id = join(rig, "n1", "default", &zone_a, 1);
    assert_false(node_at(rig, id)->follows_labels);
    (void)join(rig, "n1", "", &zone_a, 1);
    assert_int_equal(settle(rig), 1);
    assert_string_equal(pool_of(rig, id), "a");
    (void)join(rig, "n1", "default", &zone_a, 1);
    assert_string_equal(pool_of(rig, id), "default");
    assert_int_equal(settle(rig), 0);
}

static void a_removed_node_is_found_by_no_selector(void **state)
{
    struct rig *rig = *state;
    const node_id id = join(rig, "n1", "", &zone_a, 1);
    assert_int_equal(rig_on_node(rig, INPUT_NODE_REMOVE, id), VERDICT_OK);
    set_pool(rig, "a", &zone_a, 1);
    assert_int_equal(settle(rig), 0);
}

static void many_nodes_move_in_bounded_steps(void **state)
{
    struct rig *rig = *state;
    enum { NODES = 1200, A_TICK = 1000 };
    for (unsigned i = 0; i < NODES; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%u", i);
        (void)join(rig, name, "", &zone_a, 1);
    }
    set_pool(rig, "a", &zone_a, 1);
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    /* The states of two pools have changed too, and take a place in the tick. */
    const size_t moved = rig_count(rig, FACT_NODE_MOVED);
    assert_in_range(moved, A_TICK - 2, A_TICK);
    assert_int_equal(settle(rig), NODES - moved);
    assert_int_equal(query_pool_named(rig->core, "a")->node_count, NODES);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(the_first_of_name_selector_and_default_counts),
        TEST(two_matching_selectors_are_counted),
        TEST(an_empty_node_moves_when_its_labels_change),
        TEST(a_busy_node_takes_no_starts_and_moves_when_its_task_has_ended),
        TEST(a_label_that_is_taken_back_lets_the_node_stay),
        TEST(busy_says_what_becomes_of_the_tasks),
        TEST(a_gang_is_requeued_as_a_whole),
        TEST(selectors_that_come_change_and_go_move_nodes),
        TEST(a_deleted_pool_calls_no_node),
        TEST(the_pool_default_has_no_selector),
        TEST(an_agent_that_names_no_pool_any_more_follows_its_labels),
        TEST(a_removed_node_is_found_by_no_selector),
        TEST(many_nodes_move_in_bounded_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
