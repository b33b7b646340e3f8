/* cells.h - how values look: states have colours, amounts units, commands quotes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/list.h"
#include "cli/table.h"

/* The colour of a task's, node's or pool's state. */
enum table_colour cells_state_colour(const char *state);

/* One cell's text and colour, also for `show`. */
void cells_text(struct buf *out, const struct list_column *column, const struct doc *item,
                bool absolute, int64_t now_ms);

/* "slots=1 memory=64Gi foo=5". */
void cells_resources_text(struct buf *out, const struct doc *map);

/* "zone=a gpu.model=A100" from a map of labels. */
void cells_labels_text(struct buf *out, const struct doc *labels);

/* The words of a command as one would type them. */
void cells_command_text(struct buf *out, const struct doc *words);
