/* top_view.h - the views of `weir top`, drawn from the API's answers. Draws only; asks nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/doc.h"
#include "cli/top_screen.h"

enum top_page { TOP_POOLS, TOP_MAP, TOP_QUEUE, TOP_MINE, TOP_TASK };
enum { TOP_PAGE_COUNT = TOP_TASK + 1 };

struct top_state {
    enum top_page page;
    size_t chosen; /* the row under the cursor, of lists */
    size_t first;  /* the first row shown */
    size_t rows;   /* rows of the list; set when it is drawn */
    uint64_t
        task; /* of TOP_TASK; of a list the task under the cursor, set when it is drawn; 0: none */
    const char *server;
    const char *lost;   /* why the server does not answer; NULL: the server answers */
    int64_t lost_ms;    /* for how long the server has not answered */
    int64_t at_ms;      /* the moment of the past that is shown; 0: the present */
    const char *unseen; /* why the moment `at_ms` cannot be shown; NULL: the moment is shown */
    int64_t now_ms;
    const struct doc *home; /* the answers; NULL: not there yet */
    const struct doc *map;
    const struct doc *queue;
    const struct doc *shown; /* the task */
    const struct doc *why;   /* its explanation; NULL: it has ended */
    struct str log;
};

/* Draws the page. */
void top_view_draw(struct top_screen *screen, struct top_state *state);
