/* task_json.h - tasks as docs/api/objects.md has them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/core.h"
#include "core/sched/explain/explain.h"

enum {
    TASK_JSON_ATTEMPTS_MAX = 1000,
    TASK_JSON_POSITION_MAX = 1000, /* in lists, further back is shown as this */
    TASK_JSON_REASONS_KEPT = 16,
};

/* Parts of the object that cost more than the rest. */
enum {
    TASK_JSON_REASON = 1,   /* `reason` and `position`; null without */
    TASK_JSON_ATTEMPTS = 2, /* `attempts`; left out without */
    TASK_JSON_NO_ENV = 4,   /* `env` is written as {} */
    TASK_JSON_PLACES = 8,   /* in `attempts` all that hold a place, however many */
};

/* What writing many tasks of one moment shares: those of a group wait for the same reason, which is computed once. Valid while the state does not change. */
struct task_writer {
    const struct core *core;
    struct arena *arena; /* cleared by the caller; specs are decoded into it */
    uint32_t kept_count;
    struct {
        struct explain_group group;
        struct reason reason;
    } kept[TASK_JSON_REASONS_KEPT];
    struct arena *keep; /* NULL, or one that is not cleared: each queue is then walked once for the
                           positions of all, instead of once for each task */
    struct task_places *places; /* in `keep` */
};

void task_json_writer_init(struct task_writer *writer, const struct core *core,
                           struct arena *arena);

/* The task object; `parts` of the flags above. */
void task_json(struct task_writer *writer, struct json_out *j, const struct task *task,
               unsigned parts);

/* id name user project state priority position resources instances counts submitted_at reason: an item of the queue.
 * `position` is the caller's count, which walks the queue. */
void task_json_short(struct task_writer *writer, struct json_out *j, const struct task *task,
                     uint32_t position);
