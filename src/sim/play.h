/* play.h - from a command line to results: one run, a comparison, the placement experiment.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "sim/sim_options.h"

must_use enum err play_run(const struct sim_options *options, struct error *e);
/* Returns the signal that ended play_run() early; 0: none. */
int play_stopped_by(void);

must_use enum err play_compare(const struct sim_options *options, struct error *e);
must_use enum err play_openb(const struct sim_options *options, struct error *e);
