/* state_codec_fallback.c - the open pools of tasks that name several pools, and pools whose launches may end, in a
 * stored state. The entries in the queues of the open pools are derived (fallback.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/blob.h"
#include "core/model/fallback.h"
#include "core/model/spec_codec.h"
#include "core/state/change.h"
#include "core/state/fallback.h"
#include "core/state/state_codec.h"

static const struct record_field list_fields[] = {
    STATE_TIME(struct fallback, since_ms),
    STATE_FIELD(struct fallback, UINT, count, 2, TASK_POOLS_MAX),
    STATE_FIELD(struct fallback, UINT, opened, 1, TASK_POOLS_MAX),
};

static void pools_put(const struct core *core, const void *row, struct buf *out)
{
    (void)core;
    const struct fallback *list = row;
    for (uint32_t i = 0; i < list->count; i++) {
        bytes_put_u64(out, list->pools[i].v);
        if (i < list->opened) {
            bytes_put_u64(out, list->why[i]);
            bytes_put_i64(out, list->opened_ms[i]);
        }
    }
}

/* Reads the pools: all are different, and the home of the task is open. */
static bool pools_get(struct state_reader *r, const struct task *task, struct fallback *list)
{
    const pool_id home = task->pool_next.v != 0 ? task->pool_next : task->pool;
    bool found = task_state_ended(task->state);
    for (uint32_t i = 0; i < list->count; i++) {
        list->pools[i].v = (uint32_t)bytes_get_max(&r->in, r->head.pools.last);
        for (uint32_t other = 0; other < i; other++) {
            if (list->pools[other].v == list->pools[i].v) {
                return false;
            }
        }
        if (i < list->opened) {
            list->why[i] = (uint8_t)bytes_get_max(&r->in, FALLBACK_WHY_COUNT - 1);
            list->opened_ms[i] = codec_get_range(&r->in, 0, TIME_MS_MAX);
            found = found || list->pools[i].v == home.v;
        }
        if (r->in.bad || table_get(&r->core->pools, list->pools[i].v) == NULL) {
            return false;
        }
    }
    return found;
}

static bool list_get(struct state_reader *r, uint64_t id, const void *read)
{
    struct core *core = r->core;
    struct fallback list = *(const struct fallback *)read;
    const struct task *found = query_task(core, (task_id){id});
    if (found == NULL || list.opened > list.count || list.since_ms > core->time_ms ||
        !pools_get(r, found, &list)) {
        return false;
    }
    struct task_spec spec;
    query_task_spec(core, found->id, &r->arena, &spec);
    list.waits = found->queued && found->active_count == 0;
    *(struct fallback *)table_put(&core->fallbacks, id) = list;
    struct task *task = table_edit(&core->tasks, id);
    task->listed = 1;
    fallback_conditions_set(core, task, &spec);
    fallback_close(core, task);
    return true;
}

const struct state_section state_codec_fallback = {"pools of tasks",
                                                   STATE_VERSION_POOLS,
                                                   STATE_ROWS(fallbacks, tasks),
                                                   STATE_FIELDS(struct fallback, list_fields),
                                                   .put = pools_put,
                                                   .get = list_get,
                                                   .end = state_codec_shapes_used};

/* ---- pools whose launches may end: the pools ascend, a 0 ends the list ---- */

static void surplus_put(const struct core *core, struct buf *out)
{
    for (uint64_t id = table_next(&core->pools, 0); id != 0; id = table_next(&core->pools, id)) {
        if (((const struct pool *)table_get(&core->pools, id))->surplus) {
            bytes_put_u64(out, id);
        }
    }
    bytes_put_u64(out, 0);
}

static bool surplus_get(struct state_reader *r)
{
    uint64_t before = 0;
    uint64_t id;
    while ((id = bytes_get_max(&r->in, r->head.pools.last)) != 0) {
        const struct pool *pool = table_get(&r->core->pools, id);
        if (id <= before || pool == NULL || pool->launch_starting == 0) {
            return false;
        }
        change_pool_edit(r->core, pool->id)->surplus = 1;
        before = id;
    }
    return true;
}

const struct state_section state_codec_fallback_surplus = {
    "launches that may end", STATE_VERSION_POOLS, .put_all = surplus_put, .end = surplus_get};
