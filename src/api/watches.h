/* watches.h - who waits for news of a task: its end, or more output.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"
#include "core/model/ids.h"

#include <sys/queue.h>

struct watches;

enum watch_news {
    WATCH_OUTPUT, /* more output is on disk */
    WATCH_ENDED,  /* the task has ended; `json` is the task as history has it */
};

/* Embedded in whoever waits. The callback may remove this watch and no other. */
struct watch {
    LIST_ENTRY(watch) link;
    task_id task;
    void (*fn)(struct watch *watch, enum watch_news news, struct str json);
};

struct watches *watches_new(void);
void watches_free(struct watches *watches); /* nobody may be waiting */

void watches_add(struct watches *watches, struct watch *watch);
void watches_remove(struct watch *watch);

void watches_tell(struct watches *watches, task_id task, enum watch_news news, struct str json);
