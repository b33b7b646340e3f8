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
    const char *files[SIM_FILES_MAX]; /* scenarios */
    uint32_t file_count;
    bool seed_given;
    uint64_t seed_first;
    uint64_t seed_last;
    bool json;
    bool events; /* the story */
    bool why;
    bool no_summary;
    bool check;
    bool quiet;
    bool skip_bad;
    const char *tasks;     /* per-task CSV; for openb: the list of tasks */
    const char *report;    /* HTML */
    const char *trace;     /* CSV of jobs */
    const char *format;    /* openb, philly, swf, csv */
    const char *columns;   /* submit=…,duration=… */
    const char *state;     /* an exported state */
    const char *nodes;     /* "64x8", or for openb the list of nodes */
    int64_t until_ms;      /* 0: not given */
    int64_t patience_ms;   /* -1: not given */
    int64_t runs_ms;       /* of tasks of a state without a time limit */
    int64_t ratio_milli;   /* openb: of the capacity that is asked for */
    const char *placement; /* openb: pack, spread, tight; NULL: the default */
    uint64_t shuffle;      /* openb: the order in which the nodes join; 0: that of the list */
};

/* Reads argv; argv[0] is "sim". ERR_USAGE says what is wrong. */
must_use enum err sim_options_read(int argc, char **argv, struct sim_options *ret, struct error *e);
