/* doc.c - reads values from a document. SPDX-License-Identifier: Apache-2.0 */
#include "base/doc.h"

#include <string.h>

const struct doc *doc_get(const struct doc *map, const char *key)
{
    if (map == NULL || map->kind != DOC_MAP) {
        return NULL;
    }
    size_t len = strlen(key);
    for (const struct doc *doc = map->first; doc != NULL; doc = doc->next) {
        if (doc->key.len == len && doc->key.p[0] == key[0] && memcmp(doc->key.p, key, len) == 0) {
            return doc;
        }
    }
    return NULL;
}

bool doc_text(const struct doc *doc, const char **ret)
{
    if (doc == NULL || doc->kind != DOC_STRING) {
        return false;
    }
    *ret = doc->text.p;
    return true;
}

/* A JSON number, or a YAML scalar that may be a number. */
static bool maybe_number(const struct doc *doc)
{
    return doc != NULL && (doc->kind == DOC_NUMBER || (doc->kind == DOC_STRING && !doc->quoted));
}

bool doc_u64(const struct doc *doc, uint64_t *ret)
{
    return maybe_number(doc) && str_to_u64(doc->text, ret);
}

bool doc_i64(const struct doc *doc, int64_t *ret)
{
    return maybe_number(doc) && str_to_i64(doc->text, ret);
}

bool doc_bool(const struct doc *doc, bool *ret)
{
    if (doc == NULL) {
        return false;
    }
    if (doc->kind == DOC_BOOL) {
        *ret = doc->yes;
        return true;
    }
    if (doc->kind != DOC_STRING || doc->quoted) {
        return false;
    }
    static const struct {
        const char *word;
        bool yes;
    } words[] = {{"true", true}, {"false", false}, {"yes", true},
                 {"no", false},  {"on", true},     {"off", false}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (str_is(doc->text, words[i].word)) {
            *ret = words[i].yes;
            return true;
        }
    }
    return false;
}
