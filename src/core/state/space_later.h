/* space_later.h - what will be free on a node when those that leave have left.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/node.h"
#include "core/model/space.h"

#include <stdbool.h>

struct core;

/* Make of what is free on a node (`ret`, its arrays in `room`) what will be free when those that are stopping have ended (without
 * those who should have long ago, where no place is promised yet) and, with
 * `claims`, those promised a place have started. */
void space_later(const struct core *core, const struct node *node, bool claims,
                 struct space_room *room, struct space *ret);

/* Will the claims on a node all find what they were promised? */
bool space_later_claims_fit(const struct core *core, const struct node *node);
