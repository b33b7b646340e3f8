/* trace_internal.h - a trace while it is read: what each column means.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/map.h"
#include "sim/csv.h"
#include "sim/trace.h"
#include "sim/trace_names.h"
#include "sim/trace_value.h"

/* The meaning of a column. */
enum role {
    ROLE_SUBMIT,   /* arrival: seconds, or a date and time */
    ROLE_DURATION, /* length in seconds */
    ROLE_START,    /* this and the next: start and end, instead of a duration */
    ROLE_END,
    ROLE_GPUS,
    ROLE_GPU_MILLI, /* thousandths of one GPU, if `gpus` is 1 */
    ROLE_SLOTS,
    ROLE_SLOTS_ASKED, /* used if `slots` is missing or below 1 */
    ROLE_CPU,
    ROLE_CPU_MILLI,
    ROLE_MEMORY, /* "4Gi" */
    ROLE_MEMORY_MIB,
    ROLE_MODELS, /* "T4|P100": models of GPU that the job accepts */
    ROLE_PROJECT,
    ROLE_USER,
    ROLE_NAME,
    ROLE_PRIORITY,
    ROLE_INSTANCES,
    ROLE_TIME_LIMIT, /* seconds */
    ROLE_EXIT,
};
enum { ROLE_COUNT = ROLE_EXIT + 1, COLUMN_NAME_MAX = 64 };

extern const char *const trace_roles[ROLE_COUNT];

struct format {
    const char *name;
    char separator;
    bool header;
    char comment;        /* first character of comment lines; 0: there are none */
    bool missing;        /* -1 marks an unknown value */
    uint32_t fields_min; /* least fields of a row, for a format without header */
    const char *columns[ROLE_COUNT];
};

/* How many nodes of one size the pool of a trace has. */
struct trace_size {
    int64_t slots;
    uint32_t nodes;
};

/* The nodes of the pool that gets the jobs of a trace. The largest size is first. */
struct trace_nodes {
    struct trace_size *sizes;
    size_t count;
};

struct trace {
    const struct format *format;
    struct csv csv;
    int columns[ROLE_COUNT]; /* index of the column; -1: the trace has none */
    char names[ROLE_COUNT][COLUMN_NAME_MAX];
    bool given[ROLE_COUNT]; /* the column was named on the command line */
    struct scenario *scenario;
    struct map *kinds; /* equal rows share a kind */
    struct trace_names projects;
    struct trace_names users;
    struct trace_nodes nodes;
    uint32_t header_count;  /* columns of the header; 0: no header */
    enum trace_clock clock; /* how the first row writes its time */
    int64_t unix_ms;        /* the moment that the trace calls 0; 0: the trace does not say */
    const struct trace_options *options;
};

must_use enum err trace_format_find(const char *name, const struct format **ret, struct error *e);

/* Sets the names of the columns: those of the format (for csv the names of the roles),
 * overridden by those of the command line. */
must_use enum err trace_format_columns_name(struct trace *trace, const char *columns,
                                            struct error *e);

/* Returns the separator of the format. If the header lacks this separator and has semicolons or
 * tabs, that character is the separator. */
char trace_format_separator(const struct format *format, struct str text);

/* Checks that the row is well-formed, and as wide as the header. */
must_use enum err trace_format_row_check(const struct trace *trace, struct error *e);

/* Counts the nodes of the pool that gets the jobs of a trace. In the scenario's arena. */
struct trace_nodes trace_wide_nodes(struct scenario *scenario);

/* Divides a job that is larger than any node into equal parts, as large as a node can hold. If the
 * nodes cannot hold these parts, the job is left whole: the core divides it into uneven parts. */
void trace_wide_divide(const struct trace_nodes *nodes, struct task_spec *spec);

/* Finds the columns. The present row is the header, if there is one. */
must_use enum err trace_format_columns_find(struct trace *trace, struct error *e);
