/* shapes.h - the workloads of make bench-sched. Each prints its lines.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "measure.h"

/* KAI's benchmark shapes with KAI's ratios of tasks to nodes, on 100, 1,000 and 10,000 nodes. */
void kai_allocate(struct bench *bench);
void kai_full_cycle(struct bench *bench);
void kai_many_queues(struct bench *bench);
void kai_gangs(struct bench *bench);

/* The shapes in which running tasks must leave. */
void reclaim_huge_gang(struct bench *bench);
void reclaim_unschedulable_gang(struct bench *bench);
void reclaim_one_by_one(struct bench *bench);

/* Many waiting tasks, a cluster in a steady state, and the memory of waiting tasks. */
void load_fill(struct bench *bench);
void load_steady(struct bench *bench);
void load_steady_full(struct bench *bench);
void load_steady_accounts(struct bench *bench);
void load_steady_held(struct bench *bench);
/* 10 to 2,000 projects without quotas in one pool. */
void load_projects(struct bench *bench);
void load_memory(struct bench *bench);
void pools_many(struct bench *bench);
void pools_preview(struct bench *bench);
/* The ratios of the figures at 10,000 nodes to the figures at 1,000 nodes. */
void load_growth(struct bench *bench);
