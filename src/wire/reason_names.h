/* reason_names.h - which objects a refusal is about, and which would be accepted. The lists are
 * short: a few names, and how many more there are.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "core/core.h"

/* Writes who uses the pool, node or account of a REASON_IN_USE: "7 tasks: 3, 4, 5 and 4 more". */
void reason_names_uses(const struct core *core, const struct reason *reason, struct buf *out);

/* Appends the nodes that exist, and the one that `asked` perhaps means. */
void reason_names_nodes(const struct core *core, const char *asked, struct buf *out);

/* Appends the labels that nodes of the pool have. */
void reason_names_labels(const struct core *core, pool_id pool, struct buf *out);
