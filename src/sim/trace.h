/* trace.h - job traces as they are: a table of which column means what.
 *
 * A format is a set of columns: `philly`, `openb` and `swf` are known; `csv` takes the names
 * `submit`, `duration`, `gpus`, `slots`, `cpu`, `memory`, `project`, `name`, … themselves. `columns`
 * says otherwise: "submit=arrival,gpus=#3,project=-" (#3: the third, -: none). SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"
#include "sim/scenario.h"

struct trace_options {
    const char *file;      /* for messages */
    const char *format;    /* NULL: csv */
    const char *columns;   /* NULL: as the format has them */
    bool skip_bad;         /* count malformed rows instead of ending */
    int64_t checkpoint_ms; /* of every job, as in struct job_kind */
    int64_t stops_in_ms;
};

/* Adds the trace's jobs; the first one arrives at 0. Jobs of more slots than the largest node has
 * become gangs of equal parts, as large as possible. ERR_INVALID: "file:line:column: …". */
must_use enum err trace_read(const struct trace_options *options, struct str text,
                             struct scenario *scenario, struct error *e);
