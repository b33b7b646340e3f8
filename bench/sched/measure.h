/* measure.h - clock, medians, the calibration loop, and the table of make bench-sched.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CPU time of this thread: the core does no input or output, so on a quiet machine it is the time
 * that passes, and on a busy one the work of others does not count. */
int64_t measure_now_ns(void);

/* Bytes in use on the heap. */
size_t measure_heap_bytes(void);

/* Reproducible numbers. */
uint64_t measure_random(uint64_t *state);

/* The p-th percentile (0 to 100) of an array, which is sorted; 0 of none. */
int64_t measure_percentile(int64_t *values, size_t count, unsigned p);

/* What a stretch of work cost and brought. */
struct spend {
    int64_t ns;
    uint64_t inputs;
    uint64_t passes;
    uint64_t starts;
    uint64_t claims;    /* places promised to those that wait for others to leave */
    uint64_t evictions; /* those told to leave */
    uint64_t visited;   /* nodes looked at */
};

/* The run with the median time; `runs` is sorted. */
struct spend measure_median(struct spend *runs, size_t count);

/* One placement of a task on 10,000 nodes with one bitmap of nodes per number of free GPUs and
 * nothing else: the calibration loop, and the least that a decision can cost. Nanoseconds. */
double measure_floor_ns(void);

/* ---- the table ---- */

enum { RUNS_MAX = 31 };

struct bench {
    unsigned runs;          /* of which the median counts */
    uint32_t nodes_max;     /* larger clusters are left out */
    double floor_ns;        /* of the calibration loop */
    unsigned bars;          /* lines with a bar */
    unsigned short_bars;    /* those that are short of it */
    int64_t allocate_ns[2]; /* a full pass at 1,000 and at 10,000 nodes; 0 when not measured */
    /* How one decision grows between them, in hundredths, with free GPUs, with thousands of tasks waiting, and with a
     * reservation held as well; likewise. */
    int64_t decision_growth;
    int64_t full_growth;
    int64_t held_growth;
};

enum { NO_BAR = 0 };

void table_head(const struct bench *bench);
void table_section(const char *title);

/* One line: a time for `decisions` decisions (0: not counted in them), which must not be above the
 * bar (NO_BAR: there is none). `note`: which peer's figure stands beside it, or NULL. */
void table_time(struct bench *bench, const char *name, int64_t ns, uint64_t decisions,
                int64_t bar_ns, const char *note);
/* One line with any figure, which must not be above the bar. */
void table_value(struct bench *bench, const char *name, double value, const char *unit, double bar,
                 const char *note);
/* One line without a figure. */
void table_none(const char *name, const char *why);
