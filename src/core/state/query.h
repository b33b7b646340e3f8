/* query.h - reading the state: for the shell and for the layers above.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/account.h"
#include "core/model/claim.h"
#include "core/model/flavor.h"
#include "core/model/network.h"
#include "core/model/ids.h"
#include "core/model/launch.h"
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
uint64_t query_epoch(const struct core *core);             /* number of server starts */
const uint8_t *query_server_uuid(const struct core *core); /* 16 bytes */
int64_t query_time_ms(const struct core *core);            /* time of the last fact */

/* Finds a row by its name, in an order (ORDER_…) whose keys are the hash of the name and the number of the
 * row. `name_of` returns the name of a row. 0: no row has the name. */
typedef const char *(*query_name_fn)(const struct core *core, uint64_t id);
uint64_t query_named(const struct core *core, unsigned order, const char *name,
                     query_name_fn name_of);

/* The earliest moment at which an INPUT_TICK is due; INT64_MAX: there is none. */
int64_t query_deadline(const struct core *core);

/* A pool for which an INPUT_PASS is due now; false: there is none. Whether a pool is due is a hint beside the
 * state: after a restart every pool is due. */
bool query_pass_due(const struct core *core, int64_t now_ms, pool_id *ret);

const struct pool *query_pool(const struct core *core,
                              pool_id id); /* NULL: there is none, or it is deleted */
const struct pool *query_pool_named(const struct core *core, const char *name);
/* The name of the pool for tasks that name none; there may be no pool of that name any more. */
const char *query_default_pool(const struct core *core, enum pool_default which);
const struct pool *query_pool_next(const struct core *core, pool_id after); /* in order of id */
const char *query_pool_name(const struct core *core, pool_id id);           /* "" for none */
void query_pool_spec(const struct core *core, pool_id id, struct arena *arena,
                     struct pool_spec *ret);
/* Sums over the nodes of a pool, for display. Looks at every node of the pool. */
void query_pool_figures(const struct core *core, pool_id id, struct pool_figures *ret);

const struct node *query_node(const struct core *core, node_id id);
const struct node *query_node_named(const struct core *core,
                                    const char *name); /* only nodes that are not removed */
/* The next node in order of id; removed nodes are left out. */
const struct node *query_node_next(const struct core *core, node_id after);
const char *query_node_name(const struct core *core, node_id id);
void query_node_spec(const struct core *core, node_id id, struct arena *arena,
                     struct node_spec *ret); /* with labels */

const struct launch *query_launch(const struct core *core, launch_id id);         /* NULL: none */
const struct launch *query_launch_next(const struct core *core, launch_id after); /* by id */
/* The words of the pool's provider about the last launch that failed; "": none failed. */
const char *query_pool_refusal(const struct pool *pool);
/* How the last replacement of the pool's nodes ended; "": none did. */
const char *query_pool_replaced(const struct pool *pool);
const char *query_launch_name(const struct launch *launch); /* the provider's name of the machine */
/* Whether the node leaves its pool, or its machine ends. */
bool query_launch_goes(const struct core *core, const struct node *node);
/* the provider's last words about the machine, or why its node leaves */
const char *query_launch_words(const struct launch *launch);

const struct task *query_task(const struct core *core, task_id id);
/* The task as a queue of this pool has it: in a pool that is not the home of the task, its entry (fallback.h). */
const struct task *query_task_in(const struct core *core, pool_id pool, task_id id);
const struct task *query_task_next(const struct core *core,
                                   task_id after); /* the next task in order of id */
const struct task *query_task_prev(const struct core *core,
                                   /* the next older task; `before` 0: the newest task */
                                   task_id before);
/* Walk through the services of the project that have not ended and whose names have the hash of `name`, from the newest.
 * Another name may have the same hash, so the caller compares names. Returns the next older service than `before`; 0: the
 * newest. NULL: there is no more. */
const struct task *query_task_service_next(const struct core *core, account_id project,
                                           const char *name, task_id before);
/* Returns the next task behind `after` that has a health check and active instances. NULL: there is no more. */
const struct task *query_task_checked_next(const struct core *core, task_id after);
/* Returns the newest service that took the place of the task `origin` and has not ended; NULL: there is none. */
const struct task *query_task_successor(const struct core *core, task_id origin);
/* Returns the rollout with this number; NULL: there is none. */
const struct rollout *query_task_rollout(const struct core *core, task_id id);
/* Does the instance take requests that are for any instance? An instance that a rollout is about to end does not. */
bool query_task_takes(const struct core *core, const struct task *task,
                      const struct instance *instance);
task_id query_task_last(const struct core *core); /* the highest task id ever given */
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

/* What an instance of a task requests. */
const struct request *query_task_request(const struct core *core, const struct task *task,
                                         uint32_t index);

/* The place promised to a waiting instance; NULL: none. */
const struct claim *query_instance_claim(const struct core *core, task_id id, uint32_t index);

/* The queued tasks of a pool in their order. Start with task 0; 0 at the end. */
task_id query_queue_next(const struct core *core, pool_id pool, task_id after);
/* The place of a task in the order of its queue. A walk may go on from a place although the task of that place has left the queue. */
struct queue_place {
    uint64_t at[3];
};
struct queue_place query_queue_place(const struct task *task);
task_id query_queue_behind(const struct core *core, pool_id pool, struct queue_place place);
uint32_t query_queue_position(const struct core *core, task_id id,
                              /* from 1 on, `max` when further back; 0: not queued */
                              uint32_t max);

/* The number of tasks in a state over all pools, for status and metrics. For completed, failed, killed and
 * unknown: all tasks that ever ended so. Costs nothing: the state keeps the numbers. */
uint64_t query_task_count(const struct core *core, enum task_state state);

/* The name of a resource: "slots", "cpu", "memory", or a name that nodes defined. "": there is no such
 * resource. */
const char *query_resource_name(const struct core *core, resource_id id);
bool query_resource_named(const struct core *core, const char *name, resource_id *ret);
uint32_t query_resource_count(const struct core *core);

/* How an archived task ended: TASK_COMPLETED, FAILED, KILLED or UNKNOWN. TASK_PENDING: the task never existed
 * or is not archived. */
enum task_state query_task_outcome(const struct core *core, task_id id);

/* ---- networks ---- */

const struct network *query_network(const struct core *core,
                                    network_id id); /* NULL: there is none */
const struct network *query_network_named(const struct core *core, const char *name);
const struct network *query_network_next(const struct core *core, network_id after); /* by id */
const char *query_network_name(const struct core *core, network_id id); /* "" for none */
void query_network_spec(const struct core *core, network_id id, struct arena *arena,
                        struct network_spec *ret);
/* The network that a pool or a task names; 0: "" or NULL. */
network_id query_network_said(const struct core *core, const char *name);
/* The network in which the task runs: its pool's, else its own, else the node's. */
network_id query_network_of(const struct core *core, const struct task *task);
/* How many pools and tasks name the network, and the first of each; 0: none. */
uint32_t query_network_uses(const struct core *core, network_id id, pool_id *ret_pool,
                            task_id *ret_task);

/* ---- flavors ---- */

const struct flavor *query_flavor(const struct core *core, flavor_id id); /* NULL: there is none */
const struct flavor *query_flavor_named(const struct core *core, const char *name);
const struct flavor *query_flavor_next(const struct core *core, flavor_id after); /* by id */
const char *query_flavor_name(const struct core *core, flavor_id id);             /* "" for none */
void query_flavor_spec(const struct core *core, flavor_id id, struct arena *arena,
                       struct flavor_spec *ret);
/* The name of a zone, by its number from 0; "": the flavor has no zones. */
const char *query_flavor_zone(const struct flavor *flavor, uint32_t zone);
/* The pools of a flavor, in order of id. Start with pool 0; NULL at the end. */
const struct pool *query_flavor_pool_next(const struct core *core, flavor_id id, pool_id after);
/* The flavor's zone of this name; -1: there is none. */
int query_flavor_zone_named(const struct flavor *flavor, const char *name);
/* The zone where the machine of a launch was asked for; "": none. */
const char *query_launch_zone(const struct launch *launch);

/* ---- accounts ---- */

const struct account *query_account(const struct core *core,
                                    account_id id); /* NULL: there is none */
const struct account *query_account_named(const struct core *core, enum account_kind kind,
                                          const char *name);
const struct account *query_account_next(const struct core *core,
                                         /* in order of id; an older account has a lower id */
                                         account_id after);
/* The accounts directly below `parent` (0: at the top), in order of id. Start with account 0; NULL at the
 * end. */
const struct account *query_account_child_next(const struct core *core, account_id parent,
                                               account_id after);
const char *query_account_name(const struct core *core,
                               account_id id); /* "": there is no such account */
void query_account_spec(const struct core *core, account_id id, struct arena *arena,
                        struct account_spec *ret);
/* Returns the rule for the account's tasks in the pool that do nothing: that of the nearest account from
 * the account up to the top that has one, else the pool's. Without the pool and a rule all members are 0. */
struct idle_rule query_account_idle(const struct core *core, account_id id, pool_id in);

/* The quota of the account in the pool, with all defaults filled in: also the rest, which `default` is
 * guaranteed. */
void query_quota(const struct core *core, account_id account, pool_id pool, struct quota *ret);
/* The quota as it was set, for edits: amounts by name. Resources at their defaults are left out. */
void query_quota_spec(const struct core *core, account_id account, pool_id pool,
                      struct arena *arena, struct quota_spec *ret);
/* The quotas that differ from the default, by pool and account, of pools that are not deleted. Start with
 * both ids 0; false at the end. */
bool query_quota_next(const struct core *core, account_id *account, pool_id *pool);
/* Is the guarantee of this resource a computed default? The default of slots is the rest for `default`, for
 * another account the sum of the guarantees below. */
bool query_quota_computed(const struct core *core, account_id account, pool_id pool,
                          resource_id resource);

/* What the tasks of the account hold and want in the pool. */
void query_usage(const struct core *core, account_id account, pool_id pool, struct usage *ret);

/* Returns the demand of the account: the sum of the demands of its children, or, without children,
 * what its tasks hold and wait for. The demand of each account is at most its limit, and at least
 * what the account holds. */
int64_t query_usage_demand(const struct core *core, account_id account, pool_id pool, uint32_t dim);

/* When an instance of the task was last told to leave, and why; NULL: never. */
const struct eviction_note *query_task_eviction(const struct core *core, task_id id);

/* The slots that the tasks of one user hold in the pool, in thousandths. */
int64_t query_usage_user_slots(const struct core *core, user_id user, pool_id pool);
const char *query_usage_user_name(const struct core *core,
                                  user_id user); /* "": there is no such user */

/* The dimensions: DIM_SLOTS, DIM_CPU, DIM_MEMORY, then the named resources that some quota mentions. */
uint32_t query_dim_count(const struct core *core);
resource_id query_dim_resource(const struct core *core, uint32_t dim);
bool query_dim_of(const struct core *core, resource_id resource, uint32_t *ret);

/* The slots of one instance of a request, as a bound over all nodes of a pool. The slots of parts of devices
 * by memory depend on the node: least on the pool's largest devices, most on its smallest. For other requests
 * both bounds are the requested slots. */
enum slots_bound { SLOTS_LEAST, SLOTS_MOST };
int64_t query_dim_slots(const struct core *core, pool_id pool, const struct request *request,
                        enum slots_bound bound);

/* What one instance requests, by dimension. Cpu and memory that come with the slots count 0, and so do parts
 * of devices by memory. */
void query_dim_request(const struct core *core, const struct request *request, struct vector *ret);
/* What an instance holds, by dimension: the given slots, cpu and memory, and the named amounts of its
 * request. */
void query_dim_grant(const struct core *core, const struct request *request, int64_t slots_milli,
                     int64_t cpu_milli, int64_t memory_bytes, struct vector *ret);

/* The slots of `bytes` of GPU memory on the pool's smallest devices, in thousandths. */
int64_t query_dim_gpu_slots(const struct core *core, pool_id pool, int64_t bytes);
/* The slots that an account wants, parts of devices by memory included. */
int64_t query_usage_slots_wanted(const struct core *core, pool_id pool, const struct usage *usage);

/* If the quota `now` (NULL: none) became `next`: would there be at most QUOTA_DIMS_MAX dimensions? */
bool query_quota_dims_fit(const struct core *core, const struct quota_row *now,
                          const struct quota_row *next);

/* The instance of this row, which must exist. */
const struct instance *query_instance_row(const struct core *core, uint64_t row);
/* The instance whose active attempt is `key`. NULL: there is no such task, the instance holds no place, or
 * its attempt is another one. */
const struct instance *query_instance_live(const struct core *core, struct attempt_key key);
const struct request *query_instance_request(const struct core *core,
                                             const struct instance *instance);
