/* pieces.h - what can be taken from the running tasks of one project, in the order in which it goes.
 *
 * A piece is what goes together: an instance above the minimum of its gang or group, a group that its gang does not need, else all
 * that is left of the gang; each instance of a task that is no gang by itself. Lowest priority first, instances above a minimum before whole gangs; then `victims: youngest`
 * takes the youngest, `victims: least-loss` what loses least work, of equal ones the youngest.
 *
 * Nothing is read before it is asked for: the state keeps instances in lines of equal losers, the youngest first, and the order is
 * a merge of those lines. Of a line of gangs it is known only what the next of them loses at least. Gangs that can be smaller, whose
 * instances above the minimum go before all others, are few and are read all at once.
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

/* What an eviction costs beside the work that is lost: to come down, to wait, to come up again. With it tasks that have just
 * started are compared by what they hold. */
enum { EVICTION_COST_MS = 60000 };

struct piece {
    const struct task *task;
    const struct account_view *account;
    struct vector amounts;
    unsigned __int128 loss;  /* work: what it holds times how long it has saved nothing */
    int64_t since_ms;        /* when the last of it was placed or started */
    int64_t age_ms;          /* how long ago the first of it was */
    uint32_t index;          /* of the instance; of several the highest */
    uint32_t place;          /* of a gang with minimums of its groups: the pieces before it */
    uint32_t count;          /* instances */
    const uint32_t *members; /* which, ascending; NULL: that of the index, or all up to it */
    uint32_t from;           /* of several that are a group: the instances of that group, */
    uint32_t to;             /* up to this one; pieces of it go before it */
    int64_t
        each_milli; /* of one with members: the slots of an instance, as far as the order goes */
    bool whole;     /* all active instances of the task */
    bool extra;     /* above the minimum of its gang */
    bool taken;     /* a decision of this pass has it */
    uint64_t set;   /* the last set of a search that has it; 0: none */
};

/* All pieces of a pool that somebody has asked for: each exists once in a pass. */
struct piece_cache {
    const struct core *core;
    struct arena *arena;
    pool_id pool;
    enum pool_victims by;
    int64_t now_ms;
    const uint64_t *growing; /* gangs of which the trial has started more: ids, ascending */
    size_t growing_count;
    uint32_t orders;        /* numbers given to orders of projects */
    struct piece_entry *at; /* open addressing by task and instance */
    uint32_t room;
    uint32_t count;
};

/* One line of the merge: a single piece, or those behind its first in an order of the state; of gangs that have not been read the
 * first is a stand-in, which loses no more than any of them. */
enum piece_line_kind { LINE_ONE, LINE_BY_LOSS, LINE_BY_AGE, LINE_GANGS };
struct piece_line {
    enum piece_line_kind kind;
    struct piece *piece; /* its first */
    struct okey key;     /* where the state has it */
};

/* Those of one project. */
struct pieces {
    struct piece_cache *cache;
    const struct account_view *account;
    int64_t need_milli; /* the order is for one that needs so much of a node; 0: for anybody */
    uint64_t first;     /* ACCOUNT_KEY */
    uint32_t number;    /* of this order */
    uint64_t band;      /* the lowest priority whose lines have not been read */
    struct piece_line *lines; /* a heap */
    uint32_t line_count;
    uint32_t line_room;
    struct piece **order; /* those given so far */
    uint32_t sorted;
    uint32_t order_room;
    int64_t slots_max; /* of the largest; -1: not known yet */
};

/* `need_milli`: see pieces_cache_compare(). */
void pieces_init(struct pieces *pieces, struct piece_cache *cache,
                 const struct account_view *account, account_id id, int64_t need_milli);

/* The one at this place of the order; NULL: there are not so many. */
struct piece *pieces_get(struct pieces *pieces, uint32_t place);

/* The most slots (thousandths) that one of them may hold: an upper bound. */
int64_t pieces_slots_max(struct pieces *pieces);

/* The piece with which a running instance would go; NULL: it may not be told to, or others of its gang would have to go before.
 * `account` is that of its task. */
struct piece *pieces_cache_of(struct piece_cache *cache, const struct account_view *account,
                              const struct instance *instance);

/* Below 0: `a` goes first. Never 0 for two pieces. `need_milli` above 0: of equal importance those go
 * first of which fewer make up so many slots of a node; an order for a need is by loss then, whatever the pool's victims are. */
int pieces_cache_compare(enum pool_victims by, int64_t need_milli, const struct piece *a,
                         const struct piece *b);

/* Of a gang, all its pieces in the order in which they go: those above its minimum, then what is left as one. pieces_cut.c. */
struct piece *pieces_cut_gang(const struct piece_cache *cache, const struct account_view *account,
                              const struct task *task, uint32_t *ret_count);

/* An instance goes with a piece: what it holds and what is lost with it. */
void pieces_cut_add(const struct piece_cache *cache, const struct instance *instance,
                    struct piece *piece);

/* Is the instance one of a piece with members? */
bool pieces_cut_has(const struct piece *piece, uint32_t index);

/* Must another piece of the same task, above a minimum, go before this one? */
bool pieces_cut_before(const struct piece *other, const struct piece *piece);

/* The instances of a piece: start with instance NULL; NULL at the end. */
const struct instance *pieces_cache_next(const struct core *core, const struct piece *piece,
                                         const struct instance *after);
