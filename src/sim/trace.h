/* trace.h - reads job traces in their own formats, by a table that says what each column means.
 *
 * A format is a set of columns. `philly`, `openb` and `swf` are known; `csv` uses the names
 * `submit`, `duration`, `gpus`, `slots`, `cpu`, `memory`, `project`, `name`, … themselves.
 * `columns` overrides the format: "submit=arrival,gpus=#3,project=-" (#3: the third column, -:
 * none).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"
#include "sim/scenario.h"

struct trace_options {
    const char *file;      /* name for messages */
    const char *format;    /* NULL: csv */
    const char *columns;   /* NULL: the columns of the format */
    bool skip_bad;         /* count malformed rows and go on, instead of failing */
    int64_t checkpoint_ms; /* time between checkpoints of every job, as in struct job_kind */
    int64_t stops_in_ms;
    int64_t arrivals; /* factor for the times of arrival, in TRACE_FACTOR_ONE; 0: not given */
};

/* Adds the jobs of the trace; the first one arrives at 0. A job with more slots than the largest
 * node becomes a gang of equal parts, as large as possible, or is left to the core.
 * ERR_INVALID: "file:line:column: …". */
must_use enum err trace_read(const struct trace_options *options, struct str text,
                             struct scenario *scenario, struct error *e);
