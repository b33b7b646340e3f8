/* doc_build.c - builds the tree of a document: adds values, checks for duplicate keys, makes the
 * paths of errors. SPDX-License-Identifier: Apache-2.0 */
#include "base/doc_internal.h"

#include "base/mem.h"
#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Up to this many keys, comparing every pair is faster than sorting. */
enum { KEYS_COMPARED_MAX = 32 };

void doc_build_init(struct doc_builder *b, struct arena *arena, struct error *e)
{
    b->arena = arena;
    b->error = e;
    b->root = NULL;
    b->has_key = false;
    b->depth = 0;
    b->node_count = 0;
}

struct doc *doc_build_top(const struct doc_builder *b)
{
    return b->depth > 0 ? b->open[b->depth - 1] : NULL;
}

void doc_build_key(struct doc_builder *b, struct str key, unsigned line, unsigned column)
{
    b->key = key;
    b->key_line = line;
    b->key_column = column;
    b->has_key = true;
}

struct doc *doc_build_add(struct doc_builder *b, enum doc_kind kind, unsigned line, unsigned column)
{
    if (b->node_count >= DOC_NODES_MAX) {
        char text[80];
        (void)snprintf(text, sizeof text, "more than %d values in one document", DOC_NODES_MAX);
        (void)doc_build_fail(b, line, column, text);
        return NULL;
    }
    b->node_count++;
    struct doc *doc = arena_new(b->arena, struct doc, 1);
    doc->kind = kind;
    doc->line = line;
    doc->column = column;
    if (b->has_key) {
        doc->key = b->key;
        doc->key_line = b->key_line;
        doc->key_column = b->key_column;
        b->has_key = false;
    }
    struct doc *top = doc_build_top(b);
    if (top == NULL) {
        must(b->root == NULL);
        b->root = doc;
    } else {
        if (top->first == NULL) {
            top->first = doc;
        } else {
            b->last[b->depth - 1]->next = doc;
        }
        b->last[b->depth - 1] = doc;
        top->count++;
    }
    return doc;
}

struct doc *doc_build_open(struct doc_builder *b, enum doc_kind kind, unsigned line,
                           unsigned column)
{
    if (b->depth >= DOC_DEPTH_MAX) {
        char text[80];
        (void)snprintf(text, sizeof text, "nested deeper than %d levels", DOC_DEPTH_MAX);
        (void)doc_build_fail(b, line, column, text);
        return NULL;
    }
    struct doc *doc = doc_build_add(b, kind, line, column);
    if (doc != NULL) {
        b->open[b->depth++] = doc;
    }
    return doc;
}

/* Length and first character tell most keys apart without a call. An empty key has its NUL
 * there. */
static bool same_key(const struct doc *a, const struct doc *b)
{
    return a->key.len == b->key.len && a->key.p[0] == b->key.p[0] &&
           memcmp(a->key.p, b->key.p, a->key.len) == 0;
}

static const struct doc *duplicate_by_pairs(const struct doc *map)
{
    for (const struct doc *later = map->first; later != NULL; later = later->next) {
        for (const struct doc *doc = map->first; doc != later; doc = doc->next) {
            if (same_key(doc, later)) {
                return later;
            }
        }
    }
    return NULL;
}

static int key_order(const void *a, const void *b)
{
    const struct doc *const *x = a;
    const struct doc *const *y = b;
    size_t len = (*x)->key.len < (*y)->key.len ? (*x)->key.len : (*y)->key.len;
    int order = memcmp((*x)->key.p, (*y)->key.p, len);
    if (order != 0) {
        return order;
    }
    return ((*x)->key.len > (*y)->key.len) - ((*x)->key.len < (*y)->key.len);
}

/* Sorts the keys and does not hash them, so that keys chosen to collide cannot make the check
 * slow. */
static const struct doc *duplicate_by_sort(const struct doc *map)
{
    auto_free(freep) const struct doc **sorted = xcalloc(map->count, sizeof *sorted);
    size_t count = 0;
    for (const struct doc *doc = map->first; doc != NULL; doc = doc->next) {
        sorted[count++] = doc;
    }
    qsort(sorted, count, sizeof *sorted, key_order);
    for (size_t i = 1; i < count; i++) {
        if (key_order(&sorted[i - 1], &sorted[i]) == 0) {
            const struct doc *a = sorted[i - 1];
            const struct doc *b = sorted[i];
            bool a_later = a->key_line > b->key_line ||
                           (a->key_line == b->key_line && a->key_column > b->key_column);
            return a_later ? a : b;
        }
    }
    return NULL;
}

enum err doc_build_close(struct doc_builder *b)
{
    must(b->depth > 0);
    const struct doc *doc = doc_build_top(b);
    b->depth--;
    if (doc->kind != DOC_MAP || doc->count < 2) {
        return ERR_OK;
    }
    const struct doc *twice =
        doc->count <= KEYS_COMPARED_MAX ? duplicate_by_pairs(doc) : duplicate_by_sort(doc);
    if (twice == NULL) {
        return ERR_OK;
    }
    b->depth++; /* so that the path names the key inside this map */
    b->key = twice->key;
    b->has_key = true;
    char text[96];
    (void)snprintf(text, sizeof text, "the key '%.48s' stands twice", twice->key.p);
    return doc_build_fail(b, twice->key_line, twice->key_column, text);
}

/* Writes the place that is being read, for example "a.b[3]". A path that does not fit is cut. */
static void path_write(const struct doc_builder *b, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < b->depth && used < size; i++) {
        const struct doc *container = b->open[i];
        bool inner = i + 1 < b->depth;
        int len = 0;
        if (container->kind == DOC_LIST) {
            uint32_t index = inner ? container->count - 1 : container->count;
            len = snprintf(out + used, size - used, "[%u]", index);
        } else if (inner || b->has_key) {
            const char *key = inner ? b->open[i + 1]->key.p : b->key.p;
            len = snprintf(out + used, size - used, "%s%s", used > 0 ? "." : "", key);
        }
        must(len >= 0);
        used += (size_t)len;
    }
}

enum err doc_build_fail(const struct doc_builder *b, unsigned line, unsigned column,
                        const char *text)
{
    char path[ERROR_PATH_MAX];
    path_write(b, path, sizeof path);
    return fail_line(b->error, line, column, path, text);
}
