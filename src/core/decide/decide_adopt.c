/* decide_adopt.c - adopts a task whose instances already run on known nodes. The simulator adopts the running
 * tasks of an exported state.
 *
 * The input names all places: nothing is chosen here. The places must be free (P1), and a gang must have its
 * minimum (P2). Quotas are not checked: what was started under other quotas is overhang.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/step.h"
#include "core/model/devices.h"
#include "core/model/fit.h"
#include "core/model/input.h"
#include "core/model/node.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/model/task.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/ports.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* Is everything of the grant free? Does the grant name enough devices where the request takes devices, and
 * none elsewhere? */
static bool place_free(const struct node *node, const struct request *request,
                       const struct grant *grant)
{
    must(grant->slots_milli >= 0);
    struct space now;
    space_now(node, &now);
    const int64_t most = (int64_t)__builtin_popcountll(grant->devices) * SLOT_MILLI;
    return (devices_held(node, request) ? grant->slots_milli <= most : grant->devices == 0) &&
           fit_holds(&now, request, grant);
}

static enum verdict adopt_one(struct step *step, const struct adopted *place)
{
    const struct core *core = step_state(step);
    const struct task *task = query_task(core, step->in->task.task);
    must(task != NULL);
    const struct instance *instance = query_instance(core, task->id, place->index);
    const struct node *node = query_node(core, place->node);
    if (instance == NULL || instance->state != INSTANCE_WAITING) {
        return step_wrong_state(step, task->state);
    }
    if (node == NULL || node->pool.v != task->pool.v || !node_takes_work(node)) {
        step_refuse(step, REASON_UNKNOWN_NODE, "");
        return VERDICT_REFUSED;
    }
    struct grant grant;
    const struct request *request = query_task_request(core, task, place->index);
    fit_wants(node, request, &grant);
    grant.devices = place->devices;
    if (!place_free(node, request, &grant)) {
        step_refuse(step, REASON_NO_ROOM, query_node_name(core, node->id))->node = node->id;
        return VERDICT_REFUSED;
    }
    struct fact *fact = step_fact(step, FACT_ALLOCATED);
    fact->allocated.key = (struct attempt_key){task->id, place->index, instance->attempt + 1};
    fact->allocated.node = node->id;
    fact->allocated.incarnation = node->incarnation;
    fact->allocated.devices = grant.devices;
    fact->allocated.slots_milli = grant.slots_milli;
    fact->allocated.cpu_milli = grant.cpu_milli;
    fact->allocated.memory_bytes = grant.memory_bytes;
    fact->allocated.master_port =
        ports_holder(task, place->index) ? ports_pick(core, node->id, task->id, NULL) : 0;
    return VERDICT_OK;
}

enum verdict decide_adopt(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct task *task = step_task(step, &verdict);
    if (task == NULL) {
        return verdict;
    }
    if (!task->queued) {
        return step_wrong_state(step, task->state);
    }
    for (uint32_t i = 0; i < step->in->task.place_count && verdict == VERDICT_OK; i++) {
        verdict = adopt_one(step, &step->in->task.places[i]);
    }
    if (verdict == VERDICT_OK) {
        task = query_task(step_state(step), step->in->task.task);
        must(task != NULL);
        if (task->gang && (task_gang_lacks(task) || task_gang_broken(task))) {
            struct reason *reason = step_refuse(step, REASON_GANG_SHORT, "");
            reason->have = step->in->task.place_count;
            reason->need = task->instance_count;
            return VERDICT_REFUSED;
        }
    }
    return verdict;
}
