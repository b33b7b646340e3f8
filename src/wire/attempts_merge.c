/* attempts_merge.c - see attempts_merge.h. Works on the text: a task that was tried often has
 * megabytes of attempts, and all of them are JSON already.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/attempts_merge.h"

#include "wire/attempt_key.h"

#include <string.h>

/* In JSON text a quotation mark inside a string has a backslash before it, so this text is the
 * member and never a part of a string. */
static const char attempts_member[] = "\"attempts\":[";
static const char key_member[] = "{\"key\":\"";

/* The object at the start of `text`; empty: there is none. */
static struct str object_first(struct str text)
{
    bool quoted = false;
    int depth = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.p[i];
        if (quoted) {
            i += c == '\\' ? 1 : 0;
            quoted = c != '"';
            continue;
        }
        quoted = c == '"';
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (depth == 0) {
            return (struct str){text.p, c == '}' ? i + 1 : 0};
        }
    }
    return (struct str){text.p, 0};
}

/* Which attempt is this object? Nothing: {0, 0}, which comes first. */
static struct attempt_key object_key(struct str object)
{
    struct attempt_key key = {{0}, 0, 0};
    const size_t skip = sizeof key_member - 1;
    if (object.len > skip && memcmp(object.p, key_member, skip) == 0) {
        struct str rest;
        struct str text = str_cut((struct str){object.p + skip, object.len - skip}, '"', &rest);
        (void)attempt_key_parse(text, &key);
    }
    return key;
}

static void element_add(struct buf *out, struct str json, bool *first)
{
    buf_add_str(out, *first ? "" : ",");
    buf_add(out, json.p, json.len);
    *first = false;
}

/* Negative: the earlier attempt stands before the newest one; 0: both are one attempt. */
static int past_compare(const struct attempt_past *past, struct attempt_key key)
{
    if (past->index != key.index) {
        return past->index < key.index ? -1 : 1;
    }
    return past->attempt == key.attempt ? 0 : past->attempt < key.attempt ? -1 : 1;
}

/* The last member of an object with its comma, "again":…; empty: the object has one member. */
static struct str last_member(struct str object)
{
    const char *comma = memrchr(object.p, ',', object.len);
    const size_t at = comma == NULL ? object.len : (size_t)(comma - object.p);
    return (struct str){object.p + at, object.len - at};
}

/* Adds an attempt that both have: the earlier text, but `again` of the newest. An instance of a gang
 * may begin again long after its attempt has ended. */
static void both_add(struct buf *out, struct str past, struct str newest, bool *first)
{
    const struct str old = last_member(past);
    const struct str fresh = last_member(newest);
    const bool replaced = old.len > 0 && fresh.len > 0;
    element_add(out, (struct str){past.p, past.len - (replaced ? old.len : 0)}, first);
    buf_add(out, fresh.p, replaced ? fresh.len : 0);
}

void attempts_merge(struct buf *out, struct str task, const struct attempt_past *past, size_t count)
{
    const size_t skip = sizeof attempts_member - 1;
    const char *at = count > 0 ? memmem(task.p, task.len, attempts_member, skip) : NULL;
    if (at == NULL) {
        buf_add(out, task.p, task.len);
        return;
    }
    struct str rest = {at + skip, task.len - (size_t)(at - task.p) - skip};
    buf_add(out, task.p, task.len - rest.len);
    size_t next = 0;
    bool first = true;
    for (struct str object = object_first(rest); object.len > 0; object = object_first(rest)) {
        const struct attempt_key key = object_key(object);
        while (next < count && past_compare(&past[next], key) < 0) {
            element_add(out, past[next++].json, &first);
        }
        if (next < count && past_compare(&past[next], key) == 0) {
            both_add(out, past[next++].json, object, &first);
        } else {
            element_add(out, object, &first);
        }
        const size_t taken = object.len + (rest.p[object.len] == ',' ? 1 : 0);
        rest = (struct str){rest.p + taken, rest.len - taken};
    }
    while (next < count) {
        element_add(out, past[next++].json, &first);
    }
    buf_add(out, rest.p, rest.len);
}
