/* determined.h - Determined's agents, jobs and tasks as Weir's nodes, projects and tasks.
 *
 * An agent is a node with slots; a group (job) is a project where groups take turns or share; a label is a pool of that name; a priority of p is one of 100 - p; a task beyond one agent is
 * told as it is, as so many slots. How many zero-slot tasks an agent takes is a setting of the pool with us: where agents
 * differ, the smaller ones are filled up with tasks that never end. Running tasks beyond what the agents have cannot be told (P1):
 * they wait instead, and count as released when they neither run nor are promised a place after the pass.
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
    bool beyond;  /* the case has it running where there is no room for it */
};

struct det_case {
    struct trial *trial;
    struct cluster cluster;
    struct det_task *tasks;
    uint32_t task_count;
    bool by_group; /* groups are projects; else all is one */
};

/* The server, its pool and its nodes, with what is said to be in use on them. CASE_PASSED: ready. */
enum outcome det_open(struct det_case *det, struct trial *trial);
void det_close(struct det_case *det);

/* The tasks of a list, staged in order of age; those that run are brought to run. CASE_PASSED: ready. */
enum outcome det_tasks(struct det_case *det, const struct doc *list);

/* Queue those that wait. */
void det_queue(struct det_case *det);

uint64_t det_number(const struct doc *map, const char *key, uint64_t missing);
