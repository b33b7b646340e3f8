/* object_read.h - reading the fields that tables of object.h describe.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/fields.h"

/* A field that a table of object.h describes: kind of value, bounds and place are the row's; `offset` is where
 * the table's struct lies in the object. */
void object_read_field(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct field *field, void *object);

/* Single values; false: a problem was noted. An amount in thousandths: */
bool object_read_milli(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       int64_t *ret);
/* A map of at most `max` node labels. */
bool object_read_labels(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        uint32_t max, const struct label **ret, uint32_t *ret_count);
