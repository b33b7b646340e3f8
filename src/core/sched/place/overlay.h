/* overlay.h - the nodes of a pool as a step has changed them so far. The state itself stays untouched.
 *
 *   state ──▶ node row            the source for untouched nodes
 *   overlay ─▶ spot: free now     nodes on which the step has placed or freed something
 *                    ├─ later     nodes that instances are leaving, or on which a place is claimed
 *                    └─ keep      nodes kept for the holder of a reservation
 *
 * "Later" is the moment when all leaving instances have left and all claims have started. A start must fit now and later. A claim must
 * fit later.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/ids.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/trail.h"
#include "core/sched/order/view.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

struct tight_index;

/* A task that asks for places, with the arguments of its searches. */
struct asker {
    const struct task *task;
    const struct request *request; /* of each instance */
    int64_t end_ms;                /* when the task ends by its time limit; INT64_MAX: unknown */
    struct trail *trail;           /* of the task's shape; NULL: every search begins anew */
    enum view view;
    uint32_t passes;    /* holders whose kept places the task may use, bit by bit (rights.h) */
    bool bounded;       /* `left` bounds cpu or memory that come with the slots */
    bool unproven;      /* a search for the task stopped before it had looked at everything */
    struct vector left; /* what the task's accounts may still take; VECTOR_UNLIMITED: no bound */
    /* above 0: only nodes on which so many instances would stay within `whole`, what the accounts may take in all */
    uint32_t even;
    struct vector whole;
};

/* An instance to which this step gave a place: a start or a claim. */
struct placed {
    struct placed *next; /* the instance placed before this one on the same node */
    const struct asker *asker;
    uint32_t index; /* of the instance */
    bool beside;    /* the instance uses what the node's keep leaves to others */
    bool passes;    /* the instance has a right to places kept for the node's holder */
    bool claim;     /* a claim, else a start */
    struct grant grant;
};

/* What is free on a node once all leaving instances have left and all promised places are taken. */
struct later {
    struct space place;
    struct space_room room;
};

/* The unit of memory in which kept amounts are counted, in bytes: amounts × time must not overflow. */
enum { KEEP_MEMORY_UNIT = 1 << 20 };

/* A node kept for the holder of a reservation. A node is kept for one holder at a time. */
struct keep {
    const struct task *task; /* the holder */
    uint32_t at;             /* index of the holder in the overlay's list of holders */
    bool end_known;          /* `end_ms` is known */
    int64_t end_ms;          /* when the holder starts at the latest */
    int64_t ready_ms;        /* when the node is expected to have room for the holder */
    int64_t planned[3];      /* slots, cpu, memory that the holder will use here */
    /* of slots, cpu, memory: the planned amount × the time for which running instances still use the amount */
    int64_t busy[3];
    struct space left; /* free beside the holder at its start: others may use this */
    struct space_room room;
};

/* A touched node. */
struct spot {
    struct space place; /* free now */
    struct space_room room;
    struct later *later;   /* NULL: the same as now */
    struct placed *placed; /* newest first */
    struct keep *keep;     /* NULL: not kept */
};

/* A holder of a reservation in this step. The step may not have chosen the holder's places yet. */
struct reserved_task {
    const struct task *task;
    uint32_t placed;      /* instances of the holder to which the step gave a place */
    uint32_t passed_own;  /* instances of the holder's project that got a kept place by right */
    uint32_t passed_else; /* instances of other projects that got a kept place by right */
    bool apart_known;     /* `apart` is known */
    bool apart;           /* the result of rights_apart() */
};

enum { TRACKED_BYTES = RESOURCES_MAX / 8 + 1 };

/* The nodes by free amounts, in one view. */
struct overlay_order {
    bool loaded; /* `index` was copied from the capacity */
    struct oindex
        index; /* keys: resource, free amount, node (capacity.h); as the step has changed */
    uint8_t tracked[TRACKED_BYTES]; /* a bit for each resource whose lines in `index` are current */
};

struct overlay {
    const struct core *core;
    pool_id pool;
    struct arena *arena;
    int64_t now_ms;      /* the moment of the step, at which its starts begin */
    uint64_t *visited;   /* number of nodes looked at */
    struct spot **spots; /* a hash table with open addressing by node id; NULL: an unused entry */
    uint32_t spot_room;
    uint32_t spot_count;
    node_id *touched; /* the node of each placement, in order; a node may occur more than once */
    uint32_t touched_count;
    uint32_t touched_room;
    uint32_t
        touched_logged; /* how many entries of `touched`, from the first, are also in the capacity's log */
    uint64_t log_at; /* where the capacity's log ended before these entries were added */
    bool indexed;    /* false: caches are off, and searches scan all nodes */
    bool spread;     /* placement `spread` */
    bool tightest;   /* placement `tight` */
    struct tight_index *tight[VIEW_COUNT]; /* the index that this step uses; NULL: none yet */
    bool leaving_known; /* all nodes that instances are leaving have been looked at */
    struct overlay_order orders[VIEW_COUNT];
    struct reserved_task holders[RESERVATIONS_MAX];
    uint32_t holder_count;
    bool keeping;    /* places are kept for a holder */
    bool keep_timed; /* places are kept for a holder whose start is known */
};

void overlay_init(struct overlay *overlay, const struct core *core, pool_id pool,
                  struct arena *arena);
void overlay_done(struct overlay *overlay);

/* When an instance of this task that starts at `now_ms` has ended by its time limit. INT64_MAX: the task has no time limit. */
int64_t overlay_end_ms(const struct task *task, int64_t now_ms);

/* overlay_find() returns the spot of a node, or NULL if the node is untouched. overlay_touch() makes the spot of an untouched node. */
struct spot *overlay_find(const struct overlay *overlay, node_id node);
struct spot *overlay_touch(struct overlay *overlay, const struct node *node);

/* Notes that a task holds a reservation. Returns the index of the task in the list of holders. */
uint32_t overlay_holder(struct overlay *overlay, const struct task *task);

/* Keeps no places for this holder any more. */
void overlay_unkeep(struct overlay *overlay, const struct task *holder);

/* Fills in `later` for every node that instances are leaving. Call this before the first search in VIEW_LATER. */
void overlay_leaving(struct overlay *overlay);

/* What the asker may use of a node. `room` is storage for the arrays of the answer. */
void overlay_place(const struct overlay *overlay, const struct node *node,
                   const struct asker *asker, struct space_room *room, struct space *ret);

/* What is free on a touched node in a view. Kept places count as free. */
const struct space *overlay_space(const struct spot *spot, enum view view);

/* Places one instance on a node: a start in VIEW_NOW, a claim in VIEW_LATER. The instance must fit in the asker's view. `asker` must
 * live as long as the overlay. */
const struct placed *overlay_take(struct overlay *overlay, const struct node *node,
                                  const struct asker *asker, uint32_t index);

/* Takes back the newest placement on a node. */
void overlay_undo(struct overlay *overlay, const struct node *node);

/* overlay_leave() frees a grant in VIEW_LATER, because an instance leaves or a claim is dropped. With `reuse` the grant is free for other
 * tasks on a kept node, too: what is taken from a running instance was not free for the holder. overlay_stay() undoes overlay_leave(). */
void overlay_leave(struct overlay *overlay, const struct node *node, const struct request *request,
                   const struct grant *grant, bool reuse);
void overlay_stay(struct overlay *overlay, const struct node *node, const struct request *request,
                  const struct grant *grant, bool reuse);
