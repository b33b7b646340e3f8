/* object_read.h - reading the fields that tables of object.h describe.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/fields.h"

/* Reads a field that a row of object.h describes. The row gives the kind of value, the bounds
 * and the place in its struct. `offset` says where that struct lies in the object. */
void object_read_field(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct field *field, void *object);

/* Reads an amount in thousandths; false: a problem was noted. */
bool object_read_milli(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       int64_t *ret);
/* Reads a map of at most `max` node labels; false: a problem was noted. */
bool object_read_labels(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        uint32_t max, const struct label **ret, uint32_t *ret_count);
