/* doc_make.h - documents made by hand: out of texts, or out of values of other documents. Every
 * value lives in the arena that the call names.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"

/* Makes an empty list or map, or a null. It has the line and column of `like`; NULL: none. */
struct doc *doc_make(struct arena *arena, enum doc_kind kind, const struct doc *like);

/* Makes a text (DOC_STRING) or a number (DOC_NUMBER). A text is never taken for a number. */
struct doc *doc_make_scalar(struct arena *arena, enum doc_kind kind, struct str text);

/* Adds a value at the end of a list (`key` is NULL) or a map. The value must belong to no other
 * list or map. */
void doc_make_add(struct doc *to, const char *key, struct doc *value);

/* Puts a copy of a value into the map. A NULL or null value is left out. */
void doc_make_put(struct arena *arena, struct doc *map, const char *key, const struct doc *value);

/* Takes a value out of the map, if there is one. */
void doc_make_drop(struct doc *map, const char *key);
