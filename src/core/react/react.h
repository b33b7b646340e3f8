/* react.h - what the outside must do because of a fact, and what a node that connects should have.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

struct core;
struct effects;
struct fact;

/* What must the outside now do because of this fact? */
void react(const struct core *core, const struct fact *fact, struct effects *out);

/* A node has (re)connected: every order it should have. */
void react_orders(const struct core *core, node_id node, struct effects *out);
