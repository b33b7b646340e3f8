/* explain_internal.h - one look at the nodes on behalf of one task: shared by explain.c and explain_smaller.c.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/shape.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/explain/explain.h"
#include "core/sched/place/overlay.h"
#include "core/sched/place/trial.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

struct explain_look {
    const struct core *core;
    const struct task *task;
    const struct pool *pool;
    const struct shape *shape;
    struct trial trial; /* nothing is decided in it */
    struct asker asker;
    struct explanation *ret;
    struct vector
        comes;   /* cpu and memory with the places in have_left, and with the first beyond them */
    bool over;   /* there is such a first one */
    bool behind; /* the holder of a reservation */
    const struct reservation *holder; /* the first of them */
    const struct task *held;          /* the one in its own project for whom its quota is kept */
    uint32_t count;                   /* instances that start together */
    uint32_t have;                    /* places for them that are free and not kept */
    uint32_t have_left;   /* those of them that stay within what their accounts may still take */
    uint32_t have_unkept; /* places that are free and not promised, kept or not */
    uint32_t have_kept;   /* places that are free */
    uint32_t able;        /* nodes that could hold one if nothing ran there */
    uint32_t able_up;     /* those of them that may take work */
    uint32_t holds_up;    /* places on them if nothing ran there */
    uint32_t resume_fits; /* free places on the draining node that has most of them */
};

/* The next node of the task's pool behind the key; false: there is none. */
bool explain_node_next(const struct explain_look *look, struct okey *key, const struct node **ret);

/* Whom places in the task's pool are promised to, that of the first node; 0: nobody else. */
task_id explain_held_promised(const struct explain_look *look);

/* When all that leave the places promised to the task should be gone. */
int64_t explain_held_leaving_ms(const struct core *core, const struct task *task);

/* For whom the quota is kept that the task would use; NULL: nobody. `*ret_any`: it might be if the task asked for something else. */
const struct task *explain_held_quota(struct trial *trial, const struct task *task, bool *ret_any);

/* The same, places that are kept included: they must be already. */
void explain_held(struct explain_look *look);

/* The most of what the nearest node lacks with which the task would start on some node now; -1: none, or not known exactly. */
int64_t explain_smaller_now(const struct explain_look *look, const struct explain_node *near);

/* A bound of its accounts or its user is in the way: the most of the resource with which the task would start now; -1: none. */
int64_t explain_smaller_within(struct explain_look *look);
