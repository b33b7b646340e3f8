/* hold.h - which blocked tasks are holders: places are kept for them as places fall free (P7).
 *
 *             ┌── patience not over, or the idle budget cannot pay yet ──┐
 *             ▼                                                          │
 *   waits ─▶ blocked ──(the idle budget covers the estimated cost)──▶ holder ──▶ starts
 *             ▲                                                          │
 *             └──(the idle budget is spent: released, the estimate doubles)
 *
 * Under a policy by which projects take turns, only the first blocked task of each project may become a holder. Under a policy with
 * a fixed order, the first blocked tasks of the pool may become holders. Several tasks can be holders, each with nodes of its own.
 * A task that requests more than its account's share needs a turn to hold (credit.h).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/input.h"
#include "core/model/pool.h"
#include "core/model/task.h"
#include "core/sched/place/trial.h"
#include "core/state/fact.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

enum { HOLD_BLOCKED_MAX = 64 };

struct holder_row {
    const struct task *task;
    int64_t until_ms; /* when the holder starts at the latest; 0: not known */
    bool turn;        /* the holder requests more than its account's share, and has a turn */
};

struct hold {
    const struct core *core;
    const struct pool *pool;
    struct trial *trial;
    int64_t now_ms;
    bool by_length;  /* the pool has `order: short-first` */
    bool between;    /* several projects wait, and turns change between them */
    account_id last; /* the project of the newest holder of the state */
    struct holder_row at[RESERVATIONS_MAX]; /* in the order in which places are kept */
    uint32_t count;
    uint32_t kept; /* the places of so many holders are chosen */
    /* the tasks that hold_note() noted; NULL: hold.c has dealt with the task */
    const struct task *blocked[HOLD_BLOCKED_MAX];
    uint32_t blocked_account[HOLD_BLOCKED_MAX]; /* the id of the task's project */
    uint32_t blocked_count;
    bool denied;     /* a waiting task would fit the kept places */
    bool turned;     /* a turn begins in this pass */
    bool changed;    /* the list of holders differs from the state's */
    bool closed;     /* a task could not become a holder: none behind it may */
    bool left_known; /* `left` is known */
    int64_t left;    /* what the holders leave of the idle budget */
    int64_t level;   /* of the idle budget */
    int64_t most;    /* of the idle budget */
    int64_t wake_ms; /* when a blocked task may become a holder, or the budget is spent; 0: never */
};

/* Does something other than room on nodes hold the task back? */
typedef bool (*hold_barred_fn)(void *ctx, const struct task *task);

/* From when on the task may hold, by the pool's patience. In a pool with `order: short-first` tasks may be overtaken for longer. */
int64_t hold_patient_until_ms(const struct hold *hold, const struct task *task);

/* Begins a pass: reads the holders of the state. */
void hold_init(struct hold *hold, const struct core *core, const struct pool *pool,
               struct trial *trial);

/* Called after claims have started and before the first turn. Reservations bind other tasks from now on. */
void hold_begin(struct hold *hold, hold_barred_fn barred, void *ctx);

/* Notes that this task, whose turn it is, finds no room. `*seen` says that a blocked task of the same
 * project was noted before. Returns whether the task is a holder. */
bool hold_note(struct hold *hold, const struct task *task, bool *seen);

/* Chooses the places of holders that have none yet. Called before a task is placed that could take these places. */
void hold_keep(struct hold *hold);

/* The holder that keeps places for nothing; NULL: none. The first holder whose start time limits prove: other tasks use its places until
 * then. */
const struct task *hold_free(const struct hold *hold);

/* Called after all turns: chooses the holders from now on. `stopped`: the pass did not look at all waiting tasks. Adds facts for what
 * has changed. */
void hold_settle(struct hold *hold, bool stopped, hold_barred_fn barred, void *ctx,
                 const struct input *in, struct facts *out);
