/* qarnot_pools.c - the SDK's pools: pools of Weir with nodes of the provider that the server's file names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "base/doc_write.h"
#include "compat/qarnot/qarnot_handlers.h"
#include "compat/qarnot/qarnot_internal.h"
#include "spec/pool_spec.h"

#include <inttypes.h>
#include <sodium.h>
#include <unistd.h>

/* ---- from the SDK ---- */

/* The provider `local` takes every figure as it is given, so the server's own machine is looked at here. */
static enum err local_check(const struct qarnot_hardware *hardware, struct error *e)
{
    const uint64_t cores = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t memory_mb =
        ((uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE)) >> 20;
    if (hardware->gpu) {
        return fail_at(
            e, ERR_INVALID, "hardwareConstraints",
            "the pool's nodes are on the server's machine and have no GPUs of their own; "
            "compat.qarnot.provider names where nodes come from");
    }
    if (hardware->cores > cores || hardware->memory_mb > memory_mb) {
        return fail_at(e, ERR_INVALID, "hardwareConstraints",
                       "the pool's nodes are on the server's machine, which has %" PRIu64
                       " cores and %" PRIu64 " MB; compat.qarnot.provider names where nodes come "
                       "from",
                       cores, memory_mb);
    }
    return ERR_OK;
}

/* What the body does not say. */
struct pool_names {
    const char *name;                 /* of a new pool; NULL: the pool is there */
    const char *provider;             /* its type */
    const struct qarnot_extra *extra; /* of a pool that is there */
};

/* Writes the definition as the API's own POST and PATCH read it. */
static enum err definition_write(struct json_out *j, const struct doc *body, bool buckets,
                                 const struct pool_names *names, struct arena *arena,
                                 struct error *e)
{
    struct qarnot_size size;
    struct qarnot_hardware hardware;
    const char *annotation;
    const char *title = "";
    enum err r = qarnot_fields_check(body, buckets, e);
    r = r == ERR_OK ? qarnot_size_read(body, &size, e) : r;
    r = r == ERR_OK ? qarnot_fields_hardware(body, &hardware, e) : r;
    r = r == ERR_OK && strcmp(names->provider, names_pool_provider(POOL_LOCAL)) == 0
            ? local_check(&hardware, e)
            : r;
    r = r == ERR_OK ? qarnot_fields_keep(body, names->extra, arena, &annotation, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    (void)doc_text(doc_get(body, "name"), &title);
    json_out_object(j);
    if (names->name != NULL) {
        json_out_put(j, "name:%s,title:%s", names->name, title);
    }
    json_out_put(j, "annotation:%s", annotation);
    if (size.slots_per_node >
        1) { /* the slots of the last node that were not asked for stay free */
        json_out_put(j, ",scheduler:{user_slots:%s}",
                     size.cap > 0 ? arena_fmt(arena, "%" PRIu64, size.cap) : "unlimited");
    }
    json_out_put(j, ",provider:{");
    if (names->name != NULL) {
        json_out_put(j, "type:%s,slots:%lu", names->provider, size.slots_per_node);
    }
    json_out_kv_u64(j, "nodes", size.nodes);
    if (size.nodes == 0) {
        json_out_put(j, "min:%lu,max:%lu,headroom:%lu,idle:%s", size.min, size.max, size.headroom,
                     arena_fmt(arena, "%" PRIu64 "s", size.idle_s));
    }
    if (hardware.cores > 0) {
        json_out_kv_u64(j, "cpu", hardware.cores);
    }
    if (hardware.memory_mb > 0) {
        json_out_kv_text(j, "memory", arena_fmt(arena, "%" PRIu64 "M", hardware.memory_mb));
    }
    if (hardware.gpu) { /* each slot is a GPU */
        json_out_kv_u64(j, "gpus", size.slots_per_node);
    }
    json_out_put(j, "}}");
    return ERR_OK;
}

/* The definition as a document; NULL: the call was answered. */
static const struct doc *definition_of(struct call *call, const struct doc *body,
                                       const struct pool_names *names)
{
    struct buf out;
    struct json_out j;
    struct doc *doc = NULL;
    struct error e;
    buf_init(&out, 2 * QARNOT_BODY_MAX + 4096);
    json_out_init(&j, &out);
    enum err r = definition_write(&j, body, qarnot_buckets_on(call), names, call_arena(call), &e);
    if (r == ERR_OK) {
        /* The texts of the document are in the arena. */
        const char *text = arena_strn(call_arena(call), buf_text(&out), out.len);
        r = doc_json_parse(call_arena(call), str_of(text), &doc, &e);
    }
    buf_done(&out);
    if (r != ERR_OK) {
        call_fail(call, &e);
        return NULL;
    }
    return doc;
}

/* ---- routes ---- */

static bool is_there(const struct pool *pool)
{
    return pool != NULL && !pool->deleted && pool->life.phase != PHASE_DELETE;
}

/* The pool with this shortname, which its maker chose. */
static const struct pool *pool_named(const struct core *core, const char *shortname)
{
    const struct pool *pool = query_pool_next(core, (pool_id){0});
    struct arena arena;
    arena_init(&arena);
    for (; pool != NULL; pool = query_pool_next(core, pool->id)) {
        struct pool_spec spec;
        arena_clear(&arena);
        query_pool_spec(core, pool->id, &arena, &spec);
        const struct doc *kept = qarnot_fields_kept(&arena, spec.annotation);
        const char *own = qarnot_buckets_text(kept, "shortname");
        if (is_there(pool) && *own != '\0' && strcmp(own, shortname) == 0) {
            break;
        }
    }
    arena_done(&arena);
    return pool;
}

const struct pool *qarnot_pools_find(const struct core *core, const char *uuid)
{
    uint64_t id;
    if (!qarnot_uuid_parse(core, QARNOT_POOL, uuid, &id) || id > UINT32_MAX) {
        return pool_named(core, uuid);
    }
    const struct pool *pool = query_pool(core, (pool_id){(uint32_t)id});
    return is_there(pool) ? pool : NULL;
}

/* The pool that the path names. NULL: the call was answered with 404. */
static const struct pool *pool_of(struct call *call)
{
    const struct pool *pool = qarnot_pools_find(call_core(call), call->params[0]);
    if (pool == NULL) {
        call_failf(call, ERR_NOT_FOUND, "", "no pool %.60s", call->params[0]);
    }
    return pool;
}

static void empty_answer(struct call *call)
{
    buf_clear(&call->out);
    call_answer(call, 200, NULL);
}

void qarnot_pools_create(struct call *call)
{
    const struct doc *body;
    struct pool_spec spec;
    struct error e;
    struct facts facts;
    char uuid[QARNOT_UUID_MAX];
    if (!body_read(call, &body)) {
        return;
    }
    const char *provider = call->api->o.qarnot.provider != NULL ? call->api->o.qarnot.provider
                                                                : names_pool_provider(POOL_LOCAL);
    const char *name = arena_fmt(call_arena(call), "qarnot-%08" PRIx32, randombytes_random());
    const struct doc *definition =
        definition_of(call, body, &(struct pool_names){name, provider, NULL});
    if (definition == NULL) {
        return;
    }
    const char *shortname = qarnot_buckets_text(body, "shortname");
    if (*shortname != '\0' && qarnot_pools_find(call_core(call), shortname) != NULL) {
        call_failf(call, ERR_INVALID, "shortname", "another pool has the name %.60s", shortname);
        return;
    }
    if (pool_spec_read(definition, call_arena(call), &spec, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    struct input in = {.type = INPUT_POOL_CREATE,
                       .actor = call->actor,
                       .cause = call->cause,
                       .pool = {.spec = &spec}};
    fact_list_init(&facts, call_arena(call));
    const enum verdict verdict = call->api->o.host->input(call->api->o.host->ctx, &in, &facts);
    if (verdict != VERDICT_OK) {
        const char *full = qarnot_fields_full(call_arena(call), &facts, "pools");
        if (full != NULL) {
            call_failf(call, ERR_DENIED, "", "%s", full);
        } else {
            call_refuse(call, verdict, &facts, false);
        }
        return;
    }
    struct json_out j;
    qarnot_uuid(call_core(call), QARNOT_POOL, query_pool_named(call_core(call), name)->id.v, uuid);
    call_json(call, &j);
    json_out_put(&j, "{uuid:%s}", uuid);
    call_answer_json(call, 200);
}

void qarnot_pools_show(struct call *call)
{
    const struct pool *pool = pool_of(call);
    if (pool != NULL) {
        struct json_out j;
        call_json(call, &j);
        qarnot_pool_write(&j, call_core(call), pool, call_arena(call));
        call_answer_json(call, 200);
    }
}

/* The SDK sends the whole pool again. Its profile and its slots per node cannot change. */
void qarnot_pools_edit(struct call *call)
{
    const struct pool *pool = pool_of(call);
    const struct doc *body;
    struct pool_spec spec;
    struct error e;
    struct facts facts;
    if (pool == NULL || !body_read(call, &body)) {
        return;
    }
    const pool_id id = pool->id;
    query_pool_spec(call_core(call), id, call_arena(call), &spec);
    if (spec.provider == POOL_STATIC) {
        call_failf(call, ERR_INVALID, "", "this pool was not made through this interface");
        return;
    }
    struct qarnot_extra extra;
    qarnot_extra_read(qarnot_fields_kept(call_arena(call), spec.annotation), &extra);
    const struct doc *definition = definition_of(
        call, body,
        &(struct pool_names){.provider = names_pool_provider(spec.provider), .extra = &extra});
    if (definition == NULL) {
        return;
    }
    if (pool_spec_patch(definition, call_arena(call), &spec, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    struct input in = {.type = INPUT_POOL_EDIT, .pool = {.spec = &spec, .pool = id, .force = true}};
    if (call_input(call, &in, &facts)) {
        empty_answer(call);
    }
}

/* The next task on each node sees the higher count, and fetches the pool's resources again. */
void qarnot_pools_refresh(struct call *call)
{
    const struct pool *pool = pool_of(call);
    struct pool_spec spec;
    struct qarnot_extra extra;
    struct facts facts;
    struct error e;
    if (pool == NULL) {
        return;
    }
    query_pool_spec(call_core(call), pool->id, call_arena(call), &spec);
    const struct doc *kept = qarnot_fields_kept(call_arena(call), spec.annotation);
    if (qarnot_buckets_in(kept)) {
        qarnot_extra_read(kept, &extra);
        extra.refreshed++;
        if (qarnot_fields_keep(kept, &extra, call_arena(call), &spec.annotation, &e) != ERR_OK) {
            call_fail(call, &e);
            return;
        }
        struct input in = {.type = INPUT_POOL_EDIT,
                           .pool = {.spec = &spec, .pool = pool->id, .force = true}};
        if (!call_input(call, &in, &facts)) {
            return;
        }
    }
    empty_answer(call);
}

/* Closes an open pool: its tasks end, and its nodes go. False: the call was answered. */
static bool pool_close(struct call *call, pool_id id)
{
    struct facts facts;
    struct input in = {.type = INPUT_POOL_CLOSE, .pool = {.pool = id, .kill = true}};
    if (!call_input(call, &in, &facts)) {
        return false;
    }
    /* What waits in the pool ends, too. */
    qarnot_tasks_kill(call, &(struct task_filter){.pool = query_pool_name(call_core(call), id)});
    return true;
}

void qarnot_pools_close(struct call *call)
{
    const struct pool *pool = pool_of(call);
    if (pool == NULL) {
        return;
    }
    if (pool->life.phase != PHASE_OPEN) {
        call_failf(call, ERR_DENIED, "", "the pool is not running: it is %s",
                   qarnot_pool_state(pool));
        return;
    }
    if (pool_close(call, pool->id)) {
        empty_answer(call);
    }
}

/* Closes the pool first, so that its tasks are cancelled and do not wait for a pool that comes back. */
void qarnot_pools_delete(struct call *call)
{
    const struct pool *pool = pool_of(call);
    struct facts facts;
    if (pool == NULL) {
        return;
    }
    const pool_id id = pool->id;
    if (pool->life.phase == PHASE_OPEN && !pool_close(call, id)) {
        return;
    }
    struct input in = {.type = INPUT_POOL_DELETE, .pool = {.pool = id, .force = true}};
    if (call_input(call, &in, &facts)) {
        empty_answer(call);
    }
}

/* What a node's agent prints is for the site, not for the pool's user: an instance of a pool has no output. */
void qarnot_pools_output(struct call *call)
{
    const struct pool *pool = pool_of(call);
    struct pool_spec spec;
    uint64_t number = 0;
    if (pool == NULL) {
        return;
    }
    query_pool_spec(call_core(call), pool->id, call_arena(call), &spec);
    if (call->params[1] != NULL && (!str_to_u64(str_of(call->params[1]), &number) ||
                                    number >= qarnot_pool_slots_most(pool, &spec))) {
        call_failf(call, ERR_NOT_FOUND, "", "the pool has no instance %.20s", call->params[1]);
        return;
    }
    call_answer(call, 200, "text/plain; charset=utf-8");
}

/* ---- the list ---- */

static void list_write(struct call *call, const struct doc *filter, size_t limit, uint64_t after)
{
    const struct core *core = call_core(call);
    struct json_out j;
    char token[32] = "";
    size_t shown = 0;
    call_json(call, &j);
    json_out_put(&j, "{data:[");
    const struct pool *pool = query_pool_next(core, (pool_id){(uint32_t)after});
    for (; pool != NULL && shown < limit; pool = query_pool_next(core, pool->id)) {
        struct pool_spec spec;
        if (pool->deleted || pool->life.phase == PHASE_DELETE) {
            continue;
        }
        query_pool_spec(core, pool->id, call_arena(call), &spec);
        const struct doc *kept = qarnot_fields_kept(call_arena(call), spec.annotation);
        if (qarnot_fields_filter_matches(filter, doc_get(kept, "tags"))) {
            qarnot_pool_write(&j, core, pool, call_arena(call));
            shown++;
            (void)snprintf(token, sizeof token, "%" PRIu32, pool->id.v);
        }
    }
    json_out_end(&j);
    json_out_kv_text(&j, "nextToken", pool != NULL ? token : NULL);
    json_out_kv_bool(&j, "isTruncated", pool != NULL);
    json_out_end(&j);
    call_answer_json(call, 200);
}

void qarnot_pools_list(struct call *call)
{
    const struct doc *body;
    struct error e;
    uint64_t after;
    size_t limit;
    if (!body_read(call, &body)) {
        return;
    }
    if (qarnot_fields_page(body, &after, &limit, &e) != ERR_OK) {
        call_fail(call, &e);
    } else {
        list_write(call, doc_get(body, "filter"), limit, after > UINT32_MAX ? UINT32_MAX : after);
    }
}
