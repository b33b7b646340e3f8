/* runtime.h - protections in time: how long a task runs before it may be evicted, how long one waits before it may evict.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/pool.h"
#include "core/model/task.h"
#include "core/sched/order/account.h"

#include <stdbool.h>
#include <stdint.h>

/* Whose minimum runtime protects from other accounts. */
enum reclaim_protection {
    RECLAIM_PROTECTION_LCA, /* of the account just below the common ancestor, on the victim's side, or above it */
    RECLAIM_PROTECTION_ACCOUNT, /* of the victim's own account, or above it */
};

/* Minimum runtime against tasks of the same account: the first set one from the victim's account up, else the pool's. */
int64_t runtime_min_preempt_ms(const struct account_view *victim, int64_t pool_ms);

/* Minimum runtime against a claimant of another account. */
int64_t runtime_min_reclaim_ms(enum reclaim_protection protection,
                               const struct account_view *claimant,
                               const struct account_view *victim, int64_t pool_ms);

/* Is a victim that started then protected now? An elastic one above its minimum still gives what is above it. */
bool runtime_protected(int64_t started_ms, int64_t min_ms, int64_t now_ms);

/* How long a task waits before it may cause evictions: its own delay, or its pool's. */
int64_t runtime_delay_ms(const struct task *task, const struct pool *pool);

/* From when on may a task cause evictions: its delay after it was submitted or last evicted (0: never was). */
int64_t runtime_evict_from_ms(int64_t submitted_ms, int64_t evicted_ms, int64_t delay_ms);
