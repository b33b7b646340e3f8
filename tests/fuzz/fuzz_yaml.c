/* fuzz_yaml.c - the YAML loader. Any input gives a document within its bounds, or an error.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/doc.h"
#include "base/must.h"
#include "base/utf8.h"

#include <string.h>

/* Checks that every value has its count, its place and its terminating NUL. */
static uint32_t document_check(const struct doc *doc)
{
    const struct doc *up[DOC_DEPTH_MAX];
    unsigned depth = 0;
    uint32_t count = 0;
    while (doc != NULL) {
        count++;
        must(doc->line >= 1);
        must(doc->column >= 1);
        if (doc->kind == DOC_STRING) {
            must(strlen(doc->text.p) == doc->text.len);
            must(utf8_valid(doc->text.p, doc->text.len));
        }
        if (depth > 0 && up[depth - 1]->kind == DOC_MAP) {
            must(doc_get(up[depth - 1], doc->key.p) == doc);
        }
        if (doc->first != NULL) {
            must(depth < DOC_DEPTH_MAX);
            up[depth++] = doc;
            doc = doc->first;
            continue;
        }
        while (depth > 0 && doc->next == NULL) {
            doc = up[--depth];
        }
        doc = depth > 0 ? doc->next : NULL;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct doc *doc;
    struct error e = {0};
    arena_init(&arena);
    if (doc_yaml_parse(&arena, (struct str){(const char *)data, size}, &doc, &e) == ERR_OK) {
        must(document_check(doc) <= DOC_NODES_MAX);
    } else {
        must(e.text[0] != '\0');
    }
    arena_done(&arena);
    return 0;
}
