/* overlay.h - the nodes of a pool as a step has changed them so far: what was placed in this step
 * counts, what a reservation keeps is not free, and the state itself stays untouched.
 *
 *   state ──▶ node row            untouched nodes are read from here
 *   overlay ─▶ spot: free now     nodes on which the step has placed something
 *                    └─ keep      nodes kept for the holder of the reservation
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/core.h"
#include "core/model/oindex.h"
#include "core/sched/fit.h"

/* Where the last search for a shape ended. Within a step nodes only lose room, so the nodes before
 * that one need not be asked again, but for those touched since. */
struct trail {
    bool valid;
    uint64_t free; /* the node found, where it stood in the order */
    uint64_t node;
    uint32_t touched; /* length of the overlay's list then */
};

/* Who asks for places. */
struct asker {
    const struct task *task;
    const struct request *request; /* of each instance */
    int64_t end_ms;      /* when it will have ended by its time limit; INT64_MAX: unknown */
    struct trail *trail; /* of its shape; NULL: every search begins anew */
};

/* An instance placed in this step. */
struct placed {
    struct placed *next; /* the one placed before it on the same node */
    const struct asker *asker;
    uint32_t index;
    bool beside; /* it counts when the holder of the reservation starts */
    struct grant grant;
};

/* A node kept for the holder of the reservation: `left` is what others may still use without
 * delaying it, measured at the moment it starts. */
struct keep {
    struct place left;
    struct place_room room;
};

struct spot {
    struct place place;
    struct place_room room;
    struct placed *placed; /* newest first */
    struct keep *keep;     /* NULL: not kept */
};

enum { TRACKED_BYTES = RESOURCES_MAX / 8 + 1 };

struct overlay {
    const struct core *core;
    pool_id pool;
    struct arena *arena;
    int64_t now_ms;      /* of the step: what it places begins now */
    struct spot **spots; /* open addressing by node id; NULL: free */
    uint32_t spot_room;
    uint32_t spot_count;
    node_id *touched; /* nodes in the order in which something was placed on them */
    uint32_t touched_count;
    uint32_t touched_room;
    bool indexed;                   /* false: caches are off, nodes are scanned */
    struct oindex order;            /* like capacity_order(), as the step has changed it */
    uint8_t tracked[TRACKED_BYTES]; /* a bit per resource whose lines `order` keeps up to date */
    bool keeping;                   /* places are kept */
    bool keep_end_known;
    int64_t keep_end_ms; /* when the holder of the reservation starts at the latest */
};

void overlay_init(struct overlay *overlay, const struct core *core, pool_id pool,
                  struct arena *arena);
void overlay_done(struct overlay *overlay);

/* When will an instance of this task that starts now have ended? INT64_MAX: not known. */
int64_t overlay_end_ms(const struct task *task, int64_t now_ms);

/* The touched node, or NULL; the same, made where there is none. */
struct spot *overlay_find(const struct overlay *overlay, node_id node);
struct spot *overlay_touch(struct overlay *overlay, const struct node *node);

/* What an instance that will have ended at `end_ms` may use of a node. `room` is storage for the
 * answer. */
void overlay_place(const struct overlay *overlay, const struct node *node, int64_t end_ms,
                   struct place_room *room, struct place *ret);

/* Place one instance on the node, which must have room for it. `asker` must live as long as the
 * overlay. */
const struct placed *overlay_take(struct overlay *overlay, const struct node *node,
                                  const struct asker *asker, uint32_t index);

/* Take the newest one of a node back. */
void overlay_undo(struct overlay *overlay, const struct node *node);
