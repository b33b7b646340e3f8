/* openb.h - the placement experiment of "Beware of Fragmentation" (Weng et al., 2023). Tasks
 * arrive one by one and never leave. A task that fits nowhere is dropped. The GPUs that stay
 * unallocated show how well the scheduler places.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "sim/fragments.h"
#include "sim/scenario.h"
#include "sim/sim_options.h"

/* The points of measurement: requested GPUs in percent of the capacity. */
enum { OPENB_POINTS = 6 };
extern const int openb_points[OPENB_POINTS];

struct openb_seed {
    /* Thousandths of GPUs; -1: the point was not reached. */
    int64_t unallocated_milli[OPENB_POINTS];
    /* Unallocated thousandths that a typical task cannot use. */
    int64_t fragmented_milli[OPENB_POINTS];
    uint64_t placed;
    uint64_t dropped;
};

/* Reads the two lists into a scenario: nodes with GPUs (sn, cpu_milli, memory_mib, gpu, model),
 * and tasks, sorted by name. */
must_use enum err openb_read(struct str nodes, const char *nodes_file, struct str tasks,
                             const char *tasks_file, struct scenario *scenario, struct error *e);

/* Makes the order of arrival for a seed: a shuffle, cut or filled up with further draws to
 * `ratio_milli` of the capacity. Indices into the jobs; the caller frees them. */
size_t openb_order(const struct scenario *scenario, uint64_t seed, int64_t ratio_milli,
                   uint32_t **ret);

/* Returns the capacity in thousandths of GPUs. */
int64_t openb_capacity_milli(const struct scenario *scenario);

/* Writes the table of the experiment: the unallocated part at each point, as mean [least-most]
 * over the seeds. */
void openb_text(const struct scenario *scenario, const struct openb_seed *seeds, uint32_t count,
                struct buf *out);

/* Writes the results as JSON: unallocated and fragmented GPUs, for each seed. */
void openb_json(const struct scenario *scenario, const struct openb_seed *seeds, uint32_t count,
                uint64_t seed_first, struct buf *out);

/* Plays one order of arrival to its end. */
must_use enum err openb_seed_run(const struct sim_options *options, const struct scenario *scenario,
                                 uint64_t seed, struct openb_seed *ret, struct error *e);
