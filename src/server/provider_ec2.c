/* provider_ec2.c - see provider_ec2.h. SPDX-License-Identifier: Apache-2.0 */
#include "server/provider_ec2.h"

#include "base/arena.h"
#include "core/core.h"
#include "core/model/pool.h"
#include "core/state/query.h"
#include "provider/ec2/ec2.h"

static bool ec2_settings(void *ctx, const char *key, struct arena *arena, struct pool_spec *ret)
{
    struct ledger *ledger = ctx;
    const struct core *core = ledger_core(ledger);
    const struct provider_report report = {.key = key};
    struct provider_answer answer;
    if (core == NULL || !provider_answer_of(query_server_uuid(core), &report, &answer)) {
        return false;
    }
    const struct launch *launch = query_launch(core, answer.launch);
    if (launch != NULL) {
        query_pool_spec(core, launch->pool, arena, ret);
    }
    return launch != NULL;
}

static void ec2_pools(void *ctx, void (*each)(void *each_ctx, const struct pool_spec *pool),
                      void *each_ctx)
{
    struct ledger *ledger = ctx;
    const struct core *core = ledger_core(ledger);
    struct arena arena;
    struct pool_spec spec;
    arena_init(&arena);
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        if (pool->provider == POOL_EC2) {
            query_pool_spec(core, pool->id, &arena, &spec);
            each(each_ctx, &spec);
            arena_clear(&arena);
        }
    }
    arena_done(&arena);
}

struct provider *provider_ec2_new(struct loop *loop, struct ledger *ledger, const char *credentials,
                                  struct provider_sink sink)
{
    const struct core *core = ledger_core(ledger);
    const struct ec2_host host = {.ctx = ledger, .settings = ec2_settings, .pools = ec2_pools};
    must(core != NULL);
    return ec2_provider_new(loop, query_server_uuid(core), credentials, host, sink);
}
