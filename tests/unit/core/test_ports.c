/* test_ports.c - the ports at which gangs meet: one for each allocation of a node.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "core/state/ports.h"
#include "core_rig.h"

#include <stdlib.h>

static struct task_spec gang_spec(void)
{
    struct task_spec spec = rig_spec();
    spec.instances = 2;
    spec.gang = true;
    return spec;
}

static uint32_t port_of(const struct rig *rig, task_id task)
{
    return query_instance(rig->core, task, 0)->master_port;
}

/* The tasks `first` and the `count` - 1 after it. */
static task_id submit_many(struct rig *rig, uint32_t count)
{
    struct task_spec *specs = xcalloc(count, sizeof *specs);
    for (uint32_t i = 0; i < count; i++) {
        specs[i] = gang_spec();
    }
    const struct input in = {.type = INPUT_TASK_SUBMIT, .submit = {.specs = specs, .count = count}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    free(specs);
    return (task_id){query_task_last(rig->core).v - count + 1};
}

static void a_gang_has_one_port_and_others_have_none(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    (void)rig_node(&rig, "n1", 2, 0, 1);
    (void)rig_node(&rig, "n2", 2, 0, 2);
    const task_id alone = rig_submit(&rig, rig_spec());
    const task_id gang = rig_submit(&rig, gang_spec());
    rig_pass(&rig);
    assert_int_equal(rig_instance(&rig, gang, 1), INSTANCE_STARTING);
    assert_in_range(port_of(&rig, gang), PORTS_MASTER_FIRST, PORTS_MASTER_LAST);
    assert_int_equal(query_instance(rig.core, gang, 1)->master_port, 0);
    assert_int_equal(port_of(&rig, alone), 0);
    assert_int_equal(ports_master(rig.core, query_task(rig.core, gang)), port_of(&rig, gang));
    rig_done(&rig);
}

static void an_adopted_gang_has_a_port(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    const node_id node = rig_node(&rig, "n1", 4, 0, 1);
    const task_id gang = rig_submit(&rig, gang_spec());
    const struct adopted places[] = {{.index = 0, .node = node}, {.index = 1, .node = node}};
    struct input in = {.type = INPUT_TASK_ADOPT};
    in.task.task = gang;
    in.task.places = places;
    in.task.place_count = 2;
    assert_int_equal(rig_do(&rig, in), VERDICT_OK);
    assert_in_range(port_of(&rig, gang), PORTS_MASTER_FIRST, PORTS_MASTER_LAST);
    rig_done(&rig);
}

/* Two tasks whose numbers give the same port, and all ports of a node: within one pass and over several. */
static void no_two_gangs_of_a_node_share_a_port(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    (void)rig_node(&rig, "n1", 2 * (PORTS_MASTER_COUNT + 1), 0, 1);
    const task_id first = submit_many(&rig, PORTS_MASTER_COUNT - 1);
    rig_pass(&rig);
    const task_id freed = {first.v + 7};
    const uint32_t port = port_of(&rig, freed);
    rig_run(&rig, freed, 0, 0);
    assert_int_equal(port_of(&rig, freed),
                     port); /* instance 1 has not ended, and the gang is there */
    rig_run(&rig, freed, 1, 0);
    assert_null(query_task(rig.core, freed));
    const task_id second = submit_many(&rig, 3);
    rig_pass(&rig);
    bool held[PORTS_MASTER_COUNT] = {false};
    uint32_t without = 0;
    for (task_id task = first; task.v < second.v + 3; task.v++) {
        if (task.v == freed.v) {
            continue;
        }
        if (port_of(&rig, task) == 0) {
            without++;
            continue;
        }
        bool *taken = &held[port_of(&rig, task) - PORTS_MASTER_FIRST];
        assert_false(*taken);
        *taken = true;
    }
    assert_true(held[port - PORTS_MASTER_FIRST]); /* given again once it was free */
    /* One task more than ports: it meets above the range, where no allocation holds a port. */
    assert_int_equal(without, 1);
    assert_int_equal(ports_master(rig.core, query_task(rig.core, (task_id){second.v + 2})),
                     20000 + second.v + 2);
    rig_done(&rig);
}

static void other_nodes_and_other_starts_count_alone(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    const node_id n1 = rig_node(&rig, "n1", 2, 0, 1);
    const node_id n2 = rig_node(&rig, "n2", 2, 0, 2);
    struct arena arena;
    arena_init(&arena);
    struct ports_given given = ports_given_make(&arena, 2);
    ports_given_add(&given, n1, PORTS_MASTER_FIRST + 9);
    ports_given_add(&given, n1, PORTS_MASTER_FIRST);
    assert_int_equal(ports_pick(rig.core, n1, (task_id){9}, &given), PORTS_MASTER_FIRST + 10);
    assert_int_equal(ports_pick(rig.core, n2, (task_id){9}, &given), PORTS_MASTER_FIRST + 9);
    assert_int_equal(ports_pick(rig.core, n1, (task_id){2000}, &given), PORTS_MASTER_FIRST + 1);
    arena_done(&arena);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_has_one_port_and_others_have_none),
        cmocka_unit_test(an_adopted_gang_has_a_port),
        cmocka_unit_test(no_two_gangs_of_a_node_share_a_port),
        cmocka_unit_test(other_nodes_and_other_starts_count_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
