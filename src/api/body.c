/* body.c - see body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/body.h"

#include "api/route.h"
#include "base/amount.h"
#include "base/name.h"
#include "io/http_request.h"

bool body_read(struct call *call, const struct doc **ret)
{
    struct error e;
    struct doc *doc;
    if (call->trial != NULL && call->trial->body != NULL) {
        *ret = call->trial->body;
        return true;
    }
    if (call->trial != NULL) {
        call_failf(call, ERR_INVALID, "body", "'body' is missing: %s %s has one",
                   call->route->method, call->route->pattern);
        return false;
    }
    if (doc_json_parse(call_arena(call), http_request_body(call->request), &doc, &e) != ERR_OK) {
        call_fail(call, &e);
        return false;
    }
    *ret = doc;
    return true;
}

bool body_object(struct call *call, const char *const *fields, const struct doc **ret)
{
    static const struct doc empty = {.kind = DOC_MAP};
    const bool none = call->trial != NULL ? call->trial->body == NULL
                                          : str_trim(http_request_body(call->request)).len == 0;
    if (none) {
        *ret = &empty;
        return true;
    }
    const struct doc *doc;
    if (!body_read(call, &doc)) {
        return false;
    }
    if (doc->kind != DOC_MAP) {
        call_failf(call, ERR_INVALID, "", "the body must be a JSON object");
        return false;
    }
    for (const struct doc *field = doc->first; field != NULL; field = field->next) {
        size_t i = 0;
        while (fields[i] != NULL && !str_is(field->key, fields[i])) {
            i++;
        }
        if (fields[i] == NULL) {
            const char *name = arena_strn(call_arena(call), field->key.p, field->key.len);
            call_failf(call, ERR_INVALID, name, "unknown field '%.60s'", name);
            return false;
        }
    }
    *ret = doc;
    return true;
}

bool body_has(const struct doc *body, const char *field)
{
    const struct doc *doc = doc_get(body, field);
    return doc != NULL && doc->kind != DOC_NULL;
}

bool body_text(struct call *call, const struct doc *body, const char *field, const char **ret)
{
    const char *text;
    if (!body_has(body, field)) {
        return true;
    }
    if (!doc_text(doc_get(body, field), &text)) {
        call_failf(call, ERR_INVALID, field, "%s must be a string", field);
        return false;
    }
    size_t len = doc_get(body, field)->text.len;
    if (len > TEXT_LEN_MAX || strlen(text) != len) {
        call_failf(call, ERR_INVALID, field, "%s must be at most %d bytes without NUL", field,
                   TEXT_LEN_MAX);
        return false;
    }
    *ret = text;
    return true;
}

bool body_name(struct call *call, const struct doc *body, const char *field, const char **ret)
{
    const char *text = NULL;
    struct error e;
    if (!body_text(call, body, field, &text)) {
        return false;
    }
    if (text == NULL) {
        return true;
    }
    if (name_check(str_of(text), field, &e) != ERR_OK) {
        call_failf(call, ERR_INVALID, field, "%s", e.text);
        return false;
    }
    *ret = text;
    return true;
}

bool body_duration(struct call *call, const struct doc *body, const char *field, int64_t *ret_ms)
{
    struct error e;
    if (!body_has(body, field)) {
        return true;
    }
    const struct doc *doc = doc_get(body, field);
    bool scalar = doc->kind == DOC_STRING || doc->kind == DOC_NUMBER;
    if (!scalar || amount_duration(doc->text, ret_ms, &e) != ERR_OK) {
        call_failf(call, ERR_INVALID, field, "%s: %s", field,
                   scalar ? e.text : "must be a duration such as \"2h\", or seconds");
        return false;
    }
    return true;
}
