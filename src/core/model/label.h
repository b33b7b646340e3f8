/* label.h - marks of node labels. A mark is a 128-bit hash of a label's key and value. Marks are compared
 * instead of texts. Every machine computes the same mark.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/resource.h"
#include "core/model/spec.h"

#include <stdbool.h>
#include <stdint.h>

struct label_mark label_mark_of(const char *key, const char *value);

/* Below 0: a stands before b. */
int label_mark_compare(struct label_mark a, struct label_mark b);

/* The marks of `count` labels, ascending, each once. `ret` has room for `count` marks. Returns the number of
 * marks. */
uint32_t label_marks(const struct label *labels, uint32_t count, struct label_mark *ret);

/* The marks of `count` labels as a blob. The caller owns the blob. NULL: there are no labels. */
struct blob *label_marks_blob(const struct label *labels, uint32_t count);

/* Does a node with these marks have every label that the request requires? */
bool label_marks_cover(const struct blob *marks, const struct request *request);

/* Labels by which a node says what it can do. A task that needs this requires the label: a task with an image, in a
 * network other than the node's own, and in a named network with a way out. */
#define LABEL_CONTAINERS "containers"
#define LABEL_NETWORKS "networks"
#define LABEL_OUTBOUND "outbound"
#define LABEL_OWN_YES "yes"
enum {
    LABEL_OWN_IMAGE = 1,
    LABEL_OWN_NETWORK = 2,
    LABEL_OWN_OUTBOUND = 4,
    LABEL_OWN_ALL = 7,
    LABEL_OWN_COUNT = 3
};

/* Adds the marks of these labels to a request, where the request has room. False: the request has no room. */
bool label_marks_own_add(struct request *request, uint32_t own);
/* Takes these marks away. The result: those that the request had. */
uint32_t label_marks_own_drop(struct request *request, uint32_t own);

/* Are all marks of the blob `few` among the marks of the blob `many`? */
bool label_marks_within(const struct blob *few, const struct blob *many);

/* The number of marks of a blob, and one of them. */
uint32_t label_marks_count(const struct blob *marks);
struct label_mark label_marks_at(const struct blob *marks, uint32_t index);

/* The value of the node's label `key`; NULL: the node has no such label. */
struct node_spec;
const char *label_value(const struct node_spec *spec, const char *key);
