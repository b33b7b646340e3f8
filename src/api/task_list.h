/* task_list.h - live and ended tasks as one list, in the form that the caller writes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/page.h"
#include "api/task_filter.h"

/* How the list is written. call->data is the caller's while rows are written. */
struct task_list_form {
    unsigned parts; /* of a live task: flags of wire/task_json.h; an ended task has all parts */
    void (*begin)(struct json_out *j);
    /* Writes a task, given as the API has it; false: leaves the task out of the page. */
    bool (*row)(struct call *call, struct json_out *j, struct str json);
    /* `next`: the page after this one has the tasks before this number; 0: there is none. */
    void (*end)(struct json_out *j, uint64_t next);
};

/* Answers with a page of tasks, newest first. `data` becomes call->data. */
void task_list_ask(struct call *call, const struct task_filter *filter, const struct page *page,
                   const struct task_list_form *form, void *data);
