/* test_state_sound.c - a stored state is refused where its rows cannot be true together: devices held twice, places promised that are
 * not there. What is read of a damaged one is sound.
 * SPDX-License-Identifier: Apache-2.0 */
#include "damage_map.h"
#include "org_rig.h"

#include "core/state/change.h"
#include "core/state/ports.h"
#include "core/state/state.h"

#include <stdlib.h>

enum { DEVICES = 16 };

static void gpu_node(struct org *org, const char *name, uint8_t supervisor)
{
    const struct node_spec spec = {.name = name,
                                   .pool = "default",
                                   .slots_milli = DEVICES * SLOT_MILLI,
                                   .cpu_milli = 32000,
                                   .memory_bytes = 64 << 20,
                                   .gpu_memory_bytes = 1 << 20,
                                   .device_count = DEVICES,
                                   .supervisor = {supervisor},
                                   .boot_id = "b",
                                   .address = "",
                                   .version = ""};
    struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}

static task_id gpu_task(struct org *org, const char *project, int64_t milli)
{
    struct task_spec spec = rig_spec();
    spec.project = project;
    spec.slots_milli = milli;
    spec.needs_gpu = true;
    return rig_submit(&org->rig, spec);
}

/* Speech may have all of the node's devices; vision, whose tasks hold them, is being evicted from some: places are promised. */
static void promised_state(struct org *org, task_id *ret_taker)
{
    org_init(org);
    gpu_node(org, "g1", 1);
    const account_id vision = org_add(org, ACCOUNT_PROJECT, "vision", "");
    const account_id speech = org_add(org, ACCOUNT_PROJECT, "speech", "");
    org_quota(org, vision,
              (struct org_quota){.guaranteed = 4, .limit = ORG_UNLIMITED, .weight = 1});
    org_quota(org, speech, (struct org_quota){.guaranteed = 12, .limit = 12, .weight = 1});
    (void)gpu_task(org, "vision", 9 * SLOT_MILLI);
    (void)gpu_task(org, "vision", 6 * SLOT_MILLI);
    (void)gpu_task(org, "vision", SLOT_MILLI / 2);
    (void)gpu_task(org, "vision", SLOT_MILLI / 2);
    org_settle(org);
    *ret_taker = gpu_task(org, "speech", 8 * SLOT_MILLI);
    assert_true(org_pass(org));
    assert_non_null(query_instance_claim(org->rig.core, *ret_taker, 0));
}

static enum err read_again(const struct core *core)
{
    size_t len;
    char *bytes = rig_bytes(core, &len);
    struct core *again = NULL;
    struct error e;
    const enum err result = core_decode((struct str){bytes, len}, &again, &e);
    if (result == ERR_OK) {
        core_check_rows(again);
        core_free(again);
    }
    free(bytes);
    return result;
}

/* A core whose bytes are to be damaged through its rows; nothing else is done with it. */
static struct core *spoiled(const struct org *org)
{
    return core_copy(org->rig.core);
}

static struct instance *instance_of(struct core *core, task_id task, uint32_t index)
{
    return table_edit(&core->instances, query_task(core, task)->instance_first + index);
}

static void sixteen_devices_come_back(void **state)
{
    (void)state;
    struct org org;
    task_id taker;
    promised_state(&org, &taker);
    assert_int_equal(query_instance(org.rig.core, (task_id){1}, 0)->devices, 0x1ff);
    assert_int_equal(query_instance(org.rig.core, (task_id){2}, 0)->devices, 0x7e00);
    assert_int_equal(query_instance(org.rig.core, (task_id){3}, 0)->devices, 0x8000);
    assert_int_equal(query_instance(org.rig.core, (task_id){4}, 0)->devices, 0x8000);
    assert_int_equal(read_again(org.rig.core), ERR_OK);
    size_t len;
    char *bytes = rig_bytes(org.rig.core, &len);
    struct core *again = NULL;
    assert_int_equal(core_decode((struct str){bytes, len}, &again, NULL), ERR_OK);
    const struct node *node = query_node_named(again, "g1");
    for (uint32_t i = 0; i < DEVICES; i++) {
        assert_int_equal(node->device_free[i], 0);
    }
    assert_int_equal(node->slots_free, 0);
    core_free(again);
    free(bytes);
    org_settle(&org);
    assert_true(org_runs(&org, taker));
    org_done(&org);
}

static void a_device_held_twice_is_refused(void **state)
{
    (void)state;
    struct org org;
    task_id taker;
    promised_state(&org, &taker);
    struct core *core = spoiled(&org);
    instance_of(core, (task_id){2}, 0)->devices = 0x3f; /* the first task's */
    assert_int_equal(read_again(core), ERR_CORRUPT);
    core_free(core);
    core = spoiled(&org);
    instance_of(core, (task_id){4}, 0)->slots_milli =
        SLOT_MILLI / 2 + 1; /* and the half beside it */
    assert_int_equal(read_again(core), ERR_CORRUPT);
    core_free(core);
    core = spoiled(&org);
    instance_of(core, (task_id){4}, 0)->slots_milli = SLOT_MILLI / 2 - 1;
    assert_int_equal(read_again(core), ERR_OK);
    core_free(core);
    org_done(&org);
}

static void a_port_held_twice_is_refused(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    (void)rig_node(&rig, "n1", 4, 0, 1);
    struct task_spec spec = rig_spec();
    spec.instances = 2;
    spec.gang = true;
    const task_id first = rig_submit(&rig, spec);
    const task_id second = rig_submit(&rig, spec);
    rig_pass(&rig);
    const uint32_t port = query_instance(rig.core, first, 0)->master_port;
    assert_int_equal(read_again(rig.core), ERR_OK);
    const struct {
        task_id task;
        uint32_t index;
        uint32_t port;
        enum err result;
    } cases[] = {
        {second, 0, port, ERR_CORRUPT},
        {second, 0, 0, ERR_OK}, /* an older Weir made it */
        {second, 0, PORTS_MASTER_LAST, ERR_OK},
        {second, 0, PORTS_MASTER_LAST + 1, ERR_CORRUPT},
        {second, 0, PORTS_MASTER_FIRST - 1, ERR_CORRUPT},
        {second, 1, PORTS_MASTER_LAST, ERR_CORRUPT}, /* only instance 0 holds one */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct core *core = core_copy(rig.core);
        instance_of(core, cases[i].task, cases[i].index)->master_port = cases[i].port;
        assert_int_equal(read_again(core), cases[i].result);
        core_free(core);
    }
    rig_done(&rig);
}

static void an_instance_that_holds_nothing_that_is_there_is_refused(void **state)
{
    (void)state;
    struct org org;
    task_id taker;
    promised_state(&org, &taker);
    struct core *core = spoiled(&org);
    instance_of(core, (task_id){1}, 0)->incarnation++;
    assert_int_equal(read_again(core), ERR_CORRUPT);
    core_free(core);
    core = spoiled(&org);
    instance_of(core, (task_id){1}, 0)->attempt = 0;
    assert_int_equal(read_again(core), ERR_CORRUPT);
    core_free(core);
    core = spoiled(&org);
    instance_of(core, (task_id){1}, 0)->node.v = 0;
    assert_int_equal(read_again(core), ERR_CORRUPT);
    core_free(core);
    core = spoiled(&org);
    instance_of(core, (task_id){1}, 0)->memory_bytes = INT64_MAX;
    instance_of(core, (task_id){2}, 0)->memory_bytes = INT64_MAX;
    assert_int_equal(read_again(core), ERR_CORRUPT);
    core_free(core);
    core = spoiled(&org);
    instance_of(core, (task_id){1}, 0)->cpu_milli = INT64_MAX;
    instance_of(core, (task_id){2}, 0)->cpu_milli = INT64_MAX;
    assert_int_equal(read_again(core), ERR_CORRUPT);
    core_free(core);
    org_done(&org);
}

static struct claim *claim_of(struct core *core, task_id task)
{
    return table_edit(&core->claims, query_task(core, task)->instance_first);
}

static void an_impossible_promise_is_refused(void **state)
{
    (void)state;
    struct org org;
    task_id taker;
    promised_state(&org, &taker);
    struct core *core = spoiled(&org);
    claim_of(core, taker)->slots_milli += SLOT_MILLI; /* more than those who leave hold */
    assert_int_equal(read_again(core), ERR_CORRUPT);
    core_free(core);
    core = spoiled(&org);
    claim_of(core, taker)->devices = 0xff00; /* of the one that stays, too */
    assert_int_equal(read_again(core), ERR_CORRUPT);
    core_free(core);
    core = spoiled(&org);
    claim_of(core, taker)->node.v = 0;
    assert_int_equal(read_again(core), ERR_CORRUPT);
    core_free(core);
    core = spoiled(&org);
    claim_of(core, taker)->memory_bytes = (int64_t)64 << 21; /* twice what the node has */
    assert_int_equal(read_again(core), ERR_CORRUPT);
    core_free(core);
    core = spoiled(&org);
    claim_of(core, taker)->cpu_milli = 64000;
    assert_int_equal(read_again(core), ERR_CORRUPT);
    core_free(core);
    core = spoiled(&org);
    ((struct node *)table_edit(&core->nodes, 1))->draining = 1; /* takes no more work */
    assert_int_equal(read_again(core), ERR_CORRUPT);
    core_free(core);
    org_done(&org);
}

static struct task *task_of(struct core *core, task_id task)
{
    return table_edit(&core->tasks, task.v);
}

typedef void spoil(struct core *core);

static void no_priority(struct core *core)
{
    task_of(core, (task_id){1})->priority = PRIORITY_MIN - 1;
}

static void high_priority(struct core *core)
{
    task_of(core, (task_id){1})->priority = PRIORITY_MAX + 1;
}

static void many_retries(struct core *core)
{
    task_of(core, (task_id){1})->max_retries = RETRIES_MAX + 1;
}

static void low_rank(struct core *core)
{
    task_of(core, (task_id){1})->rank = -RANK_FRONT - 1;
}

static void other_cause(struct core *core)
{
    instance_of(core, (task_id){1}, 0)->cause = END_CAUSE_COUNT;
}

static void task_cause(struct core *core)
{
    task_of(core, (task_id){1})->cause = END_CAUSE_COUNT;
}

static void other_length(struct core *core)
{
    task_of(core, (task_id){1})->expect_from = LENGTH_SOURCE_COUNT;
}

static void late_start(struct core *core)
{
    instance_of(core, (task_id){1}, 0)->started_ms = TIME_MS_MAX + 1;
}

static void early_start(struct core *core)
{
    instance_of(core, (task_id){1}, 0)->allocated_ms = -1;
}

static void less_than_nothing(struct core *core)
{
    instance_of(core, (task_id){1}, 0)->slots_milli = -1;
}

static void met_beyond(struct core *core)
{
    task_of(core, (task_id){1})->depends_met = 1; /* it depends on nothing */
}

static void runs_without(struct core *core)
{
    task_of(core, (task_id){5})->running_ms = 7; /* the one that waits */
}

static void killed_but_waits(struct core *core)
{
    task_of(core, (task_id){5})->kill_asked = 1;
}

static void stale_but_whole(struct core *core)
{
    task_of(core, (task_id){1})->stale_ms = 7;
}

static void goes_where_it_is(struct core *core)
{
    task_of(core, (task_id){1})->pool_next = task_of(core, (task_id){1})->pool;
}

static void holds_more_than_a_promise_may(struct core *core)
{
    claim_of(core, (task_id){5})->slots_milli = -1;
}

static void evicted_beyond(struct core *core)
{
    struct eviction_note *note = table_edit(&core->evictions, table_next(&core->evictions, 0));
    note->index = 1; /* of one instance */
}

static void a_row_that_cannot_be_is_refused(void **state)
{
    (void)state;
    static spoil *const spoils[] = {
        no_priority,      high_priority,     many_retries,     low_rank,
        other_cause,      task_cause,        other_length,     late_start,
        early_start,      less_than_nothing, met_beyond,       runs_without,
        killed_but_waits, stale_but_whole,   goes_where_it_is, holds_more_than_a_promise_may,
        evicted_beyond,
    };
    struct org org;
    task_id taker;
    promised_state(&org, &taker);
    assert_int_equal(taker.v, 5);
    for (size_t i = 0; i < sizeof spoils / sizeof spoils[0]; i++) {
        struct core *core = spoiled(&org);
        spoils[i](core);
        if (read_again(core) != ERR_CORRUPT) {
            fail_msg("row %zu is read", i);
        }
        core_free(core);
    }
    org_done(&org);
}

/* Tasks depend on older tasks only, and their dependencies are told apart by a bit each. */
static void a_dependency_that_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t on;
        uint64_t met;
        enum err result;
    } cases[] = {{1, 0, ERR_OK},      {1, 1, ERR_OK},      {0, 0, ERR_CORRUPT},
                 {2, 0, ERR_CORRUPT}, {3, 0, ERR_CORRUPT}, {1, 2, ERR_CORRUPT},
                 {2, 1, ERR_CORRUPT}, {3, 1, ERR_CORRUPT}, {0, 1, ERR_CORRUPT}};
    struct org org;
    org_init(&org);
    (void)rig_submit(&org.rig, rig_spec());
    struct task_spec spec = rig_spec();
    const uint64_t first = 1;
    spec.depends_on = &first;
    spec.depends_count = 1;
    (void)rig_submit(&org.rig, spec);
    (void)rig_submit(&org.rig, rig_spec());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct core *core = spoiled(&org);
        struct task *task = task_of(core, (task_id){2});
        struct task_spec other;
        query_task_spec(core, task->id, &org.rig.kept, &other);
        other.depends_on = &cases[i].on;
        change_task_spec_set(core, task, &other, (struct str){0});
        task->depends_met = cases[i].met;
        if (read_again(core) != cases[i].result) {
            fail_msg("case %zu", i);
        }
        core_free(core);
    }
    org_done(&org);
}

static void zone_and_rack(struct pool_spec *spec)
{
    static const char *const levels[] = {"zone", "rack"};
    spec->topology = levels;
    spec->topology_count = 2;
}

/* Racks in a zone; a gang of two groups in one rack, of which one may be smaller; nodes that a task avoids and labels that it wants. */
static void grouped_state(struct org *org)
{
    static const char *const avoid[] = {"n1"};
    static const struct label labels[] = {{"zone", "a"}, {"rack", "r1"}};
    static const struct named_amount amounts[] = {{"bar", 3000}, {"foo", 5000}};
    static const struct task_spec asks[] = {
        {.slots_milli = 1000, .cpu_milli = ASK_NOTHING, .memory_bytes = ASK_NOTHING},
        {.slots_milli = 2000, .cpu_milli = 500, .memory_bytes = 1 << 20}};
    static const struct group_spec groups[] = {
        {.name = "lead", .instances = 1, .asks = &asks[0]},
        {.name = "work", .instances = 3, .min = 1, .asks = &asks[1]}};
    org_init(org);
    org_pool(org, zone_and_rack);
    for (uint8_t i = 0; i < 2; i++) {
        struct node_spec spec = {.name = i == 0 ? "n1" : "n2",
                                 .pool = "default",
                                 .labels = labels,
                                 .label_count = 2,
                                 .slots_milli = 6000,
                                 .cpu_milli = 12000,
                                 .memory_bytes = 1 << 30,
                                 .resources = amounts,
                                 .resource_count = 2,
                                 .supervisor = {(uint8_t)(i + 1)},
                                 .boot_id = "b",
                                 .address = "",
                                 .version = ""};
        struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
        assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    }
    struct task_spec gang = rig_spec();
    gang.gang = true;
    gang.instances = 4;
    gang.groups = groups;
    gang.group_count = 2;
    gang.topology.required = "rack";
    (void)rig_submit(&org->rig, gang);
    (void)rig_submit(&org->rig, gang);
    (void)rig_submit(&org->rig, gang);
    struct task_spec spec = rig_spec();
    spec.resources = amounts;
    spec.resource_count = 2;
    spec.avoid = avoid;
    spec.avoid_count = 1;
    spec.node_labels = labels;
    spec.node_label_count = 2;
    (void)rig_submit(&org->rig, spec);
    org_settle(org);
    assert_int_equal(query_task(org->rig.core, (task_id){1})->active_count, 3);
}

/* A service with one instance of two replaced; the second new instance starts. */
static void replaced_state(struct org *org)
{
    org_init(org);
    (void)rig_node(&org->rig, "n1", 4, 0, 1);
    struct task_spec spec = rig_spec();
    spec.kind = TASK_SERVICE;
    spec.instances = 2;
    const task_id old = rig_submit(&org->rig, spec);
    const struct rollout_ask ask = {.from = old, .drain_ms = 0, .within_ms = 60000};
    rig_pass(&org->rig);
    for (uint32_t i = 0; i < spec.instances; i++) {
        rig_report(&org->rig, old, i, REPORT_STARTED, 0);
    }
    const struct input in = {.type = INPUT_TASK_SUBMIT,
                             .submit = {.specs = &spec, .count = 1, .replaces = &ask}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    const task_id next = query_task_last(org->rig.core);
    rig_pass(&org->rig);
    rig_report(&org->rig, next, 0, REPORT_STARTED, 0);
    rig_report(&org->rig, old, 0, REPORT_ENDED, 143);
    assert_int_equal(rig_instance(&org->rig, old, 0), INSTANCE_HELD);
    rig_pass(&org->rig);
    assert_int_equal(rig_instance(&org->rig, next, 1), INSTANCE_STARTING);
}

/* One number changed by one, or to something else. */
static void damage(const struct core *of, const char *name)
{
    struct buf map;
    buf_init(&map, DAMAGE_BYTES_MAX);
    const size_t read = damage_map_state(of, &map);
    assert_true(read > map.len / 8); /* many numbers may be other numbers */
    damage_map_check(name, &map);
    buf_done(&map);
}

static void whatever_is_read_of_a_damaged_state_is_sound(void **state)
{
    (void)state;
    struct org org;
    task_id taker;
    promised_state(&org, &taker);
    damage(org.rig.core, "promised");
    org_done(&org);
    grouped_state(&org);
    damage(org.rig.core, "grouped");
    org_done(&org);
    replaced_state(&org);
    damage(org.rig.core, "replaced");
    org_done(&org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixteen_devices_come_back),
        cmocka_unit_test(a_device_held_twice_is_refused),
        cmocka_unit_test(a_port_held_twice_is_refused),
        cmocka_unit_test(an_instance_that_holds_nothing_that_is_there_is_refused),
        cmocka_unit_test(an_impossible_promise_is_refused),
        cmocka_unit_test(a_row_that_cannot_be_is_refused),
        cmocka_unit_test(a_dependency_that_cannot_be_is_refused),
        cmocka_unit_test(whatever_is_read_of_a_damaged_state_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
