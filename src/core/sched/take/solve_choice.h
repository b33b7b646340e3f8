/* solve_choice.h - which pieces would have to leave one node so that the claimant fits there: for solve_node.c.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/spec.h"
#include "core/sched/order/account.h"
#include "core/sched/take/pieces.h"
#include "core/sched/take/solve_internal.h"

#include <stdbool.h>
#include <stdint.h>

/* The pieces that would have to leave a node. */
struct solve_choice {
    const struct node *node;
    uint32_t priority;      /* the highest of the pieces */
    uint32_t others;        /* pieces of other accounts than the one that gives first */
    unsigned __int128 loss; /* of all pieces together */
    struct piece **pieces;
    uint32_t count; /* of the pieces */
    uint32_t fits;  /* instances of the claimant that fit on the node without the pieces */
    uint32_t more;  /* how many of these do not fit with the pieces */
    bool refused;   /* the rules of reclaim do not allow the choice alone */
};

/* A search for victims node by node, for one claimant. */
struct node_search {
    struct solve *solve;
    enum pool_victims by;
    const struct account_view *first; /* gives before other accounts; NULL: no account does */
    struct solve_choice *choices;     /* one for each node on which pieces make room */
    uint32_t count;                   /* of the choices */
    uint32_t
        look_max; /* at most so many nodes are looked at: the length of `choices` and of `seen` */
    uint32_t refused; /* how many of the choices are refused */
    uint64_t more;    /* the sum of `more` over all choices that are not refused */
    node_id *seen;    /* the nodes that were looked at */
    uint32_t seen_count;
    uint64_t *work;
};

/* Fills the choice with the pieces that would have to leave `choice->node`; false: no pieces of the node make room. */
bool solve_choice_make(struct node_search *search, struct solve_choice *choice);

/* Replaces the choice by the best set of pieces of its node, if the node has few pieces. For a claimant of one instance. The choice
 * of solve_choice_make() takes pieces in order and may lose more than another set. */
void solve_choice_refine(struct node_search *search, struct solve_choice *choice);

/* Sorts the choices, the best first. For a claimant of one instance, refused choices are behind all others. For a gang, refused
 * choices are sorted like others: a choice that is refused alone may be allowed together with other choices. */
void solve_choice_sort(struct node_search *search);

/* May the pieces of the choice be lost beside the pieces in `solve->losses`? Pieces of the set under way are counted already. The
 * pieces that may be lost are added to `solve->losses`, also where the answer is false. */
bool solve_choice_may_go(struct solve *solve, const struct solve_choice *choice);
