/* state.h - the state itself, and what decide, apply, check and the scheduler share of it.
 * Only apply_*.c (and state_decode.c) write; everybody else reads through const.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "core/model/form_grow.h"
#include "core/model/length.h"
#include "core/model/oindex.h"
#include "core/model/table.h"
#include "core/model/typical.h"
#include "core/state/capacity.h"
#include "core/model/fit.h"
#include "core/sched/order/shares.h"

/* The orders. Each line: what the four numbers of a key are. */
enum order {
    ORDER_QUEUE,         /* pool, PRIORITY_KEY, RANK_KEY, task: queued tasks of a pool */
    ORDER_DEADLINE,      /* time, enum deadline_kind, task or pool, index */
    ORDER_POOL_NAME,     /* hash of the name, pool, 0, 0: pools that are not deleted */
    ORDER_NODE_NAME,     /* hash of the name, node, 0, 0: nodes that are not removed */
    ORDER_POOL_NODE,     /* pool, node, 0, 0: nodes that are not removed */
    ORDER_NODE_SIZE,     /* pool, ~slots, node, 0: the same, the largest first */
    ORDER_ON_NODE,       /* node, task, index, instance row: instances that hold something */
    ORDER_DEPENDENT,     /* dependency, DEPENDS_*, dependent, index: dependencies that still bind */
    ORDER_SHAPE_HASH,    /* hash, shape, 0, 0 */
    ORDER_SUBMIT_KEY,    /* key's first half, second half, row, 0 */
    ORDER_ACCOUNT_NAME,  /* hash of the name, kind, account, 0 */
    ORDER_ACCOUNT_CHILD, /* parent (0: the top), account, 0, 0 */
    ORDER_ACCOUNT_QUEUE, /* ACCOUNT_KEY, LANE_KEY, RANK_KEY or LENGTH_KEY, task: queued tasks of a project
                            in a pool, by lane */
    ORDER_ACCOUNT_RUNNING, /* ACCOUNT_KEY, PRIORITY_KEY, RANK_KEY, task: tasks of a project in a pool that
                            have an allocation */
    ORDER_ACCOUNT_LOSS, /* ACCOUNT_KEY, LOSS_KEY, ~instance_unsaved_ms, ~instance row: instances that
                           hold something and are not told to end */
    ORDER_USER_NAME,    /* hash of the name, user, 0, 0 */
    ORDER_CLAIM,        /* node, task, index, instance row: places promised to waiting instances */
    ORDER_NODE_CHANGING, /* pool, node, 0, 0: nodes that some leave, or on which a place is promised */
    ORDER_GPU_MEMORY, /* pool, bytes, node, 0: nodes that are not removed and know their devices' memory */
    ORDER_DOMAIN,      /* LEVEL_KEY, domain around it, hash of the label's value, domain */
    ORDER_DOMAIN_NODE, /* domain, node, 0, 0: nodes of a pool that are in it and not removed */
    ORDER_LENGTH,      /* hash, row, 0, 0: groups of tasks whose lengths are known */
    ORDER_LENGTH_AGE,  /* day, hash, row, 0: the same, those not seen longest first */
};
enum { ORDER_COUNT = ORDER_LENGTH_AGE + 1 };

/* The domains of one level lie together. */
#define LEVEL_KEY(pool, level) ((uint64_t)(pool).v << 32 | (uint64_t)(level))

enum deadline_kind {
    DEADLINE_TIME_LIMIT, /* of a started attempt */
    DEADLINE_STOP,       /* of an attempt told to end: the agent should have killed it by now */
    DEADLINE_PATIENCE,   /* of a pool's blocked task: a pass is due, no tick */
    DEADLINE_WAKE,       /* of a pool: likewise */
    DEADLINE_STALE,      /* of a gang below its minimum: it is stopped */
    DEADLINE_SETTLE,     /* of an ended task: others that wait for it are to be told */
    DEADLINE_HISTORY,    /* of a pool whose shares look back */
};

/* Those that any end sets free stand before those that need a success. */
enum { DEPENDS_ANY, DEPENDS_SUCCESS };

/* Higher priorities and lower ranks first. */
#define PRIORITY_KEY(priority) (~(uint64_t)(priority))
#define RANK_KEY(rank) ((uint64_t)(rank) ^ ((uint64_t)1 << 63))

/* Where short ones come first: length before rank; who holds a reservation or was lost with a node comes before all. */
#define LENGTH_KEY(step, rank)                                                                     \
    ((uint64_t)(step) << LENGTH_SHIFT | ((uint64_t)(rank)&LENGTH_RANK_MASK))
enum { LENGTH_SHIFT = 48, LENGTH_STEP_FRONT = 1 };
#define LENGTH_RANK_MASK (((uint64_t)1 << LENGTH_SHIFT) - 1)

/* The accounts of one pool lie together; so do the shapes of one of them. */
#define ACCOUNT_KEY(pool, account) ((uint64_t)(pool).v << 32 | (uint64_t)(account).v)

/* What is equal in the tasks of one lane of a queue, so that what does not fit for one fits for none: shape, whether they are
 * preemptible, how far a gang has grown (task_stage) and, so that lanes are in order, priority. */
#define LANE_KEY(shape, fixed, stage, priority)                                                    \
    ((uint64_t)(shape).v << 32 | (uint64_t)(fixed) << LANE_FIXED_SHIFT |                           \
     (uint64_t)(stage) << LANE_STAGE_SHIFT | (~(uint64_t)(priority)&LANE_PRIORITY_MASK))
enum { LANE_FIXED_SHIFT = 31, LANE_STAGE_SHIFT = 29, LANE_PRIORITY_MASK = (1 << 29) - 1 };

/* Instances that lose alike by the hour lie together, those that began or saved last first: lowest priority, those that may be told
 * to go before those that may not, then what they hold (from LOSS_SLOTS on: slots, from LOSS_CPU on: cpu; below: gangs, as LOSS_GANG has it). */
#define LOSS_KEY(priority, fixed, held)                                                            \
    ((uint64_t)(priority) << 32 | (uint64_t)(fixed) << LOSS_FIXED_SHIFT | (uint64_t)(held))
enum {
    LOSS_FIXED_SHIFT = 31,
    LOSS_SLOTS = 1 << 30,
    LOSS_CPU = 1 << 29,
    LOSS_HELD_MAX = LOSS_CPU - 1,
};

/* Instances of gangs: those that go whole behind those that can be smaller, then what one holds (slots, or cpu), then the logarithm
 * of how many there are, rounded up. */
#define LOSS_GANG(whole, slots, held, size)                                                        \
    ((uint64_t)(whole) << LOSS_WHOLE_SHIFT | (uint64_t)(slots) << LOSS_GANG_SLOTS_SHIFT |          \
     (uint64_t)(held) << LOSS_GANG_HELD_SHIFT | (uint64_t)(size))
enum {
    LOSS_WHOLE_SHIFT = 28,
    LOSS_GANG_SLOTS_SHIFT = 27,
    LOSS_GANG_HELD_SHIFT = 5,
    LOSS_GANG_HELD_MAX = (1 << (LOSS_GANG_SLOTS_SHIFT - LOSS_GANG_HELD_SHIFT)) - 1,
    LOSS_GANG_SIZE_MASK = (1 << LOSS_GANG_HELD_SHIFT) - 1,
};

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
        holds; /* struct user_usage, by ACCOUNT_KEY with the user for the account, derived */
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

/* ---- claims ---- */

struct grant instance_grant(const struct instance *instance);
struct grant claim_grant(const struct claim *claim);
const struct request *query_instance_request(const struct core *core,
                                             const struct instance *instance);

/* May the task be promised places: it waits in the queue, or will do so when it has stopped? May this instance of it? */
bool task_keeps_claims(const struct task *task);
bool instance_may_claim(const struct instance *instance);

/* Make of what is free on a node (`ret`, its arrays in `room`) what will be free when those that are stopping have ended (without
 * those who should have long ago, where no place is promised yet) and, with
 * `claims`, those promised a place have started. */
void space_later(const struct core *core, const struct node *node, bool claims,
                 struct space_room *room, struct space *ret);

/* Will the claims on a node all find what they were promised? */
bool space_claims_fit(const struct core *core, const struct node *node);

/* The spec with those fields that the edit sets; texts are borrowed from it. */
void spec_edit_task(struct task_spec *spec, const struct task_edit *edit);

/* A copy without the scheduler's index: for looking ahead inside one decision. */
struct core *state_scratch(const struct core *core);

/* A sum as a number: at most QUOTA_SUM_MAX. */
int64_t vector_sum_shown(const struct sum *sum);

/* ---- history ---- */

/* Do the shares of a pool depend on what was used before? */
bool history_looks_back(const struct pool *pool);
/* Between two ticks. */
int64_t history_period_ms(const struct pool *pool);
/* It has been idle, and is asked for something: a tick comes before anything is divided. */
bool history_stale(const struct pool *pool, int64_t now_ms);

/* ---- topology ---- */

/* The level of a pool's topology that has this name; false: none has. Its name. */
bool topology_level(const struct pool *pool, const char *name, uint32_t *ret);
const char *topology_level_name(const struct pool *pool, uint32_t level);

const struct domain *topology_domain(const struct core *core, domain_id id);

/* The domains of a level of a pool, inside `inside` (0: all of them): start with 0; 0 at the end. In no particular order. */
domain_id topology_domain_next(const struct core *core, pool_id pool, uint32_t level,
                               domain_id inside, domain_id after);

/* The nodes of a domain by number; NULL at the end. */
const struct node *topology_domain_node_next(const struct core *core, domain_id domain,
                                             node_id after);

/* The part of core_check_rows() for topology. */
void check_topology(const struct core *core, uint64_t *counts);

/* ---- keys ---- */

uint64_t key_name_hash(const char *name);
struct okey key_submit(const uint8_t *key, uint64_t row);

/* The i-th dependency of a task. */
struct okey key_depends(task_id task, const struct task_spec *spec, uint32_t i);
/* Does it stand there before? */
bool depends_twice(const struct task_spec *spec, uint32_t i);
/* The first of those that wait for a task; false: none does. */
bool depends_first(const struct core *core, task_id dependency, struct okey *ret);
/* Does an end in this state set that one free? */
bool depends_freed(struct okey key, enum task_state state);

/* The deadline of an ended task that is still in its table. */
struct okey key_settle(const struct task *task);

struct okey key_queue(const struct task *task);
struct okey key_account_queue(const struct task *task);
struct okey key_account_running(const struct task *task);
struct okey key_node_size(const struct node *node);
struct okey key_account_loss(const struct task *task, const struct instance *instance);

/* ---- reading ---- */

const struct instance *query_instance_row(const struct core *core, uint64_t row);
/* The live attempt that `key` names, or NULL: another attempt, no allocation, no such task. */
const struct instance *query_instance_live(const struct core *core, struct attempt_key key);
/* STARTING, RUNNING or STOPPING. */
bool instance_active(const struct instance *instance);
/* The same without those that are told to end. */
bool instance_stays(const struct instance *instance);
/* Since when nothing of its work is saved: its last checkpoint, else its allocation (resources are held from then on, and the state
 * keeps that order from the first moment). */
int64_t instance_unsaved_ms(const struct instance *instance);

/* Did an attempt that ended so fail by its own fault? Such ends count against max_retries. */
bool instance_failed(enum end_cause cause, int32_t exit_code);

/* The number of instances that start together: a gang's minimum, or 1. */
uint32_t task_gang_size(const struct task *task);

/* One of a gang has failed for good, or is lost and not to be repeated: all of it ends. */
bool gang_doomed(const struct task *task);

/* May a gang that lost some of its instances be below its minimum for a while; how long (STALE_GRACE_NEVER: for ever)? */
bool gang_may_wait(const struct task *task);
int64_t gang_grace_ms(const struct core *core, const struct task *task);

/* Does it have less than its minimum? */
bool gang_lacks(const struct task *task);

/* Some of it run and stay, but less than its minimum, or than that of a group which has begun. */
bool gang_broken(const struct task *task);

/* Instances by group that run and stay (`ret_stays`, or NULL), and with them those that have done their work. */
void gang_have(const struct core *core, const struct task *task, struct form_have *ret,
               struct form_have *ret_stays);

/* Would its minimum be met without this one, by those that run and stay or have done their work? */
bool gang_without(const struct core *core, const struct task *task,
                  const struct instance *instance);

/* When that has to end, as ORDER_DEADLINE has it; false: it is not so, or need not. */
bool gang_stale_key(const struct core *core, const struct task *task, struct okey *ret);

/* Instances that run or have done their work. */
uint32_t task_grown(const struct task *task);

/* How much longer than its pool's patience it may be overtaken where short ones go first: a part of its length, and a smaller one
 * where its time limit says how long it is, because that is rarely wrong. */
int64_t task_overtaken_ms(const struct task *task);

/* How far a gang has grown: 0 it has not started, 1 it has just its minimum, 2 more. Others: 0. */
uint32_t task_stage(const struct task *task);

/* The number of instances to place next: what is missing of a gang's minimum, else 1. Where groups have minimums of their own it is
 * 1: see form_chunk(). */
uint32_t task_chunk(const struct task *task);

/* Is it promised places for all it waits for? */
bool task_promised(const struct task *task);

/* May a start go there: up and not draining. */
bool node_takes_work(const struct node *node);

/* The amount of a named resource that a node has (free of it): 0 when it has none. */
int64_t node_named(const struct node *node, resource_id resource);
int64_t node_named_free(const struct node *node, resource_id resource);

/* Says a quota nothing that the defaults do not say? There is no row for such a one. */
bool quota_row_default(const struct quota_row *row);

/* Were `now` (NULL: nothing) to become `next`: would there be few enough accounted resources? */
bool query_quota_dims_fit(const struct core *core, const struct quota_row *now,
                          const struct quota_row *next);

/* The bytes that one instance asks for as parts of devices by memory, of all of them; 0: none. So many slots on the pool's smallest
 * devices. What an account wants in slots, those parts included. */
int64_t resource_gpu_memory(const struct request *request);
int64_t query_dim_gpu_slots(const struct core *core, pool_id pool, int64_t bytes);
int64_t query_usage_slots_wanted(const struct core *core, pool_id pool, const struct usage *usage);

/* The part of core_check_rows() for accounts, quotas and users; counts what each order should hold. */
void check_account_all(const struct core *core, uint64_t *counts);
