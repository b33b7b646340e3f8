/* page.h - lists by pages: {"items":[…],"next":"<cursor>"|null}. A cursor says after which key to go
 * on and for which question it was made, so that it cannot be used for another.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"

enum { PAGE_LIMIT_DEFAULT = 100, PAGE_LIMIT_MAX = 1000 };

struct page {
    size_t limit;
    uint64_t after;    /* key of the last item of the page before; 0: the first page */
    uint64_t question; /* hash of list and filters */
    struct arena *arena;
};

/* Reads ?limit= and ?cursor=. `question` names the list and its filters. False: answered. */
must_use bool page_read(struct call *call, const char *question, struct page *ret);

/* {"items":[ */
void page_begin(struct json_out *j);

/* ],"next":…}; `next` 0: this was the last page. */
void page_end(struct json_out *j, const struct page *page, uint64_t next);

/* What a list is made of: objects with keys above 0, in their order. `filter` is the caller's. */
struct page_source {
    uint64_t (*next)(const struct core *core, const void *filter,
                     uint64_t after); /* the key of the next to be listed; 0: there is none */
    void (*write)(struct json_out *j, const struct core *core, uint64_t key, struct arena *arena);
};

/* Answers with the page that the call asks for, or that it asks wrongly. */
void page_answer(struct call *call, const char *question, const struct page_source *source,
                 const void *filter);
