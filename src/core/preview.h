/* preview.h - what a change would do: which running tasks would be told to stop, and which tasks would get places.
 *
 * The input is decided and applied in a copy of the core, and the passes that are due then are run in the copy. Nothing outside the
 * copy changes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

enum {
    PREVIEW_TASKS_MAX = 100, /* tasks listed; further ones are only counted */
    PREVIEW_PASSES_MAX = 16,
    PREVIEW_WORK_MAX = 200000, /* units of work of one pass */
};

struct preview_stop {
    task_id task;
    uint32_t instances; /* instances that would be told to stop */
    int64_t lost_ms;    /* the longest time of an instance since its start or its last checkpoint */
};

struct preview {
    uint32_t stop_count; /* entries of `stops` */
    uint32_t stop_total; /* tasks that would be told to stop */
    struct preview_stop stops[PREVIEW_TASKS_MAX];
    uint32_t start_count;
    task_id starts
        [PREVIEW_TASKS_MAX]; /* tasks that would get places, now or once the stopped tasks have left */
};

/* Says what the input would do at in->now_ms. Another verdict than VERDICT_OK: `facts` has the refusal. */
enum verdict preview_run(const struct core *core, const struct input *in, struct facts *facts,
                         struct preview *ret);
