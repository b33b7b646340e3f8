/* query_instance.c - reading instances and their claims.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/claim.h"
#include "core/model/instance.h"
#include "core/model/resource.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/query.h"
#include "core/state/state.h"

const struct request *query_instance_request(const struct core *core,
                                             const struct instance *instance)
{
    return query_task_request(core, query_task(core, instance->task), instance->index);
}

const struct claim *query_instance_claim(const struct core *core, task_id id, uint32_t index)
{
    const struct task *task = query_task(core, id);
    return task == NULL || task->claimed_count + task->moving_count == 0
               ? NULL
               : table_get(&core->claims, task->instance_first + index);
}

const struct instance *query_instance_row(const struct core *core, uint64_t row)
{
    const struct instance *instance = table_get(&core->instances, row);
    must(instance != NULL);
    return instance;
}

const struct instance *query_instance(const struct core *core, task_id id, uint32_t index)
{
    const struct task *task = query_task(core, id);
    if (task == NULL || index >= task->instance_count) {
        return NULL;
    }
    return query_instance_row(core, task->instance_first + index);
}

const struct instance *query_instance_live(const struct core *core, struct attempt_key key)
{
    const struct instance *instance = query_instance(core, key.task, key.index);
    if (instance == NULL || instance->attempt != key.attempt || !instance_active(instance)) {
        return NULL;
    }
    return instance;
}
