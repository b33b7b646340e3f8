/* grow.h - how many nodes a pool asks its provider for, at the end of a pass.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/input.h"
#include "core/model/oindex.h"
#include "core/model/space.h"
#include "core/sched/place/trial.h"
#include "core/state/fact.h"

#include <stdint.h>

/* Asks for the nodes that the pool lacks: for tasks that found no place, for the minimum, for the headroom. `trial` is
 * the pass that found no more places. Returns the moment of the next look; 0: a change of the pool comes first. */
int64_t grow_decide(struct trial *trial, const struct input *in, struct facts *out);

/* The waiting tasks that the nodes on their way will run, as far as is known. */
struct grow_cover {
    bool any;
    struct node node;   /* as the provider brings nodes up */
    struct space space; /* what is free on one such node; points to `node` */
    struct okey
        end; /* the key in ORDER_QUEUE of the first task for which there are too few nodes */
};
void grow_cover_init(struct trial *trial, struct arena *arena, struct grow_cover *ret);
/* Will a node on its way run this task? A pool whose provider has failed covers no task. */
bool grow_covers(const struct grow_cover *cover, const struct core *core, const struct task *task);
