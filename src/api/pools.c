/* pools.c - /pools: list, show, create, edit.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "api/handlers.h"
#include "api/named.h"
#include "api/page.h"
#include "api/preview.h"
#include "spec/pool_spec.h"
#include "wire/state_json.h"

static void pool_answer(struct call *call, unsigned status, const struct pool *pool)
{
    struct json_out j;
    call_json(call, &j);
    state_json_pool(&j, call_core(call), pool, call->scope == SCOPE_ADMIN, call_arena(call));
    call_answer_json(call, status);
}

/* The pool that the path names. NULL: the call was answered with 404. */
static const struct pool *pool_of(struct call *call)
{
    return named_pool(call, "", call->params[0]);
}

static uint64_t pool_next(const struct core *core, const void *filter, uint64_t after)
{
    (void)filter;
    const struct pool *pool = query_pool_next(core, (pool_id){(uint32_t)after});
    while (pool != NULL && pool->deleted) {
        pool = query_pool_next(core, pool->id);
    }
    return pool != NULL ? pool->id.v : 0;
}

static void pool_write(struct json_out *j, const struct core *core, uint64_t key,
                       struct arena *arena)
{
    state_json_pool(j, core, query_pool(core, (pool_id){(uint32_t)key}), false, arena);
}

static void pool_write_private(struct json_out *j, const struct core *core, uint64_t key,
                               struct arena *arena)
{
    state_json_pool(j, core, query_pool(core, (pool_id){(uint32_t)key}), true, arena);
}

void pools_list(struct call *call)
{
    static const struct page_source public = {pool_next, pool_write};
    static const struct page_source private = {pool_next, pool_write_private};
    page_answer(call, "pools", call->scope == SCOPE_ADMIN ? &private : &public, NULL);
}

void pools_show(struct call *call)
{
    const struct pool *pool = pool_of(call);
    if (pool != NULL) {
        pool_answer(call, 200, pool);
    }
}

void pools_create(struct call *call)
{
    const struct doc *body;
    struct pool_spec spec;
    struct error e;
    struct facts facts;
    if (!body_read(call, &body)) {
        return;
    }
    if (pool_spec_read(body, call_arena(call), &spec, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}};
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        pool_answer(call, 201, query_pool_named(call_core(call), spec.name));
    }
}

void pools_edit(struct call *call)
{
    const struct pool *pool = pool_of(call);
    const struct doc *body;
    struct pool_spec spec;
    struct error e;
    struct facts facts;
    bool force = false;
    if (pool == NULL || !call_query_bool(call, "force", &force) || !body_read(call, &body)) {
        return;
    }
    pool_id id = pool->id;
    query_pool_spec(call_core(call), id, call_arena(call), &spec);
    if (pool_spec_patch(body, call_arena(call), &spec, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    struct input in = {.type = INPUT_POOL_EDIT,
                       .pool = {.spec = &spec, .pool = id, .force = force}};
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        pool_answer(call, 200, query_pool(call_core(call), id));
    }
}
