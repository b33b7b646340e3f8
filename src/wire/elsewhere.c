/* elsewhere.c - see elsewhere.h. SPDX-License-Identifier: Apache-2.0 */
#include "wire/elsewhere.h"

#include "core/preview.h"

#include <inttypes.h>

enum { POOLS_TRIED_MAX = 4 };

/* Would another pool help with this reason? */
static bool pool_matters(enum reason_code code)
{
    return explain_time_for_room(code) || code == REASON_POOL_PAUSED || code == REASON_POOL_EMPTY ||
           code == REASON_NODES_AWAY || code == REASON_OVER_LIMIT || code == REASON_OVER_SHARE ||
           code == REASON_OVER_GUARANTEE || code == REASON_USER_CAP || code == REASON_RESERVED ||
           code == REASON_PROMISED || code == REASON_UNKNOWN_POOL;
}

/* Is it worth a try? Looks at the row of the pool alone. */
static bool pool_has_room(const struct pool *pool, const struct task *task,
                          const struct request *request)
{
    const bool takes = pool->accepts == 0 || (pool->accepts >> task->kind & 1) != 0;
    return takes && !pool->deleted && pool_starts(pool) && pool->id.v != task->pool.v &&
           pool->node_count > 0 && pool->slots_free >= request->slots_milli;
}

static bool starts_in(const struct core *core, task_id id, pool_id pool, int64_t now_ms,
                      struct arena *arena)
{
    const int64_t state_ms = query_time_ms(core);
    const char *name = query_pool_name(core, pool);
    const struct task_spec moved = {.pools = &name, .pool_count = 1};
    const struct task_edit edit = {.fields = TASK_EDIT_pools, .spec = &moved};
    const struct input in = {.type = INPUT_TASK_EDIT,
                             .now_ms = now_ms > state_ms ? now_ms : state_ms,
                             .actor = "explain",
                             .cause = "",
                             .task = {.task = id, .edit = &edit}};
    const struct preview_ask ask = {.inputs = &in, .count = 1, .brief = true};
    struct preview *preview = NULL;
    struct facts facts;
    bool starts = false;
    fact_list_init(&facts, arena);
    if (preview_run(core, &ask, &facts, &preview) == VERDICT_OK && preview->stop_total == 0) {
        const struct task *task = query_task(preview->after, id);
        starts = task != NULL && task->active_count > 0;
    }
    preview_free(preview);
    return starts;
}

const char *elsewhere_command(const struct core *core, task_id id, const struct explanation *why,
                              struct arena *arena)
{
    const struct task *task = query_task(core, id);
    uint32_t tried = 0;
    if (task == NULL || task->active_count > 0 || !pool_matters(why->reason.code)) {
        return NULL;
    }
    const struct request *request = query_task_request(core, task, 0);
    for (const struct pool *pool = query_pool_next(core, (pool_id){0});
         pool != NULL && tried < POOLS_TRIED_MAX; pool = query_pool_next(core, pool->id)) {
        if (!pool_has_room(pool, task, request)) {
            continue;
        }
        tried++;
        if (starts_in(core, id, pool->id, why->asked_ms, arena)) {
            return arena_fmt(arena, "weir task edit %" PRIu64 " --pool %s  # starts there now",
                             id.v, query_pool_name(core, pool->id));
        }
    }
    return NULL;
}
