/* cells.h - how values look: states have colours, amounts units, commands quotes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/table.h"

/* The colour of a task's, node's or pool's state. */
enum table_colour cells_state_colour(const char *state);
