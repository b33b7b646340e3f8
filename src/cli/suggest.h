/* suggest.h - "did you mean …": the nearest of a few known words.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

enum { SUGGEST_WORD_MAX = 63 };

struct suggest {
    const char *word; /* what was typed */
    const char *best; /* NULL: nothing is near */
    size_t distance;
};

/* Start looking for neighbours of `word`. */
void suggest_init(struct suggest *suggest, const char *word);

/* Offer one known word, which must stay alive. */
void suggest_offer(struct suggest *suggest, const char *known);

/* How many insertions, deletions, changes and swaps of neighbours turn a into b; words longer than
 * SUGGEST_WORD_MAX are infinitely far. */
size_t suggest_distance(const char *a, const char *b);
