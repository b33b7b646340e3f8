/* task_filter.h - which tasks a list shows. The same filter serves live tasks and the history.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"

struct task_filter {
    uint64_t states; /* a bit per task_state; 0: all */
    uint64_t kinds;
    /* The texts of wire/task_filters.def; NULL: any. */
#define WORDS(id, letter, value, help, complete)
#define TEXT(id, letter, value, help, complete) const char *id;
#include "wire/task_filters.def"
#undef WORDS
#undef TEXT
    int64_t since_ms; /* ended tasks: not before */
    int64_t until_ms; /* only tasks that ended before; 0: any */
};

/* Reads the filter from the query. `ret_question` names the filter for the cursor. False: the call
 * was answered. */
must_use bool task_filter_read(struct call *call, struct task_filter *ret,
                               const char **ret_question);

/* Copies the filter's texts into the arena, because the work may outlive the request. */
void task_filter_keep(struct task_filter *filter, struct arena *arena);

/* Can the filter match live tasks, or ended tasks? */
bool task_filter_live(const struct task_filter *filter);
bool task_filter_ended(const struct task_filter *filter);

/* How many tasks match, where that is known at once: a filter by states of live tasks alone. */
bool task_filter_total(const struct task_filter *filter, const struct core *core, uint64_t *ret);

/* Does this live task match? `arena` is for reading the task's texts. */
bool task_filter_matches(const struct task_filter *filter, const struct core *core,
                         const struct task *task, struct arena *arena);

/* Does the JSON of an ended task have the tag? True when the filter asks for no tag. */
bool task_filter_tagged(const struct task_filter *filter, struct str json, struct arena *arena);
