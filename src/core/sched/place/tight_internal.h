/* tight_internal.h - what the two halves of the index share: states (tight_index.c) and orders (tight_order.c).
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

/* Nodes that are alike. */
struct tight_state {
    uint64_t number; /* given once and never again; 0: none is here */
    uint64_t *words; /* tight_words() of each of them */
    uint32_t word_count;
    uint64_t hash; /* of the words */
    uint32_t next; /* of those whose hashes meet; 0: none */
    uint32_t node_count;
    node_id member; /* one of them: it stands for all */
    pool_id pool;
    uint64_t waste_version; /* of the pool's weights; 0: not known */
    int64_t waste;
};

/* A state as orders and the list of new ones name it: the number tells whether it is still the same one. */
struct state_ref {
    uint64_t number;
    uint32_t at;
};

struct node_note {
    uint32_t state; /* 0: none */
    bool noted;
};

struct pool_note {
    bool here;        /* its nodes are */
    bool labelled;    /* their states tell which labels they have, */
    uint64_t version; /* by these weights */
};

/* The states by rank for one request. */
struct tight_order {
    bool used;
    pool_id pool;
    uint32_t count; /* instances placed together */
    uint64_t hash;  /* of the request */
    struct request plain;
    uint64_t version; /* of the pool's weights */
    uint64_t forgot;  /* of the index: newer ones have been forgotten since */
    size_t seen;      /* of the list of new states */
    uint64_t asked;   /* when, in questions */
    struct oindex lines;
};

enum { TIGHT_ORDERS_MAX = 256, TIGHT_LINES_MAX = 1 << 20 };

struct tight_index {
    const struct overlay *step;     /* that uses it; NULL: none */
    VEC(struct tight_state) states; /* from 1 on */
    VEC(uint32_t) free;             /* unused ones of them */
    VEC(uint32_t) waiting;          /* by hash: the first state; 0: none */
    uint32_t state_count;
    uint64_t number_last;
    VEC(struct node_note) nodes; /* by id */
    VEC(node_id) noted;          /* nodes to look at again */
    VEC(struct pool_note) pools; /* by id */
    struct oindex members;       /* state, node */
    VEC(struct state_ref) born;  /* states in order of number, since they were forgotten last */
    uint64_t forgot;             /* how often that was */
    VEC(struct tight_order) orders;
    uint64_t asked;
    uint64_t line_count; /* of all orders */
};

/* The first node of a state behind `after`; false: no more. */
bool tight_index_member(const struct tight_index *index, uint32_t state, node_id *after);

/* Everything noted is looked at; then the states are those of the step's nodes in this view. */
void tight_index_sync(struct tight_index *index, struct overlay *overlay, enum view view,
                      const struct typical_uses *uses);

void tight_order_done(struct tight_index *index, struct tight_order *order);

/* As tight_first(), for a request that names no devices. */
const struct node *tight_order_first(struct tight_index *index, struct overlay *overlay,
                                     const struct asker *asker, uint32_t count);
