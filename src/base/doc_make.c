/* doc_make.c - see doc_make.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/doc_make.h"

struct doc *doc_make(struct arena *arena, enum doc_kind kind, const struct doc *like)
{
    struct doc *doc = arena_new(arena, struct doc, 1);
    doc->kind = kind;
    doc->line = like != NULL ? like->line : 0;
    doc->column = like != NULL ? like->column : 0;
    return doc;
}

struct doc *doc_make_scalar(struct arena *arena, enum doc_kind kind, struct str text)
{
    struct doc *doc = doc_make(arena, kind, NULL);
    doc->quoted = kind == DOC_STRING;
    doc->text = (struct str){arena_strn(arena, text.p, text.len), text.len};
    return doc;
}

void doc_make_add(struct doc *to, const char *key, struct doc *value)
{
    struct doc **tail = &to->first;
    while (*tail != NULL) {
        tail = &(*tail)->next;
    }
    value->key = str_of(key);
    value->next = NULL;
    *tail = value;
    to->count++;
}

void doc_make_put(struct arena *arena, struct doc *map, const char *key, const struct doc *value)
{
    if (value != NULL && value->kind != DOC_NULL) {
        doc_make_add(map, key, arena_dup(arena, value, sizeof *value));
    }
}

void doc_make_drop(struct doc *map, const char *key)
{
    for (struct doc **at = &map->first; *at != NULL; at = &(*at)->next) {
        if (str_is((*at)->key, key)) {
            *at = (*at)->next;
            map->count--;
            return;
        }
    }
}
