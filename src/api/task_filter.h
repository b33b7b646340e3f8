/* task_filter.h - which tasks a list shows; the same question for live tasks and for history.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"

struct task_filter {
    uint64_t states; /* bit per task_state; 0: all */
    uint64_t kinds;
    /* The texts of wire/task_filters.def; NULL: any. */
#define WORDS(id, letter, value, help, complete)
#define TEXT(id, letter, value, help, complete) const char *id;
#include "wire/task_filters.def"
#undef WORDS
#undef TEXT
    int64_t since_ms; /* ended tasks: not before */
};

/* From the query. `ret_question` names it for the cursor. False: answered. */
must_use bool task_filter_read(struct call *call, struct task_filter *ret,
                               const char **ret_question);

/* Copies its texts into the arena: the work may outlive the request. */
void task_filter_keep(struct task_filter *filter, struct arena *arena);

/* Can it match tasks that live, or that have ended? */
bool task_filter_live(const struct task_filter *filter);
bool task_filter_ended(const struct task_filter *filter);

/* Does this live task match? `arena` is for reading its texts. */
bool task_filter_matches(const struct task_filter *filter, const struct core *core,
                         const struct task *task, struct arena *arena);

/* Does the task of history, as JSON, have the tag? True when none is asked for. */
bool task_filter_tagged(const struct task_filter *filter, struct str json, struct arena *arena);
