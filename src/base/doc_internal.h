/* doc_internal.h - builds a document from events. The JSON reader and the YAML reader share these
 * functions.
 *
 * The open containers form a stack, so that no function recurses on a user's text.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/doc.h"

struct doc_builder {
    struct arena *arena;
    struct error *error;
    struct doc *root;
    struct str key; /* key of the next value, when has_key */
    unsigned key_line;
    unsigned key_column;
    bool has_key;
    unsigned depth;
    uint32_t node_count;
    struct doc *open[DOC_DEPTH_MAX]; /* containers being filled, outermost first */
    struct doc *last[DOC_DEPTH_MAX]; /* the newest child of each open container */
};

void doc_build_init(struct doc_builder *b, struct arena *arena, struct error *e);

/* The container being filled, or NULL outside all containers. */
struct doc *doc_build_top(const struct doc_builder *b);

/* Takes a text, which lives as long as the document, as the key of the map's next value. */
void doc_build_key(struct doc_builder *b, struct str key, unsigned line, unsigned column);

/* Adds a value at the current place; in a map, under the pending key. NULL: too many values, and
 * the error is set. */
struct doc *doc_build_add(struct doc_builder *b, enum doc_kind kind, unsigned line,
                          unsigned column);

/* Adds a list or map, which is filled until doc_build_close(). NULL: too many values or too deep,
 * and the error is set. */
struct doc *doc_build_open(struct doc_builder *b, enum doc_kind kind, unsigned line,
                           unsigned column);

/* Closes the innermost container. A key that stands twice in a map is an error. */
must_use enum err doc_build_close(struct doc_builder *b);

/* Fails with "line L, column C: text" and the path of the current place. */
enum err doc_build_fail(const struct doc_builder *b, unsigned line, unsigned column,
                        const char *text);
