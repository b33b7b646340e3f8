/* test_limits.c - what users and agents may ask for at most and at least: the limit itself is taken, one beyond is refused and named.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "base/amount.h"
#include "core/model/object.h"
#include "core/model/reason.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096, MOST = 1100 };

static struct task_spec task;
static struct pool_spec pool;
static struct node_spec node;
static struct account_spec account;
static struct group_spec group;
static char letters[LONGEST + 1];
static const char *texts[MOST];
static uint64_t numbers[MOST];
static struct label labels[MOST];
static struct named_amount amounts[MOST];

/* A text of this length; a negative one: the shortest. */
static const char *text(int64_t len)
{
    return letters + LONGEST - (len > 0 ? len : 0);
}

static void fresh(void)
{
    memset(letters, 'x', LONGEST);
    for (uint32_t i = 0; i < MOST; i++) {
        texts[i] = "t";
        numbers[i] = 1;
        labels[i] = (struct label){"k", "v"};
        amounts[i] = (struct named_amount){text(1 + i), 1000};
    }
    task = rig_spec();
    group = (struct group_spec){.name = "g", .instances = 1, .topology = {"", ""}};
    pool = (struct pool_spec){.name = "p", .title = "", .description = ""};
    node = (struct node_spec){
        .name = "n", .pool = "", .supervisor = {9}, .boot_id = "", .address = "", .version = ""};
    account = (struct account_spec){
        .kind = ACCOUNT_PROJECT, .name = "a", .parent = "", .title = "", .description = ""};
}

/* Is the input refused for a limit? */
static bool refused(struct rig *rig, enum input_type type, const char *name)
{
    struct input in = {.type = type};
    if (type == INPUT_TASK_SUBMIT) {
        in.submit = (struct submission){.specs = &task, .count = 1};
    } else if (type == INPUT_POOL_CREATE) {
        in.pool.spec = &pool;
    } else if (type == INPUT_NODE_JOIN) {
        in.node.spec = &node;
    } else {
        in.account.spec = &account;
    }
    in.now_ms = 5000;
    in.actor = "user:test";
    in.cause = "";
    arena_clear(&rig->arena);
    fact_list_init(&rig->facts, &rig->arena);
    const enum verdict verdict = core_decide(rig->core, &in, &rig->facts);
    const struct reason *why = &rig->facts.refusal;
    return verdict != VERDICT_OK && why->code == REASON_LIMIT && strcmp(why->text, name) == 0;
}

struct limit {
    enum input_type type;
    const char *name;
    void (*set)(int64_t value);
    int64_t least;
    int64_t most;
    int refused_below; /* 0: there is nothing below the least */
};

#define SET(function, member)                                                                      \
    static void function(int64_t value)                                                            \
    {                                                                                              \
        member = (__typeof__(member))value;                                                        \
    }
#define TEXT(function, member)                                                                     \
    static void function(int64_t value)                                                            \
    {                                                                                              \
        member = text(value);                                                                      \
    }
#define LIST(function, list, count, from)                                                          \
    static void function(int64_t value)                                                            \
    {                                                                                              \
        list = from;                                                                               \
        count = (uint32_t)value;                                                                   \
    }

SET(task_instances, task.instances)
SET(task_min, task.min_instances)
SET(task_first, task.array_first)
SET(task_priority, task.priority)
SET(task_retries, task.max_retries)
SET(task_kind, task.kind)
SET(task_limit, task.time_limit_ms)
SET(task_grace, task.grace_ms)
SET(task_stale, task.stale_grace_ms)
SET(task_delay, task.preemption_delay_ms)
SET(task_slots, task.slots_milli)
SET(task_cpu, task.cpu_milli)
SET(task_memory, task.memory_bytes)
SET(task_gpu_memory, task.gpu_memory_bytes)
SET(task_devices, task.gpu_devices)
TEXT(task_name, task.name)
TEXT(task_user, task.user)
TEXT(task_project, task.project)
TEXT(task_level, task.topology.required)
LIST(task_tags, task.tags, task.tag_count, texts)
LIST(task_env, task.env, task.env_count, texts)
LIST(task_pools, task.pools, task.pool_count, texts)
LIST(task_avoid, task.avoid, task.avoid_count, texts)
LIST(task_depends, task.depends_on, task.depends_count, numbers)
LIST(task_labels, task.node_labels, task.node_label_count, labels)
LIST(task_resources, task.resources, task.resource_count, amounts)

static void task_tag(int64_t value)
{
    texts[1] = text(value);
    task_tags(3);
}

static void task_label(int64_t value)
{
    labels[1].key = text(value);
    task_labels(3);
}

static void task_label_value(int64_t value)
{
    labels[1].value = text(value);
    task_labels(3);
}

static void task_resource(int64_t value)
{
    amounts[0].name = text(value);
    task_resources(1);
}

static void task_amount(int64_t value)
{
    amounts[0].milli = value;
    task_resources(1);
}

static void task_twice(int64_t value)
{
    amounts[1].name = value > 1 ? amounts[0].name : "other";
    task_resources(2);
}

static void task_group(int64_t value)
{
    group.name = text(value);
    task.gang = true;
    task.groups = &group;
    task.group_count = 1;
}

static void group_alone(int64_t value)
{
    task_group(1);
    task.gang = value == 0;
}

static void group_min(int64_t value)
{
    task_group(1);
    task.min_groups = (uint32_t)value;
}

static void group_beside(int64_t value)
{
    task_group(1);
    task.min_instances = (uint32_t)value;
}

static void group_level(int64_t value)
{
    task_group(1);
    group.topology.required = text(value);
}

/* One group at the top, with one in it: of two that are needed there is but one. */
static void group_within(int64_t value)
{
    static struct group_spec nested[2];
    nested[0] = (struct group_spec){.name = "a", .topology = {"", ""}};
    nested[1] = (struct group_spec){.name = "b", .parent = 1, .instances = 1, .topology = {"", ""}};
    task.gang = true;
    task.groups = nested;
    task.group_count = 2;
    task.min_groups = (uint32_t)value;
}

static void not_together(int64_t value)
{
    task.instances = (uint32_t)value;
    task.topology = (struct topology_spec){"rack", ""};
}

SET(pool_patience, pool.patience_ms)
SET(pool_turn, pool.turn_ms)
SET(pool_idle, pool.idle_for_waiting)
SET(pool_loss, pool.loss_for_sharing)
SET(pool_accepts, pool.accepts)
SET(pool_aux, pool.aux_tasks)
SET(pool_policy, pool.policy)
SET(pool_placement, pool.placement)
SET(pool_victims, pool.victims)
SET(pool_order, pool.order)
SET(pool_consolidation, pool.consolidation_max)
SET(pool_stale, pool.stale_grace_ms)
SET(pool_preempt, pool.preempt_min_runtime_ms)
SET(pool_delay, pool.preemption_delay_ms)
SET(pool_half_life, pool.history_half_life_ms)
SET(pool_window, pool.history_window_ms)
SET(pool_factor, pool.history_factor)
SET(pool_user, pool.user_slots_max)
TEXT(pool_name, pool.name)
TEXT(pool_title, pool.title)
TEXT(pool_description, pool.description)

static void pool_levels(int64_t value)
{
    for (uint32_t i = 0; i < MOST; i++) {
        texts[i] = text(1 + i);
    }
    pool.topology = texts;
    pool.topology_count = (uint32_t)value;
}

static void pool_level(int64_t value)
{
    texts[0] = text(value);
    pool.topology = texts;
    pool.topology_count = 1;
}

static void pool_level_twice(int64_t value)
{
    texts[1] = value > 1 ? "t" : "u";
    pool.topology = texts;
    pool.topology_count = 2;
}

static void pool_level_unnamed(int64_t value)
{
    texts[0] = value > 1 ? "" : "t";
    pool.topology = texts;
    pool.topology_count = 1;
}

SET(node_slots, node.slots_milli)
SET(node_cpu, node.cpu_milli)
SET(node_memory, node.memory_bytes)
SET(node_gpu_memory, node.gpu_memory_bytes)
SET(node_devices, node.device_count)
TEXT(node_name, node.name)
TEXT(node_pool, node.pool)
TEXT(node_boot, node.boot_id)
TEXT(node_address, node.address)
TEXT(node_version, node.version)
LIST(node_labels, node.labels, node.label_count, labels)
LIST(node_resources, node.resources, node.resource_count, amounts)
TEXT(account_name, account.name)
TEXT(account_title, account.title)
TEXT(account_description, account.description)
SET(account_kind, account.kind)

static const struct limit limits[] = {
    {INPUT_TASK_SUBMIT, "instances", task_instances, 1, TASK_INSTANCES_MAX, 1},
    {INPUT_TASK_SUBMIT, "min_instances", task_min, 0, 1, 0},
    {INPUT_TASK_SUBMIT, "array", task_first, 0, UINT32_MAX - TASK_INSTANCES_MAX, 0},
    {INPUT_TASK_SUBMIT, "priority", task_priority, PRIORITY_MIN, PRIORITY_MAX, 1},
    {INPUT_TASK_SUBMIT, "max_retries", task_retries, 0, RETRIES_MAX, 0},
    {INPUT_TASK_SUBMIT, "kind", task_kind, 0, TASK_KIND_COUNT - 1, 0},
    {INPUT_TASK_SUBMIT, "time_limit", task_limit, 0, AMOUNT_MS_MAX, 1},
    {INPUT_TASK_SUBMIT, "grace", task_grace, 0, AMOUNT_MS_MAX, 1},
    {INPUT_TASK_SUBMIT, "stale_grace", task_stale, STALE_GRACE_POOL, AMOUNT_MS_MAX, 1},
    {INPUT_TASK_SUBMIT, "preemption_delay", task_delay, PREEMPTION_DELAY_POOL, AMOUNT_MS_MAX, 1},
    {INPUT_TASK_SUBMIT, "slots", task_slots, ASK_NOTHING, AMOUNT_MILLI_MAX, 1},
    {INPUT_TASK_SUBMIT, "cpu", task_cpu, ASK_NOTHING, AMOUNT_MILLI_MAX, 1},
    {INPUT_TASK_SUBMIT, "memory", task_memory, ASK_NOTHING, AMOUNT_BYTES_MAX, 1},
    {INPUT_TASK_SUBMIT, "gpu_memory", task_gpu_memory, 0, AMOUNT_BYTES_MAX, 1},
    {INPUT_TASK_SUBMIT, "gpu_devices", task_devices, 0, NODE_DEVICES_MAX, 0},
    {INPUT_TASK_SUBMIT, "name", task_name, 0, TEXT_LEN_MAX, 0},
    {INPUT_TASK_SUBMIT, "user", task_user, 0, TEXT_LEN_MAX, 0},
    {INPUT_TASK_SUBMIT, "project", task_project, 0, NAME_LEN_MAX, 0},
    {INPUT_TASK_SUBMIT, "topology level length", task_level, 0, NAME_LEN_MAX, 0},
    {INPUT_TASK_SUBMIT, "tags", task_tags, 0, TASK_TAGS_MAX, 0},
    {INPUT_TASK_SUBMIT, "env", task_env, 0, TASK_ENV_MAX, 0},
    {INPUT_TASK_SUBMIT, "pools", task_pools, 0, TASK_POOLS_MAX, 0},
    {INPUT_TASK_SUBMIT, "avoid", task_avoid, 0, TASK_AVOID_MAX, 0},
    {INPUT_TASK_SUBMIT, "dependencies", task_depends, 0, TASK_DEPENDS_MAX, 0},
    {INPUT_TASK_SUBMIT, "node_labels", task_labels, 0, TASK_LABELS_MAX, 0},
    {INPUT_TASK_SUBMIT, "resources", task_resources, 0, TASK_RESOURCES_MAX, 0},
    {INPUT_TASK_SUBMIT, "tags", task_tag, 0, TEXT_LEN_MAX, 0},
    {INPUT_TASK_SUBMIT, "label length", task_label, 1, TEXT_LEN_MAX, 1},
    {INPUT_TASK_SUBMIT, "label length", task_label_value, 0, TEXT_LEN_MAX, 0},
    {INPUT_TASK_SUBMIT, "resource name length", task_resource, 1, NAME_LEN_MAX, 1},
    {INPUT_TASK_SUBMIT, "resource amount", task_amount, 0, AMOUNT_MILLI_MAX, 1},
    {INPUT_TASK_SUBMIT, "amounts of one resource", task_twice, 1, 1, 0},
    {INPUT_TASK_SUBMIT, "group name length", task_group, 1, NAME_LEN_MAX, 1},
    {INPUT_TASK_SUBMIT, "groups of a task that is no gang", group_alone, 0, 0, 0},
    {INPUT_TASK_SUBMIT, "min_groups", group_min, 0, 1, 0},
    {INPUT_TASK_SUBMIT, "groups that add up to the instances", group_within, 0, 1, 0},
    {INPUT_TASK_SUBMIT, "min_instances of a task with groups", group_beside, 0, 0, 0},
    {INPUT_TASK_SUBMIT, "topology level length", group_level, 0, NAME_LEN_MAX, 0},
    {INPUT_TASK_SUBMIT, "instances beside a topology that are no gang", not_together, 1, 1, 0},
    {INPUT_POOL_CREATE, "name", pool_name, 1, NAME_LEN_MAX, 1},
    {INPUT_POOL_CREATE, "title", pool_title, 0, TEXT_LEN_MAX, 0},
    {INPUT_POOL_CREATE, "description", pool_description, 0, TEXT_LEN_MAX, 0},
    {INPUT_POOL_CREATE, "patience", pool_patience, PATIENCE_AUTO, AMOUNT_MS_MAX, 1},
    {INPUT_POOL_CREATE, "turn", pool_turn, 0, AMOUNT_MS_MAX, 1},
    {INPUT_POOL_CREATE, "idle_for_waiting", pool_idle, 0, PERCENT_WHOLE, 0},
    {INPUT_POOL_CREATE, "loss_for_sharing", pool_loss, 0, PERCENT_WHOLE, 0},
    {INPUT_POOL_CREATE, "accepts", pool_accepts, 0, (1 << TASK_KIND_COUNT) - 1, 0},
    {INPUT_POOL_CREATE, "aux_tasks", pool_aux, 0, AUX_TASKS_MAX, 0},
    {INPUT_POOL_CREATE, "policy", pool_policy, 0, POOL_POLICY_COUNT - 1, 0},
    {INPUT_POOL_CREATE, "placement", pool_placement, 0, POOL_PLACEMENT_COUNT - 1, 0},
    {INPUT_POOL_CREATE, "victims", pool_victims, 0, POOL_VICTIMS_COUNT - 1, 0},
    {INPUT_POOL_CREATE, "order", pool_order, 0, POOL_ORDER_COUNT - 1, 0},
    {INPUT_POOL_CREATE, "consolidation", pool_consolidation, 0, CONSOLIDATION_MAX, 0},
    {INPUT_POOL_CREATE, "stale_grace", pool_stale, STALE_GRACE_NEVER, AMOUNT_MS_MAX, 1},
    {INPUT_POOL_CREATE, "preempt_min_runtime", pool_preempt, 0, AMOUNT_MS_MAX, 1},
    {INPUT_POOL_CREATE, "preemption_delay", pool_delay, 0, AMOUNT_MS_MAX, 1},
    {INPUT_POOL_CREATE, "half_life", pool_half_life, 0, AMOUNT_MS_MAX, 1},
    {INPUT_POOL_CREATE, "window", pool_window, 0, AMOUNT_MS_MAX, 1},
    {INPUT_POOL_CREATE, "factor", pool_factor, 0, HISTORY_FACTOR_MAX, 0},
    {INPUT_POOL_CREATE, "user_slots", pool_user, 0, AMOUNT_MILLI_MAX, 1},
    {INPUT_POOL_CREATE, "topology", pool_levels, 0, TOPOLOGY_LEVELS_MAX, 0},
    {INPUT_POOL_CREATE, "topology", pool_level, 1, NAME_LEN_MAX, 0},
    {INPUT_POOL_CREATE, "times that a topology level is named", pool_level_twice, 1, 1, 0},
    {INPUT_POOL_CREATE, "times that a topology level is named", pool_level_unnamed, 1, 1, 0},
    {INPUT_NODE_JOIN, "name", node_name, 1, NAME_LEN_MAX, 1},
    {INPUT_NODE_JOIN, "pool", node_pool, 0, NAME_LEN_MAX, 0},
    {INPUT_NODE_JOIN, "labels", node_labels, 0, NODE_LABELS_MAX, 0},
    {INPUT_NODE_JOIN, "slots", node_slots, 0, (int64_t)NODE_SLOTS_MAX * 1000, 1},
    {INPUT_NODE_JOIN, "cpu", node_cpu, 0, AMOUNT_MILLI_MAX, 1},
    {INPUT_NODE_JOIN, "memory", node_memory, 0, AMOUNT_BYTES_MAX, 1},
    {INPUT_NODE_JOIN, "gpu_memory", node_gpu_memory, 0, AMOUNT_BYTES_MAX, 1},
    {INPUT_NODE_JOIN, "devices", node_devices, 0, NODE_DEVICES_MAX, 0},
    {INPUT_NODE_JOIN, "resources", node_resources, 0, NODE_RESOURCES_MAX, 0},
    {INPUT_NODE_JOIN, "boot_id", node_boot, 0, TEXT_LEN_MAX, 0},
    {INPUT_NODE_JOIN, "address", node_address, 0, TEXT_LEN_MAX, 0},
    {INPUT_NODE_JOIN, "version", node_version, 0, TEXT_LEN_MAX, 0},
    {INPUT_ACCOUNT_SET, "name", account_name, 1, NAME_LEN_MAX, 1},
    {INPUT_ACCOUNT_SET, "title", account_title, 0, TEXT_LEN_MAX, 0},
    {INPUT_ACCOUNT_SET, "description", account_description, 0, TEXT_LEN_MAX, 0},
    {INPUT_ACCOUNT_SET, "kind", account_kind, 0, ACCOUNT_KIND_COUNT - 1, 0},
};

static bool refused_with(struct rig *rig, const struct limit *limit, int64_t value)
{
    fresh();
    limit->set(value);
    return refused(rig, limit->type, limit->name);
}

static void a_limit_is_taken_and_one_beyond_is_refused(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const struct limit *limit = &limits[i];
        if (refused_with(&rig, limit, limit->most) || refused_with(&rig, limit, limit->least)) {
            fail_msg("%s: the limit itself is refused", limit->name);
        }
        if (!refused_with(&rig, limit, limit->most + 1)) {
            fail_msg("%s: one above the most is taken", limit->name);
        }
        assert_int_equal(rig.facts.refusal.available, limit->most);
        if (limit->refused_below && !refused_with(&rig, limit, limit->least - 1)) {
            fail_msg("%s: one below the least is taken", limit->name);
        }
    }
    rig_done(&rig);
}

/* The bound that spares most tasks the writing must never say yes where the bytes say no. */
static void a_spec_fits_in_its_bytes_and_not_in_one_less(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < MOST; count += 1 + count * 3) {
        struct buf out;
        fresh();
        task.name = text(count);
        task.argv = texts;
        task.argv_count = count;
        task.node_labels = labels;
        task.node_label_count = count;
        task.resources = amounts;
        task.resource_count = count;
        task.groups = &group;
        task.group_count = count > 0;
        task.depends_on = numbers;
        task.depends_count = count % 50;
        task.max_losses = count;
        task.upload = text(count);
        buf_init(&out, LONGEST * MOST);
        object_encode(&task_object, &task, &out);
        assert_false(out.full);
        assert_true(object_fits(&task_object, &task, out.len));
        assert_false(object_fits(&task_object, &task, out.len - 1));
        buf_done(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_is_taken_and_one_beyond_is_refused),
        cmocka_unit_test(a_spec_fits_in_its_bytes_and_not_in_one_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
