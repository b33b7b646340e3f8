/* world.h - a cluster that exists only in a core: nodes, accounts and tasks made through inputs, and
 * agents that answer every order at once. Every input goes decide, apply, react, as in the server,
 * without the store; what that costs is added up in `spend`.
 * SPDX-License-Identifier: Apache-2.0 */
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
    struct arena arena; /* of the step */
    struct facts facts;
    struct effects effects;
    VEC(struct effect) orders; /* what the agents have not answered yet */
};

/* A started server and `nodes` nodes of NODE_GPUS GPUs in one pool. */
void world_init(struct world *world, uint32_t nodes);
void world_done(struct world *world);

/* For how long who is blocked first may be overtaken; PATIENCE_MS_DEFAULT from the start. */
void world_patience(struct world *world, int64_t patience_ms);

/* One input that must be accepted. */
void world_do(struct world *world, struct input in);

/* A department at the top, a project below one ("" : below the department `default`). */
account_id world_department(struct world *world, const char *name);
account_id world_project(struct world *world, const char *name, const char *department);
/* `gpus` guaranteed, the weight in thousandths. */
void world_quota(struct world *world, account_id account, uint32_t gpus, uint32_t weight);

/* A task of one instance with this many thousandths of a GPU, in a project. */
struct task_spec world_task(const char *project, int64_t gpus_milli);
/* `count` tasks, in batches as large as a submission may be. */
void world_submit(struct world *world, const struct task_spec *specs, uint32_t count);
/* `count` equal ones. */
void world_submit_equal(struct world *world, struct task_spec spec, uint32_t count);

/* Passes until none is due. */
void world_settle(struct world *world);

/* The agents do what they were told: what was to start runs, what was to stop has ended; each node
 * says it in one report. */
void world_agents(struct world *world);

/* Does the first instance of the task run? */
bool world_runs(const struct world *world, task_id task);

/* A running instance ends well; its agent says so. */
void world_end(struct world *world, task_id task);
