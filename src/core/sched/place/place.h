/* place.h - the next instances of a task find their nodes, all of them or none.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/node.h"
#include "core/model/task.h"
#include "core/sched/place/overlay.h"
#include "core/sched/place/trial.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

/* The next instance from `index` on that wants a place and is not promised one; instance_count: none. */
uint32_t place_waiting(const struct core *core, const struct task *task, uint32_t index);

/* Places `count` waiting instances of the asker's task from *index on, in the asker's view; *index is then behind the last. False:
 * they do not all fit, and nothing is placed. Exact for equal instances: uneven nodes serve as far as they go. */
bool place_chunk(struct trial *trial, struct asker *asker, uint32_t count, uint32_t *index);

/* Places for these instances, all alike, wherever they fit: for place_these(), which knows of forms. */
bool place_alike(struct trial *trial, struct asker *asker, const uint32_t *indices, uint32_t count,
                 const struct node **places);

/* As place_chunk() for these instances, waiting or evicted in this trial; `places` gets the node of each. */
bool place_these(struct trial *trial, struct asker *asker, const uint32_t *indices, uint32_t count,
                 const struct node **places);
