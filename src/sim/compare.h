/* compare.h - the figures of several scenarios over the same seeds, and their differences.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/metrics.h"
#include "sim/sim_options.h"
#include "sim/sim_text.h"

enum compare_kind { COMPARE_TIME, COMPARE_PERCENT, COMPARE_COUNT, COMPARE_MILLI };

/* Figures that a reader looks at together. */
enum compare_group {
    COMPARE_WAITS,
    COMPARE_COMPLETION,
    COMPARE_SLOTS,
    COMPARE_TASKS,
    COMPARE_GUARANTEES,
};
enum { COMPARE_GROUP_COUNT = COMPARE_GUARANTEES + 1 };

struct compare_figure {
    const char *name;
    const char *key; /* name in JSON */
    enum compare_kind kind;
    enum compare_group group;
    int64_t (*of)(const struct result *result);
};

enum { COMPARE_FIGURE_COUNT = 20 };
extern const struct compare_figure compare_figures[COMPARE_FIGURE_COUNT];

/* One scenario over time, with the first seed. */
struct compare_run {
    int64_t span_ms;
    int64_t begins_ms; /* 0: no dates */
    int64_t step_ms;
    size_t count;
    int64_t allocated_milli[SERIES_SAMPLES_MAX];
    int64_t pending[SERIES_SAMPLES_MAX];
};

/* All runs of a comparison. */
struct compare {
    const struct sim_options *options;
    uint32_t files;
    uint32_t seeds;
    int64_t *at;              /* every figure of every run, see compare_cell() */
    struct compare_run *runs; /* by file */
};

/* The scenarios, seeds and files of the options. Nothing has run yet. */
void compare_init(struct compare *compare, const struct sim_options *options);
void compare_done(struct compare *compare);

/* Returns the figures of one run. */
int64_t *compare_cell(const struct compare *compare, uint32_t file, uint32_t seed);

/* Takes the figures of a run that has ended. */
void compare_take(struct compare *compare, uint32_t file, uint32_t seed,
                  const struct result *result);

/* Takes the course of a run over time. */
void compare_take_run(struct compare *compare, uint32_t file, const struct result *result,
                      const struct series *series);

int64_t compare_mean(const struct compare *compare, uint32_t file, size_t figure);

/* A difference to the first file. */
struct compare_difference {
    int64_t mean;
    int64_t low; /* this and the next: of all seeds */
    int64_t high;
    bool clear; /* less with every seed, or more with every seed */
};

/* Compares `file` with the first file, seed by seed. */
struct compare_difference compare_difference_of(const struct compare *compare, uint32_t file,
                                                size_t figure);

/* Writes a value or a difference of a figure. `out` has SIM_TEXT_MAX bytes. */
const char *compare_text(enum compare_kind kind, int64_t value, char *out);
