/* attempts_merge.h - puts the earlier attempts of a task into the JSON of the task.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>

struct attempt_past {
    uint32_t index;
    uint32_t attempt;
    struct str json; /* as task_json_attempt_ended() wrote it */
};

/* Appends `task`, a task object whose last member is `attempts`, to `out`, with the earlier attempts
 * in their places: by instance, then by attempt. `past` has this order. An attempt that both have is
 * taken from `past`, which knew the node's name; only the last member, `again`, is that of `task`. A task object without attempts is copied. */
void attempts_merge(struct buf *out, struct str task, const struct attempt_past *past,
                    size_t count);
