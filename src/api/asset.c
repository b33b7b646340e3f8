/* asset.c - GET / and GET /assets/{name}: files of the program itself.
 *
 * A file is looked up by its whole path in the table that the build made, so no path leads anywhere
 * else. An answer shows nothing of the state: it waits neither for the disk nor for a core.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/asset.h"

#include "api/call.h"
#include "api/handlers.h"
#include "io/http_request.h"

#include <strings.h>

/* Files of this server alone; nothing inline, nothing framed. */
static const char page_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src "
    "'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const struct asset *asset_find(const char *path)
{
    for (size_t i = 0; i < assets_count; i++) {
        if (strcmp(assets[i].path, path) == 0) {
            return &assets[i];
        }
    }
    return NULL;
}

/* "q=0", "q=0.0": the weight that refuses. */
static bool weight_is_zero(struct str parameter)
{
    parameter = str_trim(parameter);
    if (parameter.len < 3 || strncasecmp(parameter.p, "q=", 2) != 0) {
        return false;
    }
    for (size_t i = 2; i < parameter.len; i++) {
        if (parameter.p[i] != '0' && parameter.p[i] != '.') {
            return false;
        }
    }
    return true;
}

bool asset_takes_gzip(const char *accept)
{
    bool any = false;
    struct str rest = str_of(accept != NULL ? accept : "");
    while (rest.p != NULL) {
        struct str parameter;
        struct str name = str_trim(str_cut(str_cut(rest, ',', &rest), ';', &parameter));
        bool taken = parameter.p == NULL || !weight_is_zero(parameter);
        if (name.len == 4 && strncasecmp(name.p, "gzip", 4) == 0) {
            return taken;
        }
        any = any || (str_is(name, "*") && taken);
    }
    return any;
}

bool asset_is_known(const char *if_none_match, const char *tag)
{
    struct str rest = str_of(if_none_match != NULL ? if_none_match : "");
    while (rest.p != NULL) {
        struct str known = str_trim(str_cut(rest, ',', &rest));
        if (known.len > 2 && strncmp(known.p, "W/", 2) == 0) {
            known = (struct str){known.p + 2, known.len - 2};
        }
        if (str_is(known, tag) || str_is(known, "*")) {
            return true;
        }
    }
    return false;
}

static void give_asset(struct call *call, const struct asset *asset)
{
    struct http_request *request = call->request;
    bool packed = asset->packed_len < asset->plain_len &&
                  asset_takes_gzip(http_request_header(request, "Accept-Encoding"));
    const char *tag = arena_fmt(call_arena(call), "\"%s%s\"", asset->hash, packed ? "-gzip" : "");
    http_request_answer_header(request, "ETag", tag);
    http_request_answer_header(request, "Vary", "Accept-Encoding");
    http_request_answer_header(request, "X-Content-Type-Options", "nosniff");
    http_request_answer_header(request, "Cross-Origin-Resource-Policy", "same-origin");
    http_request_answer_header(request, "Cache-Control",
                               asset->page ? "no-cache" : "public, max-age=31536000, immutable");
    if (asset->page) {
        http_request_answer_header(request, "Content-Security-Policy", page_policy);
        http_request_answer_header(request, "Referrer-Policy", "no-referrer");
        http_request_answer_header(request, "Cross-Origin-Opener-Policy", "same-origin");
        http_request_answer_header(request, "X-Frame-Options", "DENY");
    }
    buf_clear(&call->out);
    if (asset_is_known(http_request_header(request, "If-None-Match"), tag)) {
        call_answer_at_once(call, 304, NULL);
        return;
    }
    if (packed) {
        http_request_answer_header(request, "Content-Encoding", "gzip");
    }
    buf_add(&call->out, packed ? asset->packed : asset->plain,
            packed ? asset->packed_len : asset->plain_len);
    call_answer_at_once(call, 200, asset->content_type);
}

void asset_show(struct call *call)
{
    const struct asset *asset = asset_find(http_request_path(call->request));
    if (asset == NULL) {
        struct error e;
        (void)fail(&e, ERR_NOT_FOUND, "no such file '%.120s'", http_request_path(call->request));
        call_fail(call, &e);
        return;
    }
    give_asset(call, asset);
}
