/* query_task.c - reading tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/bytes.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/blob.h"
#include "core/model/claim.h"
#include "core/model/form.h"
#include "core/model/instance.h"
#include "core/model/resource.h"
#include "core/model/rollout.h"
#include "core/model/shape.h"
#include "core/model/spec.h"
#include "core/model/spec_codec.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/fallback.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

const struct task *query_task(const struct core *core, task_id id)
{
    return table_get(&core->tasks, id.v);
}

const struct task *query_task_next(const struct core *core, task_id after)
{
    uint64_t id = table_next(&core->tasks, after.v);
    return id != 0 ? query_task(core, (task_id){id}) : NULL;
}

const struct task *query_task_prev(const struct core *core, task_id before)
{
    uint64_t id = table_prev(&core->tasks, before.v != 0 ? before.v : UINT64_MAX);
    return id != 0 ? query_task(core, (task_id){id}) : NULL;
}

const struct task *query_task_service_next(const struct core *core, account_id project,
                                           const char *name, task_id before)
{
    const uint64_t hash = key_name_hash(name);
    struct okey key = {{project.v, hash, before.v != 0 ? ~before.v : 0}};
    return oindex_next(&core->orders[ORDER_SERVICE], key, &key) && key.at[0] == project.v &&
                   key.at[1] == hash
               ? query_task(core, (task_id){~key.at[2]})
               : NULL;
}

const struct task *query_task_checked_next(const struct core *core, task_id after)
{
    struct okey key = {{after.v}};
    return oindex_next(&core->orders[ORDER_CHECKED], key, &key)
               ? query_task(core, (task_id){key.at[0]})
               : NULL;
}

const struct task *query_task_successor(const struct core *core, task_id origin)
{
    struct okey key;
    const bool found =
        oindex_from(&core->orders[ORDER_SUCCESSOR], (struct okey){{origin.v}}, &key) &&
        key.at[0] == origin.v;
    return found ? query_task(core, (task_id){~key.at[1]}) : NULL;
}

const struct rollout *query_task_rollout(const struct core *core, task_id id)
{
    return table_get(&core->rollouts, id.v);
}

bool query_task_takes(const struct core *core, const struct task *task,
                      const struct instance *instance)
{
    const struct rollout *rollout = query_task_rollout(core, task->rollout);
    const bool drains = rollout != NULL && rollout->from.v == task->id.v &&
                        rollout->draining == instance->index + 1;
    return !drains && instance_ready(task, instance);
}

task_id query_task_last(const struct core *core)
{
    return (task_id){core->tasks.last};
}

void query_task_spec(const struct core *core, task_id id, struct arena *arena,
                     struct task_spec *ret)
{
    const struct task *task = query_task(core, id);
    must(task != NULL);
    struct bytes_reader in;
    struct str bytes = blob_bytes(task->spec);
    bytes_reader_init(&in, bytes.p, bytes.len);
    spec_codec_task_decode(&in, arena, ret);
    must(bytes_reader_ok(&in));
}

const struct shape *query_task_shape(const struct core *core, shape_id id)
{
    return table_get(&core->shapes, id.v);
}

const struct request *query_task_request(const struct core *core, const struct task *task,
                                         uint32_t index)
{
    const struct shape *shape = query_task_shape(core, task->shape);
    const struct form *form = shape_form(shape);
    return form_grouped(form) ? &form_leaf(form, index)->request : &shape->request;
}

uint64_t query_task_count(const struct core *core, enum task_state state)
{
    must((unsigned)state < TASK_STATE_COUNT);
    return core->task_counts[state];
}

enum task_state query_task_outcome(const struct core *core, task_id id)
{
    static const enum task_state outcomes[4] = {TASK_COMPLETED, TASK_FAILED, TASK_KILLED,
                                                TASK_UNKNOWN};
    if (id.v == 0 || id.v > core->tasks.last || query_task(core, id) != NULL) {
        return TASK_PENDING;
    }
    const struct outcome_row *row = table_get(&core->outcomes, id.v / OUTCOMES_PER_ROW + 1);
    return outcomes[row != NULL ? row->bits >> id.v % OUTCOMES_PER_ROW * 2 & 3 : 0];
}

const struct eviction_note *query_task_eviction(const struct core *core, task_id id)
{
    return table_get(&core->evictions, id.v);
}

const struct task *query_task_in(const struct core *core, pool_id pool, task_id id)
{
    const struct task *task = query_task(core, id);
    if (task == NULL || task->pool.v == pool.v || !task->listed) {
        return task;
    }
    const struct task *entry = fallback_entry(core, task, pool);
    return entry != NULL ? entry : task;
}
