/* pool_life.c - POST /pools/{name}/close and /restore, DELETE /pools/{name}: the life cycle of pools.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/handlers.h"
#include "api/named.h"
#include "api/preview.h"
#include "wire/state_json.h"

/* Decides the input, or says what it would do. Answers with the pool. */
static void life_answer(struct call *call, struct input *in)
{
    struct facts facts;
    if (preview_answered(call, in) || !call_input(call, in, &facts)) {
        return;
    }
    struct json_out j;
    call_json(call, &j);
    state_json_pool(&j, call_core(call), query_pool(call_core(call), in->pool.pool), true,
                    call_arena(call));
    call_answer_json(call, 200);
}

void pool_life_close(struct call *call)
{
    bool kill = false;
    const struct pool *pool = named_pool(call, "", call->params[0]);
    if (pool != NULL && call_query_bool(call, "kill", &kill)) {
        struct input in = {.type = INPUT_POOL_CLOSE, .pool = {.pool = pool->id, .kill = kill}};
        life_answer(call, &in);
    }
}

void pool_life_restore(struct call *call)
{
    const struct pool *pool = named_pool(call, "", call->params[0]);
    if (pool != NULL) {
        struct input in = {.type = INPUT_POOL_RESTORE, .pool = {.pool = pool->id}};
        life_answer(call, &in);
    }
}

void pool_life_delete(struct call *call)
{
    bool force = false;
    bool now = false;
    bool dry = false;
    struct facts facts;
    const struct pool *pool = named_pool(call, "", call->params[0]);
    if (pool == NULL || !call_query_bool(call, "force", &force) ||
        !call_query_bool(call, "now", &now) || !call_query_bool(call, "dry_run", &dry)) {
        return;
    }
    /* A dry run shows the tasks for which `force` is needed. */
    struct input in = {.type = INPUT_POOL_DELETE,
                       .pool = {.pool = pool->id, .force = force || dry, .now = now}};
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        call_answer(call, 204, NULL);
    }
}
