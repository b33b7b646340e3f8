/* reads.h - reads the fields of a case, and remembers which fields were read.
 *
 * A map, a list or a null counts as read when its key was looked up. A text, a number or a truth
 * value counts as read when it was read as what it is. A case that passed with a field that no
 * translator read fails, and names the field: a translator that overlooks a field would compare
 * something other than the case.
 *
 * One process tries one case, so the memory of what was read is global.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "peers.h"

/* Like doc_get(), doc_text(), doc_u64(), doc_i64() and doc_bool() of base/doc.h. */
const struct doc *reads_get(const struct doc *map, const char *key);
bool reads_text(const struct doc *doc, const char **ret);
bool reads_u64(const struct doc *doc, uint64_t *ret);
bool reads_i64(const struct doc *doc, int64_t *ret);
bool reads_bool(const struct doc *doc, bool *ret);

/* Counts this value as read. */
void reads_note(const struct doc *doc);

/* Counts the value of a key, and everything in it, as read: it says nothing that a decision of
 * Weir could be compared with. */
void reads_ignore(const struct doc *map, const char *key);

/* The word of a key, which must be one of `words` ("best|worst"). Returns the index of the word.
 * A missing key gives 0. -1: another word, and the trial has failed. */
int reads_word(struct trial *trial, const struct doc *map, const char *key, const char *words);

/* True when the case and what its kind shares have no field that was not read. Else the trial has
 * failed and names the first such field. */
bool reads_all(struct trial *trial);
