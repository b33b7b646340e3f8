/* blocked.h - the head of a pool, and the holders of reservations (P7).
 *
 *   blocked ─▶ head ─(patience)─▶ holder: places are kept for the task from its turn on ─▶ starts
 *
 * A pool has one head at a time. In a fixed order the head is the first task that fits no place. Where turns change between projects,
 * one project after the other has the head: its first blocked task, until that task starts. In a pool with `order: short-first` the
 * head is the task that has waited longest. A head that has been overtaken for long enough becomes a holder. A pool has one holder,
 * or up to RESERVATIONS_MAX holders while the starts of all of them are known. SPDX-License-Identifier: Apache-2.0 */
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
    bool by_length;          /* the pool has `order: short-first` */
    bool between;            /* several projects wait, and turns change between them */
    const struct task *old;  /* the head (else the first holder) of the state; NULL: none */
    account_id last;         /* the project of `old` */
    const struct task *next; /* the task that becomes the head if `old` is not the head any more */
    const struct task *head; /* NULL: none so far in this pass */
    bool moved;              /* another task became the head, or the head got some instances */
    bool grew;               /* the head got instances in this pass, and waits for its next ones */
    bool impatient;          /* a further pass is needed: the head or the holders have changed */
    bool closed;             /* no further task may become a holder in this pass */
    bool timed;              /* the start of every holder is known */
    const struct task *holders[RESERVATIONS_MAX]; /* in the order of their turns */
    int64_t until_ms[RESERVATIONS_MAX]; /* when each holder starts at the latest; 0: not known */
    uint32_t count;                     /* of the holders */
    uint32_t kept;                      /* the places of so many holders are chosen */
};

/* Does something other than room on nodes hold the task back? */
typedef bool (*blocked_barred_fn)(void *ctx, const struct task *task);

/* Begins a pass: reads the head and the holders of the state. */
void blocked_init(struct blocked *waiting, const struct core *core, const struct pool *pool,
                  struct trial *trial);

/* Called after claims have started and before the first turn. Where turns change between projects, reservations bind all other
 * projects from now on. Tasks ahead of a holder in its own project may use its places (rights.h). */
void blocked_begin(struct blocked *waiting, blocked_barred_fn barred, void *ctx);

/* Notes that this task, whose turn it is, finds no room. `progress`: some of its instances got a place in this pass. `*seen` belongs
 * to its project: a blocked task ahead in the project was noted as the next head. Returns whether the task holds a reservation now. */
bool blocked_note(struct blocked *waiting, const struct task *task, bool progress, bool *seen);

/* Chooses the places of holders that have none yet. Called before a task is placed that could take these places. */
void blocked_keep(struct blocked *waiting);

/* Called after all turns. In a pool with `order: short-first` the task that has waited longest becomes the head. */
void blocked_elect(struct blocked *waiting, blocked_barred_fn barred, void *ctx);

/* Called after all turns. Holders that something other than room holds back keep no places any more. */
void blocked_unbar(struct blocked *waiting, blocked_barred_fn barred, void *ctx);

/* Does something other than room hold the head or a holder back? */
bool blocked_barred(const struct blocked *waiting, blocked_barred_fn barred, void *ctx);

/* Adds facts for what has changed: FACT_HEAD_BLOCKED, FACT_RESERVED. `stopped`: the pass did not look at all waiting tasks. */
void blocked_facts(struct blocked *waiting, bool stopped, const struct input *in,
                   struct facts *out);
