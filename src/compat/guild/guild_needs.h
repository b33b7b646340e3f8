/* guild_needs.h - named amounts as Guild users write them: 'foo=5 bar=0.5', in the flag `resources` and behind `dask:` in tags.
 *
 * Amounts are kept in thousandths, rounded up, and are at most NEEDS_MILLI_MAX (`inf` is that much).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* As many named resources as a node may offer. A run may ask for GUILD_RUN_NEEDS_MAX of them. */
enum { GUILD_NEEDS_MAX = 32, GUILD_RUN_NEEDS_MAX = 16 };
#define NEEDS_MILLI_MAX ((int64_t)1000000000000000)

struct guild_need {
    const char *name;
    const char *shown; /* the amount as Guild shows it: 5, 0.5, 1.0e+20 */
    int64_t milli;
};

struct guild_needs {
    struct guild_need at[GUILD_NEEDS_MAX]; /* sorted by name */
    size_t count;
};

/* Adds what a text names; a name that is there already gets the new amount. *ret_ignored tells whether a part without `=` was left out.
 * ERR_INVALID: an open quotation, or an amount that is not a number of 0 or more. ERR_LIMIT: too many names. */
must_use enum err guild_needs_add(struct guild_needs *needs, struct str text, struct arena *arena,
                                  bool *ret_ignored, struct error *e);

/* NULL: no such name. */
const struct guild_need *guild_needs_find(const struct guild_needs *needs, const char *name);

/* "bar=1 foo=5", sorted by name. */
const char *guild_needs_text(const struct guild_needs *needs, struct arena *arena);
