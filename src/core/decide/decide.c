/* decide.c - turns inputs into facts: the table from the type of an input to its function, and the start of a
 * server.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/decide/decide.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/decide/step.h"
#include "core/model/input.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/object.h"
#include "core/sched/pass.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

static const char default_name[] = POOL_DEFAULT_NAME;

static enum verdict decide_pass(struct step *step)
{
    pass_decide(step->core, step->in, step->out);
    return VERDICT_OK;
}

enum verdict decide_server_start(struct step *step)
{
    const struct core *core = step->core;
    struct fact *fact = step_fact(step, FACT_SERVER_STARTED);
    fact->server_started.epoch = core->epoch + 1;
    memcpy(fact->server_started.server_uuid,
           core->epoch == 0 ? step->in->server.server_uuid : core->uuid, sizeof core->uuid);
    for (const struct node *node = query_node_next(core, (node_id){0}); node != NULL;
         node = query_node_next(core, node->id)) {
        if (node->state == NODE_UP) { /* the node's stream ended with the previous server */
            fact = step_fact(step, FACT_NODE_STATE);
            fact->node_state.node = node->id;
            fact->node_state.state = NODE_SILENT;
        }
    }
    if (query_pool_named(core, default_name) == NULL) {
        must(core->pools.last < UINT32_MAX);
        struct pool_spec *spec = arena_new(step->out->arena, struct pool_spec, 1);
        object_init(&pool_object, spec);
        spec->name = default_name;
        fact = step_fact(step, FACT_POOL_SET);
        fact->pool_set.pool.v = (uint32_t)core->pools.last + 1;
        fact->pool_set.spec = spec;
    }
    return VERDICT_OK;
}

enum verdict decide(const struct core *core, const struct input *in, struct facts *out)
{
    static enum verdict (*const deciders[INPUT_TYPE_COUNT])(struct step *) = {
        [INPUT_SERVER_START] = decide_server_start,
        [INPUT_POOL_CREATE] = decide_pool_create,
        [INPUT_POOL_EDIT] = decide_pool_edit,
        [INPUT_POOL_DELETE] = decide_life_delete,
        [INPUT_NODE_JOIN] = decide_node_join,
        [INPUT_NODE_SILENT] = decide_node_silent,
        [INPUT_NODE_LOST] = decide_node_lost,
        [INPUT_NODE_EDIT] = decide_node_edit,
        [INPUT_NODE_REMOVE] = decide_node_remove,
        [INPUT_TASK_SUBMIT] = decide_submit,
        [INPUT_TASK_START] = decide_task_start,
        [INPUT_TASK_PAUSE] = decide_task_pause,
        [INPUT_TASK_ACTIVATE] = decide_task_activate,
        [INPUT_TASK_MOVE] = decide_move,
        [INPUT_TASK_KILL] = decide_task_kill,
        [INPUT_TASK_EDIT] = decide_edit,
        [INPUT_REPORT] = decide_report,
        [INPUT_HEALTH] = decide_health,
        [INPUT_ROLLOUT] = decide_rollout_ask,
        [INPUT_TICK] = decide_tick,
        [INPUT_PASS] = decide_pass,
        [INPUT_ACCOUNT_SET] = decide_account_set,
        [INPUT_ACCOUNT_DELETE] = decide_account_delete,
        [INPUT_QUOTA_SET] = decide_account_quota,
        [INPUT_TASK_ADOPT] = decide_adopt,
        [INPUT_DEFAULTS_SET] = decide_pool_defaults,
        [INPUT_LAUNCH_ASK] = decide_launch_ask,
        [INPUT_LAUNCH_STOP] = decide_launch_stop,
        [INPUT_PROVIDER] = decide_launch_provider,
        [INPUT_FLAVOR_SET] = decide_flavor_set,
        [INPUT_FLAVOR_DELETE] = decide_flavor_delete,
        [INPUT_NETWORK_SET] = decide_network_set,
        [INPUT_NETWORK_DELETE] = decide_network_delete,
        [INPUT_TASK_IDLE] = decide_idle,
        [INPUT_POOL_CLOSE] = decide_life_close,
        [INPUT_POOL_RESTORE] = decide_life_restore,
        [INPUT_POOL_SCALE] = decide_scale,
        [INPUT_POOL_REPLACE] = decide_replace,
    };
    must((unsigned)in->type < INPUT_TYPE_COUNT);
    must(in->now_ms >= core->time_ms);
    must(in->now_ms <= TIME_MS_MAX);
    must(out->count == 0);
    struct step step = {.core = core, .in = in, .out = out};
    enum verdict verdict = deciders[in->type](&step);
    if (verdict == VERDICT_OK && out->count > 0 && in->type != INPUT_PASS) {
        decide_rollout_go(&step);
    }
    state_free(step.scratch);
    must(verdict == VERDICT_OK || verdict == VERDICT_REPEATED || out->count == 0);
    return verdict;
}
