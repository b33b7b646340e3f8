/* state_decode.c - the whole state out of bytes.
 *
 * Whatever the bytes are, the result is a state that every function can work on (whose rows, sums
 * and orders agree), or ERR_CORRUPT naming the section: each row is looked at before anything is derived from it. Sections come in the order of
 * their references, so that each may look at those before it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/state_decode.h"

#include "base/amount.h"
#include "base/fail.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/blob.h"
#include "core/model/codec.h"
#include "core/model/form.h"
#include "core/model/length.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/shape.h"
#include "core/model/spec.h"
#include "core/model/spec_codec.h"
#include "core/model/spec_limits.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/key.h"
#include "core/state/lengths.h"
#include "core/state/query.h"
#include "core/state/state_codec.h"

#include <string.h>

uint64_t state_decode_row(struct decode *d, uint64_t before, uint64_t last)
{
    uint64_t row = bytes_get_max(&d->in, last);
    if (row <= before) {
        codec_bad(&d->in);
    }
    return row;
}

int64_t state_decode_time(struct decode *d)
{
    return codec_get_range(&d->in, 0, TIME_MS_MAX);
}

static void resources_get(struct decode *d)
{
    uint32_t count = codec_get_count(&d->in, RESOURCES_MAX - RESOURCE_NAMED_FIRST);
    for (uint32_t i = 0; i < count && !d->in.bad; i++) {
        const char *name = bytes_get_text(&d->in, &d->arena, NAME_LEN_MAX);
        resource_id known;
        if (name[0] == '\0' || query_resource_named(d->core, name, &known)) {
            codec_bad(&d->in);
            return;
        }
        d->core->resources[d->core->resource_count++] = blob_new(name, strlen(name) + 1);
    }
}

static bool head_get(struct decode *d, struct lasts *lasts)
{
    struct core *core = d->core;
    struct str magic = bytes_get_str(&d->in, sizeof STATE_MAGIC);
    d->version = bytes_get_max(&d->in, STATE_VERSION);
    if (!str_is(magic, STATE_MAGIC) || d->version < STATE_VERSION_FIRST) {
        codec_bad(&d->in);
        return false;
    }
    d->in.plain = d->version < STATE_VERSION_TAGS;
    core->seq = bytes_get_max(&d->in, ROW_MAX);
    core->epoch = bytes_get_max(&d->in, ROW_MAX);
    codec_get_16(&d->in, core->uuid);
    core->time_ms = state_decode_time(d);
    lasts->pools = bytes_get_max(&d->in, UINT32_MAX);
    lasts->nodes = bytes_get_max(&d->in, UINT32_MAX);
    lasts->tasks = bytes_get_max(&d->in, ROW_MAX);
    lasts->instances = bytes_get_max(&d->in, ROW_MAX);
    lasts->shapes = bytes_get_max(&d->in, UINT32_MAX);
    lasts->keys = bytes_get_max(&d->in, ROW_MAX);
    lasts->accounts = d->core->accounts.last;
    if (d->version > STATE_VERSION_FIRST) {
        lasts->accounts = bytes_get_max(&d->in, UINT32_MAX);
    }
    for (unsigned state = 0; state < TASK_STATE_COUNT; state++) {
        if (task_state_ended((enum task_state)state)) {
            lasts->ended[state] = bytes_get_max(&d->in, ROW_MAX);
        }
    }
    resources_get(d);
    return !d->in.bad;
}

static void reserved_get(struct decode *d, const struct lasts *lasts, struct pool *ret)
{
    if (d->version < STATE_VERSION_LENGTHS) {
        ret->reserved[0].task.v = bytes_get_max(&d->in, lasts->tasks);
        ret->reserved_count = ret->reserved[0].task.v != 0;
        return;
    }
    ret->blocked_more_ms = codec_get_range(&d->in, 0, AMOUNT_MS_MAX);
    ret->reserved_count = (uint8_t)codec_get_count(&d->in, RESERVATIONS_MAX);
    for (uint32_t i = 0; i < ret->reserved_count; i++) {
        ret->reserved[i].task.v = bytes_get_max(&d->in, lasts->tasks);
        ret->reserved[i].until_ms = state_decode_time(d);
    }
}

static bool pools_get(struct decode *d, const struct lasts *lasts)
{
    uint64_t id = 0;
    for (uint64_t left = bytes_get_u64(&d->in); left > 0 && !d->in.bad; left--) {
        id = state_decode_row(d, id, lasts->pools);
        bool deleted = codec_get_bool(&d->in);
        int64_t created_ms = state_decode_time(d);
        task_id blocked = {bytes_get_max(&d->in, lasts->tasks)};
        int64_t since_ms = state_decode_time(d);
        struct pool heads = {0};
        reserved_get(d, lasts, &heads);
        int64_t wake_ms = d->version > STATE_VERSION_FIRST ? state_decode_time(d) : 0;
        struct pool_spec spec;
        (d->version > STATE_VERSION_FIRST ? spec_codec_pool_decode
                                          : spec_codec_pool_decode_v1)(&d->in, &d->arena, &spec);
        if (d->in.bad || query_pool_named(d->core, spec.name) != NULL ||
            (deleted && wake_ms != 0)) {
            return false;
        }
        struct fact fact = {.time_ms = created_ms};
        fact.pool_set.pool.v = (uint32_t)id;
        fact.pool_set.spec = &spec;
        d->core->pools.last = id - 1;
        change_pool_set(d->core, &fact);
        if (deleted) {
            fact.pool_deleted.pool.v = (uint32_t)id;
            change_pool_delete(d->core, &fact);
        }
        /* Checked, and given its deadline, once the tasks are there. */
        struct pool *pool = change_pool_edit(d->core, (pool_id){(uint32_t)id});
        pool->blocked_task = blocked;
        pool->blocked_since_ms = since_ms;
        pool->blocked_more_ms = heads.blocked_more_ms;
        pool->reserved_count = heads.reserved_count;
        memcpy(pool->reserved, heads.reserved, sizeof pool->reserved);
        change_pool_wake_set(d->core, pool, wake_ms);
        arena_clear(&d->arena);
    }
    d->core->pools.last = lasts->pools;
    return !d->in.bad;
}

/* Every name is known and none is twice. */
static bool node_names_known(const struct core *core, const struct node_spec *spec)
{
    const char *limit;
    int64_t max;
    for (uint32_t i = 0; i < spec->resource_count; i++) {
        resource_id id;
        if (!query_resource_named(core, spec->resources[i].name, &id) ||
            id.v < RESOURCE_NAMED_FIRST) {
            return false;
        }
    }
    return spec_limits_node(spec, &limit, &max);
}

static bool nodes_get(struct decode *d, const struct lasts *lasts)
{
    uint64_t id = 0;
    for (uint64_t left = bytes_get_u64(&d->in); left > 0 && !d->in.bad; left--) {
        id = state_decode_row(d, id, lasts->nodes);
        struct fact fact = {0};
        fact.node_set.node.v = (uint32_t)id;
        fact.node_set.pool.v = (uint32_t)bytes_get_max(&d->in, lasts->pools);
        fact.node_set.incarnation = (uint32_t)bytes_get_max(&d->in, UINT32_MAX);
        enum node_state state = (enum node_state)bytes_get_max(&d->in, NODE_STATE_COUNT - 1);
        bool draining = codec_get_bool(&d->in);
        struct node_spec spec;
        spec_codec_node_decode(&d->in, &d->arena, &spec);
        bool pool_there = state == NODE_REMOVED
                              ? table_get(&d->core->pools, fact.node_set.pool.v) != NULL
                              : query_pool(d->core, fact.node_set.pool) != NULL;
        if (d->in.bad || !pool_there || !node_names_known(d->core, &spec) ||
            query_node_named(d->core, spec.name) != NULL) {
            return false;
        }
        fact.node_set.spec = &spec;
        d->core->nodes.last = id - 1;
        change_node_set(d->core, &fact);
        struct node before;
        struct node *node = change_node_open(d->core, (node_id){(uint32_t)id}, &before);
        node->draining = draining;
        change_node_close(d->core, node, &before);
        if (state != NODE_SILENT) {
            struct fact change = {0};
            change.node_state.node.v = (uint32_t)id;
            change.node_state.state = state;
            change_node_state(d->core, &change);
        }
        arena_clear(&d->arena);
    }
    d->core->nodes.last = lasts->nodes;
    return !d->in.bad;
}

bool state_decode_request_sound(const struct request *request)
{
    const int64_t chosen = __builtin_popcountll(request->device_mask);
    const int64_t shared = request->share_devices;
    if (shared > 0) {
        const int64_t each = request->slots_milli / shared;
        return request->needs_gpu && (chosen == 0 || chosen == shared) &&
               (request->slots_milli == 0
                    ? request->gpu_memory_bytes > 0
                    : each * shared == request->slots_milli && each < SLOT_MILLI);
    }
    return (chosen == 0 || chosen * SLOT_MILLI == request->slots_milli) &&
           (request->slots_milli <= SLOT_MILLI || request->slots_milli % SLOT_MILLI == 0);
}

/* Its parts are sound, and the row says the same. */
static bool form_sound(const struct form *form, uint32_t gang_size, const struct request *request)
{
    for (uint32_t i = 0; form != NULL && i < form->group_count; i++) {
        if (form->groups[i].below == 0 && !state_decode_request_sound(&form->groups[i].request)) {
            return false;
        }
    }
    return form == NULL ||
           (form_min(form) == gang_size &&
            memcmp(&form->groups[form_leaf_next(form, 0)].request, request, sizeof *request) == 0);
}

static bool shapes_get(struct decode *d, const struct lasts *lasts)
{
    uint64_t id = 0;
    for (uint64_t left = bytes_get_u64(&d->in); left > 0 && !d->in.bad; left--) {
        id = state_decode_row(d, id, lasts->shapes);
        pool_id pool = {(uint32_t)bytes_get_max(&d->in, lasts->pools)};
        uint32_t gang_size = (uint32_t)bytes_get_max(&d->in, TASK_INSTANCES_MAX);
        struct request request;
        codec_get_request(&d->in, d->core->resource_count, &request);
        const bool has_form = d->version >= STATE_VERSION_FORMS && codec_get_bool(&d->in);
        const struct form *form =
            has_form ? form_decode(&d->in, &d->arena, d->core->resource_count) : NULL;
        if (d->in.bad || gang_size == 0 || table_get(&d->core->pools, pool.v) == NULL ||
            !state_decode_request_sound(&request) || !form_sound(form, gang_size, &request)) {
            return false;
        }
        d->core->shapes.last = id - 1;
        if (change_shape_take(d->core, pool, gang_size, &request, form).v != id) {
            return false; /* the same twice */
        }
        /* Counted by the tasks. */
        ((struct shape *)table_edit(&d->core->shapes, id))->task_count = 0;
        arena_clear(&d->arena);
    }
    d->core->shapes.last = lasts->shapes;
    return !d->in.bad;
}

static bool keys_get(struct decode *d, const struct lasts *lasts)
{
    uint64_t row = 0;
    int64_t before_ms = 0;
    for (uint64_t left = bytes_get_u64(&d->in); left > 0 && !d->in.bad; left--) {
        row = state_decode_row(d, row, lasts->keys);
        if (d->in.bad) {
            return false;
        }
        struct submit_key *key = table_put(&d->core->keys, row);
        codec_get_16(&d->in, key->key);
        codec_get_16(&d->in, key->body_hash);
        key->first.v = bytes_get_max(&d->in, lasts->tasks);
        key->count = (uint32_t)bytes_get_max(&d->in, SUBMIT_TASKS_MAX);
        key->time_ms = state_decode_time(d);
        if (key->time_ms < before_ms) {
            codec_bad(&d->in);
        }
        before_ms = key->time_ms;
        must(oindex_insert(&d->core->orders[ORDER_SUBMIT_KEY], key_submit(key->key, row)));
    }
    d->core->keys.last = lasts->keys;
    return !d->in.bad;
}

static bool outcomes_get(struct decode *d, const struct lasts *lasts)
{
    uint64_t row = 0;
    for (uint64_t left = bytes_get_u64(&d->in); left > 0 && !d->in.bad; left--) {
        row = state_decode_row(d, row, lasts->tasks / OUTCOMES_PER_ROW + 1);
        uint64_t bits = bytes_get_u64(&d->in);
        if (d->in.bad || bits == 0) {
            return false;
        }
        ((struct outcome_row *)table_put(&d->core->outcomes, row))->bits = bits;
    }
    return !d->in.bad;
}

static bool head_sound(const struct core *core, const struct pool *pool, task_id head)
{
    const struct task *task = query_task(core, head);
    return task != NULL && task->queued && task->pool.v == pool->id.v;
}

/* Each of them is there once; then their tasks learn of it. */
static bool reserved_sound(struct core *core, struct pool *pool)
{
    const struct pool read = *pool;
    for (uint32_t i = 0; i < read.reserved_count; i++) {
        for (uint32_t other = 0; other < i; other++) {
            if (read.reserved[other].task.v == read.reserved[i].task.v) {
                return false;
            }
        }
        if (!head_sound(core, pool, read.reserved[i].task)) {
            return false;
        }
    }
    change_pool_reserved_set(core, read.id, read.reserved, read.reserved_count);
    return true;
}

static bool lengths_get(struct decode *d)
{
    if (d->version < STATE_VERSION_LENGTHS) {
        return true;
    }
    const uint32_t count = codec_get_count(&d->in, LENGTH_GROUPS_MAX);
    struct okey before = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        struct length_group group = {0};
        group.hash = bytes_get_u64(&d->in);
        group.day = codec_get_range(&d->in, 0, TIME_MS_MAX);
        group.count = (uint32_t)bytes_get_max(&d->in, LENGTH_COUNT_MAX - 1);
        group.total_ms = codec_get_range(&d->in, 0, AMOUNT_MS_MAX * LENGTH_COUNT_MAX);
        group.limited_count = (uint32_t)bytes_get_max(&d->in, group.count);
        group.share_total =
            codec_get_range(&d->in, 0, (int64_t)LENGTH_COUNT_MAX * LENGTH_SHARE_WHOLE);
        const struct okey key = {{(uint64_t)group.day, group.hash}};
        if (d->in.bad || group.count == 0 || oindex_key_compare(before, key) >= 0 ||
            !lengths_put(d->core, &group)) {
            return false;
        }
        before = key;
    }
    return !d->in.bad;
}

/* The blocked and the reserved tasks stand in the pool's queue. */
static bool blocked_sound(struct decode *d)
{
    for (uint64_t id = table_next(&d->core->pools, 0); id != 0;
         id = table_next(&d->core->pools, id)) {
        struct pool *pool = change_pool_edit(d->core, (pool_id){(uint32_t)id});
        if ((pool->blocked_task.v != 0 && !head_sound(d->core, pool, pool->blocked_task)) ||
            (pool->blocked_task.v == 0 &&
             (pool->blocked_since_ms != 0 || pool->blocked_more_ms != 0))) {
            return false;
        }
        change_pool_patience_put(d->core, pool);
        if (!reserved_sound(d->core, pool)) {
            return false;
        }
        pool->due = !pool->deleted;
    }
    return true;
}

enum err state_decode(struct str bytes, struct core **ret, struct error *e)
{
    struct decode d = {.core = state_new()};
    struct lasts lasts = {0};
    bytes_reader_init(&d.in, bytes.p, bytes.len);
    arena_init(&d.arena);
    const char *bad = NULL;
    if (!head_get(&d, &lasts)) {
        bad = "head";
    } else if (!pools_get(&d, &lasts)) {
        bad = "pools";
    } else if (!state_decode_account(&d, &lasts)) {
        bad = "accounts";
    } else if (!nodes_get(&d, &lasts)) {
        bad = "nodes";
    } else if (!shapes_get(&d, &lasts)) {
        bad = "shapes";
    } else if (!state_decode_task(&d, &lasts)) {
        bad = "tasks";
    } else if (!keys_get(&d, &lasts)) {
        bad = "submission keys";
    } else if (!outcomes_get(&d, &lasts)) {
        bad = "outcomes";
    } else if (!state_decode_claim(&d, &lasts)) {
        bad = "claims";
    } else if (!state_decode_history(&d, &lasts)) {
        bad = "history";
    } else if (!state_decode_claim_evictions(&d, &lasts)) {
        bad = "evictions";
    } else if (!state_decode_typical(&d, &lasts)) {
        bad = "typical requests";
    } else if (!lengths_get(&d)) {
        bad = "run lengths";
    } else if (!blocked_sound(&d)) {
        bad = "blocked tasks";
    } else if (!bytes_reader_ok(&d.in)) {
        bad = "end";
    }
    arena_done(&d.arena);
    if (bad != NULL) {
        state_free(d.core);
        return fail(e, ERR_CORRUPT, "state: %s cannot be right", bad);
    }
    *ret = d.core;
    return ERR_OK;
}
