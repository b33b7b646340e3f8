/* server_pools.c - pools declared in the configuration file. Such a pool is the same as a pool made
 * by the API. At the start and on SIGHUP each declared pool becomes what the file says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "core/model/object.h"
#include "server/server_internal.h"
#include "wire/reason_text.h"

static void pool_reconcile(struct server *server, const struct pool_spec *want, struct arena *arena)
{
    const struct core *core = ledger_core(server->ledger);
    const struct pool *pool = query_pool_named(core, want->name);
    struct input in = {
        .type = INPUT_POOL_CREATE, .actor = "server", .cause = "config", .pool = {.spec = want}};
    if (pool != NULL && !pool->deleted) {
        struct pool_spec have;
        query_pool_spec(core, pool->id, arena, &have);
        if (object_equal(&pool_object, &have, want)) {
            return;
        }
        in.type = INPUT_POOL_EDIT;
        in.pool.pool = pool->id;
    }
    struct facts facts;
    fact_list_init(&facts, arena);
    if (ledger_input(server->ledger, &in, &facts) != VERDICT_OK) {
        struct buf text;
        buf_init(&text, ERROR_TEXT_MAX);
        reason_text(core, &facts.refusal, &text);
        log_warn_always("the pool stays as it is", kv_str("pool", want->name),
                        kv_str("reason", buf_text(&text)));
        buf_done(&text);
    }
}

void server_pools_reconcile(struct server *server, const struct server_file *file)
{
    struct arena arena;
    arena_init(&arena);
    for (uint32_t i = 0; i < file->pool_count; i++) {
        pool_reconcile(server, &file->pools[i], &arena);
    }
    arena_done(&arena);
}
