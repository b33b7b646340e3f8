/* test_node.c - nodes and pools: joining, losing, shrinking, draining, restarts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

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

static task_id start(struct rig *rig, struct task_spec spec)
{
    task_id id = rig_submit(rig, spec);
    rig_pass(rig);
    for (uint32_t i = 0; i < spec.instances; i++) {
        rig_report(rig, id, i, REPORT_STARTED, 0);
    }
    return id;
}

static void a_new_name_is_a_new_node(void **state)
{
    struct rig *rig = *state;
    node_id id = rig_node(rig, "n1", 4, 7000, 1);
    const struct node *node = query_node(rig->core, id);
    assert_int_equal(node->state, NODE_UP);
    assert_int_equal(node->incarnation, 1);
    assert_int_equal(node->slots_free, 4000);
    assert_int_equal(node->named_count, 1);
    resource_id foo;
    assert_true(query_resource_named(rig->core, "foo", &foo));
    assert_int_equal(foo.v, RESOURCE_NAMED_FIRST);
    assert_string_equal(query_resource_name(rig->core, foo), "foo");
    assert_int_equal(query_pool_named(rig->core, "default")->node_count, 1);
    assert_int_equal(query_pool_named(rig->core, "default")->slots_milli, 4000);
}

static void the_same_supervisor_comes_back_with_its_work(void **state)
{
    struct rig *rig = *state;
    node_id node = rig_node(rig, "n1", 2, 0, 1);
    task_id id = start(rig, rig_spec());
    assert_int_equal(rig_on_node(rig, INPUT_NODE_SILENT, node), VERDICT_OK);
    assert_int_equal(rig_state(rig, id), TASK_RUNNING);
    task_id waiting = rig_submit(rig, rig_spec());
    rig_pass(rig);
    assert_int_equal(rig_state(rig, waiting), TASK_PENDING); /* no starts on a silent node */
    rig_node(rig, "n1", 2, 0, 1);
    assert_int_equal(query_node(rig->core, node)->incarnation, 1);
    assert_int_equal(rig_state(rig, id), TASK_RUNNING);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, waiting), TASK_STARTING);
    struct effects orders = {0};
    core_orders_for(rig->core, node, &orders);
    assert_int_equal(orders.count, 1); /* what runs needs no order */
    assert_int_equal(orders.at[0].type, EFFECT_START);
    assert_int_equal(orders.at[0].key.task.v, waiting.v);
    effect_done(&orders);
}

/* The agent tells what a dead supervisor left, in its name; what were placed now would be lost with
 * it, and a task that must not repeat would end without having run. */
static void a_closing_hello_takes_ends_and_no_starts(void **state)
{
    struct rig *rig = *state;
    node_id node = rig_node(rig, "n1", 1, 0, 1);
    task_id first = start(rig, rig_spec());
    struct task_spec once = rig_spec();
    once.repeatable = false;
    task_id waiting = rig_submit(rig, once);
    struct node_spec spec = {.name = "n1",
                             .pool = "",
                             .slots_milli = 1000,
                             .cpu_milli = 2000,
                             .memory_bytes = 1 << 30,
                             .supervisor = {1},
                             .boot_id = "boot",
                             .address = "127.0.0.1",
                             .version = "1"};
    struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec, .closing = true}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(query_node(rig->core, node)->state, NODE_SILENT);
    assert_int_equal(query_node(rig->core, node)->incarnation, 1);
    rig_report(rig, first, 0, REPORT_ENDED, 0);
    assert_int_equal(rig_state(rig, first), TASK_COMPLETED);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, waiting), TASK_PENDING);
    rig_node(rig, "n1", 1, 0, 2);
    assert_int_equal(query_node(rig->core, node)->state, NODE_UP);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, waiting), TASK_STARTING);
}

static void another_supervisor_ends_what_the_old_one_ran(void **state)
{
    struct rig *rig = *state;
    node_id node = rig_node(rig, "n1", 2, 0, 1);
    task_id id = start(rig, rig_spec());
    rig_node(rig, "n1", 2, 0, 9);
    assert_int_equal(query_node(rig->core, node)->incarnation, 2);
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
    assert_int_equal(query_task(rig->core, id)->lost_count, 1);
    assert_int_equal(query_task(rig->core, id)->cause, END_NODE_LOST);
    rig_pass(rig);
    assert_int_equal(query_instance(rig->core, id, 0)->incarnation, 2);
    assert_int_equal(query_instance(rig->core, id, 0)->attempt, 2);
}

static void lost_work_goes_to_the_front_of_its_priority(void **state)
{
    struct rig *rig = *state;
    node_id node = rig_node(rig, "n1", 2, 0, 1);
    task_id a = start(rig, rig_spec());
    task_id b = start(rig, rig_spec());
    struct task_spec urgent = rig_spec();
    urgent.priority = 80;
    task_id c = rig_submit(rig, rig_spec());
    task_id d = rig_submit(rig, urgent);
    assert_int_equal(rig_on_node(rig, INPUT_NODE_LOST, node), VERDICT_OK);
    assert_int_equal(rig->facts.count, 0); /* it is up */
    assert_int_equal(rig_on_node(rig, INPUT_NODE_SILENT, node), VERDICT_OK);
    assert_int_equal(rig_on_node(rig, INPUT_NODE_LOST, node), VERDICT_OK);
    assert_int_equal(query_node(rig->core, node)->state, NODE_LOST);
    pool_id pool = query_pool_named(rig->core, "default")->id;
    task_id next = query_queue_next(rig->core, pool, (task_id){0});
    assert_int_equal(next.v, d.v);
    next = query_queue_next(rig->core, pool, next);
    assert_int_equal(next.v, a.v);
    next = query_queue_next(rig->core, pool, next);
    assert_int_equal(next.v, b.v);
    next = query_queue_next(rig->core, pool, next);
    assert_int_equal(next.v, c.v);
}

/* The agent reports the end of an attempt that was given up. */
static void late_end(struct rig *rig, node_id node, task_id task, uint32_t attempt)
{
    const struct report report = {
        .type = REPORT_ENDED, .key = {task, 0, attempt}, .incarnation = 1, .at_ms = rig->now_ms};
    const struct input in = {.type = INPUT_REPORT,
                             .report = {.node = node, .reports = &report, .count = 1}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

static void lost_work_runs_once_more_though_its_node_returns(void **state)
{
    struct rig *rig = *state;
    const node_id node = rig_node(rig, "n1", 2, 0, 1);
    const task_id id = start(rig, rig_spec());
    const task_id behind = rig_submit(rig, rig_spec());
    assert_int_equal(rig_on_node(rig, INPUT_NODE_SILENT, node), VERDICT_OK);
    assert_int_equal(rig_on_node(rig, INPUT_NODE_LOST, node), VERDICT_OK);
    (void)rig_node(rig, "n1", 2, 0, 1); /* the same supervisor, with its tasks */
    late_end(rig, node, id, 1);
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
    assert_int_equal(query_task(rig->core, id)->lost_count, 1);
    const pool_id pool = query_pool_named(rig->core, "default")->id;
    const task_id first = query_queue_next(rig->core, pool, (task_id){0});
    assert_int_equal(first.v, id.v);
    const task_id second = query_queue_next(rig->core, pool, first);
    assert_int_equal(second.v, behind.v); /* in the queue once */
    assert_int_equal(query_queue_next(rig->core, pool, second).v, 0);
    rig_pass(rig);
    assert_int_equal(query_instance(rig->core, id, 0)->attempt, 2);
    late_end(rig, node, id, 1);
    assert_int_equal(rig_state(rig, id), TASK_STARTING);
    assert_int_equal(query_instance(rig->core, id, 0)->attempt, 2);
}

static void lost_work_that_must_not_repeat_ends_unknown(void **state)
{
    struct rig *rig = *state;
    node_id node = rig_node(rig, "n1", 2, 0, 1);
    struct task_spec spec = rig_spec();
    spec.repeatable = false;
    task_id ran = start(rig, spec);
    task_id ordered = rig_submit(rig, spec);
    rig_pass(rig);
    rig_report(rig, ordered, 0, REPORT_UNKNOWN, 0); /* its supervisor never saw it */
    assert_int_equal(rig_state(rig, ordered), TASK_PENDING);
    assert_int_equal(rig_on_node(rig, INPUT_NODE_SILENT, node), VERDICT_OK);
    assert_int_equal(rig_on_node(rig, INPUT_NODE_LOST, node), VERDICT_OK);
    assert_int_equal(query_task_outcome(rig->core, ran), TASK_UNKNOWN);
    rig_node(rig, "n1", 2, 0, 1);
    rig_pass(rig);
    rig_report(rig, ordered, 0, REPORT_STARTED, 0);
    rig_report(rig, ordered, 0, REPORT_UNKNOWN, 0); /* it ran, and now nobody knows of it */
    assert_int_equal(query_task_outcome(rig->core, ordered), TASK_UNKNOWN);
}

static void losing_a_node_breaks_gangs_elsewhere(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 2, 0, 1);
    rig_node(rig, "n2", 2, 0, 2);
    struct task_spec spec = rig_spec();
    spec.instances = 4;
    spec.gang = true;
    task_id id = start(rig, spec);
    node_id node = query_instance(rig->core, id, 0)->node;
    assert_int_equal(rig_on_node(rig, INPUT_NODE_SILENT, node), VERDICT_OK);
    assert_int_equal(rig_on_node(rig, INPUT_NODE_LOST, node), VERDICT_OK);
    assert_int_equal(rig_state(rig, id), TASK_STOPPING);
    assert_int_equal(query_task(rig->core, id)->active_count, 2);
    for (uint32_t i = 0; i < 4; i++) {
        if (rig_instance(rig, id, i) == INSTANCE_STOPPING) {
            rig_report(rig, id, i, REPORT_ENDED, 143);
        }
    }
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
    assert_int_equal(query_task(rig->core, id)->waiting_count, 4);
}

static void a_node_that_shrinks_has_overhang_and_takes_nothing(void **state)
{
    struct rig *rig = *state;
    node_id node = rig_node(rig, "n1", 4, 8000, 1);
    struct named_amount foo = {"foo", 5000};
    struct task_spec spec = rig_spec();
    spec.instances = 3;
    task_id id = start(rig, spec);
    spec = rig_spec();
    spec.resources = &foo;
    spec.resource_count = 1;
    task_id named = start(rig, spec);
    rig_node(rig, "n1", 2, 2000, 1);
    assert_int_equal(query_node(rig->core, node)->slots_free, -1000);
    assert_int_equal(query_node(rig->core, node)->named_free[0], -3000);
    assert_true(query_node(rig->core, node)->overhang);
    task_id waiting = rig_submit(rig, rig_spec());
    rig_pass(rig);
    assert_int_equal(rig_state(rig, waiting), TASK_PENDING);
    rig_report(rig, named, 0, REPORT_ENDED, 0);
    rig_report(rig, id, 0, REPORT_ENDED, 0);
    assert_false(query_node(rig->core, node)->overhang);
    rig_report(rig, id, 1, REPORT_ENDED, 0);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, waiting), TASK_STARTING);
}

/* A node of 4 slots, 8 cpus, 4 GiB and as much of two named resources, with less of one of them. */
static node_id node_with(struct rig *rig, unsigned less)
{
    struct named_amount amounts[] = {{"bar", less == 3 ? 3999 : 4000},
                                     {"foo", less == 4 ? 3999 : 4000}};
    struct node_spec spec = {.name = "n1",
                             .pool = "",
                             .slots_milli = less == 0 ? 3000 : 4000,
                             .cpu_milli = less == 1 ? 7999 : 8000,
                             .memory_bytes = ((int64_t)4 << 30) - (less == 2),
                             .resources = amounts,
                             .resource_count = 2,
                             .supervisor = {1},
                             .boot_id = "boot",
                             .address = "127.0.0.1",
                             .version = "1"};
    struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    return query_node_named(rig->core, "n1")->id;
}

static void too_little_of_one_resource_is_overhang_until_its_holder_ends(void **state)
{
    struct rig *rig = *state;
    const struct named_amount all[] = {{"bar", 4000}, {"foo", 4000}};
    for (unsigned less = 0; less < 5; less++) {
        const node_id node = node_with(rig, 5);
        struct task_spec spec = rig_spec();
        spec.slots_milli = 4000;
        spec.cpu_milli = 8000;
        spec.memory_bytes = (int64_t)4 << 30;
        spec.resources = all;
        spec.resource_count = 2;
        const task_id task = start(rig, spec);
        assert_false(query_node(rig->core, node)->overhang);
        (void)node_with(rig, less);
        assert_true(query_node(rig->core, node)->overhang);
        rig_report(rig, task, 0, REPORT_ENDED, 0);
        assert_false(query_node(rig->core, node)->overhang);
    }
}

static node_id gpu_node(struct rig *rig, uint32_t devices, uint8_t supervisor)
{
    struct node_spec spec = {.name = "g1",
                             .pool = "default",
                             .device_count = devices,
                             .cpu_milli = 8000,
                             .memory_bytes = 1 << 30,
                             .gpu_memory_bytes = 1 << 30,
                             .supervisor = {supervisor}};
    struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    return query_node_named(rig->core, "g1")->id;
}

static void slots_of_a_node_with_devices_are_its_devices(void **state)
{
    struct rig *rig = *state;
    node_id node = gpu_node(rig, 4, 1);
    assert_int_equal(query_node(rig->core, node)->slots_milli, 4000);
    struct task_spec spec = rig_spec();
    spec.device_mask = 1 << 3;
    task_id chosen = start(rig, spec);
    assert_int_equal(query_instance(rig->core, chosen, 0)->devices, 1 << 3);
    spec = rig_spec();
    spec.slots_milli = 500;
    spec.needs_gpu = true;
    spec.instances = 2;
    task_id shares = start(rig, spec);
    assert_int_equal(query_node(rig->core, node)->slots_free, 2000);
    gpu_node(rig, 2, 1); /* device 3 is gone while in use */
    assert_int_equal(query_node(rig->core, node)->device_count, 2);
    gpu_node(rig, 4, 1);
    assert_int_equal(query_node(rig->core, node)->device_free[3], 0);
    rig_report(rig, chosen, 0, REPORT_ENDED, 0);
    rig_report(rig, shares, 0, REPORT_ENDED, 0);
    rig_report(rig, shares, 1, REPORT_ENDED, 0);
    assert_int_equal(query_node(rig->core, node)->slots_free, 4000);
    assert_int_equal(query_node(rig->core, node)->device_free[3], 1000);
}

static void draining_takes_no_starts_and_labels_stay(void **state)
{
    struct rig *rig = *state;
    node_id node = rig_node(rig, "n1", 2, 0, 1);
    struct label label = {"zone", "a"};
    struct node_edit edit = {.fields = NODE_EDIT_DRAIN | NODE_EDIT_LABELS,
                             .drain = true,
                             .labels = &label,
                             .label_count = 1};
    struct input in = {.type = INPUT_NODE_EDIT, .node = {.node = node, .edit = &edit}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    task_id id = rig_submit(rig, rig_spec());
    rig_pass(rig);
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
    rig_node(rig, "n1", 2, 0, 1); /* joining again does not end the drain */
    rig_pass(rig);
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
    struct node_spec spec;
    query_node_spec(rig->core, node, &rig->kept, &spec);
    assert_int_equal(spec.label_count, 1);
    assert_string_equal(spec.labels[0].value, "a");
    edit = (struct node_edit){.fields = NODE_EDIT_DRAIN};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, id), TASK_STARTING);
}

static void a_node_with_work_is_not_removed(void **state)
{
    struct rig *rig = *state;
    node_id node = rig_node(rig, "n1", 2, 0, 1);
    task_id id = start(rig, rig_spec());
    assert_int_equal(rig_on_node(rig, INPUT_NODE_REMOVE, node), VERDICT_CONFLICT);
    assert_int_equal(rig->facts.refusal.code, REASON_IN_USE);
    assert_int_equal(rig->facts.refusal.need, 1);
    rig_report(rig, id, 0, REPORT_ENDED, 0);
    assert_int_equal(rig_on_node(rig, INPUT_NODE_REMOVE, node), VERDICT_OK);
    assert_null(query_node_named(rig->core, "n1"));
    assert_null(query_node_next(rig->core, (node_id){0}));
    assert_int_equal(rig_on_node(rig, INPUT_NODE_REMOVE, node), VERDICT_NOT_FOUND);
    node_id again = rig_node(rig, "n1", 2, 0, 1);
    assert_int_not_equal(again.v, node.v);
}

static void joining_an_unknown_pool_is_refused(void **state)
{
    struct rig *rig = *state;
    struct node_spec spec = {.name = "n1", .pool = "nowhere", .slots_milli = 1000};
    struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_POOL);
    struct named_amount cpu = {"gpu", 1000};
    spec = (struct node_spec){.name = "n1", .resources = &cpu, .resource_count = 1};
    assert_int_equal(rig_do(rig, in), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_EXISTS);
}

static void a_server_start_is_a_new_epoch_and_silences_nodes(void **state)
{
    struct rig *rig = *state;
    node_id node = rig_node(rig, "n1", 2, 0, 1);
    task_id id = start(rig, rig_spec());
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, id), VERDICT_OK);
    assert_int_equal(query_epoch(rig->core), 1);
    rig->now_ms += 1000000;
    struct input in = {.type = INPUT_SERVER_START, .server = {.server_uuid = {7}}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(query_epoch(rig->core), 2);
    assert_int_equal(query_server_uuid(rig->core)[0], 1); /* the first one's for ever */
    assert_int_equal(query_node(rig->core, node)->state, NODE_SILENT);
    assert_int_equal(query_deadline(rig->core), rig->now_ms + 15000); /* grace starts anew */
    rig_node(rig, "n1", 2, 0, 1);
    struct effects orders = {0};
    core_orders_for(rig->core, node, &orders);
    assert_int_equal(orders.count, 1);
    assert_int_equal(orders.at[0].type, EFFECT_STOP);
    assert_int_equal(orders.at[0].grace_ms, 10000);
    effect_done(&orders);
}

/* ---- pools ---- */

static pool_id pool_create(struct rig *rig, const char *name)
{
    struct pool_spec spec = {.name = name, .patience_ms = 60000, .aux_tasks = 1};
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    return query_pool_named(rig->core, name)->id;
}

static void pools_are_made_edited_and_deleted(void **state)
{
    struct rig *rig = *state;
    pool_id pool = pool_create(rig, "b");
    struct pool_spec spec = {.name = "b", .title = "second"};
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_CONFLICT);
    assert_int_equal(rig->facts.refusal.code, REASON_EXISTS);
    in = (struct input){.type = INPUT_POOL_EDIT, .pool = {.spec = &spec, .pool = pool}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    struct pool_spec now;
    query_pool_spec(rig->core, pool, &rig->kept, &now);
    assert_string_equal(now.title, "second");
    in = (struct input){.type = INPUT_POOL_DELETE, .pool = {.pool = pool, .now = true}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_null(query_pool_named(rig->core, "b"));
    assert_int_equal(rig_do(rig, in), VERDICT_NOT_FOUND);
    in.pool.pool = query_pool_named(rig->core, "default")->id;
    assert_int_equal(rig_do(rig, in), VERDICT_CONFLICT);
    assert_int_not_equal(pool_create(rig, "b").v, pool.v);
}

static void tasks_of_a_deleted_pool_are_unavailable_until_moved(void **state)
{
    struct rig *rig = *state;
    pool_id pool = pool_create(rig, "b");
    struct task_spec spec = rig_spec();
    spec.pools = (const char *const[]){"b"};
    spec.pool_count = 1;
    task_id id = rig_submit(rig, spec);
    struct input in = {.type = INPUT_POOL_DELETE, .pool = {.pool = pool, .now = true}};
    assert_int_equal(rig_do(rig, in), VERDICT_CONFLICT);
    assert_int_equal(rig->facts.refusal.need, 1);
    in.pool.force = true;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(rig_state(rig, id), TASK_UNAVAILABLE);
    struct task_edit edit = {
        .fields = TASK_EDIT_pools,
        .spec = &(struct task_spec){.pools = (const char *const[]){"default"}, .pool_count = 1}};
    in = (struct input){.type = INPUT_TASK_EDIT, .task = {.task = id, .edit = &edit}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
    rig_node(rig, "n1", 1, 0, 1);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, id), TASK_STARTING);
    assert_int_equal(rig_do(rig, in), VERDICT_OK); /* to where it is: nothing happens */
    assert_int_equal(rig_state(rig, id), TASK_STARTING);
}

static void a_task_killed_while_it_holds_is_no_holder_any_more(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 2, 0, 1);
    start(rig, rig_spec());
    struct task_spec large = rig_spec();
    large.slots_milli = 2000;
    task_id blocked = rig_submit(rig, large);
    rig_pass(rig);
    assert_int_equal(query_pool_named(rig->core, "default")->reserved[0].task.v, blocked.v);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, blocked), VERDICT_OK);
    assert_int_equal(query_pool_named(rig->core, "default")->reserved_count, 0);
    assert_true(query_deadline(rig->core) == INT64_MAX);
}

int main(void)
{
#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_new_name_is_a_new_node),
        RIG_TEST(the_same_supervisor_comes_back_with_its_work),
        RIG_TEST(a_closing_hello_takes_ends_and_no_starts),
        RIG_TEST(another_supervisor_ends_what_the_old_one_ran),
        RIG_TEST(lost_work_goes_to_the_front_of_its_priority),
        RIG_TEST(lost_work_runs_once_more_though_its_node_returns),
        RIG_TEST(lost_work_that_must_not_repeat_ends_unknown),
        RIG_TEST(losing_a_node_breaks_gangs_elsewhere),
        RIG_TEST(a_node_that_shrinks_has_overhang_and_takes_nothing),
        RIG_TEST(too_little_of_one_resource_is_overhang_until_its_holder_ends),
        RIG_TEST(slots_of_a_node_with_devices_are_its_devices),
        RIG_TEST(draining_takes_no_starts_and_labels_stay),
        RIG_TEST(a_node_with_work_is_not_removed),
        RIG_TEST(joining_an_unknown_pool_is_refused),
        RIG_TEST(a_server_start_is_a_new_epoch_and_silences_nodes),
        RIG_TEST(pools_are_made_edited_and_deleted),
        RIG_TEST(tasks_of_a_deleted_pool_are_unavailable_until_moved),
        RIG_TEST(a_task_killed_while_it_holds_is_no_holder_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
