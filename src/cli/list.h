/* list.h - every list of every object: fetched page by page, shown as table, JSON, JSON lines or bare
 * ids, sorted, and watched by the event stream. SPDX-License-Identifier: Apache-2.0 */
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
    COLUMN_CUSTOM,    /* by `cell` */
    COLUMN_CUSTOM_NUMBER,
};

enum column_when {
    COLUMN_ALWAYS,
    COLUMN_SPARE, /* left out of a narrow terminal where it says the same in every line */
    COLUMN_WIDE,  /* only with --wide, or when named in --columns */
};

struct list_column {
    const char *name;  /* for --columns and --sort; NULL ends the list */
    const char *title; /* "STATE" */
    enum column_kind kind;
    const char *path; /* of the value in the API's object; what --sort compares */
    enum column_when when;
    void (*cell)(struct buf *out, const struct doc *item, int64_t now_ms);
};

struct list_def {
    const char *what;    /* "tasks" */
    const char *id_path; /* what -q prints */
    const struct list_column *columns;
    size_t limit;       /* without --limit; 0: all */
    const char *empty;  /* teaches the next command */
    const char *events; /* "task": which query of /events watches it; NULL: all events */
    /* The order without --sort; NULL: the server's. */
    int (*compare)(const struct doc *a, const struct doc *b);
};

/* Runs a list command on GET /api/v1<path>; its exit status. */
int list_run(struct cli *cli, const struct list_def *def, const char *path);
