/* state.h - the state itself: its tables, orders and sums. The layers above read through const.
 * Only apply/ writes (and state_decode*.c, which reads a state from bytes), through change.h.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/fail.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/ids.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/state/key.h"
#include "core/state/shares_cache.h"

#include <stdint.h>

/* How long the core waits for an agent's SIGKILL before it orders one itself. */
enum { STOP_SLACK_MS = 5000 };

/* Idempotency keys live this long. */
#define SUBMIT_KEY_MS ((int64_t)24 * 60 * 60 * 1000)

/* An idempotency key seen. Rows are in order of time. */
struct submit_key {
    uint8_t key[16];
    uint8_t body_hash[16];
    task_id first;
    uint32_t count;
    uint32_t pad;
    int64_t time_ms;
};

/* Two bits per ended task that did not complete: row id / OUTCOMES_PER_ROW + 1; no row, or 0: it
 * completed, or never ended. */
enum { OUTCOMES_PER_ROW = 32 };
struct outcome_row {
    uint64_t bits;
};

/* struct usage as it is kept. */
struct usage_row {
    struct sum allocated[QUOTA_DIMS_MAX];
    struct sum leaving[QUOTA_DIMS_MAX];
    struct sum fixed[QUOTA_DIMS_MAX];
    struct sum wanted[QUOTA_DIMS_MAX];
    struct sum gpu_memory_wanted; /* bytes, of those that ask for parts of devices by memory */
    uint32_t pending_count;
    uint32_t running_count;
};

/* Means of what an account held in a pool (model/decay.h); no row: all zero. */
enum { HISTORY_DIMS = DIM_NAMED_FIRST };
struct history_row {
    struct sum mean[HISTORY_DIMS];
};

/* Somebody who has tasks; the row goes with the last of them. */
struct user_row {
    user_id id;
    uint32_t task_count; /* all that have not been archived */
    struct blob *name;
};

/* Nodes with one value of the label that a level of their pool's topology goes by, inside one domain of the level above; the row
 * goes with the last of them. */
struct domain {
    domain_id id;
    pool_id pool;
    uint32_t level;
    domain_id around; /* of the level above; 0: it is of the widest */
    uint32_t node_count;
    struct blob *value; /* of the label, NUL-terminated */
};

/* What the tasks of a user hold in a pool; no row: nothing. */
struct user_usage {
    struct sum slots;
};

struct core {
    uint64_t seq;
    uint64_t epoch;
    uint8_t uuid[16];
    int64_t time_ms;
    struct table pools;     /* struct pool, by pool_id; deleted ones stay */
    struct table nodes;     /* struct node, by node_id; removed ones stay */
    struct table tasks;     /* struct task, by task_id; archived ones leave */
    struct table instances; /* struct instance, by row: task.instance_first + index */
    struct table shapes;    /* struct shape, by shape_id; unused ones leave */
    struct table keys;      /* struct submit_key, by row, in order of time */
    struct table outcomes;  /* struct outcome_row */
    struct table claims;    /* struct claim, by row of the instance */
    struct table evictions; /* struct eviction_note, by task */
    struct table typicals;  /* struct typical, by TYPICAL_KEY */
    struct table lengths;   /* struct length_group, by row: a number that nobody else knows */
    struct table accounts;  /* struct account, by account_id; deleted ones leave */
    struct table quotas;    /* struct quota_row, by ACCOUNT_KEY; no row: all defaults */
    struct table usages;    /* struct usage_row, by ACCOUNT_KEY, derived; no row: all zero */
    struct table histories; /* struct history_row, by ACCOUNT_KEY, of pools that look back */
    struct table domains;   /* struct domain, by domain_id, derived */
    struct table users;     /* struct user_row, by user_id, derived */
    struct table
        user_usages; /* struct user_usage, by ACCOUNT_KEY with the user for the account, derived */
    struct oindex orders[ORDER_COUNT];
    struct blob *resources[RESOURCES_MAX]; /* names, NUL-terminated; by resource_id */
    uint32_t resource_count;
    resource_id dims[QUOTA_DIMS_MAX]; /* the accounted ones, ascending: derived from quotas */
    uint32_t dim_count;
    uint32_t quota_mentions[RESOURCES_MAX]; /* how many quotas name it: derived */
    uint32_t pool_count;                    /* not deleted */
    uint32_t node_count;                    /* not removed */
    uint64_t task_counts[TASK_STATE_COUNT]; /* of ended states: ever */
    struct shares_cache *shares;            /* fair shares to show; NULL: caches are off */
    struct capacity *capacity;              /* the scheduler's index; NULL: caches are off */
    pool_id due_last;                       /* hint: the pool passed last, so that all take turns */
};

/* A state without tasks, pools and nodes, with the accounts that every state has. */
struct core *state_new(void);
void state_free(struct core *core); /* NULL is fine */

/* Another core with the same state; shares memory until one of them writes. */
struct core *state_copy(const struct core *core);

/* A copy without the scheduler's index: for looking ahead inside one decision. */
struct core *state_scratch(const struct core *core);

/* Indices and negative memory off: slower, same decisions. For tests. */
void state_caches_off(struct core *core);

/* The whole state as bytes, and back (state_encode.c, state_decode.c). */
void state_encode(const struct core *core, struct buf *out);
must_use enum err state_decode(struct str bytes, struct core **ret, struct error *e);
