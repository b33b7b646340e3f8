/* route.c - finds the row of a request. Most of the some hundred rows differ from a path in their length or in their first twenty
 * characters, so that going through all of them costs less than a microsecond and a tree would not pay.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/route.h"

#include "api/handlers.h"

enum {
    BODY_SMALL = 64 * 1024,
    BODY_SUBMIT = 64 * 1024 * 1024, /* for SUBMIT_TASKS_MAX small tasks */
    BODY_CONFIG = 4 * 1024 * 1024,  /* for a server file */
    BODY_PIECE = 4 * 1024 * 1024,   /* of an upload */
    BODY_AGENT = 8 * 1024 * 1024,   /* for a hello with all attempts, or a batch of reports */
};

const struct route routes[] = {
#define ROUTE ROUTE_ROW
#include "api/routes.def"
#undef ROUTE
};
const size_t routes_count = sizeof routes / sizeof routes[0];

/* Does the path have the pattern's form? A parameter is a whole segment and never empty. "{name...}" at the end takes the rest of the path, slashes and all. */
static bool path_matches(const char *pattern, const char *path, struct arena *arena,
                         const char **params)
{
    unsigned count = 0;
    while (*pattern != '\0') {
        if (*pattern != '{') {
            if (*pattern++ != *path++) {
                return false;
            }
            continue;
        }
        must(count < CALL_PARAMS_MAX);
        const char *end = strchr(pattern, '}');
        must(end != NULL);
        size_t len = strcspn(path, "/");
        if (len == 0) {
            return false;
        }
        if (end[-1] == '.') {
            len = strlen(path);
        }
        params[count++] = arena != NULL ? arena_strn(arena, path, len) : "";
        path += len;
        pattern = end + 1;
    }
    return *path == '\0';
}

/* Is this very path the row's pattern? */
static bool row_is_literal(const struct route *row, const char *path, size_t len)
{
    return row->pattern_len == len && memcmp(row->pattern, path, len) == 0;
}

/* Is there a row for this very path? Such a row hides the rows with a parameter in that place. */
static bool path_is_literal(const struct route_mount *mount, const char *path, size_t len)
{
    for (size_t i = 0; i < mount->count; i++) {
        if (row_is_literal(&mount->rows[i], path, len)) {
            return true;
        }
    }
    return false;
}

struct route_mount route_mount_of(const struct route_mounts *mounts, const char *path)
{
    for (size_t i = 0; i < mounts->count; i++) {
        size_t len = strlen(mounts->at[i].prefix);
        if (strncmp(path, mounts->at[i].prefix, len) == 0 &&
            (path[len] == '/' || path[len] == '\0')) {
            return mounts->at[i];
        }
    }
    return (struct route_mount){.prefix = "", .rows = routes, .count = routes_count};
}

/* The path without empty segments: clients of other systems join their address and a path by a slash too many. */
static const char *slashes_joined(const char *path, struct arena *arena)
{
    char *joined = arena_str(arena, path);
    size_t len = 0;
    for (size_t i = 0; path[i] != '\0'; i++) {
        if (path[i] != '/' || len == 0 || joined[len - 1] != '/') {
            joined[len++] = path[i];
        }
    }
    joined[len] = '\0';
    return joined;
}

const struct route *route_find(const struct route_mounts *mounts, const char *method,
                               const char *path, struct arena *arena, const char **params,
                               const char **ret_allow)
{
    *ret_allow = NULL;
    const char *unused[CALL_PARAMS_MAX];
    struct route_mount mount = route_mount_of(mounts, path);
    const char *rest = path + strlen(mount.prefix);
    if (*mount.prefix != '\0') {
        rest = slashes_joined(rest, arena);
    }
    const size_t len = strlen(rest);
    const bool literal = path_is_literal(&mount, rest, len);
    for (size_t i = 0; i < mount.count; i++) {
        const struct route *row = &mount.rows[i];
        if (literal ? !row_is_literal(row, rest, len)
                    : !path_matches(row->pattern, rest, NULL, unused)) {
            continue;
        }
        if (strcmp(row->method, method) == 0) {
            (void)path_matches(row->pattern, rest, arena, params);
            return row;
        }
        *ret_allow =
            *ret_allow == NULL ? row->method : arena_fmt(arena, "%s, %s", *ret_allow, row->method);
    }
    return NULL;
}

bool route_takes(const struct route *route, const char *parameter)
{
    struct str rest = str_of(route->query);
    while (rest.p != NULL) {
        struct str name = str_cut(rest, ' ', &rest);
        if (name.len > 0 && str_is(name, parameter)) {
            return true;
        }
    }
    return false;
}

bool route_is_open(const struct route *route)
{
    return route->permission == PERMIT_NONE || route->permission == PERMIT_ASSET;
}

bool route_permits(enum route_permission permission, enum token_scope scope)
{
    switch (permission) {
    case PERMIT_NONE:
    case PERMIT_ASSET:
        return true;
    case PERMIT_READ:
    case PERMIT_SIGNIN:
        return scope == SCOPE_ADMIN || scope == SCOPE_READ;
    case PERMIT_WRITE:
    case PERMIT_ADMIN:
        return scope == SCOPE_ADMIN;
    case PERMIT_NODE:
        return scope == SCOPE_NODE;
    case PERMIT_JOIN:
        return scope == SCOPE_JOIN;
    }
    return false;
}
