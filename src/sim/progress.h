/* progress.h - the progress of a run: on a terminal a bar with rate and remaining time,
 * elsewhere one line at the end. Everything goes to standard error.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/engine.h"

struct progress {
    size_t jobs_total;
    int64_t began_ns; /* processor time at the beginning */
    int64_t wall_ns;  /* wall time at the beginning */
    int64_t shown_ns;
    uint32_t calls; /* calls since the clock was last read */
    bool quiet;
    bool bar; /* standard error is a terminal */
};

void progress_init(struct progress *progress, const struct scenario *scenario, bool quiet);
struct watcher progress_watcher(struct progress *progress);

/* Removes the bar and prints the rate of the run. */
void progress_end(struct progress *progress, const struct engine *engine);

/* Returns wall time, in which remaining times are told. */
int64_t progress_wall_ns(void);

/* Returns processor time, for rates. */
int64_t progress_clock_ns(void);
