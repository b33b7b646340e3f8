/* test_reasons.c - every reason there is, made by inputs alone: each wait ends with what would help, each refusal is accepted with
 * the smallest change that it names. The last test finds the code that nobody made.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reason_rig.h"
#include "reasons_others.h"

#include <stdlib.h>

bool seen[REASON_COUNT];

/* ---- waits that are about the task or its pool ---- */

static void a_task_that_is_not_queued(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 2);
    struct task_spec staged = slots(1);
    staged.stage = true;
    const task_id first = submit(&org, staged);
    (void)waits(&org, first, REASON_STAGED);
    assert_int_equal(rig_task(&org.rig, INPUT_TASK_START, first), VERDICT_OK);
    (void)waits(&org, first, REASON_NEXT);
    starts(&org, first);
    struct task_spec after = slots(1);
    after.depends_on = &first.v;
    after.depends_count = 1;
    const task_id second = submit(&org, after);
    const struct reason why = waits(&org, second, REASON_DEPENDENCY);
    assert_int_equal(why.task.v, first.v);
    rig_report(&org.rig, first, 0, REPORT_ENDED, 0);
    starts(&org, second);
    const task_id third = rig_submit(&org.rig, slots(1));
    assert_int_equal(rig_task(&org.rig, INPUT_TASK_PAUSE, third), VERDICT_OK);
    (void)waits(&org, third, REASON_PAUSED);
    assert_int_equal(rig_task(&org.rig, INPUT_TASK_ACTIVATE, third), VERDICT_OK);
    starts(&org, third);
    org_done(&org);
}

static void a_pool_that_starts_nothing(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    const task_id task = submit(&org, slots(2));
    (void)waits(&org, task, REASON_POOL_EMPTY);
    org_pool(&org, pool_paused);
    org_nodes(&org, 1, 4);
    (void)waits(&org, task, REASON_POOL_PAUSED);
    org_pool(&org, pool_resumed);
    starts(&org, task);
    org_done(&org);
}

static void pool_grows(struct pool_spec *spec)
{
    spec->provider = POOL_LOCAL;
    spec->nodes_max = 1;
    spec->node_slots = 2;
}

static void a_pool_that_grows(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_pool(&org, pool_grows);
    const task_id task = submit(&org, slots(2));
    (void)org_pass(&org);
    assert_int_equal(waits(&org, task, REASON_NODES_STARTING).have, 1);
    const struct provider_answer no = {
        .launch = {1}, .says = PROVIDER_FAILED, .name = "", .node = "", .words = "no capacity"};
    struct input in = {.type = INPUT_PROVIDER, .provider = {.answers = &no, .count = 1}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    assert_true(waits(&org, task, REASON_PROVIDER_FAILED).until_ms > org.rig.now_ms);
    org_done(&org);
}

static void a_pool_that_is_closed_or_deleted(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    pool_new(&org, "blue");
    struct task_spec spec = slots(1);
    spec.pools = (const char *const[]){"blue"};
    spec.pool_count = 1;
    const task_id task = submit(&org, spec);
    struct input in = {.type = INPUT_POOL_CLOSE};
    in.pool.pool = query_pool_named(org.rig.core, "blue")->id;
    in.pool.force = true;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    assert_string_equal(waits(&org, task, REASON_POOL_CLOSED).text, "closed");
    in.type = INPUT_POOL_DELETE;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    (void)waits(&org, task, REASON_POOL_DELETED);
    org_done(&org);
}

/* The pool should have no nodes. Its only node is busy, then locked. */
static void a_pool_that_cannot_shrink(void **state)
{
    (void)state;
    struct org org;
    struct pool_spec spec;
    struct arena arena;
    org_init(&org);
    org_pool(&org, pool_grows);
    (void)submit(&org, slots(2));
    const node_id node = rig_node(&org.rig, "default-1", 2, 0, 101);
    org_settle(&org);
    arena_init(&arena);
    query_pool_spec(org.rig.core, org_pool_id, &arena, &spec);
    spec.nodes_max = 0;
    struct input in = {.type = INPUT_POOL_SCALE,
                       .scale = {.pool = org_pool_id, .spec = &spec, .busy = BUSY_REFUSE}};
    const struct reason busy = refuses(&org, in, REASON_NODE_BUSY);
    assert_int_equal(busy.need, 1);
    assert_int_equal(busy.node.v, node.v);
    const struct node_edit lock = {.fields = NODE_EDIT_LOCK, .locked = true};
    assert_int_equal(rig_do(&org.rig, (struct input){.type = INPUT_NODE_EDIT,
                                                     .node = {.node = node, .edit = &lock}}),
                     VERDICT_OK);
    assert_int_equal(refuses(&org, in, REASON_NODES_LOCKED).have, 1);
    in.scale.remove = &node;
    in.scale.remove_count = 1;
    assert_string_equal(refuses(&org, in, REASON_NODE_LOCKED).text, "default-1");
    arena_done(&arena);
    org_done(&org);
}

static void a_task_on_its_way_to_another_pool(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 2);
    pool_new(&org, "blue");
    struct task_spec spec = slots(1);
    spec.instances = 3; /* two run, one waits */
    const task_id task = submit(&org, spec);
    edit(&org, task,
         (struct task_edit){
             .fields = TASK_EDIT_pools,
             .spec = &(struct task_spec){.pools = (const char *const[]){"blue"}, .pool_count = 1}});
    const struct reason why = waits(&org, task, REASON_CHANGING_POOL);
    assert_string_equal(query_pool_name(org.rig.core, why.pool), "blue");
    org_settle(&org);
    (void)waits(&org, task, REASON_POOL_EMPTY);
    edit(&org, task,
         (struct task_edit){.fields = TASK_EDIT_pools,
                            .spec = &(struct task_spec){.pools = (const char *const[]){"default"},
                                                        .pool_count = 1}});
    rig_node(&org.rig, "more", 1, 0, 9);
    starts(&org, task);
    org_done(&org);
}

static void nodes_that_are_not_there(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    const node_id node = rig_node(&org.rig, "n1", 4, 0, 1);
    assert_int_equal(rig_on_node(&org.rig, INPUT_NODE_SILENT, node), VERDICT_OK);
    const task_id task = submit(&org, slots(2));
    const struct reason why = waits(&org, task, REASON_NODES_AWAY);
    assert_int_equal(why.have, 0);
    assert_int_equal(why.need, 1);
    (void)rig_node(&org.rig, "n1", 4, 0, 1);
    starts(&org, task);
    org_done(&org);
}

/* ---- waits for room ---- */

static void a_node_that_is_full(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 4);
    starts(&org, rig_submit(&org.rig, slots(3)));
    const task_id task = submit(&org, slots(2));
    const struct reason why = waits(&org, task, REASON_NO_ROOM);
    assert_int_equal(why.smallest, SLOT_MILLI);
    struct task_spec gang = slots(1);
    gang.instances = 2;
    gang.gang = true;
    const task_id gang_id = submit(&org, gang);
    const struct reason short_by = waits(&org, gang_id, REASON_GANG_SHORT);
    assert_int_equal(short_by.have, 1);
    assert_int_equal(short_by.need, 2);
    ask_slots(&org, task, why.smallest);
    starts(&org, task);
    (void)rig_node(&org.rig, "more", short_by.need - short_by.have + 1, 0, 9);
    starts(&org, gang_id);
    org_done(&org);
}

static void devices_and_tasks_without_slots(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    (void)gpu_node(&org, "g", 2);
    org_pool(&org, pool_one_aux);
    struct task_spec first = slots(1);
    first.device_mask = 1;
    first.needs_gpu = true;
    const task_id holder = submit(&org, first);
    const task_id task = submit(&org, first);
    (void)waits(&org, task, REASON_DEVICES_BUSY);
    starts(&org, rig_submit(&org.rig, slots(0)));
    const task_id aux = submit(&org, slots(0));
    (void)waits(&org, aux, REASON_AUX_FULL);
    rig_report(&org.rig, holder, 0, REPORT_ENDED, 0);
    starts(&org, task);
    org_pool(&org, pool_two_aux);
    starts(&org, aux);
    org_done(&org);
}

static void places_kept_for_another(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_pool(&org, pool_impatient);
    org_nodes(&org, 1, 4);
    const task_id running = submit(&org, slots(1));
    const task_id holder = submit(&org, slots(4));
    const task_id task = submit(&org, slots(1));
    const struct reason why = waits(&org, task, REASON_RESERVED);
    assert_int_equal(why.task.v, holder.v);
    rig_report(&org.rig, running, 0, REPORT_ENDED, 0);
    starts(&org, holder);
    org_done(&org);
}

/* ---- waits that are about accounts ---- */

static void a_limit_a_guarantee_and_a_cap(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 8);
    const account_id account = org_add(&org, ACCOUNT_PROJECT, "p", "default");
    org_quota(&org, account, (struct org_quota){.guaranteed = 1, .limit = 3, .weight = 1});
    const task_id large = org_submit(&org, (struct org_task){.project = "p", .slots = 4});
    org_settle(&org);
    struct reason why = waits(&org, large, REASON_OVER_LIMIT);
    assert_int_equal(why.smallest, 3 * SLOT_MILLI);
    ask_slots(&org, large, why.smallest);
    starts(&org, large);
    org_kill(&org, large);
    org_settle(&org);
    const task_id fixed =
        org_submit(&org, (struct org_task){.project = "p", .slots = 2, .fixed = true});
    org_settle(&org);
    why = waits(&org, fixed, REASON_OVER_GUARANTEE);
    assert_int_equal(why.smallest, SLOT_MILLI);
    ask_slots(&org, fixed, why.smallest);
    starts(&org, fixed);
    org_pool(&org, pool_user_two);
    const task_id capped = submit(&org, slots(4));
    why = waits(&org, capped, REASON_USER_CAP);
    assert_int_equal(why.smallest, SLOT_MILLI);
    ask_slots(&org, capped, why.smallest);
    starts(&org, capped);
    org_done(&org);
}

/* Slots fit; the cpu that comes with them does not fit what the department may have. */
static void a_limit_on_what_comes_with_slots(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 4); /* two cores with each slot */
    const account_id department = org_add(&org, ACCOUNT_DEPARTMENT, "d", "");
    (void)org_add(&org, ACCOUNT_PROJECT, "p", "d");
    struct quota_amount cpu = {.resource = "cpu",
                               .guaranteed = QUOTA_UNSET,
                               .limit = 3000,
                               .weight = QUOTA_WEIGHT_DEFAULT};
    struct quota_spec quota = {.amounts = &cpu,
                               .amount_count = 1,
                               .rules.rank = QUOTA_RANK_DEFAULT,
                               .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
                               .rules.reclaim_min_runtime_ms = QUOTA_INHERIT};
    struct input in = {.type = INPUT_QUOTA_SET,
                       .quota = {.account = department, .pool = org_pool_id, .spec = &quota}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    const task_id task = org_submit(&org, (struct org_task){.project = "p", .slots = 2});
    org_settle(&org);
    const struct reason why = waits(&org, task, REASON_OVER_LIMIT);
    assert_int_equal(why.account.v, department.v);
    assert_int_equal(why.resource.v, RESOURCE_CPU);
    assert_int_equal(why.wanted, 4000);
    assert_int_equal(why.available, 3000);
    cpu.limit = why.wanted;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    starts(&org, task);
    org_done(&org);
}

/* ---- refusals of a submission ---- */

static void what_can_never_run(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    (void)rig_node(&org.rig, "n1", 4, 0, 1);
    (void)rig_node(&org.rig, "n2", 1, 5000, 2);
    const struct named_amount bar = {"bar", 1};
    struct named_amount foo = {"foo", 6000};
    struct task_spec spec = slots(1);
    spec.resources = &bar;
    spec.resource_count = 1;
    (void)refuses_task(&org, spec, REASON_UNKNOWN_RESOURCE);
    spec.resources = &foo;
    struct reason why = refuses_task(&org, spec, REASON_TOO_LARGE);
    foo.milli = why.smallest;
    starts(&org, rig_submit(&org.rig, spec));
    spec.slots_milli = 2 * SLOT_MILLI;
    why = refuses_task(&org, spec, REASON_COMBINATION);
    assert_int_equal(why.resource.v, RESOURCE_SLOTS);
    spec.slots_milli = why.smallest;
    assert_int_equal(rig_try_submit(&org.rig, spec), VERDICT_OK);
    struct task_spec gang = slots(2);
    gang.instances = 3;
    gang.gang = true;
    why = refuses_task(&org, gang, REASON_GANG_TOO_LARGE);
    gang.instances = (uint32_t)why.smallest;
    starts(&org, rig_submit(&org.rig, gang));
    static const char *const avoid[] = {"n1", "nowhere"};
    struct task_spec away = slots(3);
    away.avoid = avoid;
    away.avoid_count = 1;
    (void)refuses_task(&org, away, REASON_AVOIDED);
    away.avoid_count = 2;
    (void)refuses_task(&org, away, REASON_UNKNOWN_NODE);
    away.avoid_count = 0;
    assert_int_equal(rig_try_submit(&org.rig, away), VERDICT_OK);
    static const struct label zone = {"zone", "nowhere"};
    away.node_labels = &zone;
    away.node_label_count = 1;
    (void)refuses_task(&org, away, REASON_OTHER_LABELS);
    struct task_spec image = slots(1);
    image.image = "debian:12";
    (void)refuses_task(&org, image, REASON_NO_IMAGE);
    struct task_spec gpu = slots(1);
    gpu.needs_gpu = true;
    (void)refuses_task(&org, gpu, REASON_NO_DEVICES);
    org_done(&org);
}

static void what_is_wrongly_named(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    static const char *const pools[] = {"nowhere"};
    static const uint64_t nobody = 99;
    struct task_spec spec = slots(1);
    spec.pools = pools;
    spec.pool_count = 1;
    (void)refuses_task(&org, spec, REASON_UNKNOWN_POOL);
    spec.pools = (const char *const[]){"default", "default"};
    spec.pool_count = 2;
    (void)refuses_task(&org, spec, REASON_POOL_TWICE);
    spec = slots(1);
    spec.project = "nobody";
    (void)refuses_task(&org, spec, REASON_UNKNOWN_PROJECT);
    spec = slots(1);
    spec.depends_on = &nobody;
    spec.depends_count = 1;
    (void)refuses_task(&org, spec, REASON_UNKNOWN_TASK);
    spec = slots(1);
    spec.instances = TASK_INSTANCES_MAX + 1;
    const struct reason why = refuses_task(&org, spec, REASON_LIMIT);
    assert_int_equal(why.available, TASK_INSTANCES_MAX);
    org_pool(&org, pool_services_only);
    (void)refuses_task(&org, slots(1), REASON_KIND_NOT_ACCEPTED);
    spec = slots(1);
    spec.kind = TASK_SERVICE;
    struct input in = {.type = INPUT_TASK_SUBMIT,
                       .submit = {.specs = &spec, .count = 1, .has_key = true, .key = {7}}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    in.submit.body_hash[0] = 1;
    (void)refuses(&org, in, REASON_KEY_REUSED);
    org_done(&org);
}

static const char *guest;

static void pool_of_a_guest(struct pool_spec *spec)
{
    spec->access = ACCESS_DEDICATED;
    spec->guests = &guest;
    spec->guest_count = 1;
}

static void to_whom_a_pool_is_dedicated(void **state)
{
    (void)state;
    struct org org;
    struct pool_spec spec;
    org_init(&org);
    (void)org_add(&org, ACCOUNT_PROJECT, "guest", "default");
    const task_id task = submit(&org, slots(1));
    query_pool_spec(org.rig.core, (pool_id){1}, &org.rig.kept, &spec);
    pool_of_a_guest(&spec);
    struct input in = {.type = INPUT_POOL_EDIT, .pool = {.spec = &spec, .pool = {1}}};
    guest = "nobody";
    (void)refuses(&org, in, REASON_UNKNOWN_GUEST);
    guest = "default";
    (void)refuses(&org, in, REASON_GUEST_UNCLEAR);
    guest = "guest";
    in.pool.force = true;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    (void)refuses_task(&org, slots(1), REASON_NOT_ADMITTED);
    (void)waits(&org, task, REASON_NOT_ADMITTED);
    org_done(&org);
}

/* ---- other refusals ---- */

static void objects_that_cannot_be_had(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    const node_id node = rig_node(&org.rig, "n1", 1, 0, 1);
    const task_id task = submit(&org, slots(1));
    struct pool_spec pool = {.name = "default", .title = "", .description = ""};
    (void)refuses(&org, (struct input){.type = INPUT_POOL_CREATE, .pool = {.spec = &pool}},
                  REASON_EXISTS);
    (void)refuses(&org, (struct input){.type = INPUT_NODE_REMOVE, .node = {.node = node}},
                  REASON_IN_USE);
    (void)refuses(&org, (struct input){.type = INPUT_NODE_REMOVE, .node = {.node = {77}}},
                  REASON_UNKNOWN_OBJECT);
    (void)refuses(&org, (struct input){.type = INPUT_TASK_START, .task = {.task = task}},
                  REASON_WRONG_STATE);
    struct task_spec asks = slots(2);
    struct task_edit change = {.fields = TASK_EDIT_resources, .spec = &asks};
    (void)refuses(&org,
                  (struct input){.type = INPUT_TASK_EDIT, .task = {.task = task, .edit = &change}},
                  REASON_HOLDS_PLACES);
    org_done(&org);
}

static void a_tree_that_would_be_none(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    const account_id top = org_add(&org, ACCOUNT_DEPARTMENT, "top", "");
    (void)org_add(&org, ACCOUNT_DEPARTMENT, "low", "top");
    struct account_spec spec = {.kind = ACCOUNT_DEPARTMENT, .name = "top", .parent = "low"};
    struct input in = {.type = INPUT_ACCOUNT_SET, .account = {.account = top, .spec = &spec}};
    (void)refuses(&org, in, REASON_CYCLE);
    spec.parent = "nowhere";
    (void)refuses(&org, in, REASON_UNKNOWN_DEPARTMENT);
    (void)refuses(&org, (struct input){.type = INPUT_ACCOUNT_DELETE, .account = {.account = top}},
                  REASON_NOT_EMPTY);
    org_done(&org);
}

static struct input move(task_id task, task_id other)
{
    return (struct input){.type = INPUT_TASK_MOVE,
                          .task = {.task = task, .move = {.other = other}}};
}

static void moves_that_lead_nowhere(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    (void)org_add(&org, ACCOUNT_PROJECT, "p", "default");
    const task_id first = rig_submit(&org.rig, slots(1));
    const task_id other = org_submit(&org, (struct org_task){.project = "p", .slots = 1});
    struct task_spec urgent = slots(1);
    urgent.priority = PRIORITY_DEFAULT + 1;
    const task_id high = rig_submit(&org.rig, urgent);
    const task_id ended = rig_submit(&org.rig, slots(1));
    org_kill(&org, ended);
    (void)refuses(&org, move(first, other), REASON_OTHER_QUEUE);
    (void)refuses(&org, move(first, high), REASON_OTHER_PRIORITY);
    (void)refuses(&org, move(first, ended), REASON_TASK_ENDED);
    struct task_spec *specs = calloc(MOVE_TASKS_MAX, sizeof *specs);
    for (uint32_t i = 0; i < MOVE_TASKS_MAX; i++) {
        specs[i] = slots(1);
    }
    struct input many = {.type = INPUT_TASK_SUBMIT,
                         .submit = {.specs = specs, .count = MOVE_TASKS_MAX}};
    assert_int_equal(rig_do(&org.rig, many), VERDICT_OK);
    free(specs);
    (void)rig_submit(&org.rig, slots(1));
    (void)refuses(&org, move(query_task_last(org.rig.core), first), REASON_MOVE_TOO_FAR);
    org_done(&org);
}

static void places_close_together(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_pool(&org, pool_racks);
    node_of_rack(&org, rig_node(&org.rig, "n1", 3, 0, 1), "r1");
    node_of_rack(&org, rig_node(&org.rig, "n2", 3, 0, 2), "r2");
    struct task_spec gang = slots(1);
    gang.instances = 4;
    gang.gang = true;
    gang.topology.required = "row";
    (void)refuses_task(&org, gang, REASON_UNKNOWN_LEVEL);
    gang.topology.required = "rack";
    struct reason why = refuses_task(&org, gang, REASON_DOMAIN_TOO_SMALL);
    gang.instances = (uint32_t)why.smallest;
    const task_id first = rig_submit(&org.rig, slots(1));
    starts(&org, first);
    const task_id other = rig_submit(&org.rig, slots(2)); /* where the first one is */
    starts(&org, other);
    starts(&org, rig_submit(&org.rig, slots(1)));
    rig_report(&org.rig, other, 0, REPORT_ENDED, 0);
    const task_id task = submit(&org, gang);
    why = waits(&org, task, REASON_TOPOLOGY);
    assert_int_equal(why.have, 2);
    assert_int_equal(why.need, 3);
    assert_string_equal(why.text, "rack=r1");
    rig_report(&org.rig, first, 0, REPORT_ENDED, 0);
    starts(&org, task);
    org_done(&org);
}

static void instances_that_are_not_alike(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_pool(&org, pool_racks);
    org_nodes(&org, 2, 3);
    const struct task_spec two = slots(2);
    const struct task_spec three = slots(3);
    const struct group_spec groups[] = {{.name = "twos", .instances = 2, .asks = &two},
                                        {.name = "three", .instances = 1, .asks = &three}};
    struct task_spec gang = slots(1);
    gang.instances = 3;
    gang.gang = true;
    gang.groups = groups;
    gang.group_count = 2;
    const task_id task = submit(&org, gang);
    (void)waits(&org, task, REASON_NOT_FOUND); /* each group has room, both have not */
    const struct task_edit less = {.fields = TASK_EDIT_resources, .spec = &two};
    (void)refuses(&org, (struct input){.type = INPUT_TASK_EDIT, .task = {task, .edit = &less}},
                  REASON_HAS_GROUPS);
    (void)rig_node(&org.rig, "more", 3, 0, 9);
    starts(&org, task);
    org_done(&org);
}

static void a_task_that_was_lost_again(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 2);
    struct task_spec spec = slots(1);
    spec.max_losses = 5;
    const task_id task = submit(&org, spec);
    starts(&org, task);
    rig_report(&org.rig, task, 0, REPORT_LOST, 0);
    (void)waits(&org, task, REASON_NEXT); /* the first loss costs no wait */
    starts(&org, task);
    rig_report(&org.rig, task, 0, REPORT_LOST, 0);
    const struct reason why = waits(&org, task, REASON_LOST_AGAIN);
    assert_int_equal(why.have, 2);
    assert_int_equal(why.need, 5);
    assert_true(why.until_ms > org.rig.now_ms);
    org.rig.now_ms = why.until_ms;
    assert_int_equal(rig_do(&org.rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    starts(&org, task);
    org_done(&org);
}

static void a_task_that_starts_again_after_its_end(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 2);
    struct task_spec spec = slots(1);
    spec.restart = RESTART_ALWAYS;
    spec.max_restarts = 3;
    spec.restart_delay_ms = 2000;
    const task_id task = submit(&org, spec);
    starts(&org, task);
    rig_report(&org.rig, task, 0, REPORT_STARTED, 0);
    rig_report(&org.rig, task, 0, REPORT_ENDED, 0);
    const struct reason why = waits(&org, task, REASON_RESTARTS);
    assert_int_equal(why.have, 1);
    assert_int_equal(why.need, 3);
    assert_int_equal(why.until_ms, org.rig.now_ms + 2000);
    org_done(&org);
}

static void pool_with_idle_rule(struct pool_spec *spec)
{
    spec->idle_warn_ms = 30000;
    spec->idle_after_ms = 60000;
}

static void pool_ends_idle_tasks(struct pool_spec *spec)
{
    pool_with_idle_rule(spec);
    spec->idle_action = IDLE_END;
}

/* A warning comes first, even when the task has done nothing for longer than the rule allows; then the time between
 * the two. */
static void a_task_that_does_nothing(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 4);
    org.rig.now_ms += 3600000;
    const task_id task = submit(&org, slots(1));
    starts(&org, task);
    rig_report(&org.rig, task, 0, REPORT_STARTED, 0);
    org_idle(&org, task, 3000000, 0);
    assert_int_equal(org.rig.facts.count, 0); /* the pool has no rule */
    org_pool(&org, pool_with_idle_rule);
    org_idle(&org, task, 29999, 0);
    assert_int_equal(org.rig.facts.count, 0);
    org_idle(&org, task, 3000000, 0);
    const int64_t warned_ms = org.rig.now_ms;
    assert_int_equal(rig_count(&org.rig, FACT_TASK_IDLE), 1);
    assert_int_equal(rig_fact(&org.rig, FACT_TASK_IDLE)->task_idle.until_ms, warned_ms + 30000);
    org.rig.now_ms = warned_ms + 29999;
    org_idle(&org, task, 3000000, warned_ms);
    assert_int_equal(org.rig.facts.count, 0);
    org.rig.now_ms = warned_ms + 30000;
    org_idle(&org, task, 3000000, warned_ms);
    assert_int_equal(rig_fact(&org.rig, FACT_ATTEMPT_STOPPING)->attempt_stopping.cause,
                     END_IDLE_PAUSED);
    rig_report(&org.rig, task, 0, REPORT_ENDED, 143);
    assert_int_equal(rig_state(&org.rig, task), TASK_PAUSED);
    (void)waits(&org, task, REASON_PAUSED_IDLE);
    assert_int_equal(rig_task(&org.rig, INPUT_TASK_ACTIVATE, task), VERDICT_OK);
    assert_int_equal(rig_task(&org.rig, INPUT_TASK_PAUSE, task), VERDICT_OK);
    (void)waits(&org, task, REASON_PAUSED); /* this time by its user */
    assert_int_equal(rig_task(&org.rig, INPUT_TASK_ACTIVATE, task), VERDICT_OK);
    org_pool(&org, pool_ends_idle_tasks);
    starts(&org, task);
    rig_report(&org.rig, task, 0, REPORT_STARTED, 0);
    org_idle(&org, task, 60000, org.rig.now_ms - 30000);
    rig_report(&org.rig, task, 0, REPORT_ENDED, 143);
    assert_int_equal(rig_state(&org.rig, task), TASK_FAILED);
    org_done(&org);
}

/* The old task has the only place. */
static void a_service_that_another_one_replaces(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 1);
    struct task_spec spec = slots(1);
    spec.kind = TASK_SERVICE;
    const task_id old = submit(&org, spec);
    starts(&org, old);
    rig_report(&org.rig, old, 0, REPORT_STARTED, 0);
    const struct rollout_ask ask = {.from = old, .old_first = true, .drain_ms = 1, .within_ms = 1};
    struct input in = {.type = INPUT_TASK_SUBMIT,
                       .submit = {.specs = &spec, .count = 1, .replaces = &ask}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    const task_id next = query_task_last(org.rig.core);
    assert_int_equal(waits(&org, next, REASON_ROLLOUT_TURN).task.v, old.v);
    (void)refuses(&org, in, REASON_ROLLOUT_GOES);
    org.rig.now_ms += 1;
    assert_int_equal(rig_do(&org.rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    rig_report(&org.rig, old, 0, REPORT_ENDED, 0);
    org.rig.now_ms += 1;
    assert_int_equal(rig_do(&org.rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    const struct reason why = waits(&org, next, REASON_ROLLOUT_STOPPED);
    assert_int_equal(why.task.v, old.v);
    assert_string_equal(why.text, "no-place");
    in = (struct input){.type = INPUT_ROLLOUT, .task = {.task = submit(&org, slots(1))}};
    (void)refuses(&org, in, REASON_NO_ROLLOUT);
    org_done(&org);
}

static void every_reason_was_made(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < REASON_COUNT; code++) {
        if (!seen[code]) {
            fail_msg("no test makes the reason '%s'", names_reason((enum reason_code)code));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_that_is_not_queued),
        cmocka_unit_test(a_task_that_does_nothing),
        cmocka_unit_test(a_service_that_another_one_replaces),
        cmocka_unit_test(a_pool_that_starts_nothing),
        cmocka_unit_test(a_pool_that_grows),
        cmocka_unit_test(a_pool_that_is_closed_or_deleted),
        cmocka_unit_test(a_pool_that_cannot_shrink),
        cmocka_unit_test(a_task_on_its_way_to_another_pool),
        cmocka_unit_test(nodes_that_are_not_there),
        cmocka_unit_test(a_node_that_is_full),
        cmocka_unit_test(devices_and_tasks_without_slots),
        cmocka_unit_test(places_kept_for_another),
        cmocka_unit_test(a_limit_a_guarantee_and_a_cap),
        cmocka_unit_test(a_limit_on_what_comes_with_slots),
        cmocka_unit_test(what_was_lent_comes_back),
        cmocka_unit_test(the_oldest_borrower_gives_first),
        cmocka_unit_test(a_gang_waits_for_as_many_as_it_needs),
        cmocka_unit_test(the_moment_is_exact_among_thirty),
        cmocka_unit_test(time_does_not_help_where_too_little_would_leave),
        cmocka_unit_test(lower_priorities_have_their_runtime_too),
        cmocka_unit_test(the_delay_counts_for_every_way),
        cmocka_unit_test(the_later_of_delay_and_runtime),
        cmocka_unit_test(time_does_not_help_everybody),
        cmocka_unit_test(what_is_promised_to_another),
        cmocka_unit_test(a_priority_that_helps),
        cmocka_unit_test(a_place_ahead_of_the_holder),
        cmocka_unit_test(a_draining_node_that_helps),
        cmocka_unit_test(a_flavor_that_is_sold_out),
        cmocka_unit_test(flavors_that_cannot_be_had),
        cmocka_unit_test(networks_that_tasks_cannot_have),
        cmocka_unit_test(networks_that_are_in_the_way),
        cmocka_unit_test(flavors_of_ec2_that_do_not_fit),
        cmocka_unit_test(what_can_never_run),
        cmocka_unit_test(what_is_wrongly_named),
        cmocka_unit_test(to_whom_a_pool_is_dedicated),
        cmocka_unit_test(objects_that_cannot_be_had),
        cmocka_unit_test(a_tree_that_would_be_none),
        cmocka_unit_test(moves_that_lead_nowhere),
        cmocka_unit_test(places_close_together),
        cmocka_unit_test(instances_that_are_not_alike),
        cmocka_unit_test(a_task_that_was_lost_again),
        cmocka_unit_test(a_task_that_starts_again_after_its_end),
        cmocka_unit_test(every_reason_was_made),
    };
    return cmocka_run_group_tests_name("reasons", tests, NULL, NULL);
}
