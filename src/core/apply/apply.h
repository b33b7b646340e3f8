/* apply.h - make a fact so. The only writer of the state; replay at restart goes through here too.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

struct core;
struct fact;
struct instance;
struct task;

/* Total on what decide() produced from the same state; numbers the fact. */
void apply(struct core *core, const struct fact *fact);

/* The pass just decided for this pool gave no facts: it is not due until something changes. */
void apply_pool_idle(struct core *core, pool_id pool);

/* The instances of a task have left: it goes where it was to go, if that is still there. */
void apply_task_edit_arrive(struct core *core, struct task *task);

/* One that was evicted has ended: what it had not saved is lost. */
void apply_checkpoint_lost(struct core *core, const struct instance *instance);

/* ---- by object ---- */

void apply_claim_made(struct core *core, const struct fact *fact);
void apply_claim_dropped(struct core *core, const struct fact *fact);
void apply_claim_evicted(struct core *core, const struct fact *fact);
void apply_pool_wake(struct core *core, const struct fact *fact);
void apply_history_ticked(struct core *core, const struct fact *fact);
void apply_checkpoint(struct core *core, const struct fact *fact);

void apply_pool_blocked(struct core *core, const struct fact *fact);
void apply_pool_reserved(struct core *core, const struct fact *fact);
void apply_pool_pass(struct core *core, const struct fact *fact);
void apply_node_edited(struct core *core, const struct fact *fact);
void apply_task_submitted(struct core *core, const struct fact *fact);
void apply_task_queued(struct core *core, const struct fact *fact);
void apply_task_paused(struct core *core, const struct fact *fact);
void apply_task_edit(struct core *core, const struct fact *fact);
void apply_task_edit_moved(struct core *core, const struct fact *fact);
void apply_task_released(struct core *core, const struct fact *fact);
void apply_task_kill_asked(struct core *core, const struct fact *fact);
void apply_task_ended(struct core *core, const struct fact *fact);
void apply_task_archived(struct core *core, const struct fact *fact);
void apply_attempt_allocated(struct core *core, const struct fact *fact);
void apply_attempt_started(struct core *core, const struct fact *fact);
void apply_attempt_stopping(struct core *core, const struct fact *fact);
void apply_attempt_ended(struct core *core, const struct fact *fact);
void apply_account_set(struct core *core, const struct fact *fact);
void apply_account_deleted(struct core *core, const struct fact *fact);
void apply_account_quota(struct core *core, const struct fact *fact);
