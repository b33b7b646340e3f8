/* reason_names.h - which objects a refusal is about, and which would be accepted. The lists are
 * short: a few names, and how many more there are.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "core/core.h"

/* Writes who uses the pool, node or account of a REASON_IN_USE: "7 tasks: 3, 4, 5 and 4 more". */
void reason_names_uses(const struct core *core, const struct reason *reason, struct buf *out);

enum reason_named {
    REASON_NAMED_NODE,
    REASON_NAMED_POOL,
    REASON_NAMED_PROJECT,
    REASON_NAMED_DEPARTMENT,
    REASON_NAMED_FLAVOR,
    REASON_NAMED_NETWORK,
};

/* Appends the objects of this kind that exist, and the one that `asked` perhaps means. */
void reason_names_all(const struct core *core, enum reason_named kind, const char *asked,
                      struct buf *out);

/* The name of the object that `asked` perhaps means; NULL: no name is near. */
const char *reason_names_meant(const struct core *core, enum reason_named kind, const char *asked);

/* Appends the accounts directly below the department. */
void reason_names_children(const struct core *core, const char *department, struct buf *out);

/* Appends the labels that nodes of the pool have. */
void reason_names_labels(const struct core *core, pool_id pool, struct buf *out);
