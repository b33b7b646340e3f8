/* reason_rig.h - an organisation whose tasks are asked why they wait, and whose inputs are
 * refused.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/explain/explain.h"
#include "org_rig.h"

extern bool seen[REASON_COUNT];

static inline struct explanation explain(const struct org *org, task_id task)
{
    struct explanation why;
    explain_task(org->rig.core, task, &why);
    return why;
}

/* Checks that the task waits for this reason, and returns the reason. */
static inline struct reason waits(const struct org *org, task_id task, enum reason_code code)
{
    const struct explanation why = explain(org, task);
    assert_string_equal(names_reason(why.reason.code), names_reason(code));
    seen[code] = true;
    return why.reason;
}

static inline void starts(struct org *org, task_id task)
{
    org_settle(org);
    assert_true(org_runs(org, task));
    assert_int_equal(explain(org, task).reason.code, REASON_NONE);
    seen[REASON_NONE] = true;
}

/* Checks that the input is refused for this reason and changes nothing. */
static inline struct reason refuses(struct org *org, struct input in, enum reason_code code)
{
    struct core *before = core_copy(org->rig.core);
    const enum verdict verdict = rig_do(&org->rig, in);
    assert_true(verdict != VERDICT_OK);
    assert_same_state(before, org->rig.core);
    core_free(before);
    assert_string_equal(names_reason(org->rig.facts.refusal.code), names_reason(code));
    seen[code] = true;
    return org->rig.facts.refusal;
}

static inline struct reason refuses_task(struct org *org, struct task_spec spec,
                                         enum reason_code code)
{
    return refuses(
        org, (struct input){.type = INPUT_TASK_SUBMIT, .submit = {.specs = &spec, .count = 1}},
        code);
}

static inline struct task_spec slots(int64_t count)
{
    struct task_spec spec = rig_spec();
    spec.slots_milli = count * SLOT_MILLI;
    return spec;
}

static inline task_id submit(struct org *org, struct task_spec spec)
{
    const task_id task = rig_submit(&org->rig, spec);
    org_settle(org);
    return task;
}

static inline node_id gpu_node(struct org *org, const char *name, uint32_t devices)
{
    struct node_spec spec = {.name = name,
                             .pool = "",
                             .slots_milli = (int64_t)devices * SLOT_MILLI,
                             .device_count = devices,
                             .cpu_milli = 8000,
                             .memory_bytes = 8 << 20,
                             .supervisor = {200},
                             .boot_id = "boot",
                             .address = "",
                             .version = ""};
    struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    return query_node_named(org->rig.core, name)->id;
}

static inline void edit(struct org *org, task_id task, struct task_edit change)
{
    struct input in = {.type = INPUT_TASK_EDIT, .task = {.task = task, .edit = &change}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}

/* Edits the task to request this amount of slots. */
static inline void ask_slots(struct org *org, task_id task, int64_t milli)
{
    struct task_spec asks = rig_spec();
    asks.slots_milli = milli;
    edit(org, task, (struct task_edit){.fields = TASK_EDIT_resources, .spec = &asks});
}

static inline void pool_new(struct org *org, const char *name)
{
    struct pool_spec spec = {.name = name, .title = "", .description = "", .aux_tasks = 100};
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}

static inline void pool_paused(struct pool_spec *spec)
{
    spec->paused = true;
}

static inline void pool_resumed(struct pool_spec *spec)
{
    spec->paused = false;
}

static inline void pool_impatient(struct pool_spec *spec)
{
    spec->patience_ms = 0;
}

static inline void pool_one_aux(struct pool_spec *spec)
{
    spec->aux_tasks = 1;
}

static inline void pool_two_aux(struct pool_spec *spec)
{
    spec->aux_tasks = 2;
}

static inline void pool_user_two(struct pool_spec *spec)
{
    spec->user_slots_max = 2 * SLOT_MILLI;
}

static inline void pool_delays(struct pool_spec *spec)
{
    spec->preemption_delay_ms = 60000;
}

static inline void pool_services_only(struct pool_spec *spec)
{
    spec->accepts = 1u << TASK_SERVICE;
}

static inline void pool_racks(struct pool_spec *spec)
{
    static const char *const levels[] = {"rack"};
    spec->topology = levels;
    spec->topology_count = 1;
    spec->preemption_off = true; /* no task moves to make room */
}

static inline void node_of_rack(struct org *org, node_id node, const char *rack)
{
    const struct label label = {"rack", rack};
    const struct node_edit labels = {
        .fields = NODE_EDIT_LABELS, .labels = &label, .label_count = 1};
    struct input in = {.type = INPUT_NODE_EDIT, .node = {.node = node, .edit = &labels}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}
