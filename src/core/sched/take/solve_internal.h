/* solve_internal.h - a search under way: shared by solve.c (which pieces leave) and solve_set.c (what becomes of a set).
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

/* A piece of the grown set. */
struct grown {
    struct piece *piece;
    enum fate fate;
    struct asker *asker;        /* of one that is moved */
    const struct node **places; /* where its instances go */
    const struct eviction *why;
};

struct solve {
    struct trial *trial;
    struct victims *victims;
    struct losses losses;
    bool idle_known;
    int64_t idle_milli;
    struct piece *first; /* the first that would go, until it has */
    struct grown *grown;
    uint32_t grown_count;
    uint32_t grown_room;
    uint64_t set; /* the number of the set that is grown on nodes */
    const struct solve_ask *ask;
    struct asker *asker; /* the claimant's */
    const struct node **places;
    uint64_t fits; /* instances that fit, at most `count` a node */
    uint64_t vain; /* work of searches on nodes that found nothing */
    struct shape_notes
        no_node; /* shapes of which nothing could be moved: no node has room for one */
    bool unlike; /* the claimant's instances are not all alike: `fits` says nothing */
};

/* Who asks for places that will be free. Lives in the trial's arena. */
struct asker *solve_asker(const struct solve *solve, const struct task *task, uint32_t passes);

/* The same for one instance of the task, which may ask for something else. */
struct asker *solve_asker_at(const struct solve *solve, struct asker *asker, uint32_t index);

/* How many instances, at most `max`, fit on the node in the asker's view. */
uint32_t solve_node_fits(const struct solve *solve, const struct asker *asker,
                         const struct node *node, uint32_t max);

/* The piece joins the grown set. */
void solve_grow(struct solve *solve, struct piece *piece);

/* Up to so many instances find their room on nodes. */
enum { TAKE_GANG_MAX = 512 };

/* Room for the claimant on nodes, taken where least is lost; `first` is the first piece that would go. Room for
 * all of it on the emptiest nodes, by moving others. False: not found, the trial is as it was. `*work` grows by what was looked
 * at. */
bool solve_node_take(struct solve *solve, struct piece *first, uint64_t *work);
bool solve_node_move(struct solve *solve, uint64_t *work);

/* The grown set leaves, the claimant takes its place, who can stay or move does, the rest is lost if it may be: all of it is in
 * the trial. False: nothing is. The overlay must be without the grown set. */
bool solve_set(struct solve *solve);
