/* texts.h - lists of texts in the agent's files and frames: the arguments of a program, its
 * environment. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/bytes.h"

#include <stddef.h>

void texts_put(struct buf *out, const char *const *texts, size_t count);

/* Reads a list of at most `max` texts. A NULL follows the last text, as execve() expects. */
const char *const *texts_get(struct bytes_reader *in, struct arena *arena, size_t max,
                             size_t *ret_count);
