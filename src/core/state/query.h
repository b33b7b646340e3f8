/* query.h - reading the state: for the shell and for the layers above.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/account.h"
#include "core/model/claim.h"
#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/resource.h"
#include "core/model/shape.h"
#include "core/model/spec.h"
#include "core/model/task.h"
#include "core/model/vector.h"

#include <stdbool.h>
#include <stdint.h>

struct core;

uint64_t query_seq(const struct core *core);               /* number of the last fact applied */
uint64_t query_epoch(const struct core *core);             /* counts server starts */
const uint8_t *query_server_uuid(const struct core *core); /* 16 bytes */
int64_t query_time_ms(const struct core *core);            /* time of the last fact */

/* The earliest moment at which INPUT_TICK is due, INT64_MAX: none. */
int64_t query_deadline(const struct core *core);

/* A pool that needs INPUT_PASS now; false: none does. A hint kept beside the state: after a restart
 * every pool is due.
 */
bool query_pass_due(const struct core *core, int64_t now_ms, pool_id *ret);

const struct pool *query_pool(const struct core *core, pool_id id); /* NULL: none */
const struct pool *query_pool_named(const struct core *core, const char *name);
const struct pool *query_pool_next(const struct core *core, pool_id after); /* in order of id */
const char *query_pool_name(const struct core *core, pool_id id);           /* "" for none */
void query_pool_spec(const struct core *core, pool_id id, struct arena *arena,
                     struct pool_spec *ret);
/* Its nodes counted: for those who show it. Costs a look at each of them. */
void query_pool_figures(const struct core *core, pool_id id, struct pool_figures *ret);

const struct node *query_node(const struct core *core, node_id id);
const struct node *query_node_named(const struct core *core,
                                    const char *name); /* not removed ones */
/* In order of id, removed ones left out. */
const struct node *query_node_next(const struct core *core, node_id after);
const char *query_node_name(const struct core *core, node_id id);
void query_node_spec(const struct core *core, node_id id, struct arena *arena,
                     struct node_spec *ret); /* with labels */

const struct task *query_task(const struct core *core, task_id id);
const struct task *query_task_next(const struct core *core,
                                   task_id after); /* live tasks in order of id */
const struct task *query_task_prev(const struct core *core,
                                   task_id before); /* before 0: the newest */
task_id query_task_last(const struct core *core);   /* highest id ever given */
void query_task_spec(const struct core *core, task_id id, struct arena *arena,
                     struct task_spec *ret);
const struct instance *query_instance(const struct core *core, task_id id, uint32_t index);
/* The instances that hold something on a node, in order of task and index: start with a zeroed
 * cursor; NULL at the end. */
const struct instance *query_node_instance_next(const struct core *core, node_id node,
                                                struct attempt_key *cursor);
/* The nodes of a pool that are not removed, in order of id: start with node 0; NULL at the end. */
const struct node *query_pool_node_next(const struct core *core, pool_id pool, node_id after);
const struct shape *query_task_shape(const struct core *core, shape_id id);

/* What an instance of a task asks for. */
const struct request *query_task_request(const struct core *core, const struct task *task,
                                         uint32_t index);

/* The place promised to a waiting instance; NULL: none. */
const struct claim *query_instance_claim(const struct core *core, task_id id, uint32_t index);

/* Pending tasks of a pool in its order: start with task 0; returns 0 at the end. */
task_id query_queue_next(const struct core *core, pool_id pool, task_id after);
uint32_t query_queue_position(const struct core *core, task_id id,
                              uint32_t max); /* from 1; `max` when further back */

/* Tasks by state over all pools, for status and metrics; kept, not counted. Of completed, failed,
 * killed and unknown ones: all there ever were. */
uint64_t query_task_count(const struct core *core, enum task_state state);

/* "slots", "cpu", "memory", "foo"; "" beyond the last. */
const char *query_resource_name(const struct core *core, resource_id id);
bool query_resource_named(const struct core *core, const char *name, resource_id *ret);
uint32_t query_resource_count(const struct core *core);

/* How a task ended that has left the tables: TASK_COMPLETED, FAILED, KILLED or UNKNOWN;
 * TASK_PENDING: never existed or lives. */
enum task_state query_task_outcome(const struct core *core, task_id id);

/* ---- accounts ---- */

const struct account *query_account(const struct core *core, account_id id); /* NULL: none */
const struct account *query_account_named(const struct core *core, enum account_kind kind,
                                          const char *name);
const struct account *query_account_next(const struct core *core,
                                         account_id after); /* in order of id, so of age */
/* The accounts directly below one (0: the top), in order of id: start with account 0; NULL at the
 * end. */
const struct account *query_account_child_next(const struct core *core, account_id parent,
                                               account_id after);
const char *query_account_name(const struct core *core, account_id id); /* "" for none */
void query_account_spec(const struct core *core, account_id id, struct arena *arena,
                        struct account_spec *ret);

/* What the account is promised in the pool, defaults and the rest of design.md section 5 resolved. */
void query_quota(const struct core *core, account_id account, pool_id pool, struct quota *ret);
/* As set, to be edited: amounts by name, without those at their default. */
void query_quota_spec(const struct core *core, account_id account, pool_id pool,
                      struct arena *arena, struct quota_spec *ret);
/* The quotas that differ from the default, of pools that exist, by pool and account: start with both 0;
 * false at the end. */
bool query_quota_next(const struct core *core, account_id *account, pool_id *pool);
/* The guarantee is the default one, not set: for slots of `default` the rest, of other departments what
 * those below are guaranteed together. */
bool query_quota_computed(const struct core *core, account_id account, pool_id pool,
                          resource_id resource);

/* What its tasks hold and want in the pool. */
void query_usage(const struct core *core, account_id account, pool_id pool, struct usage *ret);

/* When an instance of the task was last told to leave, and why; NULL: never. */
const struct eviction_note *query_task_eviction(const struct core *core, task_id id);

/* Slots (thousandths) that the tasks of one user hold in the pool. */
int64_t query_usage_user_slots(const struct core *core, user_id user, pool_id pool);
const char *query_usage_user_name(const struct core *core, user_id user); /* "" for none */

/* The accounted resources: DIM_SLOTS, DIM_CPU, DIM_MEMORY, then those that some quota names. */
uint32_t query_dim_count(const struct core *core);
resource_id query_dim_resource(const struct core *core, uint32_t dim);
bool query_dim_of(const struct core *core, resource_id resource, uint32_t *ret);

/* How many slots parts of devices by memory are depends on the node: at least so many, on the pool's largest devices, and at most so
 * many, on its smallest ones. Other requests: what they ask for. */
enum slots_bound { SLOTS_LEAST, SLOTS_MOST };
int64_t query_dim_slots(const struct core *core, pool_id pool, const struct request *request,
                        enum slots_bound bound);

/* What one instance asks for, by dim; cpu and memory that come with the slots and parts of devices by memory are 0. */
void query_dim_request(const struct core *core, const struct request *request, struct vector *ret);
/* What an instance with this request holds that was given these amounts. */
void query_dim_grant(const struct core *core, const struct request *request, int64_t slots_milli,
                     int64_t cpu_milli, int64_t memory_bytes, struct vector *ret);

/* The bytes that parts of devices by memory are, as slots on the pool's smallest devices. */
int64_t query_dim_gpu_slots(const struct core *core, pool_id pool, int64_t bytes);
/* What an account wants in slots, parts of devices by memory included. */
int64_t query_usage_slots_wanted(const struct core *core, pool_id pool, const struct usage *usage);

/* Were `now` (NULL: nothing) to become `next`: would there be few enough accounted resources? */
bool query_quota_dims_fit(const struct core *core, const struct quota_row *now,
                          const struct quota_row *next);

/* The instance of this row, which must exist. */
const struct instance *query_instance_row(const struct core *core, uint64_t row);
/* The live attempt that `key` names, or NULL: another attempt, no allocation, no such task. */
const struct instance *query_instance_live(const struct core *core, struct attempt_key key);
const struct request *query_instance_request(const struct core *core,
                                             const struct instance *instance);
