/* blocked.h - who waits longest: the task that is blocked first, and those that hold reservations (P7).
 *
 *   blocked ─(patience)─▶ holder: its places are kept from its turn on ─▶ starts
 *
 * One task at a time is blocked first. Where tasks go in order of submission it is the first of the order that does not fit; where
 * turns change between projects, the first one of a project, one project after the other, until it starts; where
 * short ones go first, the one that has waited longest. When it has been that for long enough it becomes a holder; one at a time, or
 * up to RESERVATIONS_MAX while all their starts are known. SPDX-License-Identifier: Apache-2.0 */
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

struct blocked {
    const struct core *core;
    const struct pool *pool;
    struct trial *trial;
    int64_t now_ms;
    bool by_length;
    bool between;            /* several projects wait, and turns change between them */
    const struct task *old;  /* the first blocked of the pass before, if it still waits */
    account_id last;         /* its project */
    const struct task *next; /* who is it if the old one is not any more */
    const struct task *head; /* the first blocked */
    bool moved;              /* it is another one, or the same one got some of its instances */
    bool grew;      /* in this pass: it now waits for other instances than those that were tried */
    bool impatient; /* places should be kept for it, but its turn was over */
    bool closed;    /* nobody may become a holder any more in this pass */
    bool timed;     /* the start of every holder is known */
    const struct task *holders[RESERVATIONS_MAX]; /* in the order of their turns */
    int64_t until_ms[RESERVATIONS_MAX];
    uint32_t count;
    uint32_t kept; /* so many of them have their places chosen */
};

/* Says whether something other than room holds the task back. */
typedef bool (*blocked_barred_fn)(void *ctx, const struct task *task);

void blocked_init(struct blocked *waiting, const struct core *core, const struct pool *pool,
                  struct trial *trial);

/* Promised places have been taken, turns begin. Where they change between projects, those who hold reservations hold them
 * from now on, against all other projects; those ahead of one in its own may use its places (rights.h). */
void blocked_begin(struct blocked *waiting, blocked_barred_fn barred, void *ctx);

/* This task, whose turn it is, finds no room; `progress`: some of its instances did. `*seen`, of its project: one that is ahead of it
 * was noted. Does it hold a reservation now? */
bool blocked_note(struct blocked *waiting, const struct task *task, bool progress, bool *seen);

/* Choose the places of holders that have none yet: before anybody is placed who could take them. */
void blocked_keep(struct blocked *waiting);

/* All have had their turns: the one that has waited longest is the first blocked, where short ones go first. */
void blocked_elect(struct blocked *waiting, blocked_barred_fn barred, void *ctx);

/* All have had their turns: those that something other than room holds back do not keep anything any more. */
void blocked_unbar(struct blocked *waiting, blocked_barred_fn barred, void *ctx);

/* Does something other than room hold one of them back? */
bool blocked_barred(const struct blocked *waiting, blocked_barred_fn barred, void *ctx);

/* What has changed, as facts. `stopped`: the pass did not meet all that wait. */
void blocked_facts(struct blocked *waiting, bool stopped, const struct input *in,
                   struct facts *out);
