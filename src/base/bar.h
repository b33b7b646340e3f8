/* bar.h - a bar on the last line of a terminal, for work that takes long. Everything goes to
 * standard error. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

/* Writes "[####      ] text" for a line of `columns`. Without room for a bar of five characters
 * the line is the text alone, cut to the line. */
void bar_line(struct buf *out, uint32_t permille, const char *text, size_t columns);

/* Draws the line over what stands on the last line of the terminal. */
void bar_draw(uint32_t permille, const char *text);

/* Removes the line. */
void bar_clear(void);
