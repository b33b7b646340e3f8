/* timeline.h - the bars of GET /timeline. The accounting says when an attempt held its place; when its program started
 * and which devices it had is written in the task alone, and timeline_phases() reads it there.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "store/store.h"

enum { TIMELINE_BYS = 4 }; /* node, user, project, pool */

/* An attempt. Its texts are in the answer's arena. */
struct bar {
    uint64_t task;
    uint32_t index;
    uint32_t attempt;
    int64_t begin_ms;
    int64_t end_ms; /* 0: it still runs */
    int64_t lost_ms;
    int64_t waited_ms;  /* how long it waited for its place; 0: it did not, or nobody knows */
    int64_t started_ms; /* the start of the program; 0: it did not start, or nobody knows */
    uint64_t devices;   /* one bit each */
    int64_t slots_milli;
    int64_t seen_ms; /* how long it lies within the window */
    const char *state;
    const char *names[TIMELINE_BYS];
};

/* Fills in starts and devices of ended attempts. Bars of the tasks beyond TIMELINE_PHASE_BYTES_MAX of text stay without. */
must_use enum err timeline_phases(const struct core *copy, struct store_reader *reader,
                                  struct bar *bars, size_t count, struct error *e);
