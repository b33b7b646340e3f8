/* page.c - see page.h. The text of a cursor is "KEY.MORE.MORE.MORE.MORE-QUESTION", numbers in hex, and
 * zeros at the end of the first part are left out. Clients treat
 * the cursor as opaque, and the server checks it when it comes back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/page.h"

#include "base/hash.h"
#include "io/http_request.h"

static bool hex_read(struct str text, uint64_t *ret)
{
    uint64_t value = 0;
    if (text.len == 0 || text.len > 16) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (c >= '0' && c <= '9') {
            value = value << 4 | (uint64_t)(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        } else {
            return false;
        }
    }
    *ret = value;
    return true;
}

/* Reads "KEY", "KEY.MORE", … */
static bool key_read(struct str text, struct page *ret)
{
    struct str rest;
    bool well = hex_read(str_cut(text, '.', &rest), &ret->after);
    for (size_t i = 0; well && rest.p != NULL; i++) {
        struct str number = str_cut(rest, '.', &rest);
        well = i < PAGE_MORE_MAX && hex_read(number, &ret->more[i]);
    }
    return well;
}

static const char *key_text(const struct page *page, uint64_t next)
{
    size_t count = PAGE_MORE_MAX;
    while (count > 0 && page->more[count - 1] == 0) {
        count--;
    }
    const char *text = arena_fmt(page->arena, "%llx", (unsigned long long)next);
    for (size_t i = 0; i < count; i++) {
        text = arena_fmt(page->arena, "%s.%llx", text, (unsigned long long)page->more[i]);
    }
    return text;
}

bool page_read(struct call *call, const char *question, struct page *ret)
{
    uint64_t limit = PAGE_LIMIT_DEFAULT;
    *ret = (struct page){.arena = call_arena(call)};
    ret->question = hash_bytes(question, strlen(question));
    if (!call_query_u64(call, "limit", PAGE_LIMIT_MAX, &limit)) {
        return false;
    }
    if (limit == 0) {
        call_failf(call, ERR_INVALID, "limit", "'limit' must be from 1 to %d, not 0",
                   PAGE_LIMIT_MAX);
        return false;
    }
    ret->limit = (size_t)limit;
    const char *cursor = http_request_query(call->request, "cursor");
    if (cursor == NULL) {
        return true;
    }
    struct str asked;
    struct str key = str_cut(str_of(cursor), '-', &asked);
    uint64_t hash;
    if (asked.p == NULL || !key_read(key, ret) || !hex_read(asked, &hash) ||
        hash != ret->question) {
        call_failf(call, ERR_INVALID, "cursor",
                   "'cursor' is not from this list with these filters");
        return false;
    }
    return true;
}

void page_begin(struct json_out *j)
{
    json_out_object(j);
    json_out_key(j, "items");
    json_out_array(j);
}

void page_end(struct json_out *j, const struct page *page, uint64_t next)
{
    json_out_end(j);
    json_out_key(j, "next");
    if (next == 0) {
        json_out_null(j);
    } else {
        json_out_text(j, arena_fmt(page->arena, "%s-%llx", key_text(page, next),
                                   (unsigned long long)page->question));
    }
    if (page->has_total) {
        json_out_kv_u64(j, "total", page->total);
    }
    json_out_end(j);
}

void page_answer(struct call *call, const char *question, const struct page_source *source,
                 const void *filter)
{
    const struct core *core = call_core(call);
    struct json_out j;
    struct page page;
    if (!page_read(call, question, &page)) {
        return;
    }
    call_json(call, &j);
    page_begin(&j);
    uint64_t last = 0;
    uint64_t key = source->next(core, filter, page.after);
    for (size_t shown = 0; key != 0 && shown < page.limit; shown++) {
        source->write(&j, core, key, call_arena(call));
        last = key;
        key = source->next(core, filter, key);
    }
    page_end(&j, &page, key != 0 ? last : 0);
    call_answer_json(call, 200);
}
