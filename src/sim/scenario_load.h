/* scenario_load.h - makes a scenario from what the command line names: a scenario file, a trace,
 * an exported state, a number of nodes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/sim_options.h"
#include "sim/scenario.h"

/* The problems of the file are shown on standard error, each with its line.
 * `file` NULL: there is no scenario file. `seed` NULL: the seed of the file, else 42. */
must_use enum err scenario_load(const struct sim_options *options, const char *file,
                                const uint64_t *seed, struct scenario *scenario, struct error *e);
