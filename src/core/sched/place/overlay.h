/* overlay.h - the nodes of a pool as a step has changed them so far: what was placed in this step
 * counts, what a reservation keeps is not free, and the state itself stays untouched.
 *
 *   state ──▶ node row            untouched nodes are read from here
 *   overlay ─▶ spot: free now     nodes on which the step has placed something
 *                    ├─ later     nodes that some leave, or on which a place is promised (claimed)
 *                    └─ keep      nodes kept for the holder of the reservation
 *
 * Later is when those told to end have ended and those promised a place have started. What starts
 * now must fit now and later; what is promised must fit later.
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

/* Who asks for places. */
struct asker {
    const struct task *task;
    const struct request *request; /* of each instance */
    int64_t end_ms;      /* when it will have ended by its time limit; INT64_MAX: unknown */
    struct trail *trail; /* of its shape; NULL: every search begins anew */
    enum view view;
    uint32_t passes;    /* holders whose kept places it may use, bit by bit (rights.h) */
    bool bounded;       /* `left` has a bound for cpu or memory that come with the slots */
    bool unproven;      /* a search for it ended before all was looked at */
    struct vector left; /* what its accounts may still take; VECTOR_UNLIMITED: no bound */
};

/* An instance placed in this step, or promised a place. */
struct placed {
    struct placed *next; /* the one placed before it on the same node */
    const struct asker *asker;
    uint32_t index;
    bool beside; /* it counts when the holder of the reservation starts */
    bool passes; /* it has a right to what is kept for the holder */
    bool claim;  /* it is promised what leaves */
    struct grant grant;
};

/* What will be free of a node. */
struct later {
    struct space place;
    struct space_room room;
};

/* A node kept for the holder of a reservation: `left` is what others may still use without
 * delaying it, measured at the moment it starts. A node is kept for one holder at a time. */
struct keep {
    const struct task *task; /* the holder */
    uint32_t at;             /* in the overlay's list of them */
    bool end_known;
    int64_t end_ms; /* when the holder starts at the latest */
    struct space left;
    struct space_room room;
};

struct spot {
    struct space place;
    struct space_room room;
    struct later *later;   /* NULL: the same as now */
    struct placed *placed; /* newest first */
    struct keep *keep;     /* NULL: not kept */
};

/* One that holds a reservation in this step, whether or not its places have been chosen. */
struct reserved_task {
    const struct task *task;
    uint32_t placed;     /* instances of it that the step has given a place */
    uint32_t passed_own; /* instances of its own project that have got one of its places by right */
    uint32_t passed_else; /* of other projects */
};

enum { TRACKED_BYTES = RESOURCES_MAX / 8 + 1 };

/* The nodes by free amounts, in one view. */
struct overlay_order {
    bool loaded;                    /* `index` is a copy of the state's */
    struct oindex index;            /* like capacity_order(), as the step has changed it */
    uint8_t tracked[TRACKED_BYTES]; /* a bit per resource whose lines `index` keeps up to date */
};

struct overlay {
    const struct core *core;
    pool_id pool;
    struct arena *arena;
    int64_t now_ms;      /* of the step: what it places begins now */
    uint64_t *visited;   /* counts the nodes looked at */
    struct spot **spots; /* open addressing by node id; NULL: free */
    uint32_t spot_room;
    uint32_t spot_count;
    node_id *touched; /* nodes in the order in which something was placed on them */
    uint32_t touched_count;
    uint32_t touched_room;
    uint32_t touched_logged;               /* of them: those in the log of capacity.h */
    uint64_t log_at;                       /* where the log ended before that */
    bool indexed;                          /* false: caches are off, nodes are scanned */
    bool spread;                           /* emptiest nodes first */
    bool tightest;                         /* the node where least is wasted */
    struct tight_index *tight[VIEW_COUNT]; /* that this step uses; NULL: not (yet) */
    bool leaving_known;                    /* all nodes that some leave have their later */
    struct overlay_order orders[VIEW_COUNT];
    struct reserved_task holders[RESERVATIONS_MAX];
    uint32_t holder_count;
    bool keeping;    /* places are kept */
    bool keep_timed; /* for a holder whose start is known */
};

void overlay_init(struct overlay *overlay, const struct core *core, pool_id pool,
                  struct arena *arena);
void overlay_done(struct overlay *overlay);

/* When will an instance of this task that starts now have ended? INT64_MAX: not known. */
int64_t overlay_end_ms(const struct task *task, int64_t now_ms);

/* The touched node, or NULL; the same, made where there is none. */
struct spot *overlay_find(const struct overlay *overlay, node_id node);
struct spot *overlay_touch(struct overlay *overlay, const struct node *node);

/* This task holds a reservation: its place in the list. */
uint32_t overlay_holder(struct overlay *overlay, const struct task *task);

/* All nodes that some leave get their later: before the first search in that view. */
void overlay_leaving(struct overlay *overlay);

/* What the asker may use of a node. `room` is storage for the answer. */
void overlay_place(const struct overlay *overlay, const struct node *node,
                   const struct asker *asker, struct space_room *room, struct space *ret);

/* What is free in a view, kept or not. */
const struct space *overlay_space(const struct spot *spot, enum view view);

/* Place one instance on the node, which must have room for it in the asker's view: a start, or a
 * claim. `asker` must live as long as the overlay. */
const struct placed *overlay_take(struct overlay *overlay, const struct node *node,
                                  const struct asker *asker, uint32_t index);

/* Take the newest one of a node back. */
void overlay_undo(struct overlay *overlay, const struct node *node);

/* One that holds this leaves (or a claim of this is given up); the same taken back. */
void overlay_leave(struct overlay *overlay, const struct node *node, const struct request *request,
                   const struct grant *grant);
void overlay_stay(struct overlay *overlay, const struct node *node, const struct request *request,
                  const struct grant *grant);
