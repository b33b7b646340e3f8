/* page.h - lists in pages: {"items":[…],"next":"<cursor>"|null}. A cursor says after which key to
 * go on, and for which list and filters it was made, so that it cannot be used for another list.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"

enum { PAGE_LIMIT_DEFAULT = 100, PAGE_LIMIT_MAX = 1000, PAGE_MORE_MAX = 4 };

struct page {
    size_t limit;
    uint64_t after;               /* key of the last item of the page before; 0: the first page */
    uint64_t more[PAGE_MORE_MAX]; /* further numbers of that item; a list without them has zeros */
    bool has_total;
    uint64_t total;    /* items of the whole list, on all pages, where that is known */
    uint64_t question; /* hash of list and filters */
    struct arena *arena;
};

/* Reads ?limit= and ?cursor=. `question` names the list and its filters. False: the call was
 * answered. */
must_use bool page_read(struct call *call, const char *question, struct page *ret);

/* Writes {"items":[ */
void page_begin(struct json_out *j);

/* Writes ],"next":…}, and "total" where page->has_total. `next` 0: this was the last page. The
 * cursor carries page->more, too. */
void page_end(struct json_out *j, const struct page *page, uint64_t next);

/* The objects of a list: their keys are above 0 and in order. `filter` belongs to the caller. */
struct page_source {
    uint64_t (*next)(const struct core *core, const void *filter,
                     uint64_t after); /* the key of the next object to list; 0: there is none */
    void (*write)(struct json_out *j, const struct core *core, uint64_t key, struct arena *arena);
};

/* Answers with the page that the call asks for, or with the error in the question. */
void page_answer(struct call *call, const char *question, const struct page_source *source,
                 const void *filter);
