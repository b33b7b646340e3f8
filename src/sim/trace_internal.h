/* trace_internal.h - a trace while it is being read: which column means what.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/map.h"
#include "sim/csv.h"
#include "sim/trace.h"
#include "sim/trace_value.h"

/* What a column can mean. */
enum role {
    ROLE_SUBMIT,   /* when it arrived: seconds, or a date and time */
    ROLE_DURATION, /* how long it ran, s */
    ROLE_START,    /* or from when to when */
    ROLE_END,
    ROLE_GPUS,
    ROLE_GPU_MILLI, /* thousandths of one GPU, where `gpus` is 1 */
    ROLE_SLOTS,
    ROLE_SLOTS_ASKED, /* where `slots` is missing or below 1 */
    ROLE_CPU,
    ROLE_CPU_MILLI,
    ROLE_MEMORY, /* "4Gi" */
    ROLE_MEMORY_MIB,
    ROLE_MODELS, /* "T4|P100": GPUs that will do */
    ROLE_PROJECT,
    ROLE_USER,
    ROLE_NAME,
    ROLE_PRIORITY,
    ROLE_INSTANCES,
    ROLE_TIME_LIMIT, /* s */
    ROLE_EXIT,
};
enum { ROLE_COUNT = ROLE_EXIT + 1, COLUMN_NAME_MAX = 64 };

extern const char *const trace_roles[ROLE_COUNT];

struct format {
    const char *name;
    char separator;
    bool header;
    char comment;        /* lines that begin with it are none; 0: there are no such lines */
    bool missing;        /* -1 says that a value is not known */
    uint32_t fields_min; /* of a row without header */
    const char *columns[ROLE_COUNT];
};

struct trace {
    const struct format *format;
    struct csv csv;
    int columns[ROLE_COUNT]; /* -1: not there */
    char names[ROLE_COUNT][COLUMN_NAME_MAX];
    bool given[ROLE_COUNT]; /* on the command line */
    struct scenario *scenario;
    struct map *kinds; /* equal rows share one */
    int64_t node_slots_milli;
    uint32_t header_count;  /* columns that the header names; 0: there is none */
    enum trace_clock clock; /* of the first row */
    const struct trace_options *options;
};

must_use enum err trace_format_find(const char *name, const struct format **ret, struct error *e);

/* The names in effect: the format's (for csv the roles' own), and over them those of the command
 * line. */
must_use enum err trace_format_columns_name(struct trace *trace, const char *columns,
                                            struct error *e);

/* What separates the columns: that of the format; a header without it that has semicolons or tabs says otherwise. */
char trace_format_separator(const struct format *format, struct str text);

/* Is the row whole, and as wide as the header? */
must_use enum err trace_format_row_check(const struct trace *trace, struct error *e);

/* Where these columns are; the present row is the header, where there is one. */
must_use enum err trace_format_columns_find(struct trace *trace, struct error *e);
