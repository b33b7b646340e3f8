/* state.h - the state: its tables, orders and sums. All other rooms read a const state. Only apply/ and
 * state_codec*.c (which makes a state from bytes) write the state, through change.h.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/fail.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/ids.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/spec.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/state/key.h"
#include "core/state/shares_cache.h"

#include <stdint.h>

/* How long after the agent should have sent SIGKILL the core orders another stop. */
enum { STOP_SLACK_MS = 5000 };

/* How long an idempotency key is remembered. */
#define SUBMIT_KEY_MS ((int64_t)24 * 60 * 60 * 1000)

/* An idempotency key that was used. The rows are in order of time. */
struct submit_key {
    uint8_t key[16];
    uint8_t body_hash[16];
    task_id first;
    uint32_t count;
    uint32_t pad;
    int64_t time_ms;
};

/* How archived tasks ended: two bits for each task, in row id / OUTCOMES_PER_ROW + 1. No row, or bits 0: the
 * task completed or has not ended. */
enum { OUTCOMES_PER_ROW = 32 };
struct outcome_row {
    uint64_t bits;
};

/* struct usage as the state keeps it, in sums that cannot wrap. */
struct usage_row {
    struct sum allocated[QUOTA_DIMS_MAX];
    struct sum leaving[QUOTA_DIMS_MAX];
    struct sum fixed[QUOTA_DIMS_MAX];
    struct sum wanted[QUOTA_DIMS_MAX];
    /* bytes of parts of devices by memory that waiting instances request */
    struct sum gpu_memory_wanted;
    uint32_t pending_count;
    uint32_t running_count;
};

/* Usage history: decaying means of what an account held in a pool (model/decay.h). No row: all means are 0. */
enum { HISTORY_DIMS = DIM_NAMED_FIRST };
struct history_row {
    struct sum mean[HISTORY_DIMS];
};

/* A user who has tasks. The row is removed with the user's last task. */
struct user_row {
    user_id id;
    uint32_t task_count; /* tasks that are not archived */
    struct blob *name;
};

/* A domain: the nodes of a pool that have the same value of a level's label, inside one domain of the wider
 * level. The row is removed with the last node. */
struct domain {
    domain_id id;
    pool_id pool;
    uint32_t level;
    domain_id around; /* the domain of the next wider level; 0: this is the widest level */
    uint32_t node_count;
    struct blob *value; /* value of the label, NUL-terminated */
};

/* What the tasks of a user hold in a pool. No row: nothing. */
struct user_usage {
    struct sum slots;
};

struct core {
    uint64_t seq;
    uint64_t epoch;
    uint8_t uuid[16];
    int64_t time_ms;
    struct table pools;     /* struct pool, by pool_id; deleted pools stay */
    struct table nodes;     /* struct node, by node_id; removed nodes stay */
    struct table tasks;     /* struct task, by task_id; an archived task is removed */
    struct table instances; /* struct instance, by row: task.instance_first + index */
    struct table shapes;    /* struct shape, by shape_id; an unused shape is removed */
    struct table keys;      /* struct submit_key, by row, in order of time */
    struct table outcomes;  /* struct outcome_row, by task id / OUTCOMES_PER_ROW + 1 */
    struct table claims;    /* struct claim, by row of the instance */
    struct table evictions; /* struct eviction_note, by task */
    struct table fallbacks; /* struct fallback, by task; no row: the task names one pool */
    struct table
        entries; /* struct task, by task and place in its list of pools, derived (fallback.h) */
    struct table typicals; /* struct typical, by TYPICAL_KEY */
    /* struct length_group, by row; ORDER_LENGTH finds the row of a hash */
    struct table lengths;
    struct table accounts;  /* struct account, by account_id; a deleted account is removed */
    struct table quotas;    /* struct quota_row, by ACCOUNT_KEY; no row: all defaults */
    struct table usages;    /* struct usage_row, by ACCOUNT_KEY, derived; no row: all zero */
    struct table histories; /* struct history_row, by ACCOUNT_KEY, of pools that look back */
    struct table launches;  /* struct launch, by launch_id; ended ones leave */
    struct table flavors;   /* struct flavor, by flavor_id; a deleted flavor is removed */
    struct table rollouts;  /* struct rollout, by the task that was submitted for it */
    struct table networks;  /* struct network, by network_id; a deleted network is removed */
    struct table domains;   /* struct domain, by domain_id, derived */
    struct table users;     /* struct user_row, by user_id, derived */
    struct table
        user_usages; /* struct user_usage, by ACCOUNT_KEY with the user for the account, derived */
    struct oindex orders[ORDER_COUNT];
    /* names of resources, NUL-terminated, by resource_id */
    struct blob *resources[RESOURCES_MAX];
    uint32_t resource_count;
    struct blob *default_pools[POOL_DEFAULT_COUNT]; /* names, NUL-terminated */
    resource_id dims[QUOTA_DIMS_MAX]; /* the accounted ones, ascending: derived from quotas */
    uint32_t dim_count;
    uint32_t quota_mentions[RESOURCES_MAX]; /* how many quotas mention a resource: derived */
    uint32_t pool_count;                    /* pools that are not deleted */
    uint32_t node_count;                    /* nodes that are not removed */
    /* tasks by state; for ended states: all tasks that ever ended so */
    uint64_t task_counts[TASK_STATE_COUNT];
    struct shares_cache *shares; /* a cache of fair shares; NULL: caches are off */
    struct capacity *capacity;   /* the scheduler's index; NULL: caches are off */
    /* a hint: the pool of the last pass, so that all pools take turns */
    pool_id due_last;
};

/* A state without tasks, pools and nodes, with the accounts that every state has. */
struct core *state_new(void);
void state_free(struct core *core); /* NULL is fine */

/* A copy of the state. State and copy share memory until one of them writes. */
struct core *state_copy(const struct core *core);

/* A copy without caches, for the facts of a decision under way. */
struct core *state_scratch(const struct core *core);

/* Turns all caches off, for tests. Decisions are slower and the same. */
void state_caches_off(struct core *core);

/* The whole state as bytes, and back (state_encode.c, state_decode.c). */
void state_encode(const struct core *core, struct buf *out);
must_use enum err state_decode(struct str bytes, struct core **ret, struct error *e);
