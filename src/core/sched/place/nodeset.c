/* nodeset.c - what has been placed on a ground, and the way back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/nodeset.h"

#include "base/must.h"

void nodeset_placed(struct nodeset *nodeset, const struct node *node, uint32_t index)
{
    nodeset->at[index] = node;
    nodeset->placed[nodeset->placed_count++] = index;
}

uint32_t nodeset_taken_back(struct nodeset *nodeset)
{
    must(nodeset->placed_count > 0);
    const uint32_t index = nodeset->placed[--nodeset->placed_count];
    nodeset->at[index] = NULL;
    return index;
}

void nodeset_back(struct nodeset *nodeset, uint32_t placed_count)
{
    must(placed_count <= nodeset->placed_count);
    while (nodeset->placed_count > placed_count) {
        nodeset->ops->undo(nodeset);
    }
}
