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

/* Charges the loss budget for the eviction of this instance: its unsaved work, at most one turn of it. */
void budget_charge(struct trial *trial, const struct instance *instance);

/* May an eviction be charged? The loss budget may go into debt by one decision. */
bool budget_may_lose(const struct trial *trial);

/* When an idle budget of `level` from which nothing is paid reaches `wanted`. */
int64_t budget_fills_ms(const struct pool *pool, int64_t level, int64_t wanted, int64_t now_ms);

/* Are places kept for the holder with this index in the overlay? */
bool budget_keeps(const struct trial *trial, uint32_t holder);

/* What keeping the holder's places is expected to cost until the holder starts. */
int64_t budget_drain(const struct trial *trial, uint32_t holder);

/* Adds a fact where what is paid for kept places, or what was lost, has changed. Returns when the idle budget will be spent. */
int64_t budget_settle(const struct hold *hold, bool stopped, const struct input *in,
                      struct facts *out);
