/* server_config.c - pools, departments, projects and quotas declared in the configuration file. Such an object is
 * the same as an object made by the API. At the start and on SIGHUP each declared object becomes what the file
 * says; objects that the file does not name stay.
 *
 * The core refuses a quota of a named resource that no node has brought yet. The next start or SIGHUP after such a
 * node has joined sets the quota. SPDX-License-Identifier: Apache-2.0 */
#include "api/config_plan.h"
#include "base/log.h"
#include "server/server_internal.h"

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
    arena_done(&arena);
}
