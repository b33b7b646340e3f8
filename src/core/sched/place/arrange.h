/* arrange.h - places for the instances of a gang with a form: each group in one domain of the level that it requires, and as close
 * together as it prefers. All instances get a place, or none does.
 *
 *   levels of a group:   the closest level first, then wider levels, up to the required level or the domain of the parent
 *   domains of a level:  the fullest domain with enough room first
 *   parts of a domain:   the part with most room first, so that few parts are used; inside a part nodes in the pool's order
 *
 * A budget bounds the work. For equal instances (one leaf) a search within the budget finds places wherever there are enough, so a
 * miss proves that there are none. Different instances are tried in a few sequences only, so a miss of theirs proves nothing.
 * Keeps S13 of core/sched/README.md.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/sched/place/nodeset.h"

#include <stdint.h>

enum arrange_result {
    ARRANGE_DONE,
    ARRANGE_NO_ROOM,   /* the search proved that there are no such places */
    ARRANGE_NOT_FOUND, /* the search found no places and did not look at everything */
};

/* Places these instances, in ascending order. Other instances of the gang keep their places. Nothing is placed unless all are. */
enum arrange_result arrange(struct nodeset *nodeset, const uint32_t *indices, uint32_t count);

/* Sets `*ret` to the domain that takes most of these instances, all of one group, at the level that the group requires. Returns how many
 * of the instances the domain takes. `*ret` is 0 if the group requires no level, or if no node is in a domain of the level. */
uint32_t arrange_closest(struct nodeset *nodeset, uint32_t group, const uint32_t *indices,
                         uint32_t count, domain_id *ret);
