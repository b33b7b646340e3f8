/* budget.h - the idle budget and the loss budget of a pool: what keeping places costs, and what is left to pay with.
 *
 * Costs are in slots (thousandths) times milliseconds. A kept amount of cpu or memory counts as the same part of the pool's slots.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/input.h"
#include "core/model/pool.h"
#include "core/sched/keep/hold.h"
#include "core/sched/place/trial.h"
#include "core/state/fact.h"

#include <stdbool.h>
#include <stdint.h>

/* The most that the idle budget saves up: what it gets in a day. */
int64_t budget_most(const struct pool *pool);

/* The level of the idle budget, and of the loss budget. */
int64_t budget_level(const struct pool *pool, int64_t now_ms);
int64_t budget_loss_level(const struct pool *pool, int64_t now_ms);

/* A budget as people look at it. */
struct budget_look {
    int64_t level;
    int64_t most;
    int64_t fill; /* what the budget gets in each millisecond */
    int64_t
        pays; /* what is paid from it in each millisecond; 0 where the budget is full and gets more than it pays */
};
struct budget_look budget_look_idle(const struct pool *pool, int64_t now_ms);
struct budget_look budget_look_loss(const struct pool *pool, int64_t now_ms);

/* What the eviction of this instance costs the loss budget: its unsaved work. */
int64_t budget_lost(const struct trial *trial, const struct instance *instance);

/* Can the loss budget pay this cost, beside what the trial has taken from it? A full budget may go into debt by one decision, if all
 * unsaved work is young: at most two turns old. Without turns evictions cost nothing. */
bool budget_affords(const struct trial *trial, int64_t cost, bool young);

/* When an idle budget of `level` from which nothing is paid reaches `wanted`. */
int64_t budget_fills_ms(const struct pool *pool, int64_t level, int64_t wanted, int64_t now_ms);

/* Are places kept for the holder with this index in the overlay? */
bool budget_keeps(const struct trial *trial, uint32_t holder);

/* What keeping the holder's places is expected to cost until the holder starts. */
int64_t budget_drain(const struct trial *trial, uint32_t holder);

/* Adds a fact where what is paid for kept places, or what was lost, has changed. Returns when the idle budget will be spent. */
int64_t budget_settle(const struct hold *hold, bool stopped, const struct input *in,
                      struct facts *out);
