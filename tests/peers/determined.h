/* determined.h - Determined's agents, jobs and tasks as Weir's nodes, projects and tasks.
 *
 * An agent becomes a node with slots. A group (job) becomes a project, if groups take turns or
 * share. A label becomes a pool of this name. Priority p becomes 100 - p. A task larger than one
 * agent becomes a wide task.
 *
 * In Weir the number of zero-slot tasks per node is a setting of the pool. Where agents differ,
 * the smaller ones are filled up with tasks that never end. Running tasks beyond what the agents
 * have are impossible (P1). They wait instead, and count as released when they neither run nor
 * have a promise after the pass. Where running tasks hold no places in the source, a task starts
 * there beside those that are stopped for it. In Weir it gets their places promised, which then
 * counts as a start.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cluster.h"
#include "peers.h"

enum { DET_PRIORITY_TOP = 100 };

struct det_task {
    const char *name;
    const char *group;
    const struct doc *doc;
    task_id task; /* 0: refused */
    bool ran;     /* held something before the pass under test */
    bool beyond;  /* runs in the case, although there is no room for it */
};

struct det_case {
    struct trial *trial;
    struct cluster cluster;
    struct det_task *tasks;
    uint32_t task_count;
    bool by_group; /* groups are projects; false: all tasks are in one project */
    bool capped;   /* a group's `max_slots` counts */
    /* in the source running tasks leave their places free: a promised place counts as a start */
    bool looks_empty;
};

/* Makes the server, its pool and its nodes, with the amounts that are in use. CASE_PASSED:
 * ready. */
enum outcome det_open(struct det_case *det, struct trial *trial);
void det_close(struct det_case *det);

/* Joins an agent on which every task of the case could run, for cases that have no agents and ask
 * for no placement. */
void det_join_anywhere(struct det_case *det);

/* Stages the tasks of a list in the order of age, and starts those that run in the case.
 * CASE_PASSED: ready. */
enum outcome det_tasks(struct det_case *det, const struct doc *list);

/* Starts the named tasks where they fit, without a pass. CASE_PASSED: all run. */
enum outcome det_start(struct det_case *det, const struct doc *names);

/* Queues the waiting tasks. */
void det_queue(struct det_case *det);

/* Compares the order of the tasks of each priority with the `expect` of a step, or of the case.
 * `class` and `state` of both say which tasks are meant. */
enum outcome det_order_compare(struct det_case *det, const struct doc *step);

/* Returns the group of this name in the case; NULL: there is none. */
const struct doc *det_group(const struct det_case *det, const char *name);

uint64_t det_number(const struct doc *map, const char *key, uint64_t missing);
