/* solve_choice.h - what would have to go from one node for the claimant: for solve_node.c.
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

/* What would have to go from a node. */
struct solve_choice {
    const struct node *node;
    uint32_t priority; /* the highest among them */
    uint32_t others;   /* pieces of accounts that do not give first */
    unsigned __int128 loss;
    struct piece **pieces;
    uint32_t count;
    uint32_t fits; /* instances of the claimant then, */
    uint32_t more; /* and how many of them do not fit as it is */
    bool refused;  /* as it is: by what it leaves the accounts with */
};

struct node_search {
    struct solve *solve;
    enum pool_victims by;
    const struct account_view *first; /* the account that gives first; NULL: any */
    struct solve_choice *choices;     /* room for `look_max`, as `seen` */
    uint32_t count;
    uint32_t look_max; /* nodes looked at for this claimant */
    uint32_t refused;  /* of the choices */
    uint64_t more;     /* instances of the claimant that fit if all the others are made */
    node_id *seen;
    uint32_t seen_count;
    uint64_t *work;
};

/* Fills the choice with what would have to go from its node; false: nothing makes room there. */
bool solve_choice_make(struct node_search *search, struct solve_choice *choice);

/* The best set of a node with few pieces, for one instance: what goes in order may lose more than another set. */
void solve_choice_refine(struct node_search *search, struct solve_choice *choice);

/* The best first. For one instance those refused are behind all others; a gang's are judged each by itself, which is not the last
 * word. */
void solve_choice_sort(struct node_search *search);

/* May its pieces be lost beside those of the set that is grown, which are in the losses? Then they are, too. */
bool solve_choice_may_go(struct solve *solve, const struct solve_choice *choice);
