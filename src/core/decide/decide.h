/* decide.h - turns inputs into facts.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/form.h"
#include "core/model/ids.h"
#include "core/model/pool.h"
#include "core/model/resource.h"
#include "core/model/spec.h"
#include "core/model/verdict.h"

#include <stdint.h>

struct core;
struct facts;
struct input;
struct step;
struct launch;
struct node;
struct node_edit;
struct task;

/* Adds to `out` the facts that follow from an input, or refuses the input with out->refusal. Changes nothing
 * in the state. */
enum verdict decide(const struct core *core, const struct input *in, struct facts *out);

/* ---- decisions by input ---- */

enum verdict decide_server_start(struct step *step);
enum verdict decide_pool_create(struct step *step);
enum verdict decide_pool_edit(struct step *step);
enum verdict decide_node_join(struct step *step);
enum verdict decide_node_silent(struct step *step);
enum verdict decide_node_lost(struct step *step);
enum verdict decide_node_edit(struct step *step);
enum verdict decide_node_remove(struct step *step);
enum verdict decide_submit(struct step *step);
enum verdict decide_task_start(struct step *step);
enum verdict decide_task_pause(struct step *step);
enum verdict decide_task_activate(struct step *step);
enum verdict decide_move(struct step *step);
enum verdict decide_task_kill(struct step *step);
enum verdict decide_edit(struct step *step);
enum verdict decide_report(struct step *step);
enum verdict decide_health(struct step *step);
enum verdict decide_tick(struct step *step);
/* May the task of the submission take the place of the task that the submission names? Yes where it names none. */
enum verdict decide_rollout_check(struct step *step);
/* The submitted task `to` begins to take the place of the task that the submission names, if it names one. */
void decide_rollout_begin(struct step *step, task_id to);
enum verdict decide_rollout_ask(struct step *step);
/* The deadline of the rollout has come. */
void decide_rollout_late(struct step *step, task_id id);
/* All rollouts do what the facts of this step let them do. */
void decide_rollout_go(struct step *step);
enum verdict decide_account_set(struct step *step);
enum verdict decide_account_delete(struct step *step);
enum verdict decide_account_quota(struct step *step);
enum verdict decide_adopt(struct step *step);
enum verdict decide_pool_defaults(struct step *step);
enum verdict decide_flavor_set(struct step *step);
enum verdict decide_flavor_delete(struct step *step);
enum verdict decide_network_set(struct step *step);
enum verdict decide_network_delete(struct step *step);

/* Warns, pauses or ends a task of which no running instance has done anything for a time, by the
 * rule of the task's pool. */
enum verdict decide_idle(struct step *step);
enum verdict decide_launch_ask(struct step *step);
enum verdict decide_launch_stop(struct step *step);
enum verdict decide_launch_provider(struct step *step);
enum verdict decide_life_close(struct step *step);
enum verdict decide_life_delete(struct step *step);
enum verdict decide_life_restore(struct step *step);
enum verdict decide_scale(struct step *step);
/* After an edit of a pool with a number of nodes for each zone: nodes above the number of their zone leave. */
enum verdict decide_scale_zones(struct step *step, pool_id pool);
enum verdict decide_replace(struct step *step);

/* Is there a network of this name? "" and NULL name none. */
enum verdict decide_network_named(struct step *step, const char *name);
/* May a task of the project have the network that its spec and its pools name? `pool` is meant where the spec names no pool.
 * Adds to `*needs` what the network needs of the nodes (enum LABEL_OWN_… of label.h). */
enum verdict decide_network_task(struct step *step, const struct task_spec *spec,
                                 account_id project, const struct pool *pool, uint32_t *needs);
/* The request of a new task, with what its network needs of the node. */
enum verdict decide_network_request(struct step *step, const struct task_spec *spec,
                                    account_id account, const struct pool *pool,
                                    struct request *ret);

/* May the pool (NULL: a new one) have the flavor that the spec names? */
enum verdict decide_flavor_pool(struct step *step, const struct pool *pool,
                                const struct pool_spec *spec);
/* Is this the name of a node whose launch has ended? Its machine comes too late: the pool counts without it, and it is to
 * end. */
bool decide_launch_over(const struct core *core, const struct pool *pool, const char *name);

/* The machine of the launch is to end, for the reason `words` ("": none is given). */
void decide_launch_end(struct step *step, const struct launch *launch, const char *words);
/* A node has joined the pool under this name. Does it belong to a launch? */
void decide_launch_node(struct step *step, const struct pool *pool, node_id node, const char *name);
/* Deadlines have come: a node of the pool goes; the agent of a launch did not join in time. */
void decide_launch_shrink(struct step *step, const struct core *core, pool_id id);
void decide_launch_late(struct step *step, const struct core *core, launch_id id);
/* The replacement of the pool's nodes goes on or ends. */
void decide_replace_next(struct step *step, const struct core *core, pool_id id);

/* Deadlines have come: the state of the pool has changed; the pool can no longer be restored and goes. */
void decide_life_state(struct step *step, const struct core *core, pool_id id);
void decide_life_gone(struct step *step, const struct core *core, pool_id id);
/* An edit of a node within its limits. Labels may say that the node belongs to another pool: `busy` of the edit says what
 * becomes of its tasks. */
enum verdict decide_member_edit(struct step *step, const struct node *node,
                                const struct node_edit *edit);
/* An empty node goes to the pool of its labels. */
void decide_member_move(struct step *step, const struct core *core, node_id node);

/* Checks names of projects and departments and puts them into their stored form: with their kinds, sorted, each once. `now`
 * are the names that the object has before the edit. */
enum verdict decide_access_guests(struct step *step, const char *const *now, uint32_t now_count,
                                  const char *const **names, uint32_t *name_count);
/* How many tasks of the pool a pool with this spec would not take, and the first of them. Looks at every task; such an edit is
 * rare. */
uint32_t decide_access_turned_away(const struct core *core, const struct pool *pool,
                                   const struct pool_spec *spec, task_id *ret_first);

/* Kills a task; one that was killed already is left alone. */
void decide_task_end(struct step *step, const struct task *task);

/* ---- functions that several decisions share ---- */

/* Refuses the input because the pool was deleted and can be restored, or because it is closed. */
enum verdict decide_life_refuse(struct step *step, const struct pool *pool);

/* Refuses an input about the pool: there is no such pool, or `count` tasks, nodes or launches use the pool. */
enum verdict decide_pool_missing(struct step *step);
enum verdict decide_pool_in_use(struct step *step, const struct pool *pool, uint32_t count);

/* Does the pool take tasks of this kind? Can the request or the form ever run in the pool (P9)? Anything but
 * VERDICT_OK is a refusal. `spec` (may be NULL) has the names of the groups for the reason. */
enum verdict decide_submit_accepts(struct step *step, const struct pool *pool, enum task_kind kind,
                                   account_id account);
enum verdict decide_submit_possible(struct step *step, const struct pool *pool,
                                    const struct request *request, uint32_t gang_size);
enum verdict decide_form_possible(struct step *step, const struct pool *pool,
                                  const struct form *form, const struct task_spec *spec);

/* The form of a task with topology or groups, with requests resolved; NULL: the task has neither. For a task
 * with groups `request` becomes the request of the first instance. */
enum verdict decide_form_resolve(struct step *step, const struct task_spec *spec,
                                 struct request *request, const struct form **ret);

/* The spec of a wide task as a gang: a task that requests more slots than any node of the pool has, and
 * nothing else. The gang has one-slot instances, or in a pool with `uneven` off equal parts that take a
 * whole idle node of just their size each. `request` becomes the request of one instance. Any other task comes back unchanged. */
const struct task_spec *decide_spread(struct step *step, const struct pool *pool,
                                      const struct task_spec *spec, struct request *request);
/* Puts the refusal of a wide task into the slots that the user asked for, with the amount that would be
 * accepted. */
void decide_spread_refused(struct step *step, const struct pool *pool, const struct task_spec *spec,
                           const struct request *request);

/* Of the pools that the spec names (all exist): the first in which the task can ever run; none: the first. */
const struct pool *decide_fallback_first(struct step *step, const struct task_spec *spec,
                                         account_id account, const struct request *request);
/* The task has waited long enough, or was lost with its node: its next pool opens, where the task has one. */
void decide_fallback_waited(struct step *step, const struct core *core, task_id id);
void decide_fallback_lost(struct step *step, const struct core *core, const struct task *task);

/* The request of an instance with names resolved, and the project that a spec names. */
enum verdict decide_submit_request(struct step *step, const struct task_spec *spec,
                                   struct request *ret);
enum verdict decide_submit_project(struct step *step, const char *name, account_id *ret);
/* The number of instances that must start together. */
uint32_t decide_submit_gang_size(const struct task_spec *spec);
/* The pools that a spec names, or the pool chosen for a spec that names none: all exist. `*ret`: the first. */
enum verdict decide_submit_pools(struct step *step, const struct task_spec *spec,
                                 const struct pool **ret);
/* Sets the nodes to avoid in a request: ascending, each once. */
enum verdict decide_submit_avoid(struct step *step, const char *const *names, uint32_t count,
                                 struct request *ret);
