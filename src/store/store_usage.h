/* store_usage.h - accounting: what attempts held, what tasks asked for, and how they ended, by UTC day.
 *
 *   store_batch.uses ──▶ usage_piece   one row an attempt and day; exact to the millisecond
 *                   └──▶ usage_day, usage_node   the sums of a day, kept longer than the pieces
 *
 * Holds: U1 the sums of a day are those of its pieces, because both change in one transaction. U2 an answer
 * reads the sums of whole days, and pieces of at most two days.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/store.h"

enum {
    STORE_USE_DAYS_MAX = 1000, /* what an attempt held before counts on the first of these days */
    STORE_USAGE_KEEP_DAYS = 3660,   /* sums of days are kept for ten years */
    STORE_USAGE_CURRENCIES_MAX = 8, /* of one question */
    STORE_USAGE_ROWS_MAX = 10000,   /* rows of one store_usage_read() at most */
};
#define STORE_DAY_MS INT64_C(86400000)
/* Largest amount of one use, about 280 million slot hours, so that sums fit 64 bits. */
#define STORE_USAGE_AMOUNT_MAX INT64_C(1000000000000000)

/* How a task or an attempt ended. Stored: a number keeps its meaning. */
enum store_use_end {
    USE_GOES_ON, /* a piece that does not end the attempt */
    USE_COMPLETED,
    USE_FAILED,
    USE_KILLED,
    USE_UNAVAILABLE,
    USE_UNKNOWN,
    USE_TRY,     /* the attempt ended in no way of those below */
    USE_TRY_BAD, /* by its own fault */
    USE_TRY_EVICTED,
    USE_TRY_NODE_LOST,
};

/* What one ended attempt used. With index -1 the row is about a task as a whole, which has ended or waits no longer. */
struct store_use {
    uint64_t task;
    int64_t index;
    uint32_t attempt;
    enum store_use_end ending;
    int64_t begin_ms; /* the allocation; of a task: its end */
    int64_t end_ms;
    int64_t lost_from_ms; /* work since then was lost; end_ms: none was lost */
    /* Of an attempt: the submission of the task. The store counts the wait from there, or from the end of the
     * attempt before. 0: `waited` says how long. */
    int64_t submitted_ms;
    int64_t slots_milli;
    int64_t asked;  /* slots times milliseconds */
    int64_t waited; /* of a task: slots times milliseconds of the instances that got no place */
    uint32_t kind;
    struct str pool;
    struct str user;
    struct str project;
    struct str node; /* of a task: empty */
};

/* Slots (in thousandths) times milliseconds, as whole slots times milliseconds. Bounded, so that sums fit. */
int64_t store_usage_amount(int64_t slots_milli, int64_t ms);

enum store_usage_by {
    USAGE_BY_USER,
    USAGE_BY_PROJECT,
    USAGE_BY_POOL,
    USAGE_BY_KIND,
    USAGE_BY_DAY,
    USAGE_BY_NODE,
};

enum store_usage_sum {
    USAGE_ASKED,
    USAGE_USED,
    USAGE_LOST,
    USAGE_WAITED,
    USAGE_COMPLETED,
    USAGE_FAILED,
    USAGE_KILLED,
    USAGE_UNAVAILABLE,
    USAGE_UNKNOWN,
    USAGE_TRIES,
    USAGE_TRIES_BAD,
    USAGE_EVICTED,
    USAGE_NODE_LOST,
};
enum { USAGE_SUM_COUNT = USAGE_NODE_LOST + 1 };

/* What a slot of a pool costs. The price of a node is for an hour, in thousandths. */
struct store_usage_price {
    const char *pool;
    int64_t node_price_milli;
    uint32_t node_slots; /* at least 1 */
    uint32_t currency;   /* below STORE_USAGE_CURRENCIES_MAX */
};

struct store_usage_query {
    enum store_usage_by by;
    int64_t since_ms;
    int64_t until_ms;                       /* not counted any more */
    const char *pool;                       /* NULL: any */
    const char *user;                       /* NULL: any; not with USAGE_BY_NODE */
    const char *project;                    /* likewise */
    const struct store_usage_price *prices; /* of the pools that have one */
    size_t price_count;
};

struct store_usage_row {
    struct str key; /* a name; of USAGE_BY_KIND and USAGE_BY_DAY empty, and `number` says which */
    int64_t number;
    int64_t sums[USAGE_SUM_COUNT];
    /* What the use costs by the prices of the question, in thousandths, for each currency. */
    int64_t costs[STORE_USAGE_CURRENCIES_MAX];
};

/* What an answer rests on. */
struct store_usage_said {
    int64_t since_ms;      /* as asked, or the begin of that day where only its sum is kept */
    int64_t until_ms;      /* likewise, the end of that day */
    int64_t first_ms;      /* begin of the first day with a sum; 0: there is none */
    int64_t exact_from_ms; /* parts of days are exact from then on */
    bool more;             /* there are more than STORE_USAGE_ROWS_MAX rows */
};

/* An ended attempt that held a place between two moments. */
struct store_span {
    uint64_t task;
    uint32_t index;
    uint32_t attempt;
    int64_t begin_ms; /* of what lies on the days of the question */
    int64_t end_ms;
    int64_t lost_ms;   /* how much of it was lost, at its end */
    int64_t waited_ms; /* before `begin_ms`, where the attempt began on these days and had slots */
    enum store_use_end ending;
    int64_t slots_milli;
    struct str pool;
    struct str user;
    struct str project;
    struct str node;
};

enum { STORE_SPAN_LOOKED_MAX = 200000 }; /* pieces that are looked at, the newest days first */

struct store_span_query {
    int64_t since_ms;
    int64_t until_ms; /* not counted any more */
    const char *pool; /* NULL: any */
    const char *node; /* likewise */
    size_t limit;
};

typedef void (*store_span_fn)(void *ctx, const struct store_span *span);
/* Gives the attempts of the time, the longest within the time first. *ret_more: there are more. */
must_use enum err store_usage_spans(struct store_reader *reader,
                                    const struct store_span_query *query, store_span_fn fn,
                                    void *ctx, bool *ret_more, struct error *e);

typedef void (*store_usage_fn)(void *ctx, const struct store_usage_row *row);
/* Gives the sums of the time, the row with most use first; by day in order of days. */
must_use enum err store_usage_read(struct store_reader *reader,
                                   const struct store_usage_query *query, store_usage_fn fn,
                                   void *ctx, struct store_usage_said *ret, struct error *e);
