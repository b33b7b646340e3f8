/* apply.h - applies facts to the state. Apart from the reader of stored states nothing else writes the state.
 * Replay at a restart applies facts here, too.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

struct core;
struct fact;
struct instance;
struct task;

/* Applies one fact. Every fact that decide() made from the same state can be applied. The state's number of
 * facts grows by one. */
void apply(struct core *core, const struct fact *fact);

/* A pass over this pool was just decided and gave no facts. The pool is not due until something changes. */
void apply_pool_idle(struct core *core, pool_id pool);

/* The last instance of a task has left its place. Moves the task to pool_next, if that pool still exists. */
void apply_task_edit_arrive(struct core *core, struct task *task);

/* An evicted instance has ended. Adds its unsaved work to what evictions have cost the task. */
void apply_checkpoint_lost(struct core *core, const struct instance *instance);

/* ---- facts by object ---- */

void apply_claim_made(struct core *core, const struct fact *fact);
void apply_claim_dropped(struct core *core, const struct fact *fact);
void apply_claim_evicted(struct core *core, const struct fact *fact);
void apply_pool_waits(struct core *core, const struct fact *fact);
void apply_pool_wake(struct core *core, const struct fact *fact);
void apply_history_ticked(struct core *core, const struct fact *fact);
void apply_checkpoint(struct core *core, const struct fact *fact);

void apply_pool_blocked(struct core *core, const struct fact *fact);
void apply_pool_reserved(struct core *core, const struct fact *fact);
void apply_pool_budgets(struct core *core, const struct fact *fact);
void apply_pool_credit(struct core *core, const struct fact *fact);
void apply_pool_released(struct core *core, const struct fact *fact);
void apply_pool_pass(struct core *core, const struct fact *fact);
void apply_node_edited(struct core *core, const struct fact *fact);
void apply_leave_node(struct core *core, const struct fact *fact);
void apply_leave_locked(struct core *core, const struct fact *fact);
void apply_leave_spare(struct core *core, const struct fact *fact);
void apply_leave_replacing(struct core *core, const struct fact *fact);
void apply_leave_forgotten(struct core *core, const struct fact *fact);
void apply_task_submitted(struct core *core, const struct fact *fact);
void apply_task_queued(struct core *core, const struct fact *fact);
void apply_task_hold_ended(struct core *core, const struct fact *fact);
void apply_task_paused(struct core *core, const struct fact *fact);
void apply_task_edit(struct core *core, const struct fact *fact);
void apply_fallback_opened(struct core *core, const struct fact *fact);
void apply_task_edit_moved(struct core *core, const struct fact *fact);
void apply_task_released(struct core *core, const struct fact *fact);
void apply_task_idle(struct core *core, const struct fact *fact);
void apply_task_kill_asked(struct core *core, const struct fact *fact);
void apply_task_ended(struct core *core, const struct fact *fact);
void apply_task_archived(struct core *core, const struct fact *fact);
void apply_attempt_allocated(struct core *core, const struct fact *fact);
void apply_attempt_started(struct core *core, const struct fact *fact);
void apply_attempt_health(struct core *core, const struct fact *fact);
void apply_attempt_stopping(struct core *core, const struct fact *fact);
void apply_attempt_ended(struct core *core, const struct fact *fact);
void apply_account_set(struct core *core, const struct fact *fact);
void apply_account_deleted(struct core *core, const struct fact *fact);
void apply_account_quota(struct core *core, const struct fact *fact);
void apply_life_state(struct core *core, const struct fact *fact);
void apply_life_closing(struct core *core, const struct fact *fact);
void apply_life_pending(struct core *core, const struct fact *fact);
void apply_life_restored(struct core *core, const struct fact *fact);
