/* http_url.c - request targets in origin form ("/p?q") or absolute form ("http://host/p?q").
 *
 * Holds: every decoded text is UTF-8 without NUL. `+` is a blank in the query only.
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/http_url.h"

#include "base/str.h"
#include "base/utf8.h"

#include <string.h>

/* The byte that "%41" stands for; -1 for a broken escape or one that stands for NUL. */
static int escape_value(struct str text)
{
    if (text.len < 3) {
        return -1;
    }
    int high = str_hex_digit(text.p[1]);
    int low = str_hex_digit(text.p[2]);
    if (high < 0 || low < 0) {
        return -1;
    }
    int value = high * 16 + low;
    return value != 0 ? value : -1;
}

/* The text with its escapes replaced, in the arena; NULL: malformed. */
static char *decode(struct str text, bool plus_is_blank, struct arena *arena)
{
    char *out = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    while (text.len > 0) {
        int c = (unsigned char)text.p[0];
        size_t step = 1;
        if (c <= ' ' || c == 0x7f) {
            return NULL;
        }
        if (c == '%') {
            c = escape_value(text);
            step = 3;
        } else if (c == '+' && plus_is_blank) {
            c = ' ';
        }
        if (c < 0) {
            return NULL;
        }
        out[len++] = (char)c;
        text.p += step;
        text.len -= step;
    }
    return utf8_valid(out, len) ? out : NULL;
}

/* "%2F" would become a '/' that looks like one between two parts of the path. */
static bool has_coded_slash(struct str path)
{
    for (size_t i = 0; i + 2 < path.len; i++) {
        if (path.p[i] == '%' && path.p[i + 1] == '2' && (path.p[i + 2] | 0x20) == 'f') {
            return true;
        }
    }
    return false;
}

/* The target without scheme and host. Clients of proxies send the absolute form. */
static const char *origin_form(const char *target)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t len = strlen(schemes[i]);
        if (strncmp(target, schemes[i], len) == 0) {
            const char *host = target + len;
            return host + strcspn(host, "/?");
        }
    }
    return target;
}

static size_t params_in(struct str query)
{
    size_t count = query.len > 0 ? 1 : 0;
    for (size_t i = 0; i < query.len; i++) {
        count += query.p[i] == '&';
    }
    return count;
}

static enum err params_parse(struct str query, size_t params_max, struct arena *arena,
                             struct http_url *url, struct error *e)
{
    size_t count = params_in(query);
    if (count > params_max) {
        return fail(e, ERR_LIMIT, "%zu query parameters, at most %zu are taken", count, params_max);
    }
    url->params = count > 0 ? arena_new(arena, struct http_param, count) : NULL;
    while (query.p != NULL && query.len > 0) {
        struct str rest;
        struct str pair = str_cut(query, '&', &rest);
        query = rest;
        if (pair.len == 0) {
            continue;
        }
        struct str value;
        struct str name = str_cut(pair, '=', &value);
        struct http_param *param = &url->params[url->param_count];
        param->name = decode(name, true, arena);
        param->value = value.p != NULL ? decode(value, true, arena) : "";
        if (param->name == NULL || param->value == NULL) {
            return fail(e, ERR_INVALID, "query parameter %zu is not valid percent-encoded UTF-8",
                        url->param_count + 1);
        }
        url->param_count++;
    }
    return ERR_OK;
}

must_use enum err http_url_parse(const char *target, size_t params_max, struct arena *arena,
                                 struct http_url *ret, struct error *e)
{
    struct str query;
    struct str path = str_cut(str_of(origin_form(target)), '?', &query);
    if (has_coded_slash(path)) {
        return fail(e, ERR_INVALID, "the path has a coded '/' (%%2F), which no name contains");
    }
    struct http_url url = {.path = decode(path, false, arena)};
    if (url.path == NULL) {
        return fail(e, ERR_INVALID, "the path is not valid percent-encoded UTF-8");
    }
    if (path.len == 0 && origin_form(target) != target) {
        url.path = "/";
    }
    if (url.path[0] != '/' && strcmp(url.path, "*") != 0) {
        return fail(e, ERR_INVALID, "the request target must begin with '/'");
    }
    if (query.p != NULL) {
        enum err r = params_parse(query, params_max, arena, &url, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    *ret = url;
    return ERR_OK;
}
