/* list_filter.h - `--filter 'state=pending priority>=60'` of every list. The server answers the terms that
 * it knows; the others are looked at here.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/list.h"

enum { LIST_FILTER_TERMS_MAX = 16 };

struct list_filter_term {
    const char *name;
    const struct list_column *column; /* NULL: `name` is a path in the API's object */
    const char *op;                   /* "=", "!=", "<", "<=", ">", ">=", "~" */
    const char *value;
};

struct list_filter {
    struct list_filter_term terms[LIST_FILTER_TERMS_MAX];
    size_t count; /* of the terms that are looked at here */
};

/* Reads the terms, separated by spaces. `*path` grows by the terms that the server answers. ERR_USAGE
 * names a term that is none, or the columns there are. */
must_use enum err list_filter_read(struct arena *arena, const struct list_def *def,
                                   const char *text, const char **path, struct list_filter *ret,
                                   struct error *e);

bool list_filter_matches(const struct list_filter *filter, const struct doc *item);
