/* change.h - how apply writes: a row is opened, changed and closed, and closing brings everything
 * that follows from the row (its derived state, queues, sums, the scheduler's index) up to date.
 * Only apply_*.c and state_decode*.c write through it (check.c
 * recounts by it). SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core_internal.h"

/* ---- pools ---- */

struct pool *pool_edit(struct core *core, pool_id id); /* must exist */

/* Something a pass could use has happened. */
void pool_due(struct core *core, pool_id id);

/* The blocked and the reserved task of a pool, with the deadline of its patience. `since_ms` is
 * when the blocked one began to wait. */
void pool_head_set(struct core *core, struct pool *pool, task_id blocked, int64_t since_ms,
                   task_id reserved);

/* The deadline of a pool's patience, before and after a change of it. */
void pool_patience_drop(struct core *core, const struct pool *pool);
void pool_patience_put(struct core *core, const struct pool *pool);

/* ---- tasks ---- */

/* What others know of a task: taken by task_open(), put right by task_close(). */
struct task_mark {
    bool queued;
    bool active;
    pool_id pool;
    uint8_t state;
    struct okey queue;
    struct okey shape;
};

struct task *task_open(struct core *core, task_id id, struct task_mark *ret); /* must exist */
void task_close(struct core *core, struct task *task, const struct task_mark *mark);

/* The mark of a task that nobody knows yet. */
void task_mark_new(const struct task *task, struct task_mark *ret);

struct instance *instance_edit(struct core *core, const struct task *task, uint32_t index);

/* Put the deadline of an instance into the order, or take it out; does nothing when it has none. */
void instance_deadline_put(struct core *core, const struct task *task,
                           const struct instance *instance);
void instance_deadline_drop(struct core *core, const struct task *task,
                            const struct instance *instance);

/* The waiting instances of a task will never run: they end with this cause. */
void instances_give_up(struct core *core, struct task *task, enum end_cause cause, int64_t now_ms);

/* waiting_from is the lowest waiting index from `from` on. */
void task_waiting_from(const struct core *core, struct task *task, uint32_t from);

/* One more (one less) task has this request; the row comes and goes with its tasks. */
shape_id shape_take(struct core *core, pool_id pool, uint32_t gang_size,
                    const struct request *request);
void shape_drop(struct core *core, shape_id id);

/* ---- nodes ---- */

struct node *node_open(struct core *core, node_id id, struct node *ret_before); /* must exist */
void node_close(struct core *core, struct node *node, const struct node *before);

/* Take what an instance holds from a node's free amounts, or give it back. */
void node_hold(struct node *node, const struct instance *instance, const struct request *request);
void node_release(struct node *node, const struct instance *instance,
                  const struct request *request);

/* All free amounts from the totals and from what runs on it. */
void node_recount(const struct core *core, struct node *node);

/* ---- apply, by object ---- */

void apply_pool_set(struct core *core, const struct fact *fact);
void apply_pool_deleted(struct core *core, const struct fact *fact);
void apply_head(struct core *core, const struct fact *fact);
void apply_pass(struct core *core, const struct fact *fact);
void apply_node_set(struct core *core, const struct fact *fact);
void apply_node_state(struct core *core, const struct fact *fact);
void apply_node_edited(struct core *core, const struct fact *fact);
void apply_task_submitted(struct core *core, const struct fact *fact);
void apply_task_queued(struct core *core, const struct fact *fact);
void apply_task_paused(struct core *core, const struct fact *fact);
void apply_task_edited(struct core *core, const struct fact *fact);
void apply_task_kill_asked(struct core *core, const struct fact *fact);
void apply_task_ended(struct core *core, const struct fact *fact);
void apply_task_archived(struct core *core, const struct fact *fact);
void apply_allocated(struct core *core, const struct fact *fact);
void apply_attempt_started(struct core *core, const struct fact *fact);
void apply_attempt_stopping(struct core *core, const struct fact *fact);
void apply_attempt_ended(struct core *core, const struct fact *fact);
