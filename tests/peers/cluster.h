/* cluster.h - a core that is set up as a case describes: nodes join, tasks are submitted and
 * placed, passes run. Everything goes through inputs that the server has too; nothing changes
 * the state directly.
 *
 * A case begins with tasks that already run on given nodes. These are made by facts, as a
 * restarted server would read them from its log, because the scheduler's own choice is not under
 * test there.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/core.h"

struct cluster {
    struct core *core;
    struct arena *arena;
    struct facts facts; /* facts of the last input */
    int64_t now_ms;
    uint32_t node_count;
    /* instances started, told to stop and promised a place since the caller set these to 0 */
    uint32_t started_count;
    uint32_t stopped_count;
    uint32_t claimed_count;
    uint32_t asked_count; /* nodes that pools asked their providers for, likewise */
};

/* Makes a started server with the pool `default`. */
void cluster_init(struct cluster *cluster, struct arena *arena);
void cluster_done(struct cluster *cluster);

enum verdict cluster_do(struct cluster *cluster, struct input in);

/* Returns the definition of the pool `default`. The caller changes it and calls
 * cluster_pool_set(). */
struct pool_spec cluster_pool(struct cluster *cluster);
void cluster_pool_set(struct cluster *cluster, const struct pool_spec *spec);

/* Joins a node to the pool of this name (NULL: `default`). A missing pool is created. */
node_id cluster_node(struct cluster *cluster, struct node_spec spec);

/* Makes an account below the department of this name ("": the top); false: refused. */
bool cluster_account(struct cluster *cluster, enum account_kind kind, const char *name,
                     const char *parent);
/* Sets the same quota of an account in every pool. */
void cluster_quota(struct cluster *cluster, account_id account, const struct quota_spec *spec);

/* Returns a task with the least that a task needs: 0 slots, one instance, preemptible. */
struct task_spec cluster_task(const char *name);

/* Submits a task without queueing it; 0: refused, and cluster->facts.refusal says why. */
task_id cluster_stage(struct cluster *cluster, struct task_spec spec);
/* Queues a staged task. */
void cluster_queue(struct cluster *cluster, task_id task);

/* Runs passes until no pool is due. */
void cluster_pass(struct cluster *cluster);

/* Report for all agents: every ordered instance runs; this instance, if it was told to stop, or
 * every one that holds something, has ended. */
void cluster_started(struct cluster *cluster, task_id task);
void cluster_stopped(struct cluster *cluster, task_id task, uint32_t index);
void cluster_ended(struct cluster *cluster, task_id task);

/* Records that this instance runs on this node, on these devices (0: the devices it would be
 * given). The task must be queued. False: the instance does not fit. */
bool cluster_runs(struct cluster *cluster, task_id task, uint32_t index, node_id node,
                  uint64_t devices);
/* Records that this running instance was told to stop for another task. `stuck`: it was told
 * twice and has not ended. */
void cluster_stopping(struct cluster *cluster, task_id task, uint32_t index, bool stuck);

/* Reports that this running instance has failed. */
void cluster_failed(struct cluster *cluster, task_id task, uint32_t index);
/* Removes the node; instances on the node are lost. */
void cluster_remove(struct cluster *cluster, node_id node);

/* Counts the instances that hold something. */
uint32_t cluster_active(const struct cluster *cluster, task_id task);
