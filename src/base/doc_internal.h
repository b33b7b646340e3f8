/* doc_internal.h - building a document from events; what the JSON and the YAML reader share.
 *
 * The open containers form a stack, so that nothing recurses on what a user sent.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/doc.h"

struct doc_builder {
    struct arena *arena;
    struct error *error;
    struct doc *root;
    struct str key; /* of the next value, when has_key */
    bool has_key;
    unsigned depth;
    uint32_t node_count;
    struct doc *open[DOC_DEPTH_MAX]; /* containers being filled, outermost first */
    struct doc *last[DOC_DEPTH_MAX]; /* their newest children */
};

void doc_build_init(struct doc_builder *b, struct arena *arena, struct error *e);

/* The container being filled, or NULL outside all. */
struct doc *doc_build_top(const struct doc_builder *b);

/* A new value at the current place, under the pending key in a map. NULL, with the error set: too
 * many values. */
struct doc *doc_build_add(struct doc_builder *b, enum doc_kind kind, unsigned line,
                          unsigned column);

/* The same for a list or map, which is then filled until doc_build_close(). NULL: also when too
 * deep. */
struct doc *doc_build_open(struct doc_builder *b, enum doc_kind kind, unsigned line,
                           unsigned column);

/* The innermost container is complete. A key that stands twice in a map is an error. */
must_use enum err doc_build_close(struct doc_builder *b);

/* Fails with "line L, column C: text" and the path of the current place. */
enum err doc_build_fail(const struct doc_builder *b, unsigned line, unsigned column,
                        const char *text);
