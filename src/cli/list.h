/* list.h - lists of all kinds of objects. A list is fetched page by page, shown as table, JSON,
 * JSON lines or bare ids, sorted, and with --watch updated by the event stream.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/context.h"

enum column_kind {
    COLUMN_TEXT,
    COLUMN_NUMBER,
    COLUMN_BYTES,
    COLUMN_TIME,      /* relative; absolute with --wide */
    COLUMN_STATE,     /* coloured */
    COLUMN_RESOURCES, /* a map of amounts */
    COLUMN_COMMAND,   /* a list of words */
    COLUMN_CUSTOM,    /* written by `cell` */
    COLUMN_CUSTOM_NUMBER,
    COLUMN_SENTENCE, /* of `path`, or written by `cell`; goes on in further lines where the terminal is narrow */
};

enum column_when {
    COLUMN_ALWAYS,
    /* On a narrow terminal, a column with the same text in every line is said once, above the
     * table. A COLUMN_LESS column is left out first, a COLUMN_SPARE column last. */
    COLUMN_SPARE,
    COLUMN_LESS,
    COLUMN_WIDE, /* shown with --wide, or when named in --columns */
};

struct list_column {
    const char *name;  /* for --columns and --sort; NULL ends the list */
    const char *title; /* "STATE" */
    enum column_kind kind;
    const char *path; /* where the value is in the API's object; --sort compares this value */
    enum column_when when;
    void (*cell)(struct buf *out, const struct doc *item, int64_t now_ms);
};

struct list_def {
    const char *what;    /* "tasks" */
    const char *id_path; /* the value that -q prints */
    const struct list_column *columns;
    const char *filters; /* names that the server filters by, separated by spaces; NULL: none */
    size_t limit;        /* most items without --limit; 0: all */
    const char *empty;   /* printed for an empty list after "no tasks; "; names the next command */
    /* Says that the list is empty, in place of `empty`; NULL: `empty` is printed. */
    void (*empty_say)(struct cli *cli);
    const char *events; /* "task": which query of /events to watch; NULL: all events */
    /* The order without --sort; NULL: the order of the server. */
    int (*compare)(const struct doc *a, const struct doc *b);
};

/* Runs a list command on GET /api/v1<path>. Returns the exit status. */
int list_run(struct cli *cli, const struct list_def *def, const char *path);
