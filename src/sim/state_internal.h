/* state_internal.h - an exported state while it is read.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/doc.h"
#include "sim/state_file.h"

struct sim_state {
    struct scenario *scenario;
    struct arena *arena;
    int64_t time_ms;
    int64_t runs_ms;
    const char *wrong; /* name of the last bad number; NULL: none */
};

/* Reads milliseconds or a count; `otherwise` if it is missing or null. A negative `otherwise`
 * allows -1, which then has a meaning. A number out of its bounds is noted for
 * state_file_check(). */
int64_t state_file_ms(struct sim_state *state, const struct doc *map, const char *name,
                      int64_t otherwise);

/* Return "" and false if the value is missing or of another kind. */
const char *state_file_text(const struct doc *map, const char *name);
bool state_file_yes(const struct doc *map, const char *name);

/* ERR_INVALID names a number that was out of its bounds since `wrong` was cleared. */
must_use enum err state_file_check(const struct sim_state *state, struct error *e);

/* Adds the list `tasks`. Running tasks get their places. */
must_use enum err state_tasks_read(struct sim_state *state, const struct doc *doc, struct error *e);
