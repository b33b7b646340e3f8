/* place.h - nodes for the next instances of a task: for all of them or for none.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/node.h"
#include "core/model/task.h"
#include "core/sched/place/overlay.h"
#include "core/sched/place/trial.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

/* The first waiting instance without a claim, from `index` on. The result is instance_count if there is none. */
uint32_t place_waiting(const struct core *core, const struct task *task, uint32_t index);

/* Places `count` waiting instances of the asker's task from `*index` on, in the asker's view, and sets `*index` behind the last of them.
 * False: not all of the instances fit, and nothing is placed. For equal instances the result is exact. */
bool place_chunk(struct trial *trial, struct asker *asker, uint32_t count, uint32_t *index);

/* Places these equal instances wherever they fit, without a look at forms. `places` gets the node of each instance. */
bool place_alike(struct trial *trial, struct asker *asker, const uint32_t *indices, uint32_t count,
                 const struct node **places);

/* Places these instances, each of them waiting or evicted in this trial, by the form of their task. `places` gets the node of each
 * instance. False: not all of the instances fit, and nothing is placed. */
bool place_these(struct trial *trial, struct asker *asker, const uint32_t *indices, uint32_t count,
                 const struct node **places);
