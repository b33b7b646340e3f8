/* server_pools.c - pools declared in the configuration file are the same thing as pools made by the
 * API: at start and on SIGHUP each becomes what the file says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "server/server_internal.h"
#include "wire/reason_text.h"

static bool topology_equal(const struct pool_spec *a, const struct pool_spec *b)
{
    bool equal = a->topology_count == b->topology_count;
    for (uint32_t i = 0; equal && i < a->topology_count; i++) {
        equal = strcmp(a->topology[i], b->topology[i]) == 0;
    }
    return equal;
}

static bool spec_equal(const struct pool_spec *a, const struct pool_spec *b)
{
    return strcmp(a->title, b->title) == 0 && strcmp(a->description, b->description) == 0 &&
           a->patience_ms == b->patience_ms && a->accepts == b->accepts && a->paused == b->paused &&
           a->aux_tasks == b->aux_tasks && a->policy == b->policy && a->placement == b->placement &&
           a->victims == b->victims && a->order == b->order &&
           a->preemption_off == b->preemption_off && a->uneven_off == b->uneven_off &&
           a->consolidation_max == b->consolidation_max && a->stale_grace_ms == b->stale_grace_ms &&
           a->preempt_min_runtime_ms == b->preempt_min_runtime_ms &&
           a->reclaim_min_runtime_ms == b->reclaim_min_runtime_ms &&
           a->preempt_delay_ms == b->preempt_delay_ms && a->user_slots_max == b->user_slots_max &&
           a->history_half_life_ms == b->history_half_life_ms &&
           a->history_window_ms == b->history_window_ms && a->history_factor == b->history_factor &&
           topology_equal(a, b);
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
        if (spec_equal(&have, want)) {
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
