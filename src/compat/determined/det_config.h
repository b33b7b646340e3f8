/* det_config.h - reads Determined's master configuration as far as it is about pools.
 *
 * The result is the configuration as a map with every default filled in, in Determined's own names; times are in
 * seconds, with names in "_s". The form before pools (top-level `scheduler` and `provisioner`) becomes one pool.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "spec/problem.h"

/* `resource_manager`, `resource_pools`, `additional_resource_managers` and `launch_error`, resolved. */
struct det_config {
    const struct doc *resolved;
    struct problems
        form; /* what is no configuration at all: unknown names, values of a wrong kind */
    struct problems
        rules; /* what Determined refuses in a configuration of the right form, in its words */
};

/* All texts live in the arena. */
void det_config_read(const struct doc *doc, struct arena *arena, struct det_config *ret);
