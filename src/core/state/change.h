/* change.h - writing to the state. A row is opened, changed and closed. Closing a row updates everything that
 * follows from the row: derived state, queues, sums, the scheduler's index. Only apply/ and state_codec*.c
 * write through this header; check.c recounts with it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/account.h"
#include "core/model/claim.h"
#include "core/model/flavor.h"
#include "core/model/form.h"
#include "core/model/ids.h"
#include "core/model/launch.h"
#include "core/model/leave.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/rollout.h"
#include "core/model/resource.h"
#include "core/model/spec.h"
#include "core/model/task.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

struct fact;

/* ---- pools ---- */

struct pool *change_pool_edit(struct core *core, pool_id id); /* must exist */

/* Apply the facts pool-set (a pool is made or gets another spec) and pool-deleted. Also used to read a state
 * from bytes. */
void change_pool_set(struct core *core, const struct fact *fact);
void change_pool_delete(struct core *core, const struct fact *fact);

/* The fact of that name: the pools for tasks that name none. */
void change_pool_defaults(struct core *core, const struct fact *fact);

/* Something a pass could use has happened. */
void change_pool_due_set(struct core *core, pool_id pool, bool due);
void change_pool_due(struct core *core, pool_id id);

/* Sets the reservations of a pool. A task that gains or loses a reservation may change its place in the
 * queue. */
void change_pool_reserved_set(struct core *core, pool_id id, const struct reservation *list,
                              uint32_t count);

/* Sets the pool's wake-up: the moment at which a pass is due because a delay or a protection ends. 0: no
 * wake-up. */
void change_pool_wake_set(struct core *core, struct pool *pool, int64_t at_ms);

/* ---- launches ---- */

/* Sets the provider's name for the machine and its last words, each with its NUL. */
void change_launch_text_set(struct launch *launch, const char *name, const char *words);

/* Sets the zone of a new launch; NULL or "": none. */
void change_launch_zone_set(struct launch *launch, const char *zone);

/* The facts of that name. */
void change_launch_asked(struct core *core, const struct fact *fact);
void change_launch_changed(struct core *core, const struct fact *fact);
void change_launch_ended(struct core *core, const struct fact *fact);
/* The node of the launch leaves its pool, for the reason `words`; LEAVE_NOT: it stays. */
void change_launch_leave(struct core *core, launch_id id, enum leave leave, const char *words);
void change_pool_replacement_set(struct core *core, pool_id id, const struct replacement *row,
                                 const char *words);
void change_launch_lock(struct core *core, launch_id id, bool locked);

/* ---- tasks ---- */

/* What a task adds to the demand of its accounts. */
struct usage_wants {
    uint32_t instances; /* waiting instances of a queued task */
    uint8_t pending;
    uint8_t running;
    /* the task has groups: `waiting` has the number of waiting instances of each group */
    bool grouped;
    uint16_t waiting[TASK_GROUPS_MAX + 1];
};

/* What orders and sums knew of a task when the task was opened. change_task_open() fills the mark.
 * change_task_close() compares the task with the mark and updates orders and sums. */
struct task_mark {
    bool queued;
    bool active;
    bool overtaken;
    pool_id pool;
    uint8_t state;
    struct okey queue;
    struct okey account_queue;
    struct okey account_running;
    struct usage_wants wants;
    int64_t hold_until_ms;
    bool service;
    struct okey service_key; /* the task's key in ORDER_SERVICE, if `service` */
    bool successor;
    struct okey successor_key; /* the task's key in ORDER_SUCCESSOR, if `successor` */
    bool checked;              /* does the task stand in ORDER_CHECKED? */
    bool stale;
    struct okey stale_key; /* key of the task in ORDER_DEADLINE, if `stale` */
};

struct task *change_task_open(struct core *core, task_id id,
                              struct task_mark *ret); /* must exist */
void change_task_close(struct core *core, struct task *task, const struct task_mark *mark);

/* Takes the mark of a row that is not opened. */
void change_task_mark(const struct core *core, const struct task *task, struct task_mark *ret);

/* Updates what a row changes in the queue of its pool and in the demand of its accounts. */
void change_task_queue_update(struct core *core, const struct task *task,
                              const struct task_mark *mark);

/* Gives an open row without places another pool. */
void change_task_pool_set(struct core *core, struct task *task, pool_id to);

/* The mark of a new task, which is in no order and no sum yet. */
void change_task_mark_new(const struct core *core, const struct task *task, struct task_mark *ret);

struct instance *change_task_instance(struct core *core, const struct task *task, uint32_t index);

/* Puts the deadline of an instance into ORDER_DEADLINE, or removes it. Does nothing for an instance without a
 * deadline. */
void change_task_deadline_put(struct core *core, const struct task *task,
                              const struct instance *instance);
void change_task_deadline_drop(struct core *core, const struct task *task,
                               const struct instance *instance);

/* The known end of an active instance (of all instances of a task) has changed. */
void change_task_end_moved(struct core *core, const struct instance *instance);
void change_task_ends_moved(struct core *core, const struct task *task);

/* Ends all waiting instances of a task with this cause, because the task will never run again. */
void change_task_give_up(struct core *core, struct task *task, enum end_cause cause,
                         int64_t now_ms);

/* Sets waiting_from to the lowest index of a waiting instance. No instance before `from` waits. */
void change_task_waiting_from(const struct core *core, struct task *task, uint32_t from);

/* Sets the blob of the task from a spec, and the members of the row that repeat fields of the spec. `bytes` is the encoded spec; empty: the
 * function encodes it. */
void change_task_spec_set(const struct core *core, struct task *task, const struct task_spec *spec,
                          struct str bytes);

/* One more (one less) task has this request and form. The shape's row is made for the first task and removed
 * with the last task. */
shape_id change_shape_take(struct core *core, pool_id pool, uint32_t gang_size,
                           const struct request *request, const struct form *form);
void change_shape_drop(struct core *core, shape_id id);

/* ---- nodes ---- */

struct node *change_node_open(struct core *core, node_id id,
                              struct node *ret_before); /* must exist */
void change_node_close(struct core *core, struct node *node, const struct node *before);

/* Apply the facts node-set (a node joins or gets another spec) and node-state. */
void change_node_set(struct core *core, const struct fact *fact);
void change_node_state(struct core *core, const struct fact *fact);
/* Computes the slots and devices of an open row from its spec, as far as the pool lets a node have slots. */
void change_node_slots_set(const struct core *core, struct node *node);
/* Puts the open row of an empty node into another pool. */
void change_node_move(struct core *core, struct node *node, pool_id to);
void change_node_text_set(struct node *node, const struct node_spec *spec);

/* Subtracts what an instance holds from a node's free amounts, or adds it again. */
void change_node_allocate(struct node *node, const struct instance *instance,
                          const struct request *request);
void change_node_release(struct node *node, const struct instance *instance,
                         const struct request *request);

/* Computes all free amounts of a node from its totals and the instances on it. */
void change_node_recount(const struct core *core, struct node *node);

/* ---- rollouts: the facts of these names ---- */

void change_rollout_set(struct core *core, const struct fact *fact);
void change_rollout_hold(struct core *core, const struct fact *fact);
/* Makes or changes the row; a row that is over leaves the state. */
void change_rollout_put(struct core *core, task_id id, const struct rollout *row);
/* A server has started: the time for the next move of the rollout begins anew. */
void change_rollout_renew(struct core *core, task_id id, int64_t now_ms);

/* ---- networks: the facts of that name ---- */

void change_network_set(struct core *core, const struct fact *fact);
void change_network_delete(struct core *core, const struct fact *fact);

/* ---- flavors ---- */

/* The facts of that name. Setting a flavor keeps what is known about zones that stay. */
void change_flavor_set(struct core *core, const struct fact *fact);
void change_flavor_delete(struct core *core, const struct fact *fact);

struct flavor *change_flavor_edit(struct core *core, flavor_id id); /* must exist */

/* Gives the pool the flavor that the name says; "": none. A pool that gets another flavor leaves the waiting list. */
void change_flavor_pool_set(struct core *core, struct pool *pool, const char *name);
/* Says how many nodes the pool wants in each zone of its flavor. */
void change_flavor_pool_zones(const struct core *core, struct pool *pool,
                              const struct pool_spec *spec);

/* ---- accounts ---- */

struct account *change_account_edit(struct core *core, account_id id); /* must exist */

/* change_account_set() makes an account below `parent` (0: at the top), or gives an account another spec and
 * parent. change_account_remove() removes an account, which must have no tasks and no children. */
void change_account_set(struct core *core, account_id id, account_id parent,
                        const struct account_spec *spec);
void change_account_remove(struct core *core, account_id id);

/* The steps of making an account: its texts, its name in the order of names, its place below its parent. */
void change_account_text_set(struct account *account, const struct account_spec *spec);
void change_account_name_put(struct core *core, const struct account *account);
void change_account_link(struct core *core, account_id id);

/* One task more (sign 1) or less (sign -1) in a project and in all accounts above. */
void change_account_count(struct core *core, account_id id, int sign);

/* Sets the quota of an account in a pool, and updates the dimensions. */
void change_account_quota_put(struct core *core, account_id account, pool_id pool,
                              const struct quota_row *to);

/* Adds what an active instance holds to its accounts and its user (sign 1), or subtracts it (sign -1). The
 * instance must be in an active state at the call. */
void change_usage_allocate(struct core *core, const struct task *task,
                           const struct instance *instance, int sign);
/* The instance has just been told to stop: what it holds counts as leaving. */
void change_usage_leave(struct core *core, const struct task *task,
                        const struct instance *instance);

/* change_usage_wants() computes what a task wants. change_usage_want() updates the accounts by the difference
 * to the mark. */
void change_usage_wants(const struct core *core, const struct task *task, struct usage_wants *ret);
void change_usage_want(struct core *core, const struct task *task, const struct task_mark *mark);
/* Subtracts what the task wanted at its mark. Called before the task's request or project changes. */
void change_usage_unwant(struct core *core, const struct task *task, struct task_mark *mark);

/* Computes all usage from the tasks, after the dimensions have changed. */
void change_usage_recount(struct core *core);

/* Adds the usage of account `id` in every pool to the accounts from `above` up to the top (sign 1), or
 * subtracts it (sign -1). */
void change_usage_carry(struct core *core, account_id id, account_id above, int sign);

/* Counts one more (one less) task of a user. The user's row is made for the first task and removed with the
 * last task. */
user_id change_user_take(struct core *core, const char *name);
void change_user_drop(struct core *core, user_id id);

/* ---- claims ---- */

/* What did not fit in this pool may fit now although no node has more free: a promise was dropped, or a
 * promise needs less of what is free now. */
void change_pool_freed(struct core *core, pool_id pool);
/* The same after the labels of a node were set: they may be others. */
void change_pool_relabelled(struct core *core, pool_id pool);

/* change_claim_put() promises a place to a waiting instance. change_claim_drop() drops the promise; without a
 * claim nothing happens. The task's row is open, or the task is in no order yet. */
void change_claim_put(struct core *core, struct task *task, uint32_t index,
                      const struct claim *claim);
void change_claim_drop(struct core *core, struct task *task, uint32_t index);
/* An instance has just stopped and waits. A claim of this instance moves from moving_count to claimed_count. */
void change_claim_moved(const struct core *core, struct task *task, uint32_t index);
/* Drops all claims of a task; drops all claims on a node, whose row must not be open. */
void change_claim_drop_all(struct core *core, struct task *task);
void change_claim_drop_node(struct core *core, node_id node);
