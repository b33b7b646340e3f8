/* search_aux.c - the node for a task that requests no amounts at all.
 *
 * How many places for such tasks a node has left says little of a node that works for other tasks, too. So the score decides
 * (score.h): `pack` prefers nodes whose slots are nearly all in use, and leaves idle nodes idle.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/search_aux.h"

#include "base/must.h"
#include "core/sched/place/score.h"
#include "core/sched/place/search.h"
#include "core/state/capacity.h"

const struct node *search_aux_first(struct overlay *overlay, const struct asker *asker,
                                    uint32_t count)
{
    const bool up = !overlay->spread;
    const enum pool_placement placement = up ? PLACEMENT_PACK : PLACEMENT_SPREAD;
    struct search_at at = up ? SEARCH_BOTTOM : SEARCH_TOP;
    const struct node *best = NULL;
    struct score best_score = {0, 1};
    must(score_resource(asker->request) == RESOURCE_AUX);
    for (uint32_t found = 0; found < SEARCH_LEVEL_MAX;) {
        const struct node *node = search_step(overlay, asker, &at, up);
        if (node == NULL) {
            break;
        }
        if (search_takes(overlay, node, asker, count) < count) {
            continue;
        }
        found++;
        struct space_room room;
        struct space place;
        overlay_place(overlay, node, asker, &room, &place);
        const struct score score = score_of(placement, &place, asker->request);
        const int order = best == NULL ? 1 : score_compare(score, best_score);
        if (order > 0 || (order == 0 && node->id.v < best->id.v)) {
            best = node;
            best_score = score;
        }
    }
    return best;
}
