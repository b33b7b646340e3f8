/* cluster.h - a core that a case is told to: nodes join, tasks are submitted and placed, passes run. Everything goes through
 * inputs that the server has too; nothing reaches into the state.
 *
 * A case begins with tasks that run where it says. Those are told as facts, as a restarted server would read them from its log:
 * what the scheduler itself would have chosen is not the question there.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/core.h"

struct cluster {
    struct core *core;
    struct arena *arena;
    struct facts facts; /* of the last input */
    int64_t now_ms;
    uint32_t node_count;
    uint32_t
        started_count; /* instances placed, and told to stop, by inputs since the caller set these to 0 */
    uint32_t stopped_count;
};

/* A started server with the pool `default`. */
void cluster_init(struct cluster *cluster, struct arena *arena);
void cluster_done(struct cluster *cluster);

enum verdict cluster_do(struct cluster *cluster, struct input in);

/* Change the pool `default`: its definition, to be changed and handed to cluster_pool_set(). */
struct pool_spec cluster_pool(struct cluster *cluster);
void cluster_pool_set(struct cluster *cluster, const struct pool_spec *spec);

/* A node joins the pool of that name (created when there is none; NULL: `default`). */
node_id cluster_node(struct cluster *cluster, struct node_spec spec);

/* An account below the department of that name ("": the top); false: refused. */
bool cluster_account(struct cluster *cluster, enum account_kind kind, const char *name,
                     const char *parent);
/* Its quota, the same in every pool. */
void cluster_quota(struct cluster *cluster, account_id account, const struct quota_spec *spec);

/* A task with nothing set but what every task has: 0 slots, one instance, preemptible. */
struct task_spec cluster_task(const char *name);

/* Submitted but not queued; 0: refused, and cluster->facts.refusal says why. */
task_id cluster_stage(struct cluster *cluster, struct task_spec spec);
/* Queued. */
void cluster_queue(struct cluster *cluster, task_id task);

/* Passes until nothing is due. */
void cluster_pass(struct cluster *cluster);

/* Agents report: every instance that was ordered runs; every one that was told to stop, or that holds something, has ended. */
void cluster_started(struct cluster *cluster, task_id task);
void cluster_stopped(struct cluster *cluster, task_id task);
void cluster_ended(struct cluster *cluster, task_id task);

/* It is on record that this instance runs there, on these devices (0: those it would be given). The task must be queued.
 * False: it does not fit there. */
bool cluster_runs(struct cluster *cluster, task_id task, uint32_t index, node_id node,
                  uint64_t devices);
/* It is on record that this running instance was told to stop, for somebody else; `stuck`: twice, and that it is still there. */
void cluster_stopping(struct cluster *cluster, task_id task, uint32_t index, bool stuck);

/* This running instance fails. */
void cluster_failed(struct cluster *cluster, task_id task, uint32_t index);
/* The node goes, and what runs there is lost. */
void cluster_remove(struct cluster *cluster, node_id node);

/* Instances that hold something. */
uint32_t cluster_active(const struct cluster *cluster, task_id task);
