/* key.h - the orders of the state, and the keys under which rows stand in them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/task.h"

#include <stdint.h>

struct task_spec;

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

uint64_t key_name_hash(const char *name);
struct okey key_submit(const uint8_t *key, uint64_t row);

/* The i-th dependency of a task. */
struct okey key_depends(task_id task, const struct task_spec *spec, uint32_t i);

/* The deadline of an ended task that is still in its table. */
struct okey key_settle(const struct task *task);

struct okey key_queue(const struct task *task);
struct okey key_account_queue(const struct task *task);
struct okey key_account_running(const struct task *task);
struct okey key_node_size(const struct node *node);
struct okey key_account_loss(const struct task *task, const struct instance *instance);
