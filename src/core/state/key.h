/* key.h - the orders of the state, and the keys of rows in the orders.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/rollout.h"
#include "core/model/task.h"

#include <stdint.h>

struct task_spec;

/* The orders. Each comment names the four numbers of a key, then the rows that stand in the order. */
enum order {
    ORDER_QUEUE,     /* pool, PRIORITY_KEY, RANK_KEY, task: queued tasks of a pool */
    ORDER_DEADLINE,  /* time, enum deadline_kind, task or pool, index */
    ORDER_POOL_NAME, /* hash of the name, pool, 0, 0: pools that are not deleted */
    ORDER_NODE_NAME, /* hash of the name, node, 0, 0: nodes that are not removed */
    ORDER_POOL_NODE, /* pool, node, 0, 0: nodes that are not removed */
    /* pool, ~slots, node, 0: nodes that are not removed, the largest first */
    ORDER_NODE_SIZE,
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
    ORDER_ACCOUNT_BEGUN, /* ACCOUNT_KEY, allocated_ms, instance row, 0: the same instances, the oldest first */
    ORDER_USER_NAME, /* hash of the name, user, 0, 0 */
    ORDER_CLAIM,     /* node, task, index, instance row: places promised to waiting instances */
    /* pool, node, 0, 0: nodes that instances are leaving, or on which a place is promised */
    ORDER_NODE_CHANGING,
    /* pool, bytes, node, 0: nodes that are not removed and whose device memory is known */
    ORDER_GPU_MEMORY,
    /* LEVEL_KEY, domain of the wider level, hash of the label's value, domain */
    ORDER_DOMAIN,
    ORDER_DOMAIN_NODE, /* domain, node, 0, 0: nodes that are in the domain and not removed */
    ORDER_LENGTH,      /* hash, row, 0, 0: groups of tasks whose lengths are known */
    /* day, hash, row, 0: groups of tasks whose lengths are known, the group not seen for longest first */
    ORDER_LENGTH_AGE,
    /* pool, since when the node has no work, launch, 0: nodes of launches that may go */
    ORDER_LAUNCH_IDLE,
    /* pool, task, 0, 0: waiting tasks that open their next pool when this pool has no capacity */
    ORDER_FALLBACK,
    ORDER_FLAVOR_NAME, /* hash of the name, flavor, 0, 0 */
    ORDER_FLAVOR_POOL, /* flavor, pool, 0, 0: pools that have the flavor and are not deleted */
    /* flavor, since when, pool, 0: pools that wait because their flavor is sold out, first come first served */
    ORDER_FLAVOR_WAIT,
    /* both halves of a label's mark, node, 0: nodes that follow their labels and are not removed */
    ORDER_LABEL_NODE,
    /* both halves of the first mark of a selector, pool, 0: pools with a selector */
    ORDER_SELECTOR,
    /* pool, node, 0, 0: nodes that belong to the pool by their labels, and that several selectors match */
    ORDER_CONTESTED,
    /* pool, is the machine up, ~launch, launch: launches whose agents have not joined */
    ORDER_LAUNCH_STARTING,
    ORDER_POOL_DUE, /* pool, 0, 0, 0: pools that are not deleted and that are due for a pass */
    ORDER_SERVICE, /* project, hash of the name, ~task, 0: tasks of kind service that have not ended */
    ORDER_SUCCESSOR, /* origin, ~task, 0, 0: services that took the place of others and have not ended */
    ORDER_CHECKED, /* task, 0, 0, 0: tasks with a health check that have active instances */
};
enum { ORDER_COUNT = ORDER_CHECKED + 1 };

/* The domains of one level of a pool lie together. */
#define LEVEL_KEY(pool, level) ((uint64_t)(pool).v << 32 | (uint64_t)(level))

enum deadline_kind {
    DEADLINE_TIME_LIMIT, /* the time limit of a started attempt */
    /* an attempt was told to stop, and the agent should have killed it by now */
    DEADLINE_STOP,
    DEADLINE_WAKE,     /* the wake-up of a pool: a pass is due, and a tick has nothing to do */
    DEADLINE_STALE,    /* the grace of a gang below its minimum ends: the gang is stopped */
    DEADLINE_SETTLE,   /* tasks still wait for an ended task and must be released or failed */
    DEADLINE_HISTORY,  /* the next tick of a pool's usage history */
    DEADLINE_SHRINK,   /* a node of a pool has had no work for long enough and may go */
    DEADLINE_JOIN,     /* the agent of a launch should have joined by now */
    DEADLINE_HOLD,     /* a task that backed off after a loss may be queued again */
    DEADLINE_FALLBACK, /* a task has waited long enough: its next pool opens */
    DEADLINE_LIFE,     /* the state or the health of a pool has changed, and no fact says so yet */
    DEADLINE_DELETE,   /* a deleted pool can no longer be restored, and goes for good */
    DEADLINE_MOVE,  /* an empty node goes to another pool. Its time is 0: the move is due at once */
    DEADLINE_LEAVE, /* the node of a launch that leaves its pool has no work: its machine ends */
    DEADLINE_DRAIN, /* a node should be without work by now */
    DEADLINE_REPLACE, /* the next node of a pool may be replaced, or the replacement ends */
    DEADLINE_UNFIT,   /* the node of a launch was out of service for too long */
    DEADLINE_FORGET,  /* the row of a removed node leaves the state */
    DEADLINE_ROLLOUT, /* an old instance has answered its last requests, or a new one is late */
};

/* Tasks that any end releases stand before tasks that need a success. */
enum { DEPENDS_ANY, DEPENDS_SUCCESS };

/* Higher priorities and lower ranks come first. */
#define PRIORITY_KEY(priority) (~(uint64_t)(priority))
#define RANK_KEY(rank) ((uint64_t)(rank) ^ ((uint64_t)1 << 63))

/* For pools with order `short-first`: length before rank. A task with a reservation (step 0) comes first,
 * then a task that was lost with a node (LENGTH_STEP_FRONT). */
#define LENGTH_KEY(step, rank)                                                                     \
    ((uint64_t)(step) << LENGTH_SHIFT | ((uint64_t)(rank)&LENGTH_RANK_MASK))
enum { LENGTH_SHIFT = 48, LENGTH_STEP_FRONT = 1 };
#define LENGTH_RANK_MASK (((uint64_t)1 << LENGTH_SHIFT) - 1)

/* The accounts of one pool lie together. */
#define ACCOUNT_KEY(pool, account) ((uint64_t)(pool).v << 32 | (uint64_t)(account).v)

/* A lane of a queue is the tasks of one project with equal LANE_KEY. When the first task of a lane does not
 * fit, no task of the lane fits. The key has the shape, whether the task is preemptible, how far a gang has
 * grown (task_stage) and, for the order, the priority. */
#define LANE_KEY(shape, fixed, stage, priority)                                                    \
    ((uint64_t)(shape).v << 32 | (uint64_t)(fixed) << LANE_FIXED_SHIFT |                           \
     (uint64_t)(stage) << LANE_STAGE_SHIFT | (~(uint64_t)(priority)&LANE_PRIORITY_MASK))
enum { LANE_FIXED_SHIFT = 31, LANE_STAGE_SHIFT = 29, LANE_PRIORITY_MASK = (1 << 29) - 1 };

/* Instances whose eviction costs the same per hour lie together; the instance that started or saved last
 * comes first. The lowest priority comes first, then preemptible before not preemptible, then what the
 * instance holds: slots from LOSS_SLOTS on, cpu from LOSS_CPU on, instances of gangs below LOSS_CPU by
 * LOSS_GANG. */
#define LOSS_KEY(priority, fixed, held)                                                            \
    ((uint64_t)(priority) << 32 | (uint64_t)(fixed) << LOSS_FIXED_SHIFT | (uint64_t)(held))
enum {
    LOSS_FIXED_SHIFT = 31,
    LOSS_SLOTS = 1 << 30,
    LOSS_CPU = 1 << 29,
    LOSS_HELD_MAX = LOSS_CPU - 1,
};

/* Instances of gangs. A gang that needs all its instances comes behind an elastic gang. Then comes what one
 * instance holds (slots, else cpu), then the binary logarithm of the number of instances, rounded up. */
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

/* The key of a task that backs off after a loss, in ORDER_DEADLINE. */
struct okey key_hold(task_id task, int64_t until_ms);

/* The keys of a pool in ORDER_DEADLINE: its state has changed; it goes for good. */
struct okey key_life(pool_id pool);
struct okey key_delete(pool_id pool, int64_t at_ms);

/* Returns the key of a rollout with a deadline in ORDER_DEADLINE. */
struct okey key_rollout(const struct rollout *row, task_id id);

/* Sets the key of a task in ORDER_SUCCESSOR. False: the task took no place of another one, or has ended. */
bool key_successor(const struct task *task, struct okey *ret);

/* Sets the key of a task in ORDER_SERVICE. False: the task is no service, or has ended. */
bool key_service(const struct task *task, struct okey *ret);

/* Sets the key of a task in ORDER_CHECKED. False: the task has no health check, or no active instance. */
bool key_checked(const struct task *task, struct okey *ret);

/* The key of the i-th dependency of a task in ORDER_DEPENDENT. */
struct okey key_depends(task_id task, const struct task_spec *spec, uint32_t i);

/* The deadline of an ended task that is not archived yet. */
struct okey key_settle(const struct task *task);

struct okey key_queue(const struct task *task);
struct okey key_account_queue(const struct task *task);
struct okey key_account_running(const struct task *task);
struct okey key_node_size(const struct node *node);
struct okey key_account_loss(const struct task *task, const struct instance *instance);

/* The key in ORDER_ACCOUNT_BEGUN. */
struct okey key_account_begun(const struct task *task, const struct instance *instance);
