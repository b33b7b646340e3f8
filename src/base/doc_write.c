/* doc_write.c - see doc_write.h. The way down is kept in a list, because the depth is a user's choice.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/doc_write.h"

#include "base/must.h"

static bool holds(const struct doc *doc)
{
    return doc->kind == DOC_LIST || doc->kind == DOC_MAP;
}

static void scalar_write(struct json_out *j, const struct doc *doc)
{
    switch (doc->kind) {
    case DOC_BOOL:
        json_out_bool(j, doc->yes);
        break;
    case DOC_NUMBER:
        json_out_raw(j, doc->text);
        break;
    case DOC_STRING:
        json_out_str(j, doc->text);
        break;
    case DOC_NULL:
    case DOC_LIST:
    case DOC_MAP:
        json_out_null(j);
        break;
    }
}

void doc_write(struct json_out *j, const struct doc *doc)
{
    const struct doc *above[DOC_DEPTH_MAX + 1]; /* what follows each list or map that is open */
    unsigned depth = 0;
    const struct doc *at = doc;
    while (at != NULL) {
        if (depth > 0 && at->key.p != NULL) {
            json_out_key_str(j, at->key);
        }
        const bool open =
            holds(at) && depth < DOC_DEPTH_MAX && j->depth + 1 < (unsigned)JSON_OUT_DEPTH_MAX;
        const struct doc *next = depth > 0 ? at->next : NULL;
        if (open && at->kind == DOC_LIST) {
            json_out_array(j);
        } else if (open) {
            json_out_object(j);
        } else {
            scalar_write(j, at);
        }
        if (open) {
            above[depth++] = next;
            next = at->first;
        }
        while (next == NULL && depth > 0) {
            json_out_end(j);
            next = above[--depth];
        }
        at = next;
    }
}

unsigned doc_write_depth(const struct doc *doc)
{
    const struct doc *above[DOC_DEPTH_MAX + 1];
    unsigned depth = 0;
    unsigned most = 0;
    const struct doc *at = doc;
    while (at != NULL) {
        const struct doc *next = depth > 0 ? at->next : NULL;
        if (holds(at)) {
            must(depth <= DOC_DEPTH_MAX);
            above[depth++] = next;
            most = depth > most ? depth : most;
            next = at->first;
        }
        while (next == NULL && depth > 0) {
            next = above[--depth];
        }
        at = next;
    }
    return most;
}
