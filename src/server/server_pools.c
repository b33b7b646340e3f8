/* server_pools.c - pools declared in the configuration file. Such a pool is the same as a pool made
 * by the API. At the start and on SIGHUP each declared pool becomes what the file says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "core/model/object.h"
#include "server/server_internal.h"
#include "wire/reason_text.h"

/* Says in the log why something of the file was not done. */
static void refusal_log(const struct core *core, const char *message, const char *what,
                        const struct reason *reason)
{
    struct buf text;
    buf_init(&text, ERROR_TEXT_MAX);
    reason_text(core, reason, &text);
    log_warn_always(message, kv_str("pool", what), kv_str("reason", buf_text(&text)));
    buf_done(&text);
}

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
        refusal_log(core, "the pool stays as it is", want->name, &facts.refusal);
    }
}

static void defaults_reconcile(struct server *server, const struct server_file *file,
                               struct arena *arena)
{
    struct input in = {.type = INPUT_DEFAULTS_SET, .actor = "server", .cause = "config"};
    in.defaults.pools[POOL_DEFAULT_GPU] = file->gpu_pool;
    in.defaults.pools[POOL_DEFAULT_CPU] = file->cpu_pool;
    struct facts facts;
    fact_list_init(&facts, arena);
    if (ledger_input(server->ledger, &in, &facts) != VERDICT_OK) {
        refusal_log(ledger_core(server->ledger), "the default pools stay as they are",
                    file->gpu_pool, &facts.refusal);
    }
}

void server_pools_reconcile(struct server *server, const struct server_file *file)
{
    struct arena arena;
    arena_init(&arena);
    for (uint32_t i = 0; i < file->pool_count; i++) {
        pool_reconcile(server, &file->pools[i], &arena);
    }
    defaults_reconcile(server, file, &arena);
    arena_done(&arena);
}
