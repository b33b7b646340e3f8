/* server_config.c - pools, departments, projects and quotas declared in the configuration file. Such an object is
 * the same as an object made by the API. At the start and on SIGHUP each declared object becomes what the file
 * says; objects that the file does not name stay.
 *
 * The core refuses a quota of a named resource that no node has brought yet. The next start or SIGHUP after such a
 * node has joined sets the quota. SPDX-License-Identifier: Apache-2.0 */
#include "api/config_plan.h"
#include "base/log.h"
#include "server/server_internal.h"
#include "spec/server_programs.h"

/* A file may name a program that is still to come. Without it the pool brings no node up, which is said at once and not at the
 * first task. */
static void programs_look(const struct server_file *file)
{
    for (uint32_t i = 0; i < file->pool_count; i++) {
        const struct pool_spec *pool = &file->pools[i];
        struct error e;
        if (pool->provider == POOL_EXEC && server_programs_try(pool->command, &e) != ERR_OK) {
            log_warn_always("a pool can bring no node up", kv_str("pool", pool->name),
                            kv_error(&e));
        }
    }
}

void server_config_reconcile(struct server *server, const struct server_file *file)
{
    struct arena arena;
    struct config_plan plan;
    arena_init(&arena);
    config_plan_make(ledger_core(server->ledger), file, false, ledger_now_ms(server->ledger),
                     &arena, &plan);
    for (size_t i = 0; i < plan.changes.count; i++) {
        struct config_change *change = &plan.changes.at[i];
        struct facts facts;
        fact_list_init(&facts, &arena);
        if (change->refusal != NULL) {
            log_warn_always("an object of the configuration stays as it is",
                            kv_str("kind", change->kind), kv_str("name", change->name),
                            kv_str("pool", change->pool != NULL ? change->pool : ""),
                            kv_str("reason", change->refusal));
        } else {
            /* The plan was made on a copy of this very state. */
            must(ledger_input(server->ledger, &change->input, &facts) == VERDICT_OK);
        }
    }
    config_plan_done(&plan);
    programs_look(file);
    arena_done(&arena);
}
