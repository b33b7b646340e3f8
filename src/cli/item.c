/* item.c - see item.h. Numbers are compared as decimal text, so that no amount is rounded.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/item.h"

#include "base/json_out.h"
#include "base/must.h"
#include "cli/text.h"

#include <string.h>

enum { KEY_MAX = 64 };

const struct doc *item_at(const struct doc *doc, const char *path)
{
    while (doc != NULL && *path != '\0') {
        char key[KEY_MAX];
        size_t len = strcspn(path, ".");
        must(len < sizeof key);
        memcpy(key, path, len);
        key[len] = '\0';
        doc = doc->kind == DOC_MAP ? doc_get(doc, key) : NULL;
        path += len;
        path += *path == '.';
    }
    return doc;
}

const char *item_text(const struct doc *doc, const char *path)
{
    const struct doc *value = item_at(doc, path);
    if (value == NULL) {
        return "";
    }
    if (value->kind == DOC_BOOL) {
        return value->yes ? "true" : "false";
    }
    return value->kind == DOC_STRING || value->kind == DOC_NUMBER ? value->text.p : "";
}

int64_t item_number(const struct doc *doc, const char *path, int64_t none)
{
    int64_t number = none;
    const struct doc *value = item_at(doc, path);
    if (value != NULL) {
        (void)doc_i64(value, &number);
    }
    return number;
}

bool item_true(const struct doc *doc, const char *path)
{
    bool yes = false;
    const struct doc *value = item_at(doc, path);
    return value != NULL && doc_bool(value, &yes) && yes;
}

bool item_time(const struct doc *doc, const char *path, int64_t *ret_ms)
{
    const struct doc *value = item_at(doc, path);
    return value != NULL && value->kind == DOC_STRING && text_time_parse(value->text, ret_ms);
}

/* Returns the length of the JSON number at the front of the text; 0: there is none. */
static size_t json_number_len(struct str text)
{
    size_t at = text.len > 0 && text.p[0] == '-';
    size_t digits = strspn(text.p + at, "0123456789");
    if (digits == 0 || (digits > 1 && text.p[at] == '0')) {
        return 0;
    }
    at += digits;
    if (text.p[at] == '.') {
        digits = strspn(text.p + at + 1, "0123456789");
        return digits == 0 ? 0 : at + 1 + digits;
    }
    return at;
}

/* Writes a plain YAML scalar. The field decides whether the scalar is a text. */
static void plain_json(struct json_out *j, const struct doc *doc, bool plain_is_text)
{
    bool yes;
    bool numeric = doc->text.len > 0 && json_number_len(doc->text) == doc->text.len;
    if (!plain_is_text && numeric) {
        json_out_raw(j, doc->text);
    } else if (!plain_is_text && doc_bool(doc, &yes)) {
        json_out_bool(j, yes);
    } else {
        json_out_str(j, doc->text);
    }
}

static void scalar_json(struct json_out *j, const struct doc *doc, bool plain_is_text)
{
    switch (doc->kind) {
    case DOC_NULL:
        json_out_null(j);
        break;
    case DOC_BOOL:
        json_out_bool(j, doc->yes);
        break;
    case DOC_NUMBER:
        json_out_raw(j, doc->text);
        break;
    case DOC_STRING:
        doc->quoted ? json_out_str(j, doc->text) : plain_json(j, doc, plain_is_text);
        break;
    case DOC_LIST:
    case DOC_MAP:
        break;
    }
}

/* A document is at most DOC_DEPTH_MAX deep, so a stack of that size holds all parents of a
 * value. */
static void walk_json(struct json_out *j, const struct doc *doc, bool plain_is_text)
{
    const struct doc *parents[DOC_DEPTH_MAX + 1];
    size_t depth = 0;
    const struct doc *at = doc;
    while (at != NULL) {
        if (depth > 0 && parents[depth - 1]->kind == DOC_MAP) {
            json_out_key(j, at->key.p);
        }
        bool container = at->kind == DOC_LIST || at->kind == DOC_MAP;
        if (container) {
            at->kind == DOC_MAP ? json_out_object(j) : json_out_array(j);
            must(depth <= DOC_DEPTH_MAX);
            parents[depth++] = at;
        } else {
            scalar_json(j, at, plain_is_text);
        }
        const struct doc *next = container ? at->first : depth > 0 ? at->next : NULL;
        while (next == NULL && depth > 0) {
            json_out_end(j);
            depth--;
            next = depth > 0 ? parents[depth]->next : NULL;
        }
        at = next;
    }
}

void item_json(struct buf *out, const struct doc *doc)
{
    struct json_out j;
    json_out_init(&j, out);
    walk_json(&j, doc, true);
}

void item_json_field(struct json_out *j, const struct doc *doc, bool plain_is_text)
{
    json_out_key(j, doc->key.p);
    walk_json(j, doc, plain_is_text);
}

/* Compares two numbers of 0 or more in decimal text: first the digits before the point, then
 * those behind it. */
static int decimal_compare(struct str a, struct str b)
{
    struct str a_rest;
    struct str b_rest;
    struct str a_whole = str_cut(a, '.', &a_rest);
    struct str b_whole = str_cut(b, '.', &b_rest);
    if (a_whole.len != b_whole.len) {
        return a_whole.len < b_whole.len ? -1 : 1;
    }
    int order = memcmp(a_whole.p, b_whole.p, a_whole.len);
    if (order != 0) {
        return order;
    }
    size_t a_len = a_rest.p == NULL ? 0 : a_rest.len;
    size_t b_len = b_rest.p == NULL ? 0 : b_rest.len;
    size_t both = a_len < b_len ? a_len : b_len;
    order = both == 0 ? 0 : memcmp(a_rest.p, b_rest.p, both);
    return order != 0 ? order : (a_len > b_len) - (a_len < b_len);
}

static int number_compare(struct str a, struct str b)
{
    bool a_negative = a.len > 0 && a.p[0] == '-';
    bool b_negative = b.len > 0 && b.p[0] == '-';
    if (a_negative != b_negative) {
        return a_negative ? -1 : 1;
    }
    return a_negative ? decimal_compare(b, a) : decimal_compare(a, b);
}

int item_order(const struct doc *a, const struct doc *b)
{
    bool a_none = a == NULL || a->kind == DOC_NULL;
    bool b_none = b == NULL || b->kind == DOC_NULL;
    if (a_none || b_none) {
        return (int)b_none - (int)a_none;
    }
    if (a->kind == DOC_NUMBER && b->kind == DOC_NUMBER) {
        return number_compare(a->text, b->text);
    }
    if (a->kind == DOC_STRING && b->kind == DOC_STRING) {
        return strcmp(a->text.p, b->text.p);
    }
    return (int)a->kind - (int)b->kind;
}
