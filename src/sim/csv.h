/* csv.h - rows of comma-separated text, with the place of every field for messages.
 *
 * Fields may be in quotes, with "" for a quote inside. A quoted field ends in its line. A byte order mark at the beginning is none of
 * the text.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { CSV_FIELDS_MAX = 64 };

struct csv {
    const char *file; /* its name, for messages */
    struct str rest;  /* not read yet */
    unsigned line;    /* of the present row, from 1; 0 before the first */
    char separator;   /* ',' or the like, or ' ' for fields between blanks */
    struct arena *arena;
    struct str fields[CSV_FIELDS_MAX];
    unsigned columns[CSV_FIELDS_MAX]; /* where each begins, from 1 */
    uint32_t count;
    unsigned end_column; /* behind the last character of the row */
    const char *fault;   /* what is wrong with the quotes of the row; NULL: nothing */
    uint32_t fault_field;
};

void csv_init(struct csv *csv, const char *file, struct str text, char separator,
              struct arena *arena);

/* The next row that is not empty; false: there is none. More than CSV_FIELDS_MAX fields are left
 * out. */
bool csv_next(struct csv *csv);

/* The number of the field whose header is `name`, blanks and case apart; -1: none. The present row
 * is the header. */
int csv_column(const struct csv *csv, const char *name);

/* "file:line:column: text" about a field of the present row (-1: the row; CSV_END: where it ends);
 * ERR_INVALID. */
enum { CSV_END = CSV_FIELDS_MAX };
enum err csv_fail(const struct csv *csv, int field, struct error *e, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
