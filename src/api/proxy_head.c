/* proxy_head.c - see proxy_head.h. A plain request goes on as HTTP/1.0, so that the task answers without
 * chunks and closes at the end; a WebSocket needs 1.1. SPDX-License-Identifier: Apache-2.0 */
#include "api/proxy_head.h"

#include "io/http_head.h"

#include <string.h>
#include <strings.h>

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(name, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Fields of one connection, which a proxy does not pass on; and those it writes itself. */
static bool is_hop(const char *name)
{
    static const char *const hops[] = {"Connection",
                                       "Keep-Alive",
                                       "Proxy-Authenticate",
                                       "Proxy-Authorization",
                                       "TE",
                                       "Trailer",
                                       "Transfer-Encoding",
                                       "Upgrade",
                                       "Content-Length",
                                       "Expect",
                                       "X-Forwarded-Prefix",
                                       "X-Forwarded-For",
                                       "Forwarded"};
    return is_one_of(name, hops, sizeof hops / sizeof hops[0]);
}

/* Fields of an answer that a browser applies to the whole host or to all tasks. A task speaks for its own
 * pages alone. */
static bool is_wide(const char *name)
{
    static const char *const wide[] = {"Alt-Svc",
                                       "Clear-Site-Data",
                                       "NEL",
                                       "Origin-Agent-Cluster",
                                       "Public-Key-Pins",
                                       "Report-To",
                                       "Reporting-Endpoints",
                                       "Service-Worker-Allowed",
                                       "Strict-Transport-Security"};
    return is_one_of(name, wide, sizeof wide / sizeof wide[0]);
}

static bool cookie_is_ours(struct str name)
{
    static const char *const ours[] = {"weir_", "__Host-weir_", "__Secure-weir_"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        if (name.len >= strlen(ours[i]) && strncasecmp(name.p, ours[i], strlen(ours[i])) == 0) {
            return true;
        }
    }
    return false;
}

struct writing {
    struct buf *out;
    const struct proxy_way *way;
};

static void cookies_write(struct buf *out, const char *value)
{
    struct str rest = str_of(value);
    bool any = false;
    while (rest.p != NULL) {
        const struct str cookie = str_trim(str_cut(rest, ';', &rest));
        if (cookie.len > 0 && !cookie_is_ours(cookie)) {
            buf_addf(out, "%s%.*s", any ? "; " : "Cookie: ", (int)cookie.len, cookie.p);
            any = true;
        }
    }
    buf_add_str(out, any ? "\r\n" : "");
}

static void field_write(void *ctx, const char *name, const char *value)
{
    const struct writing *writing = ctx;
    if (strcasecmp(name, "Cookie") == 0) {
        cookies_write(writing->out, value);
    } else if (!is_hop(name) && !(writing->way->bearer && strcasecmp(name, "Authorization") == 0)) {
        buf_addf(writing->out, "%s: %s\r\n", name, value);
    }
}

void proxy_head_write(const struct http_request *request, const struct proxy_way *way,
                      struct buf *out)
{
    struct writing writing = {out, way};
    const char *target = http_request_target(request);
    const struct str body = http_request_body(request);
    if (!way->keep) {
        target += strlen(way->prefix);
    }
    buf_addf(out, "%s %s%s HTTP/1.%d\r\n", http_request_method(request),
             target[0] == '/' ? "" : "/", target, way->websocket ? 1 : 0);
    http_request_header_each(request, field_write, &writing);
    buf_addf(out, "X-Forwarded-Prefix: %s\r\n", way->prefix);
    if (way->websocket) {
        buf_add_str(out, "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
        return;
    }
    if (body.len > 0 || http_request_header(request, "Content-Length") != NULL) {
        buf_addf(out, "Content-Length: %zu\r\n", body.len);
    }
    buf_add_str(out, "Connection: close\r\n\r\n");
    buf_add(out, body.p, body.len);
}

/* ---- the answer ---- */

static bool field_read(struct str line, struct arena *arena, struct proxy_head *head)
{
    struct str value = {NULL, 0};
    const struct str name = str_cut(line, ':', &value);
    uint64_t number;
    if (value.p == NULL || !http_head_is_token(name.p, name.len) ||
        head->count == PROXY_FIELDS_MAX || memchr(line.p, '\r', line.len) != NULL ||
        memchr(line.p, '\0', line.len) != NULL) {
        return false;
    }
    value = str_trim(value);
    struct proxy_field *field = &head->fields[head->count++];
    field->name = arena_strn(arena, name.p, name.len);
    field->value = arena_strn(arena, value.p, value.len);
    if (strcasecmp(field->name, "Content-Length") == 0) {
        if (!str_to_u64(value, &number) || number > INT64_MAX) {
            return false;
        }
        head->length = (int64_t)number;
    }
    head->chunked = head->chunked || strcasecmp(field->name, "Transfer-Encoding") == 0;
    return true;
}

long proxy_head_read(struct str in, struct arena *arena, struct proxy_head *ret)
{
    const char *end = memmem(in.p, in.len, "\r\n\r\n", 4);
    if (end == NULL) {
        return in.len >= PROXY_HEAD_MAX ? -1 : 0;
    }
    const size_t len = (size_t)(end - in.p);
    struct str rest = {in.p, len};
    uint64_t status;
    *ret = (struct proxy_head){.length = -1};
    for (bool first = true; rest.p != NULL; first = false) {
        struct str line = str_cut(rest, '\n', &rest);
        if (line.len > 0 && line.p[line.len - 1] == '\r') {
            line.len--;
        }
        if (first) {
            if (line.len < 12 || strncmp(line.p, "HTTP/1.", 7) != 0 ||
                !str_to_u64((struct str){line.p + 9, 3}, &status) || status < 100) {
                return -1;
            }
            ret->status = (unsigned)status;
        } else if (!field_read(line, arena, ret)) {
            return -1;
        }
    }
    return (long)len + 4;
}

/* A task's cookie counts below its own prefix alone, and cannot look like one of ours. A browser sends the
 * value of a cookie without a name as if the value were the whole cookie, so such a one is left out. */
static void cookie_give(struct http_request *request, const char *value,
                        const struct proxy_way *way, struct arena *arena)
{
    struct str rest = str_of(value);
    const struct str pair = str_trim(str_cut(rest, ';', &rest));
    const char *text = arena_strn(arena, pair.p, pair.len);
    if (pair.len == 0 || pair.p[0] == '=' || cookie_is_ours(pair)) {
        return;
    }
    while (rest.p != NULL) {
        const struct str part = str_trim(str_cut(rest, ';', &rest));
        if (part.len > 0 && strncasecmp(part.p, "path", 4) != 0 &&
            strncasecmp(part.p, "domain", 6) != 0) {
            text = arena_fmt(arena, "%s; %.*s", text, (int)part.len, part.p);
        }
    }
    http_request_answer_header(request, "Set-Cookie",
                               arena_fmt(arena, "%s; Path=%s/", text, way->prefix));
}

void proxy_head_give(struct http_request *request, const struct proxy_head *head,
                     const struct proxy_way *way, struct arena *arena)
{
    for (size_t i = 0; i < head->count; i++) {
        const struct proxy_field *field = &head->fields[i];
        if (field->value[0] == '\0' || strpbrk(field->value, "\t") != NULL || is_hop(field->name) ||
            strcasecmp(field->name, "Date") == 0 || is_wide(field->name)) {
            continue;
        }
        if (strcasecmp(field->name, "Set-Cookie") == 0) {
            cookie_give(request, field->value, way, arena);
        } else if (strcasecmp(field->name, "Location") == 0 && field->value[0] == '/' &&
                   !way->keep) {
            http_request_answer_header(request, "Location",
                                       arena_fmt(arena, "%s%s", way->prefix, field->value));
        } else {
            http_request_answer_header(request, field->name, field->value);
        }
    }
}
