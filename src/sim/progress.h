/* progress.h - how far a run is: a bar with rate and remaining time on a terminal, one line at the
 * end elsewhere. All of it goes to standard error. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/engine.h"

struct progress {
    size_t jobs_total;
    int64_t began_ns; /* processor's time */
    int64_t wall_ns;  /* when that was */
    int64_t shown_ns;
    uint32_t calls; /* since the clock was read */
    bool quiet;
    bool bar; /* standard error is a terminal */
};

void progress_init(struct progress *progress, const struct scenario *scenario, bool quiet);
struct watcher progress_watcher(struct progress *progress);

/* Takes the bar away and says how fast it went. */
void progress_end(struct progress *progress, const struct engine *engine);

/* What whoever waits has: remaining times are told in it. */
int64_t progress_wall_ns(void);

/* A clock for rates. */
int64_t progress_clock_ns(void);
