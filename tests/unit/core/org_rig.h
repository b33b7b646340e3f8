/* org_rig.h - an organisation under test: departments, projects, quotas in whole slots, tasks,
 * and agents that obey at once.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core_rig.h"

#include <stdio.h>
#include <string.h>

enum { ORG_EVICTED_MAX = 256, ORG_ROUNDS_MAX = 200, ORG_UNLIMITED = -1 };

struct org {
    struct rig rig;
    struct attempt_key evicted[ORG_EVICTED_MAX]; /* instances evicted since org_forget() */
    struct eviction why[ORG_EVICTED_MAX];
    uint32_t evicted_count;
};

static const pool_id org_pool_id = {1};

static inline void org_done(struct org *org)
{
    rig_done(&org->rig);
}

/* Changes the definition of the pool by a function. */
static inline void org_pool(struct org *org, void (*change)(struct pool_spec *spec))
{
    struct arena arena;
    arena_init(&arena);
    struct pool_spec spec;
    query_pool_spec(org->rig.core, org_pool_id, &arena, &spec);
    change(&spec);
    struct input in = {.type = INPUT_POOL_EDIT, .pool = {.pool = org_pool_id, .spec = &spec}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    arena_done(&arena);
}

/* Shares count at once, as the tests of single rules want it: no turn protects what was borrowed. */
static inline void org_no_turns(struct pool_spec *spec)
{
    spec->turn_ms = 0;
    spec->patience_ms = 60000;
}

static inline void org_init(struct org *org)
{
    *org = (struct org){0};
    rig_init(&org->rig);
    org_pool(org, org_no_turns);
}

static inline void org_nodes(struct org *org, uint32_t count, unsigned slots)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "n%u-%u", org->rig.core == NULL ? 0 : slots,
                       (unsigned)query_pool(org->rig.core, org_pool_id)->node_count + 1);
        (void)rig_node(&org->rig, name, slots, 0, (uint8_t)(i + 1));
    }
}

static inline account_id org_add(struct org *org, enum account_kind kind, const char *name,
                                 const char *parent)
{
    struct account_spec spec = {.kind = kind, .name = name, .parent = parent};
    struct input in = {.type = INPUT_ACCOUNT_SET};
    in.account.spec = &spec;
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    return query_account_named(org->rig.core, kind, name)->id;
}

struct org_quota {
    int64_t guaranteed; /* whole slots */
    int64_t limit;      /* or ORG_UNLIMITED */
    uint32_t weight;    /* whole; 0 means 0 */
    uint32_t rank;      /* 0: the default */
    int64_t reclaim_min_runtime_ms;
    int64_t preempt_min_runtime_ms;
};

static inline void org_quota(struct org *org, account_id account, struct org_quota quota)
{
    struct quota_amount amount = {
        .resource = "slots",
        .guaranteed = quota.guaranteed * SLOT_MILLI,
        .limit = quota.limit == ORG_UNLIMITED ? QUOTA_UNLIMITED : quota.limit * SLOT_MILLI,
        .weight = quota.weight * 1000,
    };
    struct quota_spec spec = {
        .amounts = &amount,
        .amount_count = 1,
        .rules.rank = quota.rank == 0 ? QUOTA_RANK_DEFAULT : quota.rank,
        .rules.preempt_min_runtime_ms =
            quota.preempt_min_runtime_ms == 0 ? QUOTA_INHERIT : quota.preempt_min_runtime_ms,
        .rules.reclaim_min_runtime_ms =
            quota.reclaim_min_runtime_ms == 0 ? QUOTA_INHERIT : quota.reclaim_min_runtime_ms,
    };
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = account;
    in.quota.pool = org_pool_id;
    in.quota.spec = &spec;
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}

struct org_task {
    const char *project;
    unsigned slots;
    uint32_t instances; /* 0: one */
    uint32_t min_instances;
    uint32_t priority; /* 0: the default */
    bool fixed;        /* not preemptible */
    bool gang;
};

static inline task_id org_submit(struct org *org, struct org_task task)
{
    struct task_spec spec = rig_spec();
    spec.project = task.project;
    spec.slots_milli = (int64_t)task.slots * SLOT_MILLI;
    spec.instances = task.instances == 0 ? 1 : task.instances;
    spec.gang = task.gang;
    spec.min_instances = task.min_instances;
    spec.preemptible = !task.fixed;
    spec.priority = task.priority == 0 ? PRIORITY_DEFAULT : task.priority;
    return rig_submit(&org->rig, spec);
}

static inline void org_forget(struct org *org)
{
    org->evicted_count = 0;
}

/* Runs one pass; true: the pass decided something. */
static inline bool org_pass(struct org *org)
{
    struct input in = {.type = INPUT_PASS, .pass = {.pool = org_pool_id, .work_max = UINT64_MAX}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    for (size_t i = 0; i < org->rig.facts.count; i++) {
        const struct fact *fact = &org->rig.facts.at[i];
        if (fact->type == FACT_EVICTED) {
            assert_in_range(org->evicted_count, 0, ORG_EVICTED_MAX - 1);
            org->evicted[org->evicted_count] = fact->evicted.key;
            org->why[org->evicted_count++] = fact->evicted.why;
        }
    }
    if (org->rig.facts.count == 0) {
        core_pass_idle(org->rig.core, org_pool_id);
    }
    return org->rig.facts.count > 0;
}

/* Starts ordered instances and ends those that were told to stop; true: there was one. */
static inline bool org_agents(struct org *org)
{
    bool any = false;
    const struct task *task = query_task_next(org->rig.core, (task_id){0});
    while (task != NULL) {
        const task_id id = task->id;
        for (uint32_t i = 0; query_instance(org->rig.core, id, i) != NULL; i++) {
            const enum instance_state state = query_instance(org->rig.core, id, i)->state;
            if (state == INSTANCE_STARTING) {
                rig_report(&org->rig, id, i, REPORT_STARTED, 0);
                any = true;
            } else if (state == INSTANCE_STOPPING) {
                rig_report(&org->rig, id, i, REPORT_ENDED, 143);
                any = true;
            }
            if (query_task(org->rig.core, id) == NULL) {
                break;
            }
        }
        task = query_task_next(org->rig.core, id);
    }
    return any;
}

/* Runs passes and agents until nothing happens. Then five further passes must change nothing
 * (P6). */
static inline void org_settle(struct org *org)
{
    uint32_t quiet = 0;
    for (uint32_t round = 0; quiet < 5; round++) {
        assert_in_range(round, 0, ORG_ROUNDS_MAX);
        org->rig.now_ms += 1000;
        const bool decided = org_pass(org);
        const bool reported = org_agents(org);
        quiet = decided || reported ? 0 : quiet + 1;
    }
}

/* Returns the whole slots that the account's tasks hold. */
static inline int64_t org_holds(const struct org *org, account_id account)
{
    struct usage usage;
    query_usage(org->rig.core, account, org_pool_id, &usage);
    return usage.allocated.at[DIM_SLOTS] / SLOT_MILLI;
}

static inline bool org_runs(const struct org *org, task_id task)
{
    const struct task *row = query_task(org->rig.core, task);
    return row != NULL && row->state == TASK_RUNNING && row->waiting_count == 0;
}

static inline void org_kill(struct org *org, task_id task)
{
    assert_int_equal(rig_task(&org->rig, INPUT_TASK_KILL, task), VERDICT_OK);
}

/* The server says that the task has done nothing for `idle_ms`; the facts stay in the rig. */
static inline void org_idle(struct org *org, task_id task, int64_t idle_ms, int64_t warned_ms)
{
    const struct input in = {.type = INPUT_TASK_IDLE,
                             .task = {.task = task,
                                      .idle_since_ms = org->rig.now_ms - idle_ms,
                                      .idle_seen_ms = org->rig.now_ms,
                                      .idle_warned_ms = warned_ms}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}
