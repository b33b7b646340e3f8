/* fuzz_json.c - the JSON reader. An accepted document is written by json_out and read again, and
 * both writings must be equal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/buf.h"
#include "base/doc.h"
#include "base/json_out.h"
#include "base/must.h"
#include "base/utf8.h"

#include <string.h>

enum { OUT_MAX = 64 << 20 };

static void scalar_write(struct json_out *j, const struct doc *doc)
{
    switch (doc->kind) {
    case DOC_NULL:
        json_out_null(j);
        break;
    case DOC_BOOL:
        json_out_bool(j, doc->yes);
        break;
    case DOC_NUMBER:
        must(doc->text.p[doc->text.len] == '\0');
        json_out_raw(j, doc->text);
        break;
    case DOC_STRING:
        must(strlen(doc->text.p) == doc->text.len);
        must(utf8_valid(doc->text.p, doc->text.len));
        json_out_str(j, doc->text);
        break;
    case DOC_LIST:
    case DOC_MAP:
        break;
    }
}

/* Writes the whole document. `up` holds the open containers. */
static void document_write(struct json_out *j, const struct doc *doc)
{
    const struct doc *up[DOC_DEPTH_MAX];
    unsigned depth = 0;
    while (doc != NULL) {
        must(doc->line >= 1);
        must(doc->column >= 1);
        if (depth > 0 && up[depth - 1]->kind == DOC_MAP) {
            json_out_key_str(j, doc->key);
        }
        if (doc->kind == DOC_LIST || doc->kind == DOC_MAP) {
            if (doc->kind == DOC_LIST) {
                json_out_array(j);
            } else {
                json_out_object(j);
            }
            must(depth < DOC_DEPTH_MAX);
            up[depth++] = doc;
            if (doc->first != NULL) {
                doc = doc->first;
                continue;
            }
            json_out_end(j);
            depth--;
        } else {
            scalar_write(j, doc);
        }
        while (depth > 0 && doc->next == NULL) {
            json_out_end(j);
            doc = up[--depth];
        }
        doc = depth > 0 ? doc->next : NULL;
    }
}

static void document_read_and_write(struct str text, bool must_read, struct buf *out)
{
    struct arena arena;
    struct doc *doc;
    struct error e = {0};
    arena_init(&arena);
    if (doc_json_parse(&arena, text, &doc, &e) == ERR_OK) {
        struct json_out j;
        json_out_init(&j, out);
        document_write(&j, doc);
    } else {
        must(!must_read);
        must(e.text[0] != '\0');
    }
    arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf first;
    struct buf second;
    buf_init(&first, OUT_MAX);
    buf_init(&second, OUT_MAX);
    document_read_and_write((struct str){(const char *)data, size}, false, &first);
    if (first.len > 0) {
        document_read_and_write((struct str){first.data, first.len}, true, &second);
        must(first.len == second.len);
        must(memcmp(first.data, second.data, first.len) == 0);
    }
    buf_done(&first);
    buf_done(&second);
    return 0;
}
