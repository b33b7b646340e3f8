/* pieces.h - the pieces of the running tasks of one project, in the order in which they leave.
 *
 * A piece is a set of instances that leave together. Of a gang: an instance above the minimum of its gang or group, a group that
 * the gang does not need, or all that is left of the gang. Of any other task: each instance alone.
 * Pieces of the lowest priority leave first. Of one priority, instances above a minimum leave before whole gangs. Then the pool's
 * `victims` decides: `youngest` takes the youngest piece, `least-loss` the piece that loses least work, and of equal losses the
 * youngest.
 *
 * Pieces are read only as far as a search asks for them. The state keeps the instances in lines: a line has the instances that
 * lose equally much in equal time, the youngest first. The order of pieces is a merge of the lines. Of a line of gangs only a
 * lower bound on the loss of the next gang is known. Gangs with a minimum below their size are few; all of them are read at once.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/ids.h"
#include "core/model/oindex.h"
#include "core/model/spec.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/account.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct piece_entry;

/* What an eviction costs beside the lost work: to stop, to wait and to start again. Because of this cost, tasks that have just
 * started are compared by the amounts that they hold. */
enum { EVICTION_COST_MS = 60000 };

struct piece {
    const struct task *task;
    const struct account_view *account;
    struct vector amounts;
    unsigned __int128 loss; /* amount held × (time of unsaved work + EVICTION_COST_MS) */
    int64_t since_ms;       /* when the youngest instance of the piece was allocated or started */
    int64_t age_ms;         /* how long ago the oldest instance was allocated or started */
    /* The same of all pieces of the gang: instances that joined a gang later belong to the same attempt. */
    int64_t attempt_ms;
    uint32_t index; /* of the instance; of several instances the highest */
    uint32_t
        place; /* in a gang whose groups have minimums: how many pieces of the gang leave before this piece */
    uint32_t count; /* instances */
    /* the instances of the piece, ascending; NULL: `index` alone, or with `whole` all up to `index` */
    const uint32_t *members;
    uint32_t from;      /* of a piece that is a whole group: the first instance of the group */
    uint32_t to;        /* of a piece that is a whole group: the last instance, plus one */
    int64_t each_milli; /* with `members`: slots of one instance, for the order of pieces only */
    bool whole;         /* the piece has all instances that are left of the task */
    bool extra;         /* the piece is above a minimum of its gang */
    bool taken;         /* a decision of this pass evicts or moves the piece */
    bool cost_known;    /* the next two members are set, by victims_piece_cost() */
    bool old;           /* some of the unsaved work is too old for a debt of the loss budget */
    int64_t cost;       /* what the eviction of the piece costs the loss budget */
    uint64_t set;       /* the last set of victims that has the piece; 0: none */
};

/* All pieces of a pool that searches have asked for. Each piece exists once in a pass. */
struct piece_cache {
    const struct core *core;
    struct arena *arena;
    pool_id pool;
    enum pool_victims by;
    int64_t now_ms;
    uint32_t orders;        /* how many orders of pieces were begun; each order has its number */
    struct piece_entry *at; /* open addressing by task and instance */
    uint32_t room;
    uint32_t count;
};

/* One line of the merge: a single piece, or all pieces from `key` on in an order of the state. The first piece of a line of gangs
 * is a stand-in: its loss is a lower bound on the loss of every gang of the line. */
enum piece_line_kind { LINE_ONE, LINE_BY_LOSS, LINE_BY_AGE, LINE_GANGS };
struct piece_line {
    enum piece_line_kind kind;
    struct piece *piece; /* the first piece of the line */
    struct okey key;     /* where that piece stands in the order of the state */
};

/* The pieces of one project in one order. */
struct pieces {
    struct piece_cache *cache;
    const struct account_view *account;
    int64_t need_milli;       /* slots needed on one node; 0: the order for any claimant */
    uint64_t first;           /* ACCOUNT_KEY of the project; the keys of its lines begin so */
    uint32_t number;          /* of this order in the cache */
    uint64_t band;            /* the lowest priority whose lines have not been read */
    struct piece_line *lines; /* a heap: lines[0] has the piece that leaves next */
    uint32_t line_count;
    uint32_t line_room;
    struct piece **order; /* the pieces read so far, in order */
    uint32_t sorted;      /* how many pieces `order` has */
    uint32_t order_room;
    int64_t slots_max; /* the result of pieces_slots_max(); -1: not known yet */
};

/* Begins an order of the account's pieces; reads nothing yet. `need_milli`: see pieces_cache_compare(). */
void pieces_init(struct pieces *pieces, struct piece_cache *cache,
                 const struct account_view *account, account_id id, int64_t need_milli);

/* The piece at this place of the order, from 0; NULL: the order has fewer pieces. */
struct piece *pieces_get(struct pieces *pieces, uint32_t place);

/* An upper bound on the slots (thousandths) that one piece of the project holds. */
int64_t pieces_slots_max(struct pieces *pieces);

/* The piece with which a running instance would leave. NULL: the instance may not be evicted, or other pieces of its gang must
 * leave before. `account` is the account of the instance's task. */
struct piece *pieces_cache_of(struct piece_cache *cache, const struct account_view *account,
                              const struct instance *instance);

/* All pieces of the piece's gang, in the order in which they leave; of any other task the piece alone. */
struct piece *pieces_cache_gang(const struct piece_cache *cache, struct piece *piece,
                                uint32_t *ret_count);

/* Below 0: `a` leaves first. Never 0 for two different pieces. With `need_milli` above 0, of pieces of equal importance the piece
 * leaves first of which fewer are needed to make `need_milli` slots of a node free. An order with a need must have `by` least-loss. */
int pieces_cache_compare(enum pool_victims by, int64_t need_milli, const struct piece *a,
                         const struct piece *b);

/* All pieces of a gang in the order in which they leave: the pieces above a minimum, then the rest of the gang as one piece. */
struct piece *pieces_cut_gang(const struct piece_cache *cache, const struct account_view *account,
                              const struct task *task, uint32_t *ret_count);

/* Adds an instance to a piece: its amounts, its loss, its age. */
void pieces_cut_add(const struct piece_cache *cache, const struct instance *instance,
                    struct piece *piece);

/* Does the piece have `members`, and is this instance one of them? */
bool pieces_cut_has(const struct piece *piece, uint32_t index);

/* Must `other`, a piece of the same task, leave before `piece`? */
bool pieces_cut_before(const struct piece *other, const struct piece *piece);

/* Walks the instances of a piece, ascending: `after` NULL gives the first; NULL at the end. */
const struct instance *pieces_cache_next(const struct core *core, const struct piece *piece,
                                         const struct instance *after);
