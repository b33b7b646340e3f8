/* object_read.h - reading the fields that tables of object.h describe.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/fields.h"

/* Reads a field that a row of object.h describes. The row gives the kind of value, the bounds
 * and the place in its struct. `offset` says where that struct lies in the object. */
void object_read_field(const struct doc_value *v, void *object);

/* Reads a map of at most `max` node labels; false: a problem was noted. With `removable` a label
 * that is null has the value NULL. */
bool object_read_labels(const struct doc_value *v, uint32_t max, bool removable,
                        const struct label **ret, uint32_t *ret_count);

/* Says which words a field may have, for a message: "experiment, command or shell". */
enum { OBJECT_READ_WORDS_MAX = 160 };
const char *object_read_words(const struct record_field *record, char text[OBJECT_READ_WORDS_MAX]);

/* Reads names of projects and departments. The server checks that there are such. A problem leaves both as they were. */
void object_read_guests(const struct doc_value *v, const char *const **ret_names,
                        uint32_t *ret_count);
