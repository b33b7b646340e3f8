/* sched_yard.h - a small state for tests of the scheduler, made of facts without any decision:
 * one pool, some nodes, some tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/core.h"
#include "core/sched/pass.h"

#include <string.h>

enum { FOO = RESOURCE_NAMED_FIRST, GPU0, GPU1 };

struct yard {
    struct core *core;
    struct arena arena;
    int64_t now_ms;
    uint32_t nodes;
    uint64_t tasks;
    struct facts facts; /* facts of the last pass */
};

static inline struct fact yard_fact(const struct yard *yard, enum fact_type type)
{
    return (struct fact){
        .type = type, .version = 1, .time_ms = yard->now_ms, .actor = "test", .cause = ""};
}

static inline void yard_pool(struct yard *yard, int64_t patience_ms)
{
    const struct pool_spec spec = {.name = "default",
                                   .title = "",
                                   .description = "",
                                   .patience_ms = patience_ms,
                                   .idle_for_waiting = PERCENT_WHOLE,
                                   .loss_for_sharing = PERCENT_WHOLE,
                                   .aux_tasks = 100};
    struct fact fact = yard_fact(yard, FACT_POOL_SET);
    fact.pool_set.pool = (pool_id){1};
    fact.pool_set.spec = &spec;
    core_apply(yard->core, &fact);
}

static inline void yard_init(struct yard *yard, int64_t patience_ms)
{
    static const char *const names[] = {"foo", "gpu0", "gpu1"};
    *yard = (struct yard){.core = core_new(), .now_ms = 1000};
    arena_init(&yard->arena);
    for (uint16_t i = 0; i < 3; i++) {
        struct fact fact = yard_fact(yard, FACT_RESOURCE_DEFINED);
        fact.resource_defined.resource = (resource_id){(uint16_t)(RESOURCE_NAMED_FIRST + i)};
        fact.resource_defined.name = names[i];
        core_apply(yard->core, &fact);
    }
    yard_pool(yard, patience_ms);
}

static inline void yard_done(struct yard *yard)
{
    core_free(yard->core);
    arena_done(&yard->arena);
}

static inline void yard_node_state(struct yard *yard, node_id node, enum node_state state)
{
    struct fact fact = yard_fact(yard, FACT_NODE_STATE);
    fact.node_state.node = node;
    fact.node_state.state = state;
    core_apply(yard->core, &fact);
}

/* Makes a node with slots or devices, and named amounts. A NULL name ends the list of amounts. */
static inline node_id yard_node(struct yard *yard, int64_t slots, uint32_t devices,
                                const struct named_amount *amounts)
{
    const node_id id = {++yard->nodes};
    struct node_spec spec = {
        .name = arena_fmt(&yard->arena, "n%u", id.v),
        .slots_milli = devices > 0 ? (int64_t)devices * SLOT_MILLI : slots * SLOT_MILLI,
        .device_count = devices,
        .cpu_milli = 8000,
        .memory_bytes = 1 << 20,
        .resources = amounts,
        .pool = "default",
        .boot_id = "",
        .address = "",
        .version = "",
    };
    while (amounts != NULL && amounts[spec.resource_count].name != NULL) {
        spec.resource_count++;
    }
    struct fact fact = yard_fact(yard, FACT_NODE_SET);
    fact.node_set.node = id;
    fact.node_set.pool = (pool_id){1};
    fact.node_set.incarnation = 1;
    fact.node_set.spec = &spec;
    core_apply(yard->core, &fact);
    yard_node_state(yard, id, NODE_UP);
    return id;
}

/* The request of a task. A zero means the usual value. */
struct ask {
    int64_t slots; /* thousandths */
    struct amount named[2];
    int64_t cpu;
    uint64_t devices;
    bool gpu;
    uint32_t instances;
    bool gang;
    uint32_t priority;
    int64_t limit_ms;
};

static inline struct request yard_request(struct ask ask)
{
    struct request request;
    memset(&request, 0, sizeof request);
    request.slots_milli = ask.slots;
    request.cpu_milli = ask.cpu > 0 ? ask.cpu : ask.slots > 0 ? -1 : 0;
    request.memory_bytes = ask.slots > 0 ? -1 : 0;
    request.device_mask = ask.devices;
    request.needs_gpu = ask.gpu || ask.devices != 0;
    for (uint32_t i = 0; i < 2 && ask.named[i].milli > 0; i++) {
        request.named[i].resource = ask.named[i].resource;
        request.named[i].milli = ask.named[i].milli;
        request.named_count++;
    }
    return request;
}

static inline task_id yard_task(struct yard *yard, struct ask ask)
{
    static const char *const argv[] = {"true"};
    const struct request request = yard_request(ask);
    const struct task_spec spec = {
        .kind = TASK_COMMAND,
        .name = "",
        .user = "root",
        .project = "default",
        .image = "",
        .workdir = "",
        .argv = argv,
        .argv_count = 1,
        .instances = ask.instances > 0 ? ask.instances : 1,
        .gang = ask.gang,
        .repeatable = true,
        .priority = ask.priority > 0 ? ask.priority : PRIORITY_DEFAULT,
        .time_limit_ms = ask.limit_ms,
        .grace_ms = GRACE_MS_DEFAULT,
        .stale_grace_ms = STALE_GRACE_POOL,
        .preemption_delay_ms = PREEMPTION_DELAY_POOL,
    };
    struct fact fact = yard_fact(yard, FACT_TASK_SUBMITTED);
    fact.task_submitted.task = (task_id){++yard->tasks};
    fact.task_submitted.pool = (pool_id){1};
    fact.task_submitted.account = ACCOUNT_DEFAULT_PROJECT;
    fact.task_submitted.request = &request;
    fact.task_submitted.spec = &spec;
    core_apply(yard->core, &fact);
    return (task_id){yard->tasks};
}

/* Runs one pass and applies it; false: the pass stopped before it was complete. */
static inline bool yard_pass(struct yard *yard, uint64_t work_max)
{
    struct input in = {
        .type = INPUT_PASS, .now_ms = yard->now_ms, .actor = "scheduler", .cause = ""};
    in.pass.pool = (pool_id){1};
    in.pass.work_max = work_max;
    fact_list_init(&yard->facts, &yard->arena);
    pass_decide(yard->core, &in, &yard->facts);
    bool complete = true;
    for (size_t i = 0; i < yard->facts.count; i++) {
        core_apply(yard->core, &yard->facts.at[i]);
        complete = yard->facts.at[i].type != FACT_PASS || yard->facts.at[i].pass.complete;
    }
    if (yard->facts.count == 0) {
        core_pass_idle(yard->core, (pool_id){1});
    }
    return complete;
}

static inline void yard_passes(struct yard *yard)
{
    while (!yard_pass(yard, UINT64_MAX)) {
    }
}

static inline uint32_t yard_active(const struct yard *yard, task_id task)
{
    const struct task *row = query_task(yard->core, task);
    return row == NULL ? 0 : row->active_count;
}

/* Ends all instances of the task that hold something, with success. */
static inline void yard_end(struct yard *yard, task_id task)
{
    const struct task *row = query_task(yard->core, task);
    for (uint32_t i = 0; i < row->instance_count; i++) {
        const struct instance *instance = query_instance(yard->core, task, i);
        if (instance->state == INSTANCE_WAITING || instance->state == INSTANCE_ENDED) {
            continue;
        }
        struct fact fact = yard_fact(yard, FACT_ATTEMPT_ENDED);
        fact.attempt_ended.report = (struct report){
            .type = REPORT_ENDED,
            .key = {task, i, instance->attempt},
            .incarnation = instance->incarnation,
        };
        fact.attempt_ended.cause = END_EXIT;
        core_apply(yard->core, &fact);
    }
}
