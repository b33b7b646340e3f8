/* solve_internal.h - a search for victims under way: shared by solve.c, solve_node.c, solve_choice.c and solve_set.c.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/claim.h"
#include "core/model/node.h"
#include "core/model/task.h"
#include "core/sched/order/queue.h"
#include "core/sched/order/reclaim_rules.h"
#include "core/sched/place/overlay.h"
#include "core/sched/place/trial.h"
#include "core/sched/take/pieces.h"
#include "core/sched/take/solve.h"

#include <stdbool.h>
#include <stdint.h>

enum fate { FATE_LOST, FATE_KEPT, FATE_MOVED };

/* A piece that has joined the set of victims, and what becomes of the piece. */
struct grown {
    struct piece *piece;
    enum fate fate;
    struct asker *asker;        /* of a moved piece: the request for its new places */
    const struct node **places; /* of a moved piece: the new node of each instance */
    const struct eviction *why; /* of a lost or moved piece: the rule and figures of the eviction */
};

struct solve {
    struct trial *trial;
    struct victims *victims;
    size_t seen;          /* the trial's mark to which the members below belong */
    struct losses losses; /* what each account loses by the pieces judged so far */
    bool idle_known;      /* `idle_milli` is up to date */
    int64_t idle_milli;   /* the result of solve_idle_milli() */
    struct piece *first; /* the first piece in order, until it joins the set; NULL: read the next */
    struct grown *grown; /* the set of victims */
    uint32_t grown_count;
    uint32_t grown_room;
    uint64_t set; /* the number of the set under way, where sets are chosen node by node */
    const struct solve_ask *ask;
    struct asker *asker;        /* of the claimant */
    const struct node **places; /* the node of each instance of the claimant */
    uint64_t fits;              /* how many instances of the claimant fit once the set has left */
    /* Work of searches on nodes that found nothing, in this pass: for claims on surplus, and for all other claims. */
    uint64_t vain_surplus;
    uint64_t vain;
    struct shape_notes no_node; /* by shape: whether some node has room for one more instance */
    bool unlike; /* the claimant's instances differ in their requests, so `fits` says nothing */
};

/* An asker for places of the later view. Lives in the trial's arena. */
struct asker *solve_asker(const struct solve *solve, const struct task *task, uint32_t passes);

/* The asker for one instance of the asker's task: a copy where that instance has another request. */
struct asker *solve_asker_at(const struct solve *solve, struct asker *asker, uint32_t index);

/* How many instances, at most `max`, fit on the node in the asker's view; 0 on a node that is not usable. */
uint32_t solve_node_fits(const struct solve *solve, const struct asker *asker,
                         const struct node *node, uint32_t max);

/* May the claimant use its victims' places on kept nodes? Not by consolidation: its claimant has no right to places of others. */
bool solve_reuses(const struct solve *solve);

/* Adds a piece to the set of victims. */
void solve_grow(struct solve *solve, struct piece *piece);

/* The largest chunk for which victims are sought node by node. */
enum { TAKE_GANG_MAX = 512 };

/* Searches for victims node by node. `_take` evicts where least is lost; `first` is the first piece in order. `_move` moves pieces
 * away from the emptiest nodes. False: nothing was found, and the trial is as it was. `*work` grows by the work done. */
bool solve_node_take(struct solve *solve, struct piece *first, uint64_t *work);
bool solve_node_move(struct solve *solve, uint64_t *work);

/* Tries the set of victims whole: the set leaves, the claimant is placed, pieces stay or move where they can, and the rest is lost
 * if the rules allow it. True: all decisions are in the trial. False: the trial is as it was. At the call the overlay must still
 * have all pieces of the set on their nodes. */
bool solve_set(struct solve *solve);
