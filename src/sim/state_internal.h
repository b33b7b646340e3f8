/* state_internal.h - an exported state while it is being read.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/doc.h"
#include "sim/state_file.h"

struct sim_state {
    struct scenario *scenario;
    struct arena *arena;
    int64_t time_ms;
    int64_t runs_ms;
    const char
        *wrong; /* the last number that was none, or out of its bounds; NULL: there was none */
};

/* Milliseconds, or a count; `otherwise` where it is missing or null. It may be -1 where that has a meaning, as
 * `otherwise` below 0 tells. One out of its bounds is remembered for state_file_check(). */
int64_t state_file_ms(struct sim_state *state, const struct doc *map, const char *name,
                      int64_t otherwise);

/* "" and false where it is missing or something else. */
const char *state_file_text(const struct doc *map, const char *name);
bool state_file_yes(const struct doc *map, const char *name);

/* Was every number that was read since `wrong` was cleared within its bounds? ERR_INVALID names one that was not. */
must_use enum err state_file_check(const struct sim_state *state, struct error *e);

/* Adds the list `tasks`, those that run with their places. */
must_use enum err state_tasks_read(struct sim_state *state, const struct doc *doc, struct error *e);
