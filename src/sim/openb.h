/* openb.h - the placement experiment of "Beware of Fragmentation" (Weng et al., 2023): tasks arrive
 * one by one and never leave; one that fits nowhere is dropped. How much of the GPUs stays
 * unallocated shows how well the scheduler places. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "sim/fragments.h"
#include "sim/scenario.h"
#include "sim/sim_options.h"

/* Shares of the capacity asked for, in percent, at which is measured. */
enum { OPENB_POINTS = 6 };
extern const int openb_points[OPENB_POINTS];

struct openb_seed {
    int64_t unallocated_milli[OPENB_POINTS]; /* thousandths of GPUs; -1: not reached */
    int64_t fragmented_milli[OPENB_POINTS];  /* of those, of no use to a typical task */
    uint64_t placed;
    uint64_t dropped;
};

/* Nodes (sn, cpu_milli, memory_mib, gpu, model; those with GPUs) and tasks of the two lists into a
 * scenario; its jobs are the list, sorted by name. */
must_use enum err openb_read(struct str nodes, const char *nodes_file, struct str tasks,
                             const char *tasks_file, struct scenario *scenario, struct error *e);

/* The order of arrival for a seed: a shuffle, cut or filled up with further draws to `ratio_milli`
 * of the capacity. Indices into the jobs; the caller frees. */
size_t openb_order(const struct scenario *scenario, uint64_t seed, int64_t ratio_milli,
                   uint32_t **ret);

/* Capacity in thousandths of GPUs. */
int64_t openb_capacity_milli(const struct scenario *scenario);

/* The table of the experiment: unallocated share at each point, mean [least-most] over the seeds. */
void openb_text(const struct scenario *scenario, const struct openb_seed *seeds, uint32_t count,
                struct buf *out);

/* The same for programs: GPUs that stay unallocated, and of those in pieces, for each seed. */
void openb_json(const struct scenario *scenario, const struct openb_seed *seeds, uint32_t count,
                uint64_t seed_first, struct buf *out);

/* One order of arrival, played to its end. */
must_use enum err openb_seed_run(const struct sim_options *options, const struct scenario *scenario,
                                 uint64_t seed, struct openb_seed *ret, struct error *e);
