/* whatif.c - POST /whatif: what one change would do. The body names the call that makes the change:
 *
 *   {"method":"PATCH", "path":"/pools/a?force=true", "body":{"paused":true}}
 *
 * The call goes to its own handler, with the permission that it needs, as a dry run: nothing here knows what changes there are.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "api/handlers.h"
#include "api/route.h"
#include "base/arena.h"
#include "io/http_request.h"

#include <string.h>

#define WHATIF_PREFIX "/api/v1"

enum { WHATIF_PATH_MAX = 512 };

/* Divides "/pools/a?force" into the path with its prefix and the query. False: the call was answered. */
static bool path_read(struct call *call, const char *text, const char **ret_path,
                      const char **ret_query)
{
    const size_t len = strlen(WHATIF_PREFIX);
    if (text[0] != '/' || strlen(text) > WHATIF_PATH_MAX || strchr(text, '%') != NULL) {
        call_failf(
            call, ERR_INVALID, "path",
            "'path' must be a path such as /pools/NAME, without escapes, of at most %d bytes",
            WHATIF_PATH_MAX);
        return false;
    }
    text += strncmp(text, WHATIF_PREFIX "/", len + 1) == 0 ? len : 0;
    struct str query = {NULL, 0};
    const struct str path = str_cut(str_of(text), '?', &query);
    *ret_path = arena_fmt(call_arena(call), WHATIF_PREFIX "%.*s", (int)path.len, path.p);
    *ret_query = query.p == NULL ? "" : arena_strn(call_arena(call), query.p, query.len);
    return true;
}

/* The row of a change that can be tried. NULL: the call was answered. */
static const struct route *change_find(struct call *call, const char *method, const char *path)
{
    const char *allow;
    const struct route *row =
        route_find(&call->api->o.mounts, method, path, call_arena(call), call->params, &allow);
    if (row == NULL && allow == NULL) {
        call_failf(call, ERR_NOT_FOUND, "path", "no such path '%.120s'", path);
    } else if (row == NULL) {
        call_failf(call, ERR_INVALID, "method", "%.20s is not possible at %.120s, only %s", method,
                   path, allow);
    } else if (row->handler == config_apply) {
        call_failf(call, ERR_INVALID, "path",
                   "a server file is tried with POST /config?dry_run=true");
        row = NULL;
    } else if (!route_takes(row, "dry_run")) {
        call_failf(call, ERR_INVALID, "path", "%s %.120s cannot be tried: %s", method, path,
                   strcmp(method, "GET") == 0 ? "it changes nothing"
                                              : "it changes no tasks or nodes");
        row = NULL;
    } else if (!route_permits(row->permission, call->scope)) {
        call_failf(call, ERR_DENIED, "", "'%s' may not %s %.120s", call->actor, method, path);
        row = NULL;
    }
    return row;
}

/* Are all parameters of the query known to the row? False: the call was answered. */
static bool query_known(struct call *call, const struct route *row, const char *query)
{
    struct str rest = {query, strlen(query)};
    while (rest.p != NULL && rest.len > 0) {
        struct str value;
        const struct str key = str_cut(str_cut(rest, '&', &rest), '=', &value);
        const char *name = arena_strn(call_arena(call), key.p, key.len);
        if (!route_takes(row, name)) {
            call_failf(call, ERR_INVALID, "path", "unknown query parameter '%.60s'; there are: %s",
                       name, row->query);
            return false;
        }
    }
    return true;
}

void whatif_try(struct call *call)
{
    static const char *const fields[] = {"method", "path", "body", NULL};
    const struct doc *asked;
    const char *method = "";
    const char *text = "";
    const char *path;
    const char *query;
    call_keep(call);
    if (!body_object(call, fields, &asked) || !body_text(call, asked, "method", &method) ||
        !body_text(call, asked, "path", &text) || !path_read(call, text, &path, &query)) {
        return;
    }
    if (method[0] == '\0') {
        call_failf(call, ERR_INVALID, "method", "'method' is missing: POST, PUT, PATCH or DELETE");
        return;
    }
    const struct route *row = change_find(call, method, path);
    if (row == NULL || !query_known(call, row, query)) {
        return;
    }
    struct call_trial *trial = arena_new(call_arena(call), struct call_trial, 1);
    struct route *own = arena_dup(http_request_arena(call->request), row, sizeof *row);
    *trial = (struct call_trial){.query = query,
                                 .body = body_has(asked, "body") ? doc_get(asked, "body") : NULL};
    own->audited = false; /* nothing is changed */
    call->trial = trial;
    call->route = own;
    call_run(call);
}
