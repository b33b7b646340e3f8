/* decide_spread.c - more slots than any one node has: the task becomes a gang of one-slot instances, which fill uneven nodes as far
 * as they go. SPDX-License-Identifier: Apache-2.0 */
#include "core/step.h"

#include "base/must.h"
#include "core/sched/fit.h"

/* Only where nothing but slots is asked for, so that the parts are equal and together the whole. */
static bool may_spread(const struct task_spec *spec, const struct request *request)
{
    return spec->instances == 1 && !spec->gang && request->slots_milli > SLOT_MILLI &&
           request->slots_milli % SLOT_MILLI == 0 &&
           request->slots_milli / SLOT_MILLI <= TASK_INSTANCES_MAX && request->cpu_milli < 0 &&
           request->memory_bytes < 0 && request->device_mask == 0 && request->named_count == 0;
}

/* The most one-slot instances that any one node of the pool could ever hold. */
static uint32_t most_on_one(const struct core *core, pool_id pool, const struct request *one,
                            uint32_t max)
{
    uint32_t most = 0;
    node_id after = {0};
    const struct node *node;
    while ((node = core_pool_node_next(core, pool, after)) != NULL) {
        after = node->id;
        struct place_room room;
        struct place empty;
        place_empty(node, &room, &empty);
        const uint32_t holds = fit_count(&empty, one, max);
        most = holds > most ? holds : most;
    }
    return most;
}

const struct task_spec *spread_over_nodes(struct step *step, const struct pool *pool,
                                          const struct task_spec *spec, struct request *request)
{
    if (!may_spread(spec, request)) {
        return spec;
    }
    const uint32_t count = (uint32_t)(request->slots_milli / SLOT_MILLI);
    struct request one = *request;
    one.slots_milli = SLOT_MILLI;
    const uint32_t most = most_on_one(step->core, pool->id, &one, count);
    if (most == 0 || most >= count) {
        return spec;
    }
    struct task_spec *gang = arena_dup(step->out->arena, spec, sizeof *spec);
    gang->slots_milli = SLOT_MILLI;
    gang->instances = count;
    gang->gang = true;
    request->slots_milli = SLOT_MILLI;
    return gang;
}

void spread_refused(struct reason *reason)
{
    if (reason->code != REASON_GANG_TOO_LARGE) {
        return;
    }
    reason->code = REASON_TOO_LARGE;
    reason->resource = (resource_id){RESOURCE_SLOTS};
    reason->wanted = (int64_t)reason->need * SLOT_MILLI;
    reason->available = (int64_t)reason->have * SLOT_MILLI;
    reason->smallest = reason->available;
}
