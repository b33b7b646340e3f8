/* check_fallback.c - checks the tasks that name several pools and their entries in the queues of open pools: K17.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/check.h"
#include "core/model/fallback.h"
#include "core/model/form.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/shape.h"
#include "core/model/table.h"
#include "core/state/fallback.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

static void expect(const struct core *core, uint64_t *counts, enum order order, struct okey key)
{
    must(oindex_has(&core->orders[order], key)); /* K5 */
    counts[order]++;
}

/* An entry is the task's own row with another pool and another shape. */
static void check_entry(const struct core *core, const struct task *task, const struct task *entry,
                        uint64_t *counts)
{
    const struct shape *own = query_task_shape(core, task->shape);
    const struct shape *shape = query_task_shape(core, entry->shape);
    const struct pool *pool = query_pool(core, entry->pool);
    struct task same = *entry;
    must(pool != NULL);
    must(shape->pool.v == entry->pool.v);
    must(shape->gang_size == own->gang_size);
    must(memcmp(&shape->request, &own->request, sizeof own->request) == 0);
    must(entry->by_length == pool_by_length(pool));
    must(entry->reserved == pool_has_reserved(pool, task->id));
    same.pool = task->pool;
    same.shape = task->shape;
    same.reserved = task->reserved;
    same.by_length = task->by_length;
    same.spec = task->spec;
    must(memcmp(&same, task, sizeof same) == 0);
    expect(core, counts, ORDER_QUEUE, key_queue(entry));
    expect(core, counts, ORDER_ACCOUNT_QUEUE, key_account_queue(entry));
}

static void check_list(const struct core *core, const struct task *task,
                       const struct fallback *list, uint64_t *counts)
{
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    const bool waits = task->queued && task->active_count == 0;
    const bool whole = !form_grouped(form) || task->waiting_count == task->instance_count;
    const bool stands = waits && task->claimed_count == 0 && whole;
    const bool more = stands && fallback_next(core, list) < list->count;
    must(list->count >= 2);
    must(list->opened >= 1);
    must(list->opened <= list->count);
    must(list->waits == waits);
    for (uint32_t i = 0; i < list->opened; i++) {
        const struct task *row = query_task_in(core, list->pools[i], task->id);
        const bool home = list->pools[i].v == task->pool.v;
        const bool entry = !home && row->pool.v == list->pools[i].v;
        must(entry == (stands && !home && pool_has_tasks(query_pool(core, list->pools[i]))));
        if (entry) {
            check_entry(core, task, row, counts);
        }
    }
    must((list->asks.v != 0) == (more && (list->on & FALLBACK_ON_NO_CAPACITY) != 0));
    must((list->deadline_ms != 0) == (more && list->after_ms > 0));
    if (list->asks.v != 0) {
        must(list->asks.v == fallback_last(core, list).v);
        expect(core, counts, ORDER_FALLBACK, (struct okey){{list->asks.v, task->id.v}});
    }
    if (list->deadline_ms != 0) {
        must(list->deadline_ms == list->since_ms + list->after_ms);
        expect(core, counts, ORDER_DEADLINE,
               (struct okey){{(uint64_t)list->deadline_ms, DEADLINE_FALLBACK, task->id.v}});
    }
}

void check_fallback(const struct core *core, uint64_t *counts)
{
    uint64_t lists = 0;
    const uint64_t before = counts[ORDER_QUEUE];
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        const struct fallback *list = fallback_of(core, task);
        must((list != NULL) == (task->listed != 0));
        if (list != NULL) {
            lists++;
            check_list(core, task, list, counts);
        }
    }
    must(lists == core->fallbacks.count);
    must(counts[ORDER_QUEUE] - before == core->entries.count);
}
