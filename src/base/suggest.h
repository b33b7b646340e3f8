/* suggest.h - "did you mean …": finds the nearest of a few known words.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"

enum { SUGGEST_WORD_MAX = 63 };

struct suggest {
    struct str word;  /* the word that was typed */
    const char *best; /* NULL: no known word is near */
    size_t distance;
};

/* Begins a search for the known word nearest to `word`. */
void suggest_init(struct suggest *suggest, struct str word);

/* Offers one known word, which must stay alive. */
void suggest_offer(struct suggest *suggest, const char *known);

/* Counts the insertions, deletions, changes and swaps of neighbours that turn a into b. Words
 * longer than SUGGEST_WORD_MAX are infinitely far apart. */
size_t suggest_distance(struct str a, struct str b);
