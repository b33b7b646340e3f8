/* react.h - effects: what the server must do because of a fact, and all orders for a node that connects.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

struct core;
struct effects;
struct fact;

/* Adds the effects of a fact to `out`. Called right after the fact was applied. */
void react(const struct core *core, const struct fact *fact, struct effects *out);

/* A server has started: every order that its providers should have. */
void react_launches(const struct core *core, struct effects *out);

/* Adds all orders for a node that has connected: starts of attempts that have not reported their start, and
 * stops under way. */
void react_orders(const struct core *core, node_id node, struct effects *out);
