/* topology_arg.h - the value of --topology.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"

/* Turns "required=zone,preferred=rack" into the JSON object of a task, in the arena. ERR_USAGE
 * shows the right form. */
must_use enum err topology_arg_json(const char *text, struct arena *arena, const char **ret,
                                    struct error *e);
