/* doc.h - a document read from JSON or YAML: maps, lists and scalars with their place in the text.
 * Both forms are read strictly: no duplicate keys, no aliases or tags, valid UTF-8, bounded depth
 * and count. A document lives in the caller's arena.
 *
 * A YAML scalar keeps its text: `no` is a string, and the reader of a field decides whether `8` is
 * a number. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    DOC_DEPTH_MAX = 32,
    DOC_NODES_MAX = 2000000,              /* values of one document: about 176 MB */
    DOC_YAML_BYTES_MAX = 4 * 1024 * 1024, /* libyaml takes up to half a second for so much */
};

enum doc_kind {
    DOC_NULL,
    DOC_BOOL,   /* JSON only */
    DOC_NUMBER, /* JSON only; `text` is as written */
    DOC_STRING, /* a JSON string, or any YAML scalar */
    DOC_LIST,
    DOC_MAP,
};

struct doc {
    enum doc_kind kind;
    bool quoted;     /* a quoted scalar (every JSON string) is never a number, a boolean or null */
    bool yes;        /* DOC_BOOL */
    unsigned line;   /* from 1 */
    unsigned column; /* from 1 */
    struct str text; /* DOC_STRING, DOC_NUMBER; with a NUL behind it */
    struct str key;  /* for a value in a map */
    unsigned key_line;
    unsigned key_column;
    struct doc *first; /* children of a list or map, in order */
    struct doc *next;
    uint32_t count;
};

/* Reads one JSON text. ERR_INVALID names line and column, and the path where the path is known. */
must_use enum err doc_json_parse(struct arena *arena, struct str text, struct doc **ret,
                                 struct error *e);

/* Reads one YAML document. A text whose first character is { or [ is read as JSON. */
must_use enum err doc_yaml_parse(struct arena *arena, struct str text, struct doc **ret,
                                 struct error *e);

/* The map's value of this key, or NULL. */
const struct doc *doc_get(const struct doc *map, const char *key);

/* Typed reads. False: the value is missing or of another kind, and *ret is untouched. */
bool doc_text(const struct doc *doc, const char **ret); /* a string */
bool doc_u64(const struct doc *doc, uint64_t *ret);     /* a whole number */
bool doc_i64(const struct doc *doc, int64_t *ret);
/* True or false; in YAML also an unquoted yes, no, on or off. */
bool doc_bool(const struct doc *doc, bool *ret);
