/* preview_text.h - the answer to a dry run in words: the tasks that stop, end, start and wait.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/doc.h"

enum preview_voice {
    PREVIEW_WOULD, /* "would stop task 9 …": the change is only tried */
    PREVIEW_THIS,  /* "this stops task 9 …": before the question whether to go on */
};

/* Writes a line for each task, at most ten of a kind. `now_ms` is the time by which lengths of time are given. Writes nothing where no
 * task stops, ends, starts or waits. */
void preview_text(struct buf *out, const struct doc *answer, enum preview_voice voice,
                  int64_t now_ms);
