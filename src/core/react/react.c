/* react.c - what the outside must do because of a fact, and what a node that connects should have.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/react/react.h"

#include "base/must.h"
#include "base/vec.h"
#include "core/model/effect.h"
#include "core/model/task.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "core/state/state.h"

static void effect_start(const struct instance *instance, struct effects *out)
{
    vec_push(out, ((struct effect){.type = EFFECT_START,
                                   .node = instance->node,
                                   .incarnation = instance->incarnation,
                                   .key = {instance->task, instance->index, instance->attempt}}));
}

static void effect_stop(const struct core *core, const struct instance *instance,
                        struct effects *out)
{
    int64_t left = instance->stop_deadline_ms - core->time_ms;
    vec_push(out, ((struct effect){.type = EFFECT_STOP,
                                   .node = instance->node,
                                   .incarnation = instance->incarnation,
                                   .key = {instance->task, instance->index, instance->attempt},
                                   .grace_ms = left > 0 ? left : 0,
                                   .cause = instance->cause}));
}

static const struct instance *attempt_of(const struct core *core, struct attempt_key key)
{
    const struct instance *instance = query_instance_live(core, key);
    must(instance != NULL);
    return instance;
}

void react(const struct core *core, const struct fact *fact, struct effects *out)
{
    /* All other facts are of nobody's concern outside. */
    if (fact->type == FACT_ALLOCATED) {
        effect_start(attempt_of(core, fact->allocated.key), out);
    } else if (fact->type == FACT_ATTEMPT_STOPPING) {
        effect_stop(core, attempt_of(core, fact->attempt_stopping.key), out);
    } else if (fact->type == FACT_EVICTED) {
        effect_stop(core, attempt_of(core, fact->evicted.key), out);
    } else if (fact->type == FACT_TASK_ENDED) {
        struct effect effect = {.type = EFFECT_ARCHIVE, .key = {.task = fact->task_ended.task}};
        vec_push(out, effect);
    }
}

void react_orders(const struct core *core, node_id node, struct effects *out)
{
    struct attempt_key cursor = {0};
    const struct instance *instance;
    while ((instance = query_node_instance_next(core, node, &cursor)) != NULL) {
        if (instance->state == INSTANCE_STARTING) {
            effect_start(instance, out);
        } else if (instance->state == INSTANCE_STOPPING) {
            effect_stop(core, instance, out);
        }
    }
}
