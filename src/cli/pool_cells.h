/* pool_cells.h - cells of `weir pool show` about whose tasks and which nodes belong to a pool.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/list.h"

/* Writes "everyone", or "only project/nlp, department/rd". */
void pool_cells_access(struct buf *out, const struct doc *item, int64_t now_ms);

/* Writes the labels of the selector. */
void pool_cells_selector(struct buf *out, const struct doc *item, int64_t now_ms);

/* Writes "3 nodes match the selectors of other pools, too: n1, n2, n3". */
void pool_cells_contested(struct buf *out, const struct doc *item, int64_t now_ms);
