/* sim_options.h - the command line of `weir sim`.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stdbool.h>
#include <stdint.h>

enum sim_command { SIM_RUN, SIM_COMPARE, SIM_OPENB };

enum { SIM_FILES_MAX = 8, SIM_SEEDS_MAX = 1000 };

struct sim_options {
    enum sim_command command;
    const char *files[SIM_FILES_MAX]; /* scenario files */
    uint32_t file_count;
    bool seed_given;
    uint64_t seed_first;
    uint64_t seed_last;
    bool json;
    bool events; /* print the events */
    bool why;
    bool no_summary;
    bool check;
    bool quiet;
    bool skip_bad;
    const char *tasks;     /* file for a CSV of tasks; for openb: the list of tasks */
    const char *report;    /* file for the HTML report */
    const char *trace;     /* file with a trace */
    const char *format;    /* format of the trace: openb, philly, swf, csv */
    const char *columns;   /* columns of the trace: submit=…,duration=… */
    const char *state;     /* file with an exported state */
    const char *nodes;     /* "64x8"; for openb: the list of nodes */
    int64_t until_ms;      /* 0: not given */
    const char *patience;  /* patience of pools, see patience.h; NULL: not given */
    int64_t runs_ms;       /* length of tasks of a state that have no time limit */
    int64_t arrivals;      /* factor for the arrivals of the trace; 0: not given */
    int64_t ratio_milli;   /* openb: requested part of the capacity */
    const char *placement; /* openb: pack, spread, tight; NULL: the default */
    /* Openb: seed for the order in which nodes join; 0: the order of the list. */
    uint64_t shuffle;
};

/* Reads argv; argv[0] is "sim". ERR_USAGE says what is wrong. */
must_use enum err sim_options_read(int argc, char **argv, struct sim_options *ret, struct error *e);
