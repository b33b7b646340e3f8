/* test_topology.c - gangs that are to be close together: domains, pins, refusals, reasons, edits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/sched/explain/explain.h"

#include <stdlib.h>
#include <string.h>

/* The pool `default` gets these levels. */
static void levels_set(struct rig *rig, const char *const *levels, uint32_t count)
{
    struct pool_spec spec;
    const struct pool *pool = query_pool_named(rig->core, "default");
    query_pool_spec(rig->core, pool->id, &rig->kept, &spec);
    spec.topology = levels;
    spec.topology_count = count;
    spec.preemption_off = true; /* nobody moves to make room */
    struct input in = {.type = INPUT_POOL_EDIT};
    in.pool.spec = &spec;
    in.pool.pool = pool->id;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

static node_id node_with(struct rig *rig, const char *name, unsigned slots, const char *zone,
                         const char *rack, int64_t cpu_milli)
{
    static uint8_t supervisor;
    const struct label labels[] = {{"zone", zone}, {"rack", rack}};
    const struct node_spec spec = {.name = name,
                                   .pool = "default",
                                   .labels = labels,
                                   .label_count = rack != NULL ? 2 : 1,
                                   .slots_milli = (int64_t)slots * 1000,
                                   .cpu_milli = cpu_milli,
                                   .memory_bytes = 1 << 30,
                                   .supervisor = {++supervisor, 7},
                                   .boot_id = "b",
                                   .address = "127.0.0.1",
                                   .version = "1"};
    struct input in = {.type = INPUT_NODE_JOIN};
    in.node.spec = &spec;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    return query_node_named(rig->core, name)->id;
}

static node_id node_in(struct rig *rig, const char *name, unsigned slots, const char *zone,
                       const char *rack)
{
    return node_with(rig, name, slots, zone, rack, 64000);
}

static struct task_spec gang_of(uint32_t instances, const char *required, const char *preferred)
{
    struct task_spec spec = rig_spec();
    spec.instances = instances;
    spec.gang = true;
    spec.topology = (struct topology_spec){required, preferred};
    return spec;
}

static const char *where(const struct rig *rig, task_id task, uint32_t index)
{
    const struct instance *instance = query_instance(rig->core, task, index);
    return instance->state == INSTANCE_WAITING ? "" : query_node_name(rig->core, instance->node);
}

static const char *const zone_rack[] = {"zone", "rack"};

/* Zone a: 5 slots in racks of 2, 1, 1, 1. Zone b: 6 slots in racks of 2. */
static void two_zones(struct rig *rig)
{
    rig_init(rig);
    levels_set(rig, zone_rack, 2);
    node_in(rig, "a1", 2, "a", "1");
    node_in(rig, "a2", 1, "a", "2");
    node_in(rig, "a3", 1, "a", "3");
    node_in(rig, "a4", 1, "a", "4");
    node_in(rig, "b1", 2, "b", "1");
    node_in(rig, "b2", 2, "b", "2");
    node_in(rig, "b3", 2, "b", "3");
}

static void the_fuller_zone_and_few_racks(void **state)
{
    (void)state;
    struct rig rig;
    two_zones(&rig);
    const task_id task = rig_submit(&rig, gang_of(3, "zone", "rack"));
    rig_pass(&rig);
    assert_string_equal(where(&rig, task, 0), "a1");
    assert_string_equal(where(&rig, task, 1), "a1");
    assert_int_equal(where(&rig, task, 2)[0], 'a');
    rig_done(&rig);
}

static void racks_of_one_name_in_two_zones_are_two(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    levels_set(&rig, zone_rack, 2);
    node_in(&rig, "a1", 1, "a", "1");
    node_in(&rig, "b1", 1, "b", "1");
    assert_int_equal(rig_try_submit(&rig, gang_of(2, "rack", "")), VERDICT_REFUSED);
    assert_int_equal(rig.facts.refusal.code, REASON_DOMAIN_TOO_SMALL);
    assert_int_equal(rig.facts.refusal.have, 1);
    assert_int_equal(rig.facts.refusal.need, 2);
    assert_int_equal(rig.facts.refusal.smallest, 1);
    assert_string_equal(rig.facts.refusal.text, "rack=1");
    rig_done(&rig);
}

static void an_unknown_level_is_refused(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    assert_int_equal(rig_try_submit(&rig, gang_of(2, "row", "")), VERDICT_REFUSED);
    assert_int_equal(rig.facts.refusal.code, REASON_UNKNOWN_LEVEL);
    assert_string_equal(rig.facts.refusal.text, "row");
    rig_done(&rig);
}

static void the_reason_names_the_closest_domain(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    levels_set(&rig, zone_rack, 2);
    node_in(&rig, "a1", 3, "a", "1");
    node_in(&rig, "a2", 3, "a", "2");
    struct task_spec one = rig_spec();
    one.slots_milli = 2000;
    const task_id first = rig_submit(&rig, one);
    one.slots_milli = 1000;
    rig_submit(&rig, one);
    rig_submit(&rig, one);
    rig_pass(&rig); /* a1: 3 of 3 taken, a2: 1 of 3 */
    const task_id gang = rig_submit(&rig, gang_of(3, "rack", ""));
    rig_pass(&rig);
    struct explanation why;
    explain_task(rig.core, gang, &why);
    assert_int_equal(why.reason.code, REASON_GANG_SHORT); /* there are not three slots anywhere */
    rig_run(&rig, first, 0, 0);
    rig_pass(&rig);
    explain_task(rig.core, gang, &why);
    assert_int_equal(why.reason.code, REASON_TOPOLOGY);
    assert_int_equal(why.reason.have, 2);
    assert_int_equal(why.reason.need, 3);
    assert_string_equal(why.reason.text, "rack=1");
    rig_done(&rig);
}

static void a_gang_grows_where_it_is(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    levels_set(&rig, zone_rack, 2);
    node_in(&rig, "a1", 2, "a", "1");
    node_in(&rig, "b1", 4, "b", "1");
    struct task_spec spec = gang_of(3, "zone", "");
    spec.min_instances = 2;
    struct task_spec filler = rig_spec();
    filler.slots_milli = 3000;
    const task_id before = rig_submit(&rig, filler);
    rig_pass(&rig);
    const task_id gang = rig_submit(&rig, spec);
    rig_pass(&rig);
    assert_string_equal(where(&rig, gang, 0), "a1");
    assert_string_equal(where(&rig, gang, 2), "");
    rig_run(&rig, before, 0, 0); /* zone b is empty, and the gang is in a */
    rig_pass(&rig);
    assert_string_equal(where(&rig, gang, 2), "");
    node_in(&rig, "a2", 1, "a", "2");
    rig_pass(&rig);
    assert_string_equal(where(&rig, gang, 2), "a2");
    rig_done(&rig);
}

static void a_label_makes_room(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    levels_set(&rig, zone_rack, 2);
    node_in(&rig, "a1", 2, "a", "1");
    const node_id other = node_in(&rig, "b1", 2, "b", "1");
    const task_id first = rig_submit(&rig, rig_spec());
    rig_submit(&rig, rig_spec());
    rig_submit(&rig, rig_spec());
    rig_pass(&rig);
    rig_run(&rig, first, 0, 0); /* one slot is free in each zone */
    const task_id gang = rig_submit(&rig, gang_of(2, "zone", ""));
    rig_pass(&rig);
    assert_string_equal(where(&rig, gang, 0), "");
    const struct label labels[] = {{"zone", "a"}, {"rack", "2"}};
    const struct node_edit edit = {.fields = NODE_EDIT_LABELS, .labels = labels, .label_count = 2};
    struct input in = {.type = INPUT_NODE_EDIT};
    in.node.node = other;
    in.node.edit = &edit;
    assert_int_equal(rig_do(&rig, in), VERDICT_OK);
    rig_pass(&rig);
    assert_string_equal(where(&rig, gang, 0), "a1");
    assert_string_equal(where(&rig, gang, 1), "b1");
    rig_done(&rig);
}

static void a_level_that_the_pool_gives_up_is_the_reason(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    levels_set(&rig, zone_rack, 2);
    node_in(&rig, "a1", 2, "a", "1");
    struct task_spec one = rig_spec();
    rig_submit(&rig, one);
    rig_pass(&rig);
    const task_id gang = rig_submit(&rig, gang_of(2, "rack", ""));
    levels_set(&rig, zone_rack, 1);
    rig_pass(&rig);
    struct explanation why;
    explain_task(rig.core, gang, &why);
    assert_int_equal(why.reason.code, REASON_UNKNOWN_LEVEL);
    assert_string_equal(why.reason.text, "rack");
    rig_done(&rig);
}

static void wide_tasks_keep_their_topology(void **state)
{
    (void)state;
    struct rig rig;
    two_zones(&rig);
    struct task_spec wide = rig_spec();
    wide.slots_milli = 5000;
    wide.topology.required = "zone";
    const task_id task = rig_submit(&rig, wide);
    rig_pass(&rig);
    assert_int_equal(query_task(rig.core, task)->instance_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(where(&rig, task, i)[0], 'a');
    }
    rig_done(&rig);
}

static void resources_change_and_the_topology_stays(void **state)
{
    (void)state;
    struct rig rig;
    two_zones(&rig);
    struct task_spec spec = gang_of(2, "rack", "");
    spec.stage = true;
    const task_id task = rig_submit(&rig, spec);
    struct task_spec asks = rig_spec();
    asks.slots_milli = 2000;
    const struct task_edit edit = {.fields = TASK_EDIT_resources, .spec = &asks};
    struct input in = {.type = INPUT_TASK_EDIT};
    in.task.task = task;
    in.task.edit = &edit;
    assert_int_equal(rig_do(&rig, in), VERDICT_REFUSED); /* no rack has four slots */
    assert_int_equal(rig.facts.refusal.code, REASON_DOMAIN_TOO_SMALL);
    asks.slots_milli = 1000;
    asks.cpu_milli = 500;
    assert_int_equal(rig_do(&rig, in), VERDICT_OK);
    const struct form *form =
        shape_form(query_task_shape(rig.core, query_task(rig.core, task)->shape));
    assert_string_equal(form->groups[0].required, "rack");
    assert_int_equal(form->groups[0].request.cpu_milli, 500);
    rig_done(&rig);
}

/* Another level, none, one where there was none; and only for gangs. */
static void the_topology_changes_while_it_waits(void **state)
{
    (void)state;
    struct rig rig;
    two_zones(&rig);
    struct task_spec spec = gang_of(3, "zone", "");
    spec.stage = true;
    const task_id task = rig_submit(&rig, spec);
    struct task_spec with = {.topology = {"rack", ""}};
    struct task_edit edit = {.fields = TASK_EDIT_topology, .spec = &with};
    struct input in = {.type = INPUT_TASK_EDIT, .task = {.task = task, .edit = &edit}};
    assert_int_equal(rig_do(&rig, in), VERDICT_REFUSED);
    assert_int_equal(rig.facts.refusal.code, REASON_DOMAIN_TOO_SMALL);
    with.topology = (struct topology_spec){NULL, NULL};
    assert_int_equal(rig_do(&rig, in), VERDICT_OK);
    assert_null(shape_form(query_task_shape(rig.core, query_task(rig.core, task)->shape)));
    with.topology = (struct topology_spec){"zone", "rack"};
    assert_int_equal(rig_do(&rig, in), VERDICT_OK);
    core_check(rig.core);
    assert_int_equal(rig_task(&rig, INPUT_TASK_START, task), VERDICT_OK);
    rig_pass(&rig);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(where(&rig, task, i)[0], 'a');
    }
    assert_int_equal(rig_do(&rig, in), VERDICT_CONFLICT);
    assert_int_equal(rig.facts.refusal.code, REASON_HOLDS_PLACES);
    assert_string_equal(rig.facts.refusal.text, "topology");
    struct task_spec loose = rig_spec();
    loose.instances = 2;
    loose.stage = true;
    in.task.task = rig_submit(&rig, loose);
    assert_int_equal(rig_do(&rig, in), VERDICT_REFUSED);
    assert_int_equal(rig.facts.refusal.code, REASON_LIMIT);
    rig_done(&rig);
}

/* The default project may hold so much cpu. */
static void cpu_limit(struct rig *rig, int64_t limit_milli)
{
    const struct quota_amount amount = {"cpu", QUOTA_UNSET, limit_milli, QUOTA_WEIGHT_DEFAULT};
    const struct quota_spec quota = {.amounts = &amount,
                                     .amount_count = 1,
                                     .rules.rank = QUOTA_RANK_DEFAULT,
                                     .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
                                     .rules.reclaim_min_runtime_ms = QUOTA_INHERIT};
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = ACCOUNT_DEFAULT_PROJECT;
    in.quota.pool = query_pool_named(rig->core, "default")->id;
    in.quota.spec = &quota;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

/* A slot brings 8 cpus on one node of the rack and 1 on the other. The gang of three fits the limit as 8 + 1 + 1 only. */
static void a_gang_in_one_rack_stays_within_the_cpu_limit(void **state)
{
    (void)state;
    for (int64_t limit = 9000; limit <= 10000; limit += 1000) {
        struct rig rig;
        rig_init(&rig);
        levels_set(&rig, zone_rack, 2);
        node_with(&rig, "a1", 2, "a", "1", 16000);
        node_with(&rig, "a2", 2, "a", "1", 2000);
        cpu_limit(&rig, limit);
        const task_id task = rig_submit(&rig, gang_of(3, "rack", ""));
        rig_pass(&rig);
        const struct task *row = query_task(rig.core, task);
        assert_int_equal(row->active_count, limit == 10000 ? 3 : 0);
        rig_done(&rig);
    }
}

/* A slot of node `wide` brings two cores, a slot of node `narrow` half a core. The project may hold two cores. One instance on `wide`
 * would leave too little for the other instance, so the gang starts on `narrow` as a whole. */
static void a_gang_in_one_zone_tries_nodes_that_suit_its_limit(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    levels_set(&rig, zone_rack, 2);
    node_with(&rig, "wide", 4, "a", "1", 8000);
    node_with(&rig, "narrow", 4, "a", "2", 2000);
    cpu_limit(&rig, 2000);
    const task_id task = rig_submit(&rig, gang_of(2, "zone", ""));
    rig_pass(&rig);
    assert_string_equal(where(&rig, task, 0), "narrow");
    assert_string_equal(where(&rig, task, 1), "narrow");
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fuller_zone_and_few_racks),
        cmocka_unit_test(racks_of_one_name_in_two_zones_are_two),
        cmocka_unit_test(an_unknown_level_is_refused),
        cmocka_unit_test(the_reason_names_the_closest_domain),
        cmocka_unit_test(a_gang_grows_where_it_is),
        cmocka_unit_test(a_label_makes_room),
        cmocka_unit_test(a_level_that_the_pool_gives_up_is_the_reason),
        cmocka_unit_test(wide_tasks_keep_their_topology),
        cmocka_unit_test(resources_change_and_the_topology_stays),
        cmocka_unit_test(the_topology_changes_while_it_waits),
        cmocka_unit_test(a_gang_in_one_rack_stays_within_the_cpu_limit),
        cmocka_unit_test(a_gang_in_one_zone_tries_nodes_that_suit_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
