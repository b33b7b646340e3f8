/* csv.h - rows of comma-separated text, with the place of every field for messages.
 *
 * A field may be in quotes, with "" for a quote inside. A quoted field ends in its line. A byte
 * order mark at the beginning is skipped.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { CSV_FIELDS_MAX = 64 };

struct csv {
    const char *file; /* name of the file, for messages */
    struct str rest;  /* the text that is not read yet */
    unsigned line;    /* line of the present row, from 1; 0: no row was read yet */
    char separator;   /* ',' or another character; ' ' for fields between blanks */
    struct arena *arena;
    struct str fields[CSV_FIELDS_MAX];
    unsigned columns[CSV_FIELDS_MAX]; /* the column where each field begins, from 1 */
    uint32_t count;
    unsigned end_column; /* the column behind the last character of the row */
    const char *fault;   /* what is wrong with the quotes of the row; NULL: nothing */
    uint32_t fault_field;
};

void csv_init(struct csv *csv, const char *file, struct str text, char separator,
              struct arena *arena);

/* Reads the next row that is not empty; false: there is none. Fields beyond CSV_FIELDS_MAX are
 * left out. */
bool csv_next(struct csv *csv);

/* Returns the number of the field whose header is `name`; -1: none. Blanks and case are ignored.
 * The present row is the header. */
int csv_column(const struct csv *csv, const char *name);
/* Returns the next field of this name behind field `after`; -1: none. */
int csv_column_next(const struct csv *csv, const char *name, int after);

/* Fails with "file:line:column: text" about a field of the present row; -1 stands for the row,
 * CSV_END for its end. ERR_INVALID. */
enum { CSV_END = CSV_FIELDS_MAX };
enum err csv_fail(const struct csv *csv, int field, struct error *e, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
