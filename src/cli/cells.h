/* cells.h - the text of values: states get colours, amounts get units, commands get quotes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/list.h"
#include "cli/table.h"

/* Returns the colour for the state of a task, node or pool. */
enum table_colour cells_state_colour(const char *state);

/* Writes the text of one cell and sets its colour; used by lists and by `show`. */
void cells_text(struct buf *out, const struct list_column *column, const struct doc *item,
                bool absolute, int64_t now_ms);

/* Writes "slots=1 memory=64Gi foo=5". */
void cells_resources_text(struct buf *out, const struct doc *map);

/* Writes "zone=a gpu.model=A100" from a map of labels. */
void cells_labels_text(struct buf *out, const struct doc *labels);

/* Writes "a,b" from a list of texts; NULL: nothing. */
void cells_names(struct buf *out, const struct doc *list);

/* Writes a command with the quotes that a shell needs. */
void cells_command_text(struct buf *out, const struct doc *words);
