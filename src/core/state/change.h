/* change.h - how apply/ writes: a row is opened, changed and closed, and closing brings everything
 * that follows from the row (its derived state, queues, sums, the scheduler's index) up to date.
 * Only apply_*.c and state_decode*.c write through it (check.c
 * recounts by it). SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/account.h"
#include "core/model/claim.h"
#include "core/model/form.h"
#include "core/model/ids.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/resource.h"
#include "core/model/spec.h"
#include "core/model/task.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

struct fact;

/* ---- pools ---- */

struct pool *change_pool_edit(struct core *core, pool_id id); /* must exist */

/* The facts of that name: a pool is made, or has another spec; it is deleted. Used to read a state from bytes, too. */
void change_pool_set(struct core *core, const struct fact *fact);
void change_pool_delete(struct core *core, const struct fact *fact);

/* Something a pass could use has happened. */
void change_pool_due(struct core *core, pool_id id);

/* The blocked task of a pool, with the deadline of its patience: since when it is that, and for how much longer than patience it
 * may be overtaken. */
void change_pool_blocked_set(struct core *core, struct pool *pool, task_id blocked,
                             int64_t since_ms, int64_t more_ms);

/* Its reservations; the tasks learn of it, and may change their places in the queue. */
void change_pool_reserved_set(struct core *core, pool_id id, const struct reservation *list,
                              uint32_t count);

/* When a pass is due because somebody may then do what he may not yet; 0: never for that reason. */
void change_pool_wake_set(struct core *core, struct pool *pool, int64_t at_ms);

/* The deadline of a pool's patience, before and after a change of it. */
void change_pool_patience_drop(struct core *core, const struct pool *pool);
void change_pool_patience_put(struct core *core, const struct pool *pool);

/* ---- tasks ---- */

/* What a task adds to what its accounts want. */
struct usage_wants {
    uint32_t instances; /* that wait, of a queued task */
    uint8_t pending;
    uint8_t running;
    bool grouped; /* its instances are not all alike: `waiting` says how many of each group wait */
    uint16_t waiting[TASK_GROUPS_MAX + 1];
};

/* What others know of a task: taken by change_task_open(), put right by change_task_close(). */
struct task_mark {
    bool queued;
    bool active;
    pool_id pool;
    uint8_t state;
    struct okey queue;
    struct okey account_queue;
    struct okey account_running;
    struct usage_wants wants;
    bool stale;
    struct okey stale_key; /* where `stale` */
};

struct task *change_task_open(struct core *core, task_id id,
                              struct task_mark *ret); /* must exist */
void change_task_close(struct core *core, struct task *task, const struct task_mark *mark);

/* The mark of a task that nobody knows yet. */
void change_task_mark_new(const struct core *core, const struct task *task, struct task_mark *ret);

struct instance *change_task_instance(struct core *core, const struct task *task, uint32_t index);

/* Put the deadline of an instance into the order, or take it out; does nothing when it has none. */
void change_task_deadline_put(struct core *core, const struct task *task,
                              const struct instance *instance);
void change_task_deadline_drop(struct core *core, const struct task *task,
                               const struct instance *instance);

/* When an instance that holds a place ends is known anew; the same of all of a task. */
void change_task_end_moved(struct core *core, const struct instance *instance);
void change_task_ends_moved(struct core *core, const struct task *task);

/* The waiting instances of a task will never run: they end with this cause. */
void change_task_give_up(struct core *core, struct task *task, enum end_cause cause,
                         int64_t now_ms);

/* waiting_from is the lowest waiting index from `from` on. */
void change_task_waiting_from(const struct core *core, struct task *task, uint32_t from);

/* The blob of its texts. */
void change_task_spec_set(struct task *task, const struct task_spec *spec);

/* What it has of its own instead of the pool's. */
void change_task_own_set(struct task *task, const struct task_spec *spec);

/* One more (one less) task has this request and form; the row comes and goes with its tasks. */
shape_id change_shape_take(struct core *core, pool_id pool, uint32_t gang_size,
                           const struct request *request, const struct form *form);
void change_shape_drop(struct core *core, shape_id id);

/* ---- nodes ---- */

struct node *change_node_open(struct core *core, node_id id,
                              struct node *ret_before); /* must exist */
void change_node_close(struct core *core, struct node *node, const struct node *before);

/* The facts of that name, likewise: a node joins, or has another spec; its state changes. */
void change_node_set(struct core *core, const struct fact *fact);
void change_node_state(struct core *core, const struct fact *fact);
void change_node_text_set(struct node *node, const struct node_spec *spec);

/* Take what an instance holds from a node's free amounts, or give it back. */
void change_node_allocate(struct node *node, const struct instance *instance,
                          const struct request *request);
void change_node_release(struct node *node, const struct instance *instance,
                         const struct request *request);

/* All free amounts from the totals and from what runs on it. */
void change_node_recount(const struct core *core, struct node *node);

/* ---- accounts ---- */

struct account *change_account_edit(struct core *core, account_id id); /* must exist */

/* An account with this spec below `parent` (0: at the top), a new one or another spec of it; an account without tasks and children goes. */
void change_account_set(struct core *core, account_id id, account_id parent,
                        const struct account_spec *spec);
void change_account_remove(struct core *core, account_id id);

/* Parts of a row's coming to be: its texts, its name, its place below its parent. */
void change_account_text_set(struct account *account, const struct account_spec *spec);
void change_account_name_put(struct core *core, const struct account *account);
void change_account_link(struct core *core, account_id id);

/* One task more (less) in a project and in all above it. */
void change_account_count(struct core *core, account_id id, int sign);

/* The quota of an account in a pool becomes this; the accounted resources follow. */
void change_account_quota_put(struct core *core, account_id account, pool_id pool,
                              const struct quota_row *to);

/* An active instance begins (ends) to hold what it was given, for its accounts and its user; called
 * while its state is an active one. */
void change_usage_allocate(struct core *core, const struct task *task,
                           const struct instance *instance, int sign);
/* It has just been told to stop. */
void change_usage_leave(struct core *core, const struct task *task,
                        const struct instance *instance);

/* What a task wants, now and at its mark. */
void change_usage_wants(const struct core *core, const struct task *task, struct usage_wants *ret);
void change_usage_want(struct core *core, const struct task *task, const struct task_mark *mark);
/* What it wanted is taken back before its request or its project changes. */
void change_usage_unwant(struct core *core, const struct task *task, struct task_mark *mark);

/* All usage from the tasks, after the accounted resources changed. */
void change_usage_recount(struct core *core);

/* Add (sign 1) or take away (-1) the usage of an account in every pool from `above` up to the top. */
void change_usage_carry(struct core *core, account_id id, account_id above, int sign);

/* One more (one less) task of this user. */
user_id change_user_take(struct core *core, const char *name);
void change_user_drop(struct core *core, user_id id);

/* ---- claims ---- */

/* What did not fit in this pool may fit now, though no node has more free: a promise went, or needs less of what is free. */
void change_pool_freed(struct core *core, pool_id pool);

/* A waiting instance is promised a place, or no longer (no claim: nothing happens). The task's row is open or nobody's. */
void change_claim_put(struct core *core, struct task *task, uint32_t index,
                      const struct claim *claim);
void change_claim_drop(struct core *core, struct task *task, uint32_t index);
/* The instance, which has just stopped, waits now for the place it may be promised. */
void change_claim_moved(const struct core *core, struct task *task, uint32_t index);
/* All of a task; all on a node, which must not be open. */
void change_claim_drop_all(struct core *core, struct task *task);
void change_claim_drop_node(struct core *core, node_id node);
