/* world.h - a cluster that exists only in a core. Nodes, accounts and tasks are made through
 * inputs, and agents answer every order at once. Every input passes decide, apply and react as in
 * the server, without the store. `spend` adds up the cost. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "core/core.h"
#include "measure.h"

enum { NODE_GPUS = 8 };

struct world {
    struct core *core;
    pool_id pool;
    int64_t now_ms;
    struct spend spend; /* since the caller last set it to zero */
    struct arena arena; /* memory of one step */
    struct facts facts;
    struct effects effects;
    VEC(struct effect) orders; /* orders that the agents have not answered yet */
};

/* A started server and `nodes` nodes of NODE_GPUS GPUs in one pool. */
void world_init(struct world *world, uint32_t nodes);
void world_done(struct world *world);

/* Sets how long the first blocked task may be overtaken; PATIENCE_MS_DEFAULT at the start. */
void world_patience(struct world *world, int64_t patience_ms);

/* Runs one input, which must be accepted. */
void world_do(struct world *world, struct input in);

/* A department at the top, and a project below a department ("": below the department
 * `default`). */
account_id world_department(struct world *world, const char *name);
account_id world_project(struct world *world, const char *name, const char *department);
/* Sets the quota: `gpus` guaranteed, the weight in thousandths. */
void world_quota(struct world *world, account_id account, uint32_t gpus, uint32_t weight);

/* A task of one instance with this many thousandths of a GPU, in a project. */
struct task_spec world_task(const char *project, int64_t gpus_milli);
/* Submits `count` tasks, in batches as large as a submission may be. */
void world_submit(struct world *world, const struct task_spec *specs, uint32_t count);
/* Submits `count` equal tasks. */
void world_submit_equal(struct world *world, struct task_spec spec, uint32_t count);

/* Runs passes until none is due. */
void world_settle(struct world *world);

/* The agents carry out their orders: instances start or end, and each node sends one report. */
void world_agents(struct world *world);

/* Does the first instance of the task run? */
bool world_runs(const struct world *world, task_id task);

/* A running instance ends with success, and its agent reports the end. */
void world_end(struct world *world, task_id task);
