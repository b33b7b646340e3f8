/* map.c - GET /map: every node and device with its occupants, in one answer; or some nodes by name, which an
 * open map asks for when an event says that they changed.
 *
 * All nodes are written on a worker, from a copy of the state. Some nodes are written at once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/map_json.h"

#include "api/api_internal.h"
#include "api/call_work.h"
#include "api/handlers.h"
#include "api/named.h"

static void map_write(const struct core *copy, const void *ask, int64_t now_ms, struct buf *out)
{
    map_json(copy, ask, now_ms, out);
}

/* Reads nodes=a,b,c. False: the call was answered. */
static bool names_read(struct call *call, const char *text, struct map_json_ask *ask)
{
    const char **names = arena_new(call_arena(call), const char *, MAP_JSON_NAMES_MAX);
    struct str rest = str_of(text);
    while (rest.p != NULL) {
        const struct str name = str_cut(rest, ',', &rest);
        if (name.len == 0) {
            continue;
        }
        if (ask->name_count == MAP_JSON_NAMES_MAX || name.len > NAME_LEN_MAX) {
            call_failf(call, ERR_LIMIT, "nodes",
                       "'nodes' takes at most %d names of at most %d characters",
                       MAP_JSON_NAMES_MAX, NAME_LEN_MAX);
            return false;
        }
        names[ask->name_count++] = arena_strn(call_arena(call), name.p, name.len);
    }
    ask->names = names;
    return true;
}

void map_show(struct call *call)
{
    struct map_json_ask ask = {.limit = MAP_JSON_NODES_MAX};
    uint64_t limit = MAP_JSON_NODES_MAX;
    uint64_t after = 0;
    const char *pool = call_query(call, "pool");
    const char *nodes = call_query(call, "nodes");
    if (!call_query_u64(call, "limit", MAP_JSON_NODES_MAX, &limit) ||
        !call_query_u64(call, "after", UINT32_MAX, &after)) {
        return;
    }
    ask.limit = limit > 0 ? (size_t)limit : 1;
    ask.after = (node_id){(uint32_t)after};
    if (pool != NULL) {
        const struct pool *row = named_pool(call, "pool", pool);
        if (row == NULL) {
            return;
        }
        ask.pool = row->id;
    }
    if (nodes != NULL) {
        if (names_read(call, nodes, &ask)) {
            buf_clear(&call->out);
            map_json(call_core(call), &ask, call_now_ms(call), &call->out);
            call_answer_json(call, 200);
        }
        return;
    }
    call_work_send_copy(call, map_write, &ask, sizeof ask, ANSWER_BYTES_MAX);
}
