/* test_groups.c - gangs whose instances are not all alike: they start together, each on a node that has what it asks for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/sched/explain/explain.h"
#include "core/sched/order/form_chunk.h"

#include <string.h>

static struct task_spec slots(int64_t count)
{
    struct task_spec spec = rig_spec();
    spec.slots_milli = count * SLOT_MILLI;
    return spec;
}

/* One leader of three slots and two workers of one. */
static struct task_spec leader_and_workers(void)
{
    static struct task_spec leader;
    static struct task_spec worker;
    static struct group_spec groups[2];
    leader = slots(3);
    worker = slots(1);
    groups[0] = (struct group_spec){.name = "leader", .instances = 1, .asks = &leader};
    groups[1] = (struct group_spec){.name = "worker", .instances = 2, .asks = &worker};
    struct task_spec spec = rig_spec();
    spec.instances = 3;
    spec.gang = true;
    spec.groups = groups;
    spec.group_count = 2;
    return spec;
}

static int64_t held(const struct rig *rig, task_id task, uint32_t index)
{
    return query_instance(rig->core, task, index)->slots_milli;
}

static void all_start_with_what_each_asks_for(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    const node_id small = rig_node(&rig, "small", 2, 0, 1);
    const node_id large = rig_node(&rig, "large", 4, 0, 2);
    const task_id task = rig_submit(&rig, leader_and_workers());
    rig_pass(&rig);
    assert_int_equal(query_instance(rig.core, task, 0)->node.v, large.v);
    assert_int_equal(query_instance(rig.core, task, 1)->node.v, small.v);
    assert_int_equal(query_instance(rig.core, task, 2)->node.v, small.v);
    assert_int_equal(held(&rig, task, 0), 3 * SLOT_MILLI);
    assert_int_equal(held(&rig, task, 1), SLOT_MILLI);
    rig_done(&rig);
}

static void none_starts_alone(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_node(&rig, "n1", 4, 0, 1);
    rig_node(&rig, "n2", 1, 0, 2);
    const task_id filler = rig_submit(&rig, slots(1));
    rig_pass(&rig); /* on n2: the leader fits n1, one worker beside it, the other nowhere */
    const task_id task = rig_submit(&rig, leader_and_workers());
    rig_pass(&rig);
    assert_int_equal(query_task(rig.core, task)->active_count, 0);
    struct usage usage;
    query_usage(rig.core, ACCOUNT_DEFAULT_PROJECT, query_pool_named(rig.core, "default")->id,
                &usage);
    assert_int_equal(usage.wanted.at[DIM_SLOTS], 5 * SLOT_MILLI);
    rig_run(&rig, filler, 0, 0);
    rig_pass(&rig);
    assert_int_equal(query_task(rig.core, task)->active_count, 3);
    query_usage(rig.core, ACCOUNT_DEFAULT_PROJECT, query_pool_named(rig.core, "default")->id,
                &usage);
    assert_int_equal(usage.wanted.at[DIM_SLOTS], 0);
    assert_int_equal(usage.allocated.at[DIM_SLOTS], 5 * SLOT_MILLI);
    rig_done(&rig);
}

static void one_that_fails_ends_all(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_node(&rig, "n1", 5, 0, 1);
    const task_id task = rig_submit(&rig, leader_and_workers());
    rig_pass(&rig);
    for (uint32_t i = 0; i < 3; i++) {
        rig_report(&rig, task, i, REPORT_STARTED, 0);
    }
    rig_report(&rig, task, 2, REPORT_ENDED, 1);
    assert_int_equal(rig_instance(&rig, task, 0), INSTANCE_STOPPING);
    assert_int_equal(rig_instance(&rig, task, 1), INSTANCE_STOPPING);
    rig_report(&rig, task, 0, REPORT_ENDED, 0);
    rig_report(&rig, task, 1, REPORT_ENDED, 0);
    assert_int_equal(rig_state(&rig, task), TASK_FAILED);
    rig_done(&rig);
}

static void a_group_that_never_fits_is_refused(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_node(&rig, "n1", 2, 0, 1);
    rig_node(&rig, "n2", 2, 0, 2);
    assert_int_equal(rig_try_submit(&rig, leader_and_workers()), VERDICT_REFUSED);
    assert_int_equal(rig.facts.refusal.code, REASON_TOO_LARGE);
    assert_int_equal(rig.facts.refusal.smallest, 2 * SLOT_MILLI);
    rig_done(&rig);
}

/* A server, of two one is enough, and four workers, of which two are; or, with `either`, one of the two groups. */
static struct task_spec elastic(bool either)
{
    static struct group_spec groups[2];
    groups[0] = (struct group_spec){.name = "server", .instances = 2, .min = 1};
    groups[1] = (struct group_spec){.name = "worker", .instances = 4, .min = 2};
    struct task_spec spec = rig_spec();
    spec.instances = 6;
    spec.gang = true;
    spec.groups = groups;
    spec.group_count = 2;
    spec.min_groups = either ? 1 : 0;
    return spec;
}

static uint32_t running(const struct rig *rig, task_id task, uint32_t from, uint32_t to)
{
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i++) {
        count += query_instance(rig->core, task, i)->state == INSTANCE_STARTING ||
                 query_instance(rig->core, task, i)->state == INSTANCE_RUNNING;
    }
    return count;
}

static void each_group_starts_with_its_minimum(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_node(&rig, "n1", 2, 0, 1);
    const task_id task = rig_submit(&rig, elastic(false));
    rig_pass(&rig);
    assert_int_equal(query_task(rig.core, task)->active_count, 0);
    rig_node(&rig, "n2", 2, 0, 2);
    rig_pass(&rig);
    assert_int_equal(running(&rig, task, 0, 2),
                     2); /* 1 and 2, then the server: 1 of 1 is less than 2 of 2 */
    assert_int_equal(running(&rig, task, 2, 6), 2);
    assert_int_equal(query_task(rig.core, task)->min_count, 3);
    rig_done(&rig);
}

static void a_lost_node_breaks_one_group_only(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_node(&rig, "n1", 3, 0, 1);
    const node_id lost = rig_node(&rig, "n2", 1, 0, 2);
    struct task_spec large = slots(2);
    const struct group_spec groups[2] = {{.name = "a", .instances = 1, .asks = &large},
                                         {.name = "b", .instances = 2}};
    struct task_spec spec = elastic(true);
    spec.groups = groups;
    spec.instances = 3;
    const task_id task = rig_submit(&rig, spec);
    rig_pass(&rig); /* a and half of b on n1, the other half on n2 */
    assert_int_equal(query_task(rig.core, task)->active_count, 3);
    assert_int_equal(rig_on_node(&rig, INPUT_NODE_SILENT, lost), VERDICT_OK);
    assert_int_equal(rig_on_node(&rig, INPUT_NODE_LOST, lost), VERDICT_OK);
    assert_int_equal(query_task(rig.core, task)->lacks, LACKS_OF_A_GROUP);
    assert_int_equal(query_task(rig.core, task)->stale_ms, rig.now_ms);
    assert_int_equal(running(&rig, task, 0, 3), 2);
    rig.now_ms += STALE_GRACE_MS_DEFAULT;
    assert_int_equal(rig_do(&rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    assert_int_equal(running(&rig, task, 0, 1), 1); /* the gang has what it needs */
    assert_int_equal(running(&rig, task, 1, 3), 0);
    assert_int_equal(rig_count(&rig, FACT_EVICTED), 1);
    rig_done(&rig);
}

static void minimums_and_labels_are_kept(void **state)
{
    (void)state;
    static const struct label zone[] = {{"zone", "a"}};
    struct rig rig;
    rig_init(&rig);
    struct task_spec spec = elastic(true);
    struct group_spec groups[2] = {spec.groups[0], spec.groups[1]};
    groups[1].node_labels = zone;
    groups[1].node_label_count = 1;
    spec.groups = groups;
    const task_id task =
        rig_submit(&rig, spec); /* every step compares the state with what is stored of it */
    struct task_spec stored;
    query_task_spec(rig.core, task, &rig.kept, &stored);
    assert_int_equal(stored.min_groups, 1);
    assert_int_equal(stored.groups[0].min, 1);
    assert_int_equal(stored.groups[1].min, 2);
    assert_int_equal(stored.groups[0].node_label_count, 0);
    assert_int_equal(stored.groups[1].node_label_count, 1);
    assert_string_equal(stored.groups[1].node_labels[0].value, "a");
    rig_done(&rig);
}

/* The labels of the task and of its group count together. */
static void a_group_has_as_many_labels_as_a_task_may(void **state)
{
    (void)state;
    static const struct label labels[TASK_LABELS_MAX + 1] = {{"a", ""}, {"b", ""}, {"c", ""},
                                                             {"d", ""}, {"e", ""}, {"f", ""},
                                                             {"g", ""}, {"h", ""}, {"i", ""}};
    for (uint32_t own = 0; own <= TASK_LABELS_MAX; own++) {
        struct rig rig;
        rig_init(&rig);
        struct task_spec spec = elastic(true);
        struct group_spec groups[2] = {spec.groups[0], spec.groups[1]};
        groups[1].node_labels = labels;
        groups[1].node_label_count = own;
        spec.groups = groups;
        spec.node_labels = labels + own;
        spec.node_label_count = TASK_LABELS_MAX - own;
        (void)rig_submit(&rig, spec); /* every fact is read back */
        spec.node_label_count++;
        assert_int_equal(rig_try_submit(&rig, spec), VERDICT_REFUSED);
        assert_int_equal(rig.facts.refusal.code, REASON_LIMIT);
        rig_done(&rig);
    }
}

static void minimums_beyond_the_groups_are_refused(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_node(&rig, "n1", 8, 0, 1);
    struct task_spec spec = elastic(false);
    struct group_spec groups[2] = {spec.groups[0], spec.groups[1]};
    spec.groups = groups;
    groups[0].min = 3;
    assert_int_equal(rig_try_submit(&rig, spec), VERDICT_REFUSED);
    groups[0].min = 0;
    spec.min_groups = 3;
    assert_int_equal(rig_try_submit(&rig, spec), VERDICT_REFUSED);
    spec.min_groups = 2;
    assert_int_equal(rig_try_submit(&rig, spec), VERDICT_OK);
    rig_done(&rig);
}

/* Three of four workers leave, and the fourth waits. The group needs two workers together, so the fourth does not come alone. */
static void a_group_waits_for_those_of_it_that_leave(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_node(&rig, "n1", 5, 0, 1);
    const task_id id = rig_submit(&rig, elastic(true));
    rig_pass(&rig);
    assert_int_equal(running(&rig, id, 2, 6), 3);
    const struct task *task = query_task(rig.core, id);
    struct arena arena;
    arena_init(&arena);
    const struct node **at = form_chunk_at(rig.core, task, &arena);
    uint32_t indices[6];
    assert_int_equal(form_chunk(rig.core, task, at, 0, indices), 1);
    assert_int_equal(indices[0], 5);
    for (uint32_t i = 2; i < 5; i++) {
        at[i] = NULL;
    }
    assert_int_equal(form_chunk(rig.core, task, at, 0, indices), 0);
    arena_done(&arena);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_start_with_what_each_asks_for),
        cmocka_unit_test(none_starts_alone),
        cmocka_unit_test(one_that_fails_ends_all),
        cmocka_unit_test(a_group_that_never_fits_is_refused),
        cmocka_unit_test(each_group_starts_with_its_minimum),
        cmocka_unit_test(a_lost_node_breaks_one_group_only),
        cmocka_unit_test(minimums_and_labels_are_kept),
        cmocka_unit_test(a_group_has_as_many_labels_as_a_task_may),
        cmocka_unit_test(minimums_beyond_the_groups_are_refused),
        cmocka_unit_test(a_group_waits_for_those_of_it_that_leave),
    };
    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
