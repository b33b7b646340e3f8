/* state_json.h - pools, nodes, departments, projects and quotas as in docs/api/objects.md, and
 * the whole state. An amount without a bound is null.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/core.h"

enum { STATE_JSON_VERSION = 1, STATE_JSON_NODE_TASKS_MAX = 1000, STATE_JSON_CONTESTED_MAX = 10 };

/* Writes a pool. The pool's nodes are counted, so the cost grows with their number. `private`: with what only administrators
 * may see. */
void state_json_pool(struct json_out *j, const struct core *core, const struct pool *pool,
                     bool private, struct arena *arena);

/* Writes a node. `tasks` are the attempts on the node, at most STATE_JSON_NODE_TASKS_MAX. */
void state_json_node(struct json_out *j, const struct core *core, const struct node *node,
                     struct arena *arena);

/* Writes a department or a project. */
void state_json_account(struct json_out *j, const struct core *core, const struct account *account,
                        struct arena *arena);

/* Writes the quota of one account in one pool: the values that were set, by resource. */
void state_json_quota(struct json_out *j, const struct core *core, account_id account, pool_id pool,
                      struct arena *arena);

/* The same with "warnings":[…]: what is doubtful about the quota (quota_warn.h). */
void state_json_quota_set(struct json_out *j, const struct core *core, account_id account,
                          pool_id pool, struct arena *arena);

/* Writes one line of the list of quotas: one account, pool and accounted resource, with the use
 * of it. */
void state_json_quota_line(struct json_out *j, const struct core *core, account_id account,
                           pool_id pool, uint32_t dim);

/* True for a line that differs from the defaults or that is about slots. Lists leave the other
 * lines out unless they are asked for. */
bool state_json_quota_line_matters(const struct core *core, account_id account, pool_id pool,
                                   uint32_t dim);

/* Writes {"version":1,"seq","time","pools":[],"nodes":[],"tasks":[]} as of `now_ms`, for `weir
 * state export` and the simulator. Environments are left out, because they may hold secrets. Cost
 * and size grow with the state: call this on a work thread with a copy of the state. */
void state_json(const struct core *core, int64_t now_ms, struct buf *out);
