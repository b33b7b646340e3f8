/* explain_place.h - `weir explain NODE|POOL`: what a node or a pool takes, holds and keeps, and why tasks wait there.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/context.h"

/* Explains the node or the pool of this name; both where both exist. ERR_NOT_FOUND becomes a message that names
 * what there is to explain. Returns the exit status. */
int explain_place(struct cli *cli, const char *name);
