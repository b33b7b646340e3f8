/* standing.c - see standing.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/standing.h"

#include "base/str.h"
#include "core/model/pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AFTER "; the node takes new work when the tasks that began before have ended"

/* True: both are known, and they differ. */
static bool differ(const char *then, const char *now)
{
    return then[0] != '\0' && now[0] != '\0' && strcmp(then, now) != 0;
}

void standing_change(const struct standing *then, const struct standing *now, char *out,
                     size_t size)
{
    out[0] = '\0';
    if (then->devices != now->devices) {
        (void)snprintf(out, size, "device count has changed from %" PRIu64 " to %" PRIu64 AFTER,
                       then->devices, now->devices);
    } else if (differ(then->model, now->model) || differ(then->serials, now->serials)) {
        (void)snprintf(out, size, "device properties have changed (%.60s, then %.60s)" AFTER,
                       now->model, then->model);
    } else if (now->pool[0] != '\0' &&
               strcmp(then->pool[0] == '\0' ? POOL_DEFAULT_NAME : then->pool, now->pool) != 0) {
        (void)snprintf(out, size, "resource pool has changed from '%.60s' to '%.60s'" AFTER,
                       then->pool, now->pool);
    }
}

void standing_write(const struct standing *standing, struct buf *out)
{
    buf_addf(out, "pool %s\ndevices %" PRIu64 "\nmodel %s\nserials %s\n", standing->pool,
             standing->devices, standing->model, standing->serials);
}

/* The value of the next line, which begins with this word. */
static bool line_take(struct str *text, const char *word, struct arena *arena, const char **ret)
{
    struct str rest;
    const size_t len = strlen(word);
    const struct str line = str_cut(*text, '\n', &rest);
    if (line.len <= len || memcmp(line.p, word, len) != 0 || line.p[len] != ' ') {
        return false;
    }
    *ret = arena_strn(arena, line.p + len + 1, line.len - len - 1);
    *text = rest;
    return true;
}

must_use enum err standing_read(struct str text, struct arena *arena, struct standing *ret,
                                struct error *e)
{
    struct standing read = {0};
    const char *devices = "";
    if (!line_take(&text, "pool", arena, &read.pool) ||
        !line_take(&text, "devices", arena, &devices) ||
        !line_take(&text, "model", arena, &read.model) ||
        !line_take(&text, "serials", arena, &read.serials) ||
        !str_to_u64(str_of(devices), &read.devices)) {
        return fail(e, ERR_INVALID, "what the node was before cannot be read");
    }
    *ret = read;
    return ERR_OK;
}
