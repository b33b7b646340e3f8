/* pool_day.h - what happened in a pool with a provider during the last hours, as far as the server still knows: its tasks,
 * and the nodes that its provider brought up. `weir pool try` plays that time again with other settings.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "cli/context.h"
#include "cli/pool_accounts.h"

enum { POOL_DAY_TASKS_MAX = 20000 };

struct day_launch {
    int64_t number;
    int64_t asked_ms; /* the beginning of the day where that was before */
    int64_t ended_ms; /* 0: not yet */
};

struct pool_day {
    const char *pool;
    const struct doc *spec;     /* of the pool, as in a server file */
    const struct doc *provider; /* its settings with all defaults, as the API shows them */
    /* the flavor that the pool names, as in a server file; NULL: the pool names no flavor */
    const struct doc *flavor;
    int64_t begins_ms;
    int64_t ends_ms;
    struct pool_accounts accounts;
    VEC(const struct doc *) tasks; /* submitted or running in this time, in no order */
    bool more;                     /* there are more tasks than POOL_DAY_TASKS_MAX */
    /* The tasks that have started in this time, and how long each waited for its first start. */
    VEC(int64_t) waits_ms;
    uint32_t unstarted;
    int64_t length_ms; /* mean length of the instances that ended; 0: none ended */
    VEC(struct day_launch) launches;
    bool cut; /* some events are gone: the launches are not all known */
    uint32_t joined;
    int64_t joined_ms; /* the time from request to join of all that joined */
};

/* Reads the last `span_ms` of the pool from the server. ERR_CONFLICT: the pool has no provider. */
must_use enum err pool_day_read(struct cli *cli, const char *pool, int64_t span_ms,
                                struct pool_day *ret, struct error *e);
void pool_day_done(struct pool_day *day);

/* The mean time from a request for a node to its join. False: no node joined in this time. */
bool pool_day_start_ms(const struct pool_day *day, int64_t *ret);

/* Returns what a node of the pool costs in an hour. 0: the price is not known. */
double pool_day_price(const struct pool_day *day);

/* The time of all launched nodes together, and the most at one moment. */
int64_t pool_day_node_ms(const struct pool_day *day);
uint32_t pool_day_most(const struct pool_day *day);

/* When an instance of the task arrives in this day, and how long it runs there. False: it did not run in this time. */
bool pool_day_task(const struct pool_day *day, const struct doc *task, int64_t *ret_at_ms,
                   int64_t *ret_runs_ms);
