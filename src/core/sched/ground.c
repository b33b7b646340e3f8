/* ground.c - what has been placed on a ground, and the way back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/ground.h"

#include "base/must.h"

void ground_placed(struct ground *ground, const struct node *node, uint32_t index)
{
    ground->at[index] = node;
    ground->placed[ground->placed_count++] = index;
}

uint32_t ground_taken_back(struct ground *ground)
{
    must(ground->placed_count > 0);
    const uint32_t index = ground->placed[--ground->placed_count];
    ground->at[index] = NULL;
    return index;
}

void ground_back(struct ground *ground, uint32_t placed_count)
{
    must(placed_count <= ground->placed_count);
    while (ground->placed_count > placed_count) {
        ground->ops->undo(ground);
    }
}
