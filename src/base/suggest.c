/* suggest.c - see suggest.h. The distance is that of Damerau and Levenshtein (optimal
 * alignment), because the most common typing error is to swap two letters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/suggest.h"

#include <stdint.h>
#include <string.h>

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

size_t suggest_distance(struct str a, struct str b)
{
    if (a.len > SUGGEST_WORD_MAX || b.len > SUGGEST_WORD_MAX) {
        return SIZE_MAX;
    }
    size_t rows[3][SUGGEST_WORD_MAX + 1] = {0};
    for (size_t j = 0; j <= b.len; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t change = a.p[i - 1] == b.p[j - 1] ? 0 : 1;
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + change);
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1] &&
                above2[j - 2] + 1 < row[j]) {
                row[j] = above2[j - 2] + 1;
            }
        }
    }
    return rows[a.len % 3][b.len];
}

void suggest_init(struct suggest *suggest, struct str word)
{
    *suggest = (struct suggest){.word = word, .distance = SIZE_MAX};
}

void suggest_offer(struct suggest *suggest, const char *known)
{
    const size_t typed_len = suggest->word.len;
    size_t distance = suggest_distance(suggest->word, str_of(known));
    /* The beginning of a word is near, whatever is missing: "comp" means "completion". */
    if (typed_len >= 3 && strncmp(suggest->word.p, known, typed_len) == 0) {
        distance = 1;
    }
    size_t near_enough = typed_len <= 4 ? 2 : typed_len / 3 + 1;
    if (typed_len <= 3) {
        near_enough = 1;
    }
    if (distance <= near_enough && distance < suggest->distance) {
        suggest->best = known;
        suggest->distance = distance;
    }
}
