/* arrange.h - places for instances of a gang with a form: each group within one domain where it must be, close together where it
 * can be, all or none.
 *
 *   a group:  the closest level that is asked for ─▶ wider ─▶ … ─▶ the level that is required, or where its parent is
 *   a level:  the fullest domain that has room first
 *   a domain: in it the parts with most room first, so that few are used; in those the nodes as the pool orders them
 *
 * For equal instances (one leaf) it finds places wherever there are enough. Different ones are tried in a few orders, largest
 * first, within a budget of work: finding nothing is then no proof. Keeps S13 of README.md.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/sched/place/nodeset.h"

#include <stdint.h>

enum arrange_result {
    ARRANGE_DONE,
    ARRANGE_NO_ROOM,   /* there are no such places */
    ARRANGE_NOT_FOUND, /* none were found; the search was not complete */
};

/* Places these instances (ascending), beside those that have their place already. Nothing is placed unless all are. */
enum arrange_result arrange(struct nodeset *nodeset, const uint32_t *indices, uint32_t count);

/* The domain of the level that a group requires which comes closest to taking these instances, all of that group: how many of them
 * it takes. `*ret` is 0 where the group requires no level, or no node is on it. */
uint32_t arrange_closest(struct nodeset *nodeset, uint32_t group, const uint32_t *indices,
                         uint32_t count, domain_id *ret);
