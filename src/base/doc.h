/* doc.h - a document read from JSON or YAML: maps, lists and scalars with their place in the text.
 * Strict in both: no duplicate keys, no aliases or tags, valid UTF-8, bounded depth and count.
 * Lives in the caller's arena.
 *
 * YAML scalars keep their text: `no` is a string; whether `8` is a number is for the reader of the
 * field to say.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    DOC_DEPTH_MAX = 32,
    DOC_NODES_MAX = 2000000,              /* values of one document: about 160 MB */
    DOC_YAML_BYTES_MAX = 4 * 1024 * 1024, /* takes libyaml up to half a second */
};

enum doc_kind {
    DOC_NULL,
    DOC_BOOL,   /* JSON only */
    DOC_NUMBER, /* JSON only; text as written */
    DOC_STRING, /* JSON string, or any YAML scalar */
    DOC_LIST,
    DOC_MAP,
};

struct doc {
    enum doc_kind kind;
    bool quoted;     /* a quoted scalar (every JSON string) is never a number, a boolean or null */
    bool yes;        /* DOC_BOOL */
    unsigned line;   /* from 1 */
    unsigned column; /* from 1 */
    struct str text; /* DOC_STRING, DOC_NUMBER; NUL-terminated too */
    struct str key;  /* when it is a map's value */
    struct doc *first; /* children of a list or map, in order */
    struct doc *next;
    uint32_t count;
};

/* One JSON text. ERR_INVALID with line and column, and the path where one is known. */
must_use enum err doc_json_parse(struct arena *arena, struct str text, struct doc **ret,
                                 struct error *e);

/* One YAML document (JSON is mostly YAML; a text whose first character is { or [ is read as JSON).
 */
must_use enum err doc_yaml_parse(struct arena *arena, struct str text, struct doc **ret,
                                 struct error *e);

/* A map's value, or NULL. */
const struct doc *doc_get(const struct doc *map, const char *key);

/* Typed reads. False when it is missing or of another kind; *ret untouched. */
bool doc_text(const struct doc *doc, const char **ret); /* a string */
bool doc_u64(const struct doc *doc, uint64_t *ret);     /* a whole number */
bool doc_i64(const struct doc *doc, int64_t *ret);
bool doc_bool(const struct doc *doc,
              bool *ret); /* true/false; in YAML also yes/no, on/off unquoted */
