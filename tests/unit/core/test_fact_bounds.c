/* test_fact_bounds.c - a stored fact with a number that cannot be is refused; the largest and the smallest one that can be is read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "base/amount.h"
#include "base/must.h"
#include "core/state/ports.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 1 << 20 };

/* A fact of this type, whose other numbers are small, with this value in one of its fields. */
typedef void set_field(struct fact *fact, int64_t value);

struct bound {
    const char *name;
    enum fact_type type;
    set_field *set;
    int64_t least; /* the smallest that can be; 0 of unsigned fields, which have none smaller */
    int64_t most;
};

static bool reads(const struct bound *bound, int64_t value)
{
    struct fact fact = {.type = bound->type, .time_ms = 5, .actor = "a", .cause = ""};
    struct fact again;
    struct arena arena;
    struct buf bytes;
    struct error e = {0};
    arena_init(&arena);
    buf_init(&bytes, BYTES_MAX);
    bound->set(&fact, value);
    fact_encode(&fact, &bytes);
    const bool read =
        fact_decode((struct str){bytes.data, bytes.len}, &arena, &again, &e) == ERR_OK;
    assert_true(read || e.code == ERR_CORRUPT);
    if (read) {
        struct buf second;
        buf_init(&second, BYTES_MAX);
        fact_encode(&again, &second);
        assert_int_equal(bytes.len, second.len);
        assert_memory_equal(bytes.data, second.data, bytes.len);
        buf_done(&second);
    }
    buf_done(&bytes);
    arena_done(&arena);
    return read;
}

#define FIELD(name, member)                                                                        \
    static void name(struct fact *fact, int64_t value)                                             \
    {                                                                                              \
        fact->member = (__typeof__(fact->member))value;                                            \
    }

FIELD(resource, resource_defined.resource.v)
FIELD(node_state, node_state.state)
FIELD(allocated_slots, allocated.slots_milli)
FIELD(allocated_port, allocated.master_port)
FIELD(allocated_cpu, allocated.cpu_milli)
FIELD(allocated_memory, allocated.memory_bytes)
FIELD(started_at, attempt_started.at_ms)
FIELD(saved_at, attempt_checkpoint.at_ms)
FIELD(stopping_cause, attempt_stopping.cause)
FIELD(stopping_deadline, attempt_stopping.deadline_ms)
FIELD(ended_type, attempt_ended.report.type)
FIELD(ended_at, attempt_ended.report.at_ms)
FIELD(ended_cause, attempt_ended.cause)
FIELD(task_state, task_ended.state)
FIELD(task_cause, task_ended.cause)
FIELD(expired_before, keys_expired.before_ms)
FIELD(evicted_deadline, evicted.deadline_ms)
FIELD(evicted_rule, evicted.why.rule)
FIELD(evicted_resource, evicted.why.resource.v)
FIELD(wake_at, pool_wake.at_ms)
FIELD(submitted_count, submit_key.count)
FIELD(edited_fields, node_edited.edit.fields)

static void resource_named(struct fact *fact, int64_t value)
{
    resource(fact, value);
    fact->resource_defined.name = "foo";
}

static void reserved_until(struct fact *fact, int64_t value)
{
    static struct reservation one;
    one = (struct reservation){.task = {1}, .until_ms = value};
    fact->reserved.at = &one;
    fact->reserved.count = 1;
}

static void reserved_count(struct fact *fact, int64_t value)
{
    static const struct reservation many[RESERVATIONS_MAX + 1];
    fact->reserved.at = many;
    fact->reserved.count = (uint32_t)value;
}

static void moved_rank(struct fact *fact, int64_t value)
{
    static struct task_rank one;
    one = (struct task_rank){.task = {1}, .rank = value};
    fact->task_moved.ranks = &one;
    fact->task_moved.rank_count = 1;
}

static void moved_count(struct fact *fact, int64_t value)
{
    static const struct task_rank many[MOVE_TASKS_MAX + 2];
    fact->task_moved.ranks = many;
    fact->task_moved.rank_count = (uint32_t)value;
}

static struct task_spec edited_spec;

#define EDITED(name, bit, member)                                                                  \
    static void name(struct fact *fact, int64_t value)                                             \
    {                                                                                              \
        fact->task_edited.edit = (struct task_edit){.fields = bit, .spec = &edited_spec};          \
        edited_spec.member = (__typeof__(edited_spec.member))value;                                \
    }

EDITED(edited_priority, TASK_EDIT_priority, priority)
EDITED(edited_limit, TASK_EDIT_time_limit, time_limit_ms)
EDITED(edited_retries, TASK_EDIT_max_retries, max_retries)
EDITED(edited_grace, TASK_EDIT_grace, grace_ms)

static void edited_labels(struct fact *fact, int64_t value)
{
    static const struct request asks;
    static struct label many[TASK_LABELS_MAX + 1];
    for (size_t i = 0; i < TASK_LABELS_MAX + 1; i++) {
        many[i] = (struct label){"k", "v"};
    }
    edited_spec.node_labels = many;
    edited_spec.node_label_count = (uint32_t)value;
    fact->task_edited.edit =
        (struct task_edit){.fields = TASK_EDIT_node_labels, .spec = &edited_spec};
    fact->task_edited.request = &asks;
}

/* ---- specs ---- */

static struct pool_spec pool_spec;
static struct node_spec node_spec;
static struct task_spec task_spec;
static struct quota_row quota_row;
static struct request request;

static void pool_fresh(struct fact *fact)
{
    pool_spec = (struct pool_spec){.name = "p", .title = "", .description = ""};
    fact->pool_set.spec = &pool_spec;
}

#define POOL(name, member)                                                                         \
    static void name(struct fact *fact, int64_t value)                                             \
    {                                                                                              \
        pool_fresh(fact);                                                                          \
        pool_spec.member = (__typeof__(pool_spec.member))value;                                    \
    }

POOL(pool_patience, patience_ms)
POOL(pool_turn, turn_ms)
POOL(pool_idle, idle_for_waiting)
POOL(pool_loss, loss_for_sharing)
POOL(pool_accepts, accepts)
POOL(pool_aux, aux_tasks)
POOL(pool_policy, policy)
POOL(pool_placement, placement)
POOL(pool_victims, victims)
POOL(pool_order, order)
POOL(pool_consolidation, consolidation_max)
POOL(pool_stale, stale_grace_ms)
POOL(pool_preempt_min, preempt_min_runtime_ms)
POOL(pool_reclaim_min, reclaim_min_runtime_ms)
POOL(pool_half_life, history_half_life_ms)
POOL(pool_window, history_window_ms)
POOL(pool_factor, history_factor)
POOL(pool_user_slots, user_slots_max)

static void node_fresh(struct fact *fact)
{
    node_spec =
        (struct node_spec){.name = "n", .pool = "p", .boot_id = "", .address = "", .version = ""};
    fact->node_set.spec = &node_spec;
}

#define NODE(name, member)                                                                         \
    static void name(struct fact *fact, int64_t value)                                             \
    {                                                                                              \
        node_fresh(fact);                                                                          \
        node_spec.member = (__typeof__(node_spec.member))value;                                    \
    }

NODE(node_slots, slots_milli)
NODE(node_cpu, cpu_milli)
NODE(node_memory, memory_bytes)
NODE(node_gpu_memory, gpu_memory_bytes)

static void node_devices(struct fact *fact, int64_t value)
{
    node_fresh(fact);
    node_spec.device_count = (uint32_t)value;
    node_spec.slots_milli = value * SLOT_MILLI;
}

static void task_fresh(struct fact *fact)
{
    static const char *const argv[] = {"true"};
    static const char *const pools[] = {"p"};
    request = (struct request){0};
    task_spec = rig_spec();
    task_spec.project = "default";
    task_spec.image = "";
    task_spec.workdir = "";
    task_spec.argv = argv;
    task_spec.pools = pools;
    task_spec.pool_count = 1;
    fact->task_submitted.request = &request;
    fact->task_submitted.spec = &task_spec;
}

#define TASK(name, member)                                                                         \
    static void name(struct fact *fact, int64_t value)                                             \
    {                                                                                              \
        task_fresh(fact);                                                                          \
        task_spec.member = (__typeof__(task_spec.member))value;                                    \
    }

TASK(task_kind, kind)
TASK(task_slots, slots_milli)
TASK(task_cpu, cpu_milli)
TASK(task_memory, memory_bytes)
TASK(task_gpu_memory, gpu_memory_bytes)
TASK(task_priority, priority)
TASK(task_retries, max_retries)
TASK(task_limit, time_limit_ms)
TASK(task_grace, grace_ms)
TASK(task_gpu_devices, gpu_devices)
TASK(task_instances, instances)

#define REQUEST(name, member)                                                                      \
    static void name(struct fact *fact, int64_t value)                                             \
    {                                                                                              \
        task_fresh(fact);                                                                          \
        request.member = (__typeof__(request.member))value;                                        \
    }

REQUEST(request_slots, slots_milli)
REQUEST(request_cpu, cpu_milli)
REQUEST(request_memory, memory_bytes)
REQUEST(request_gpu_memory, gpu_memory_bytes)
REQUEST(request_share, share_devices)

#define QUOTA(name, member)                                                                        \
    static void name(struct fact *fact, int64_t value)                                             \
    {                                                                                              \
        quota_row = (struct quota_row){.term_count = 1, .rules = quota_rules_none};                \
        quota_row.terms[0] = (struct quota_term){.weight = 5, .guaranteed = 7, .limit = 9};        \
        quota_row.member = (__typeof__(quota_row.member))value;                                    \
        fact->quota_set.row = &quota_row;                                                          \
    }

QUOTA(quota_rank, rules.rank)
QUOTA(quota_weight, terms[0].weight)
QUOTA(quota_guaranteed, terms[0].guaranteed)
QUOTA(quota_limit, terms[0].limit)
QUOTA(quota_resource, terms[0].resource.v)
QUOTA(quota_preempt_min, rules.preempt_min_runtime_ms)
QUOTA(quota_reclaim_min, rules.reclaim_min_runtime_ms)

static const struct bound bounds[] = {
    {"resource", FACT_RESOURCE_DEFINED, resource_named, 0, RESOURCES_MAX - 1},
    {"node state", FACT_NODE_STATE, node_state, 0, NODE_STATE_COUNT - 1},
    {"fields of a node's edit", FACT_NODE_EDITED, edited_fields, 0,
     NODE_EDIT_DRAIN | NODE_EDIT_LABELS},
    {"slots given", FACT_ALLOCATED, allocated_slots, 0, AMOUNT_MILLI_MAX},
    {"cpu given", FACT_ALLOCATED, allocated_cpu, 0, AMOUNT_MILLI_MAX},
    {"memory given", FACT_ALLOCATED, allocated_memory, 0, AMOUNT_BYTES_MAX},
    {"port given", FACT_ALLOCATED, allocated_port, 0, PORTS_MASTER_LAST},
    {"slots promised", FACT_CLAIMED, allocated_slots, 0, AMOUNT_MILLI_MAX},
    {"start", FACT_ATTEMPT_STARTED, started_at, 0, TIME_MS_MAX},
    {"checkpoint", FACT_ATTEMPT_CHECKPOINT, saved_at, 0, TIME_MS_MAX},
    {"cause of a stop", FACT_ATTEMPT_STOPPING, stopping_cause, 0, END_CAUSE_COUNT - 1},
    {"deadline of a stop", FACT_ATTEMPT_STOPPING, stopping_deadline, 0, TIME_MS_MAX},
    {"report", FACT_ATTEMPT_ENDED, ended_type, 0, REPORT_UNKNOWN},
    {"end", FACT_ATTEMPT_ENDED, ended_at, 0, TIME_MS_MAX},
    {"cause of an end", FACT_ATTEMPT_ENDED, ended_cause, 0, END_CAUSE_COUNT - 1},
    {"task state", FACT_TASK_ENDED, task_state, 0, TASK_STATE_COUNT - 1},
    {"cause of a task's end", FACT_TASK_ENDED, task_cause, 0, END_CAUSE_COUNT - 1},
    {"age of keys", FACT_SUBMIT_KEYS_EXPIRED, expired_before, 0, TIME_MS_MAX},
    {"deadline of an eviction", FACT_EVICTED, evicted_deadline, 0, TIME_MS_MAX},
    {"rule of an eviction", FACT_EVICTED, evicted_rule, 0, EVICTION_RULE_COUNT - 1},
    {"resource of an eviction", FACT_EVICTED, evicted_resource, 0, RESOURCES_MAX - 1},
    {"wake", FACT_POOL_WAKE, wake_at, 0, TIME_MS_MAX},
    {"tasks of a submission", FACT_SUBMIT_KEY, submitted_count, 0, SUBMIT_TASKS_MAX},
    {"until when a place is kept", FACT_RESERVED, reserved_until, 0, TIME_MS_MAX},
    {"rank", FACT_TASK_MOVED, moved_rank, -RANK_FRONT, RANK_FRONT},
    {"edited priority", FACT_TASK_EDITED, edited_priority, PRIORITY_MIN, PRIORITY_MAX},
    {"edited time limit", FACT_TASK_EDITED, edited_limit, 0, AMOUNT_MS_MAX},
    {"edited retries", FACT_TASK_EDITED, edited_retries, 0, RETRIES_MAX},
    {"edited grace", FACT_TASK_EDITED, edited_grace, 0, AMOUNT_MS_MAX},
    {"patience", FACT_POOL_SET, pool_patience, PATIENCE_AUTO, AMOUNT_MS_MAX},
    {"turn", FACT_POOL_SET, pool_turn, 0, AMOUNT_MS_MAX},
    {"idle budget", FACT_POOL_SET, pool_idle, 0, PERCENT_WHOLE},
    {"loss budget", FACT_POOL_SET, pool_loss, 0, PERCENT_WHOLE},
    {"kinds", FACT_POOL_SET, pool_accepts, 0, (1 << TASK_KIND_COUNT) - 1},
    {"zero-slot tasks", FACT_POOL_SET, pool_aux, 0, AUX_TASKS_MAX},
    {"policy", FACT_POOL_SET, pool_policy, 0, POOL_POLICY_COUNT - 1},
    {"placement", FACT_POOL_SET, pool_placement, 0, POOL_PLACEMENT_COUNT - 1},
    {"victims", FACT_POOL_SET, pool_victims, 0, POOL_VICTIMS_COUNT - 1},
    {"order", FACT_POOL_SET, pool_order, 0, POOL_ORDER_COUNT - 1},
    {"consolidation", FACT_POOL_SET, pool_consolidation, 0, CONSOLIDATION_MAX},
    {"stale grace", FACT_POOL_SET, pool_stale, STALE_GRACE_NEVER, AMOUNT_MS_MAX},
    {"minimum runtime", FACT_POOL_SET, pool_preempt_min, 0, AMOUNT_MS_MAX},
    {"minimum runtime", FACT_POOL_SET, pool_reclaim_min, 0, AMOUNT_MS_MAX},
    {"history factor", FACT_POOL_SET, pool_factor, 0, HISTORY_FACTOR_MAX},
    {"slots of one user", FACT_POOL_SET, pool_user_slots, 0, AMOUNT_MILLI_MAX},
    {"slots of a node", FACT_NODE_SET, node_slots, 0, (int64_t)NODE_SLOTS_MAX *SLOT_MILLI},
    {"cpu of a node", FACT_NODE_SET, node_cpu, 0, AMOUNT_MILLI_MAX},
    {"memory of a node", FACT_NODE_SET, node_memory, 0, AMOUNT_BYTES_MAX},
    {"gpu memory of a node", FACT_NODE_SET, node_gpu_memory, 0, AMOUNT_BYTES_MAX},
    {"devices of a node", FACT_NODE_SET, node_devices, 0, NODE_DEVICES_MAX},
    {"kind", FACT_TASK_SUBMITTED, task_kind, 0, TASK_KIND_COUNT - 1},
    {"slots", FACT_TASK_SUBMITTED, task_slots, ASK_NOTHING, AMOUNT_MILLI_MAX},
    {"cpu", FACT_TASK_SUBMITTED, task_cpu, ASK_NOTHING, AMOUNT_MILLI_MAX},
    {"memory", FACT_TASK_SUBMITTED, task_memory, ASK_NOTHING, AMOUNT_BYTES_MAX},
    {"gpu memory", FACT_TASK_SUBMITTED, task_gpu_memory, 0, AMOUNT_BYTES_MAX},
    {"priority", FACT_TASK_SUBMITTED, task_priority, PRIORITY_MIN, PRIORITY_MAX},
    {"retries", FACT_TASK_SUBMITTED, task_retries, 0, RETRIES_MAX},
    {"time limit", FACT_TASK_SUBMITTED, task_limit, 0, AMOUNT_MS_MAX},
    {"grace", FACT_TASK_SUBMITTED, task_grace, 0, AMOUNT_MS_MAX},
    {"devices", FACT_TASK_SUBMITTED, task_gpu_devices, 0, NODE_DEVICES_MAX},
    {"instances", FACT_TASK_SUBMITTED, task_instances, 1, TASK_INSTANCES_MAX},
    {"resolved slots", FACT_TASK_SUBMITTED, request_slots, 0, AMOUNT_MILLI_MAX},
    {"resolved cpu", FACT_TASK_SUBMITTED, request_cpu, ASK_NOTHING, AMOUNT_MILLI_MAX},
    {"resolved memory", FACT_TASK_SUBMITTED, request_memory, ASK_NOTHING, AMOUNT_BYTES_MAX},
    {"resolved gpu memory", FACT_TASK_SUBMITTED, request_gpu_memory, 0, AMOUNT_BYTES_MAX},
    {"shares of devices", FACT_TASK_SUBMITTED, request_share, 0, NODE_DEVICES_MAX},
    {"rank of a quota", FACT_QUOTA_SET, quota_rank, 0, QUOTA_RANK_MAX},
    {"weight", FACT_QUOTA_SET, quota_weight, 0, QUOTA_WEIGHT_MAX},
    {"guarantee", FACT_QUOTA_SET, quota_guaranteed, QUOTA_UNSET, AMOUNT_MILLI_MAX},
    {"limit", FACT_QUOTA_SET, quota_limit, QUOTA_UNLIMITED, AMOUNT_MILLI_MAX},
    {"resource of a quota", FACT_QUOTA_SET, quota_resource, 0, RESOURCES_MAX - 1},
    {"minimum runtime of a quota", FACT_QUOTA_SET, quota_preempt_min, QUOTA_INHERIT, AMOUNT_MS_MAX},
    {"minimum runtime of a quota", FACT_QUOTA_SET, quota_reclaim_min, QUOTA_INHERIT, AMOUNT_MS_MAX},
};

/* Nothing smaller is ever written: counts of what follows, and fields that are left out at 0. */
static const struct bound counts[] = {
    {"window", FACT_POOL_SET, pool_window, 0, AMOUNT_MS_MAX},
    {"half-life", FACT_POOL_SET, pool_half_life, 0, AMOUNT_MS_MAX},
    {"reservations", FACT_RESERVED, reserved_count, 0, RESERVATIONS_MAX},
    {"tasks that change rank", FACT_TASK_MOVED, moved_count, 0, MOVE_TASKS_MAX + 1},
    {"edited labels", FACT_TASK_EDITED, edited_labels, 0, TASK_LABELS_MAX},
};

static void upper_bound(const struct bound *bound)
{
    if (!reads(bound, bound->most) || !reads(bound, bound->least)) {
        fail_msg("%s: what can be is not read", bound->name);
    }
    if (reads(bound, bound->most + 1)) {
        fail_msg("%s: one above the largest is read", bound->name);
    }
}

static void every_number_of_a_fact_has_its_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        upper_bound(&bounds[i]);
        if (reads(&bounds[i], bounds[i].least - 1)) {
            fail_msg("%s: one below the smallest is read", bounds[i].name);
        }
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        upper_bound(&counts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_number_of_a_fact_has_its_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
