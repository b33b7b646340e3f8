/* fuzz_proxy.c - the head with which a task answers the proxy. What was accepted is within every bound, has
 * no byte that would begin another field, and reads the same when it is written again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "api/proxy_head.h"
#include "base/must.h"

#include <string.h>

static bool is_one_line(const char *text)
{
    return strpbrk(text, "\r\n") == NULL;
}

static void fields_must_be_sound(const struct proxy_head *head)
{
    must(head->status >= 100 && head->status <= 999);
    must(head->count <= PROXY_FIELDS_MAX);
    must(head->length >= -1);
    for (size_t i = 0; i < head->count; i++) {
        must(head->fields[i].name[0] != '\0');
        must(strpbrk(head->fields[i].name, " \t\r\n:;,\"") == NULL);
        must(is_one_line(head->fields[i].value));
    }
}

static void head_again(const struct proxy_head *head, struct arena *arena)
{
    struct proxy_head *back = arena_new(arena, struct proxy_head, 1);
    struct buf out;
    buf_init(&out, 4 * PROXY_HEAD_MAX);
    buf_addf(&out, "HTTP/1.1 %u OK\r\n", head->status);
    for (size_t i = 0; i < head->count; i++) {
        buf_addf(&out, "%s: %s\r\n", head->fields[i].name, head->fields[i].value);
    }
    buf_add_str(&out, "\r\n");
    must(!out.full);
    must(proxy_head_read((struct str){buf_text(&out), out.len}, arena, back) == (long)out.len);
    must(back->status == head->status);
    must(back->count == head->count);
    must(back->length == head->length);
    must(back->chunked == head->chunked);
    for (size_t i = 0; i < head->count; i++) {
        must(strcmp(back->fields[i].name, head->fields[i].name) == 0);
        must(strcmp(back->fields[i].value, head->fields[i].value) == 0);
    }
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str in = {(const char *)data, size <= PROXY_HEAD_MAX ? size : PROXY_HEAD_MAX};
    struct arena arena;
    arena_init(&arena);
    struct proxy_head *head = arena_new(&arena, struct proxy_head, 1);
    const long len = proxy_head_read(in, &arena, head);
    must(len >= -1 && len <= (long)in.len);
    if (len > 0) {
        struct proxy_head *cut = arena_new(&arena, struct proxy_head, 1);
        must(memcmp(in.p + len - 4, "\r\n\r\n", 4) == 0);
        must(proxy_head_read((struct str){in.p, (size_t)len - 1}, &arena, cut) == 0);
        fields_must_be_sound(head);
        head_again(head, &arena);
    }
    arena_done(&arena);
    return 0;
}
