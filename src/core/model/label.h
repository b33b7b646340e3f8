/* label.h - labels of nodes, as marks that are compared instead of their texts: 128 bits that do not depend on the machine.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/resource.h"
#include "core/model/spec.h"

#include <stdbool.h>
#include <stdint.h>

struct label_mark label_mark_of(const char *key, const char *value);

/* Below 0: a stands before b. */
int label_mark_compare(struct label_mark a, struct label_mark b);

/* The marks of these labels, ascending, each once; `ret` has room for all. Returns how many. */
uint32_t label_marks(const struct label *labels, uint32_t count, struct label_mark *ret);

/* The same as a blob of its own; NULL: there are none. */
struct blob *label_marks_blob(const struct label *labels, uint32_t count);

/* Has a node with these marks all that the request asks for? */
bool label_marks_cover(const struct blob *marks, const struct request *request);

/* The value of a node's label; NULL: it has none of this key. */
struct node_spec;
const char *label_value(const struct node_spec *spec, const char *key);
