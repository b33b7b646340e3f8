/* state_codec_pool.c - the pools of a stored state, their usage history and their typical requests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/blob.h"
#include "core/model/resource.h"
#include "core/model/spec_codec.h"
#include "core/model/typical.h"
#include "core/model/vector.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/history.h"
#include "core/state/life.h"
#include "core/state/soldout.h"
#include "core/state/state_codec.h"

#include <string.h>

/* ---- pools ---- */

static const struct record_field reservation_fields[] = {
    STATE_BELOW(struct reservation, task, tasks),
    STATE_TIME(struct reservation, until_ms),
    STATE_YES(struct reservation, turn, .since = STATE_VERSION_TURNS),
};
static const struct record_table reservation = RECORD_TABLE(struct reservation, reservation_fields);

static void reserved_put(const void *object, struct buf *out)
{
    const struct pool *pool = object;
    bytes_put_u64(out, pool->reserved_count);
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        record_write(&reservation, &pool->reserved[i], out);
    }
}

/* A state before STATE_VERSION_LENGTHS has at most one reservation for each pool, without a time. */
static void reserved_read(const struct record_source *from, void *object)
{
    struct pool *pool = object;
    if (from->version < STATE_VERSION_LENGTHS) {
        const struct record_table task = {.fields = reservation_fields, .count = 1};
        record_read(&task, from, &pool->reserved[0]);
        pool->reserved_count = pool->reserved[0].task.v != 0;
        return;
    }
    pool->reserved_count = (uint8_t)codec_get_count(from->in, RESERVATIONS_MAX);
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        record_read(&reservation, from, &pool->reserved[i]);
    }
}

static const struct record_field bucket_fields[] = {
    STATE_FIELD(struct bucket, INT, level, INT64_MIN, INT64_MAX),
    STATE_FIELD(struct bucket, INT, rate, INT64_MIN, INT64_MAX),
    STATE_FIELD(struct bucket, INT, most, 0, INT64_MAX),
    STATE_TIME(struct bucket, since_ms),
};
static const struct record_table bucket = RECORD_TABLE(struct bucket, bucket_fields);

static const struct record_field credit_fields[] = {
    STATE_BELOW(struct credit, account, accounts),
    STATE_FIELD(struct credit, UINT, dim, 0, QUOTA_DIMS_MAX - 1),
    STATE_FIELD(struct credit, INT, share, 0, INT64_MAX),
    STATE_FIELD(struct credit, PART, bucket, 0, 0, .part = &bucket),
};
static const struct record_table credit = RECORD_TABLE(struct credit, credit_fields);

static void credits_put(const void *object, struct buf *out)
{
    const struct pool *pool = object;
    bytes_put_u64(out, pool->credit_count);
    for (uint32_t i = 0; i < pool->credit_count; i++) {
        record_write(&credit, &pool->credits[i], out);
    }
}

static void credits_read(const struct record_source *from, void *object)
{
    struct pool *pool = object;
    if (from->version < STATE_VERSION_TURNS) {
        return;
    }
    pool->credit_count = (uint32_t)codec_get_count(from->in, CREDITS_MAX);
    for (uint32_t i = 0; i < pool->credit_count; i++) {
        record_read(&credit, from, &pool->credits[i]);
    }
}

static void blocked_put(const void *object, struct buf *out)
{
    (void)object;
    (void)out;
}

/* Before STATE_VERSION_TURNS a pool had its first blocked task, since when, and for how much longer it could be overtaken. */
static void blocked_read(const struct record_source *from, void *object)
{
    (void)object;
    if (from->version < STATE_VERSION_TURNS) {
        (void)bytes_get_u64(from->in);
        (void)bytes_get_i64(from->in);
        if (from->version >= STATE_VERSION_LENGTHS) {
            (void)bytes_get_i64(from->in);
        }
    }
}

static const struct record_field life_fields[] = {
    STATE_FIELD(struct pool_life, UINT, phase, 0, POOL_PHASE_COUNT - 1),
    STATE_FIELD(struct pool_life, UINT, state, 0, POOL_STATE_COUNT - 1),
    STATE_FIELD(struct pool_life, UINT, health, 0, POOL_HEALTH_COUNT - 1),
    STATE_FIELD(struct pool_life, UINT, why, 0, POOL_WHY_COUNT - 1),
    STATE_FIELD(struct pool_life, UINT, replaced, 0, UINT32_MAX),
    STATE_FIELD(struct pool_life, UINT, had_nodes, 0, UINT32_MAX),
    STATE_TIME(struct pool_life, since_ms),
    STATE_TIME(struct pool_life, delete_ms),
};
static const struct record_table life = RECORD_TABLE(struct pool_life, life_fields);

/* Could facts have made the life of a pool? */
static bool life_sound(const struct pool *pool)
{
    const bool pending = pool->life.phase == PHASE_DELETE;
    return pending ? !pool->deleted && pool->life.delete_ms > 0
                   : pool->life.delete_ms == 0 && pool->life.had_nodes == 0 &&
                         (!pool->deleted || pool->life.phase == PHASE_OPEN);
}

/* The counts of nodes and launches follow, and with them the deadlines of the life. */
static void life_read(struct core *core, const struct pool *read, pool_id id)
{
    struct pool_life *own = &change_pool_edit(core, id)->life;
    own->state = read->life.state;
    own->health = read->life.health;
    own->why = read->life.why;
    own->since_ms = read->life.since_ms;
    own->had_nodes = read->life.had_nodes;
    life_phase_set(core, id, (enum pool_phase)read->life.phase, read->life.delete_ms);
    change_pool_edit(core, id)->life.replaced = read->life.replaced;
    life_update(core, id);
}

#define REPLACEMENT(kind, member, most) STATE_FIELD(struct replacement, kind, member, 0, most)
static const struct record_field replacement_fields[] = {
    REPLACEMENT(UINT, at_once, POOL_NODES_MAX),
    STATE_ANY(struct replacement, total),
    STATE_ANY(struct replacement, begun),
    REPLACEMENT(UINT, busy, BUSY_COUNT - 1),
    STATE_BELOW(struct replacement, upto, launches),
    STATE_BELOW(struct replacement, cursor, launches),
    STATE_TIME(struct replacement, since_ms),
};
static const struct record_table replacement = RECORD_TABLE(struct replacement, replacement_fields);

static const struct record_field pool_fields[] = {
    STATE_YES(struct pool, deleted),
    STATE_TIME(struct pool, created_ms),
    {.type = RECORD_OWN, .put = blocked_put, .read = blocked_read},
    {.type = RECORD_OWN, .put = reserved_put, .read = reserved_read},
    STATE_TIME(struct pool, wake_ms, .since = STATE_VERSION_ACCOUNTS),
    STATE_FIELD(struct pool, PART, idle, 0, 0, .part = &bucket, .since = STATE_VERSION_TURNS),
    STATE_FIELD(struct pool, PART, loss, 0, 0, .part = &bucket, .since = STATE_VERSION_TURNS),
    {.type = RECORD_OWN, .put = credits_put, .read = credits_read},
    STATE_FIELD(struct pool, UINT, launch_failures, 0, UINT32_MAX, .since = STATE_VERSION_ELASTIC),
    STATE_TIME(struct pool, launch_retry_ms, .since = STATE_VERSION_ELASTIC),
    STATE_FIELD(struct pool, PART, replacement, 0, 0, .part = &replacement,
                .since = STATE_VERSION_POOLS),
    STATE_FIELD(struct pool, UINT, sold_nodes, 0, POOL_NODES_MAX, .since = STATE_VERSION_POOLS),
    STATE_TIME(struct pool, sold_wait_ms, .since = STATE_VERSION_POOLS),
    STATE_FIELD(struct pool, UINT, sold_zones, 0, FLAVOR_ZONES_ALL, .since = STATE_VERSION_ZONES,
                .before = FLAVOR_ZONES_ALL),
    STATE_TIME(struct pool, grown_ms, .since = STATE_VERSION_ZONES),
    STATE_FIELD(struct pool, PART, life, 0, 0, .part = &life, .since = STATE_VERSION_POOLS),
};

/* The provider's words about the last launch that failed, and how the last replacement ended. */
static void words_put(const struct core *core, const void *row, struct buf *out)
{
    (void)core;
    bytes_put_text(out, query_pool_refusal(row));
    bytes_put_text(out, query_pool_replaced(row));
}

/* The pool has the flavor that its spec names, and waits for it where it waited. */
static bool flavor_get(struct state_reader *r, const struct pool *pool,
                       const struct pool_spec *spec, const struct pool *read)
{
    struct core *core = r->core;
    const bool waits = read->sold_nodes > 0;
    const bool zones = r->version < STATE_VERSION_ZONES ? waits : read->sold_zones != 0;
    const struct flavor *flavor = query_flavor(core, pool->flavor);
    if ((!pool->deleted && (flavor == NULL) != (spec->flavor[0] == '\0')) ||
        (flavor != NULL && flavor->provider != spec->provider) || (waits && flavor == NULL) ||
        waits != (read->sold_wait_ms != 0) || waits != zones) {
        return false;
    }
    soldout_wait_set(core, pool->id, read->sold_nodes, read->sold_zones, read->sold_wait_ms);
    return true;
}

static bool pool_get(struct state_reader *r, uint64_t id, const void *row)
{
    const struct pool *read = row;
    struct pool_spec spec;
    (r->version > STATE_VERSION_FIRST ? spec_codec_pool_decode
                                      : spec_codec_pool_decode_v1)(&r->in, &r->arena, &spec);
    const char *refusal =
        r->version < STATE_VERSION_ELASTIC ? "" : bytes_get_text(&r->in, &r->arena, TEXT_LEN_MAX);
    const char *replaced =
        r->version < STATE_VERSION_POOLS ? "" : bytes_get_text(&r->in, &r->arena, TEXT_LEN_MAX);
    const struct replacement *going = &read->replacement;
    const bool begins = going->at_once == 0 || going->since_ms > 0;
    if (r->in.bad || !begins || query_pool_named(r->core, spec.name) != NULL ||
        spec.nodes_min > spec.nodes_max || (read->deleted && read->wake_ms != 0) ||
        !life_sound(read)) {
        return false;
    }
    struct fact fact = {.time_ms = read->created_ms};
    fact.pool_set.pool.v = (uint32_t)id;
    fact.pool_set.spec = &spec;
    r->core->pools.last = id - 1;
    change_pool_set(r->core, &fact);
    if (read->deleted) {
        fact.pool_deleted.pool.v = (uint32_t)id;
        change_pool_delete(r->core, &fact);
    }
    /* holders_sound() checks these members, once the tasks are read. */
    struct pool *pool = change_pool_edit(r->core, (pool_id){(uint32_t)id});
    pool->reserved_count = read->reserved_count;
    memcpy(pool->reserved, read->reserved, sizeof pool->reserved);
    pool->idle = read->idle;
    pool->loss = read->loss;
    pool->credit_count = read->credit_count;
    memcpy(pool->credits, read->credits, sizeof pool->credits);
    change_pool_wake_set(r->core, pool, read->wake_ms);
    pool->launch_failures = read->launch_failures;
    pool->launch_retry_ms = read->launch_retry_ms;
    pool->grown_ms = read->grown_ms;
    pool->refusal = refusal[0] != '\0' ? blob_new(refusal, strlen(refusal) + 1) : NULL;
    change_pool_replacement_set(r->core, pool->id, going, replaced);
    life_read(r->core, read, pool->id);
    return flavor_get(r, pool, &spec, read);
}

const struct state_section state_codec_pool = {"pools",
                                               STATE_ROWS(pools, pools),
                                               STATE_FIELDS(struct pool, pool_fields),
                                               .text_at = offsetof(struct pool, text),
                                               .put = words_put,
                                               .get = pool_get};

/* ---- reserved tasks, once all tasks are read ---- */

static bool holder_sound(const struct core *core, const struct pool *pool, task_id holder)
{
    const struct task *task = query_task_in(core, pool->id, holder);
    return task != NULL && task->queued && task->pool.v == pool->id.v;
}

/* Checks that all reservations are for different queued tasks of the pool, and marks these tasks as reserved. */
static bool reserved_sound(struct core *core, struct pool *pool)
{
    const struct pool read = *pool;
    for (uint32_t i = 0; i < read.reserved_count; i++) {
        for (uint32_t other = 0; other < i; other++) {
            if (read.reserved[other].task.v == read.reserved[i].task.v) {
                return false;
            }
        }
        if (!holder_sound(core, pool, read.reserved[i].task)) {
            return false;
        }
    }
    change_pool_reserved_set(core, read.id, read.reserved, read.reserved_count);
    return true;
}

/* Checks the reserved tasks of all pools. */
static bool holders_sound(struct state_reader *r)
{
    for (uint64_t id = table_next(&r->core->pools, 0); id != 0;
         id = table_next(&r->core->pools, id)) {
        struct pool *pool = change_pool_edit(r->core, (pool_id){(uint32_t)id});
        if (!reserved_sound(r->core, pool)) {
            return false;
        }
        change_pool_due_set(r->core, pool->id, !pool->deleted);
    }
    return true;
}

const struct state_section state_codec_pool_reserved = {"reserved tasks", .end = holders_sound};

/* ---- usage history: pools and accounts ascend, a 0 ends each list ---- */

/* No decaying mean is larger (model/decay.c). */
enum { MEAN_HIGH_MAX = 1 << 12 };

static const struct record_field mean_fields[] = {
    STATE_FIELD(struct sum, UINT, high, 0, MEAN_HIGH_MAX - 1),
    STATE_ANY(struct sum, low),
};
static const struct record_table mean = RECORD_TABLE(struct sum, mean_fields);

static const struct record_field history_fields[] = {
    STATE_FIELD(struct history_row, PART, mean[DIM_SLOTS], 0, 0, .part = &mean),
    STATE_FIELD(struct history_row, PART, mean[DIM_CPU], 0, 0, .part = &mean),
    STATE_FIELD(struct history_row, PART, mean[DIM_MEMORY], 0, 0, .part = &mean),
};
static const struct record_table history = RECORD_TABLE(struct history_row, history_fields);

static const struct record_field pool_history_fields[] = {
    STATE_TIME(struct pool, history_at_ms),
    STATE_TIME(struct pool, history_next_ms),
    STATE_FIELD(struct pool, PART, history_whole, 0, 0, .part = &history),
};
static const struct record_table pool_history = RECORD_TABLE(struct pool, pool_history_fields);

static void histories_put(const struct core *core, struct buf *out)
{
    for (uint64_t id = table_next(&core->pools, 0); id != 0; id = table_next(&core->pools, id)) {
        const struct pool *pool = table_get(&core->pools, id);
        if (pool->history_at_ms == 0) {
            continue;
        }
        bytes_put_u64(out, id);
        record_write(&pool_history, pool, out);
        uint64_t key = ACCOUNT_KEY(pool->id, (account_id){0});
        while ((key = table_next(&core->histories, key)) != 0 && key >> 32 == id) {
            bytes_put_u64(out, (uint32_t)key);
            record_write(&history, table_get(&core->histories, key), out);
        }
        bytes_put_u64(out, 0);
    }
    bytes_put_u64(out, 0);
}

static bool history_rows_get(struct state_reader *r, pool_id pool)
{
    static const struct history_row none;
    uint64_t before = 0;
    uint64_t id;
    while ((id = bytes_get_max(&r->in, r->head.accounts.last)) != 0) {
        const account_id account = {(uint32_t)id};
        if (id <= before || query_account(r->core, account) == NULL) {
            return false;
        }
        struct history_row *row = table_put(&r->core->histories, ACCOUNT_KEY(pool, account));
        state_codec_read(r, &history, row);
        if (memcmp(row, &none, sizeof none) == 0) {
            return false;
        }
        before = id;
    }
    return !r->in.bad;
}

static bool history_get(struct state_reader *r, uint64_t id)
{
    const struct pool *found = query_pool(r->core, (pool_id){(uint32_t)id});
    if (found == NULL || !history_looks_back(found)) {
        return false;
    }
    struct pool read = {0};
    state_codec_read(r, &pool_history, &read);
    if (r->in.bad || read.history_at_ms == 0 || read.history_at_ms > r->core->time_ms) {
        return false;
    }
    struct pool *pool = change_pool_edit(r->core, found->id);
    pool->history_at_ms = read.history_at_ms;
    memcpy(pool->history_whole, read.history_whole, sizeof pool->history_whole);
    history_next(r->core, pool, read.history_next_ms);
    return history_rows_get(r, pool->id);
}

static bool histories_get(struct state_reader *r)
{
    uint64_t before = 0;
    uint64_t id;
    while ((id = bytes_get_max(&r->in, r->head.pools.last)) != 0) {
        if (id <= before || !history_get(r, id)) {
            return false;
        }
        before = id;
    }
    for (const struct pool *pool = query_pool_next(r->core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(r->core, pool->id)) {
        if (history_looks_back(pool) && pool->running_count > 0 && pool->history_next_ms == 0) {
            return false; /* a pool with usage history has a next tick while something runs */
        }
    }
    return true;
}

const struct state_section state_codec_pool_history = {
    "history", STATE_VERSION_HISTORY, .put_all = histories_put, .end = histories_get};

/* ---- typical requests ---- */

/* Far above every count, and far below the numbers whose sums could wrap. */
#define COUNT_MAX ((uint64_t)1 << 32)

static void typical_rows_put(const struct core *core, uint64_t first_key, uint32_t count,
                             struct buf *out)
{
    bytes_put_u64(out, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct typical *row = table_get(&core->typicals, first_key + i);
        bytes_put_u64(out, row->count);
        codec_put_request(out, &row->request);
    }
}

static bool has_typicals(const void *row)
{
    return ((const struct pool *)row)->typical_counted > 0;
}

static void typicals_put(const struct core *core, const void *row, struct buf *out)
{
    const struct pool *pool = row;
    bytes_put_u64(out, pool->typical_since);
    typical_rows_put(core, TYPICAL_KEY(pool->id, 0), pool->typical_counted, out);
    typical_rows_put(core, TYPICAL_WEIGHED_KEY(pool->id, 0), pool->typical_weighed, out);
}

static uint64_t typical_rows_get(struct state_reader *r, uint64_t first_key, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct request request;
        const uint64_t seen = bytes_get_max(&r->in, COUNT_MAX);
        codec_get_request(&r->in, r->core->resource_count, &request);
        if (request.slots_milli <= 0 || !state_codec_request_sound(&request)) {
            codec_bad(&r->in);
        }
        if (r->in.bad) {
            return 0;
        }
        struct typical *row = table_put(&r->core->typicals, first_key + i);
        row->count = seen;
        row->request = request;
        sum += seen;
    }
    return sum;
}

static bool typicals_get(struct state_reader *r, uint64_t row, const void *read)
{
    (void)read;
    const pool_id id = {(uint32_t)row};
    if (table_get(&r->core->pools, id.v) == NULL) {
        return false;
    }
    struct pool *pool = change_pool_edit(r->core, id);
    pool->typical_since = bytes_get_max(&r->in, COUNT_MAX);
    pool->typical_counted = codec_get_count(&r->in, TYPICAL_COUNTED_MAX);
    pool->typical_sum = typical_rows_get(r, TYPICAL_KEY(id, 0), pool->typical_counted);
    pool->typical_weighed = codec_get_count(&r->in, TYPICAL_MAX);
    (void)typical_rows_get(r, TYPICAL_WEIGHED_KEY(id, 0), pool->typical_weighed);
    pool->typical_version++;
    return !r->in.bad && pool->typical_counted > 0 &&
           pool->typical_weighed <= pool->typical_counted;
}

const struct state_section state_codec_pool_typical = {
    "typical requests",  STATE_VERSION_TYPICAL, STATE_ROWS(pools, pools),
    .has = has_typicals, .put = typicals_put,   .get = typicals_get};
