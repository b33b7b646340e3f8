/* guild_words.h - splits text into words as a POSIX shell does: blanks, quotes and backslashes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

enum { GUILD_WORDS_MAX = 65536 };

struct guild_words {
    struct str *at; /* each with a NUL behind it */
    size_t count;
};

/* ERR_INVALID: a quotation is not closed, or a backslash ends the text. ERR_LIMIT: more than GUILD_WORDS_MAX words. The words live in the arena. */
must_use enum err guild_words_split(struct str text, struct arena *arena, struct guild_words *ret,
                                    struct error *e);

/* Writes a text as Python's repr() does: in single quotes, or in double quotes where the text has a single quote and no double quote. */
const char *guild_words_repr(struct arena *arena, struct str text);
