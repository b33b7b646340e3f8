/* task_json.h - tasks as in docs/api/objects.md.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/core.h"
#include "core/sched/explain/explain.h"
#include "wire/use_table.h"

enum {
    TASK_JSON_ATTEMPTS_MAX = 1000,
    /* The last position counted; lists show this number for tasks further back. */
    TASK_JSON_POSITION_MAX = 1000,
    TASK_JSON_REASONS_KEPT = 256,
};

/* Flags for parts of the task object that cost more than the rest. */
enum {
    TASK_JSON_REASON = 1,   /* writes `reason` and `position`; without the flag both are null */
    TASK_JSON_ATTEMPTS = 2, /* writes `attempts`; without the flag they are left out */
    TASK_JSON_NO_ENV = 4,   /* `env` is written as {} */
    TASK_JSON_PLACES = 8,   /* `attempts` lists every attempt that holds a place, without a limit */
};

/* Shared by the writing of many tasks of one moment. Tasks of one group wait for the same
 * reason, which is computed once. Valid while the state does not change. */
struct task_writer {
    const struct core *core;
    struct arena *arena; /* specs are decoded into this arena; the caller clears it */
    /* An arena that is not cleared, or NULL. With such an arena the reason of a group of tasks is
     * computed once, and each queue is walked once for the positions of all tasks. */
    struct arena *keep;
    uint32_t kept_count;
    struct task_reason *kept;     /* in `keep` */
    struct task_places *places;   /* in `keep` */
    const struct use_table *uses; /* what attempts use now; NULL: not known */
};

void task_json_writer_init(struct task_writer *writer, const struct core *core,
                           struct arena *arena);

/* Writes the task object. `parts` is a sum of the flags above. */
void task_json(struct task_writer *writer, struct json_out *j, const struct task *task,
               unsigned parts);

/* The same for a caller that has read the task's spec already. */
void task_json_spec(struct task_writer *writer, struct json_out *j, const struct task *task,
                    const struct task_spec *spec, unsigned parts);

/* Writes the newest attempt of an instance as an attempt that has ended. */
void task_json_attempt_ended(struct task_writer *writer, struct json_out *j,
                             const struct task *task, uint32_t index);

/* Writes an item of the queue: id name command pool user project state priority position resources
 * instances counts submitted_at cause evicted reason. The caller walks the queue and counts `position`. */
void task_json_short(struct task_writer *writer, struct json_out *j, const struct task *task,
                     uint32_t position);
