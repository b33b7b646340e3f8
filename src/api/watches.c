/* watches.c - a fixed table of lists by task id.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/watches.h"

#include "base/mem.h"
#include "base/must.h"

enum { WATCH_LISTS = 1024 };

LIST_HEAD(watch_list, watch);

struct watches {
    struct watch_list lists[WATCH_LISTS];
};

struct watches *watches_new(void)
{
    struct watches *watches = xcalloc(1, sizeof *watches);
    for (size_t i = 0; i < WATCH_LISTS; i++) {
        LIST_INIT(&watches->lists[i]);
    }
    return watches;
}

void watches_free(struct watches *watches)
{
    if (watches == NULL) {
        return;
    }
    for (size_t i = 0; i < WATCH_LISTS; i++) {
        must(LIST_EMPTY(&watches->lists[i]));
    }
    free(watches);
}

void watches_add(struct watches *watches, struct watch *watch)
{
    LIST_INSERT_HEAD(&watches->lists[watch->task.v % WATCH_LISTS], watch, link);
}

void watches_remove(struct watch *watch)
{
    LIST_REMOVE(watch, link);
}

void watches_tell(struct watches *watches, task_id task, enum watch_news news, struct str json)
{
    struct watch *watch = LIST_FIRST(&watches->lists[task.v % WATCH_LISTS]);
    while (watch != NULL) {
        struct watch *next = LIST_NEXT(watch, link);
        if (watch->task.v == task.v) {
            watch->fn(watch, news, json);
        }
        watch = next;
    }
}
