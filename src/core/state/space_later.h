/* space_later.h - what will be free on a node when the instances that are leaving have left.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/node.h"
#include "core/model/space.h"

#include <stdbool.h>

struct core;

/* Turns what is free on a node now into what will be free later. The caller has filled `ret` with the present
 * space, its arrays in `room`. Later the stopping instances have ended. With `claims` the promised instances
 * have also started. An instance that should have ended long ago counts as staying, unless a place on the
 * node is promised. */
void space_later(const struct core *core, const struct node *node, bool claims,
                 struct space_room *room, struct space *ret);

/* Will every claim on the node find free what it was promised? */
bool space_later_claims_fit(const struct core *core, const struct node *node);
