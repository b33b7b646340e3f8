/* runtime.h - protections in time: how long a task runs before it may be evicted, and how long a task waits before it may evict.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/pool.h"
#include "core/model/task.h"
#include "core/sched/order/account.h"

#include <stdbool.h>
#include <stdint.h>

/* The account at which the search for a minimum runtime against other accounts begins. The search goes on up the tree. */
enum reclaim_protection {
    /* the highest account on the victim's path to the top that is not on the claimant's path, too */
    RECLAIM_PROTECTION_LCA,
    RECLAIM_PROTECTION_ACCOUNT, /* the victim's own account */
};

/* Minimum runtime against claimants of the same account: the first value that is set from the victim's account up to the top. The
 * pool's value holds if no account sets one. */
int64_t runtime_min_preempt_ms(const struct account_view *victim, int64_t pool_ms);

/* Minimum runtime against a claimant of another account: the first value that is set from the account that `protection` names up to the
 * top. The pool's value `pool_ms` holds if no account sets one. */
int64_t runtime_min_reclaim_ms(enum reclaim_protection protection,
                               const struct account_view *claimant,
                               const struct account_view *victim, int64_t pool_ms);

/* Does the minimum runtime `min_ms` still protect a victim that started at `started_ms`? A victim that started in this very moment is
 * always protected: no start is taken back in the same moment (P6). The caller knows the exception: an elastic
 * gang gives the instances above its minimum in spite of the protection. */
bool runtime_protected(int64_t started_ms, int64_t min_ms, int64_t now_ms);

/* How long a task waits before it may cause evictions: the delay of the task, or of the pool where the task sets none. */
int64_t runtime_delay_ms(const struct task *task, const struct pool *pool);

/* The moment from which a task may cause evictions: `delay_ms` after its submission or its last eviction. An `evicted_ms` of 0 means
 * that the task was never evicted. */
int64_t runtime_evict_from_ms(int64_t submitted_ms, int64_t evicted_ms, int64_t delay_ms);
