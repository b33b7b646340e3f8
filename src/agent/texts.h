/* texts.h - lists of texts in the files and frames of the agent: the words of a program, its environment.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/bytes.h"

#include <stddef.h>

void texts_put(struct buf *out, const char *const *texts, size_t count);

/* Reads at most `max` texts. A NULL stands behind the last, as execve() wants it. */
const char *const *texts_get(struct bytes_reader *in, struct arena *arena, size_t max,
                             size_t *ret_count);
