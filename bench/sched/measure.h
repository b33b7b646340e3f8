/* measure.h - clock, medians, the calibration loop, and the table of make bench-sched.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CPU time of this thread. The core does no input or output, so on a quiet computer the CPU time
 * equals the time that passes. On a busy computer the work of other processes does not count. */
int64_t measure_now_ns(void);

/* Bytes in use on the heap. */
size_t measure_heap_bytes(void);

/* Reproducible pseudo-random numbers. */
uint64_t measure_random(uint64_t *state);

/* The p-th percentile (0 to 100) of an array, which this function sorts; 0 for an empty array. */
int64_t measure_percentile(int64_t *values, size_t count, unsigned p);

/* The cost and the results of a stretch of work. */
struct spend {
    int64_t ns;
    uint64_t inputs;
    uint64_t passes;
    uint64_t starts;
    uint64_t claims;    /* places promised to waiting tasks */
    uint64_t evictions; /* instances told to leave */
    uint64_t visited;   /* nodes looked at */
};

/* The run with the median time. Sorts `runs`. */
struct spend measure_median(struct spend *runs, size_t count);

/* Nanoseconds of one placement of a task on 10,000 nodes, with nothing but one bitmap of nodes per
 * number of free GPUs: the calibration loop, and the least that a decision can cost. */
double measure_floor_ns(void);

/* ---- the table ---- */

enum { RUNS_MAX = 31 };

struct bench {
    unsigned runs;          /* the median of so many runs counts */
    uint32_t nodes_max;     /* larger clusters are left out */
    double floor_ns;        /* of the calibration loop */
    unsigned bars;          /* lines that have a bar */
    unsigned short_bars;    /* lines that miss their bar */
    int64_t allocate_ns[2]; /* a full pass at 1,000 and at 10,000 nodes; 0 when not measured */
    /* Growth of the cost of one decision from 1,000 to 10,000 nodes, in percent: with free GPUs,
     * with thousands of tasks waiting, and with a reservation held as well; 0 when not measured. */
    int64_t decision_growth;
    int64_t full_growth;
    int64_t held_growth;
};

enum { NO_BAR = 0 };

void table_head(const struct bench *bench);
void table_section(const char *title);

/* Prints one line: the time for `decisions` decisions (0: no time per decision). The time must not
 * be above the bar (NO_BAR: there is none). `note` is another system's figure, or NULL. */
void table_time(struct bench *bench, const char *name, int64_t ns, uint64_t decisions,
                int64_t bar_ns, const char *note);
/* Prints one line with any figure, which must not be above the bar. */
void table_value(struct bench *bench, const char *name, double value, const char *unit, double bar,
                 const char *note);
/* Prints one line with a figure that must not be below the bar. */
void table_least(struct bench *bench, const char *name, double value, const char *unit, double bar);
/* Prints one line without a figure. */
void table_none(const char *name, const char *why);
