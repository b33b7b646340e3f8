/* tight_internal.h - what the two files of the index share: tight_index.c keeps the node profiles, tight_order.c their orders.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/resource.h"
#include "core/model/typical_use.h"
#include "core/sched/order/view.h"
#include "core/sched/place/overlay.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A node profile: one or more nodes that are alike. */
struct tight_profile {
    uint64_t number; /* given once and never again; 0: this entry is unused */
    uint64_t *words; /* tight_words() of each node of the profile */
    uint32_t word_count;
    uint64_t hash; /* of the words */
    uint32_t next; /* the next profile of the same bucket; 0: none */
    uint32_t node_count;
    node_id member; /* one node of the profile, with which ranks are computed */
    pool_id pool;
    uint64_t waste_version; /* the version of the pool's weights for `waste`; 0: none */
    int64_t waste;
};

/* A reference to a profile. The entry at `at` is still the same profile if its number is `number`. */
struct profile_ref {
    uint64_t number;
    uint32_t at;
};

/* What the index knows of a node. */
struct node_note {
    uint32_t profile; /* 0: none */
    bool noted;       /* the node is in `noted` of the index */
    pool_id waiting;  /* the node is in `waiting` of this pool; 0: of none */
};

/* What the index knows of a pool. */
struct pool_note {
    bool here;        /* the index has the nodes of the pool */
    bool labelled;    /* the profiles of the pool's nodes contain their labels */
    uint64_t version; /* the version of the pool's weights with which the profiles were made */
    /* nodes of the pool that may have changed, since the last search in the pool; some may have moved since */
    VEC(node_id) waiting;
};

/* The profiles of a pool by rank for one request. */
struct tight_order {
    bool used;
    pool_id pool;
    uint32_t count; /* instances placed together */
    uint64_t hash;  /* of `plain` */
    struct request plain;
    uint64_t version; /* the version of the pool's weights with which the ranks were computed */
    /* `forgot` of the index when the lines were made. The lines are stale when the two differ */
    uint64_t forgot;
    size_t seen;    /* how many entries of the index's list `born` have their line here */
    uint64_t asked; /* `asked` of the index at the last search with this order */
    struct oindex lines;
};

enum { TIGHT_ORDERS_MAX = 256, TIGHT_LINES_MAX = 1 << 20 };

struct tight_index {
    const struct overlay *step;         /* the overlay that uses the index; NULL: none */
    VEC(struct tight_profile) profiles; /* entry 0 is never used */
    VEC(uint32_t) free;                 /* unused entries of `profiles` */
    VEC(uint32_t) buckets;              /* by hash: the first profile of the bucket; 0: none */
    uint32_t profile_count;
    uint64_t number_last;
    VEC(struct node_note) nodes;  /* by id */
    VEC(node_id) noted;           /* nodes that may have changed, since the last search */
    VEC(struct pool_note) pools;  /* by id */
    struct oindex members;        /* keys: profile, node, 0, 0 */
    VEC(struct profile_ref) born; /* new profiles by number, since the list was last cleared */
    uint64_t forgot;              /* how often `born` was cleared */
    VEC(struct tight_order) orders;
    uint64_t asked;      /* number of searches so far */
    uint64_t line_count; /* of all orders */
};

/* Sets `*after` to the next higher node of a profile. False: the profile has no higher node. */
bool tight_index_member(const struct tight_index *index, uint32_t profile, node_id *after);

/* Looks again at all noted nodes of the overlay's pool. Then the profiles are those of the pool's nodes in this view of the step. */
void tight_index_sync(struct tight_index *index, struct overlay *overlay, enum view view,
                      const struct typical_uses *uses);

/* Frees the lines of an order and marks the order as unused. */
void tight_order_done(struct tight_index *index, struct tight_order *order);

/* The best node that takes `count` instances of the asker, found by the index. The request must name no devices. NULL: no node does. */
const struct node *tight_order_first(struct tight_index *index, struct overlay *overlay,
                                     const struct asker *asker, uint32_t count);
