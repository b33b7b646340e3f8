/* apply.c - applies facts to the state. Apart from the reader of stored states nothing else writes the state.
 * Replay at a restart applies facts here, too.
 *
 * Every fact that core_decide() made from the same state can be applied. A fact that does not fit the state
 * is a bug, or the store is damaged: the program aborts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/apply.h"

#include "base/must.h"
#include "core/model/blob.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/membership.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

static void stale_renew(struct core *core, task_id id, int64_t now_ms)
{
    struct task_mark mark;
    struct task *task = change_task_open(core, id, &mark);
    task->stale_ms = now_ms;
    change_task_close(core, task, &mark);
}

/* Restarts all grace times when a server starts. The orders of the server before may never have reached the
 * nodes, and the nodes have not reconnected yet. */
static void graces_renew(struct core *core, int64_t now_ms)
{
    struct oindex before;
    oindex_copy(&before, &core->orders[ORDER_DEADLINE]);
    struct okey key = {{0}};
    for (bool more = oindex_from(&before, key, &key); more;
         more = oindex_next(&before, key, &key)) {
        if (key.at[1] == DEADLINE_STALE) {
            stale_renew(core, (task_id){key.at[2]}, now_ms);
        }
        if (key.at[1] == DEADLINE_ROLLOUT) {
            change_rollout_renew(core, (task_id){key.at[2]}, now_ms);
        }
        if (key.at[1] != DEADLINE_STOP) {
            continue;
        }
        const struct task *task = query_task(core, (task_id){key.at[2]});
        must(task != NULL);
        struct instance *instance = change_task_instance(core, task, (uint32_t)key.at[3]);
        change_task_deadline_drop(core, task, instance);
        instance->stop_deadline_ms = now_ms + task->grace_ms;
        change_task_deadline_put(core, task, instance);
    }
    oindex_done(&before);
}

/* The server was away for so long: budgets stand still meanwhile. Nothing that was kept or evicted then was decided by Weir. Time without
 * facts before the server ended counts as away, too: facts do not say when it ended. */
static void budgets_stand(struct core *core, int64_t away_ms)
{
    must(away_ms >= 0);
    pool_id id = {0};
    for (const struct pool *pool = query_pool_next(core, id); pool != NULL;
         pool = query_pool_next(core, id)) {
        id = pool->id;
        if (pool->idle.since_ms != 0) {
            struct pool *row = change_pool_edit(core, id);
            row->idle.since_ms += away_ms;
            row->loss.since_ms += away_ms;
        }
    }
}

static void apply_server_started(struct core *core, const struct fact *fact)
{
    must(fact->server_started.epoch == core->epoch + 1);
    core->epoch = fact->server_started.epoch;
    memcpy(core->uuid, fact->server_started.server_uuid, sizeof core->uuid);
    graces_renew(core, fact->time_ms);
    const struct pool *pool = query_pool_next(core, (pool_id){0});
    while (pool != NULL) {
        pool_id id = pool->id;
        change_pool_due(core, id);
        pool = query_pool_next(core, id);
    }
}

static void apply_resource_defined(struct core *core, const struct fact *fact)
{
    must(core->resource_count < RESOURCES_MAX);
    must(fact->resource_defined.resource.v == core->resource_count);
    const char *name = fact->resource_defined.name;
    core->resources[core->resource_count++] = blob_new(name, strlen(name) + 1);
}

static void apply_submit_key(struct core *core, const struct fact *fact)
{
    struct submit_key *row = table_add(&core->keys);
    memcpy(row->key, fact->submit_key.key, sizeof row->key);
    memcpy(row->body_hash, fact->submit_key.body_hash, sizeof row->body_hash);
    row->first = fact->submit_key.first;
    row->count = fact->submit_key.count;
    row->time_ms = fact->time_ms;
    must(oindex_insert(&core->orders[ORDER_SUBMIT_KEY], key_submit(row->key, core->keys.last)));
}

static void apply_keys_expired(struct core *core, const struct fact *fact)
{
    uint64_t row;
    while ((row = table_next(&core->keys, 0)) != 0) {
        const struct submit_key *key = table_get(&core->keys, row);
        if (key->time_ms >= fact->keys_expired.before_ms) {
            return;
        }
        must(oindex_remove(&core->orders[ORDER_SUBMIT_KEY], key_submit(key->key, row)));
        table_remove(&core->keys, row);
    }
}

static void (*const appliers[FACT_TYPE_MAX + 1])(struct core *, const struct fact *) = {
    [FACT_SERVER_STARTED] = apply_server_started,
    [FACT_RESOURCE_DEFINED] = apply_resource_defined,
    [FACT_POOL_SET] = change_pool_set,
    [FACT_POOL_DELETED] = change_pool_delete,
    [FACT_NODE_SET] = change_node_set,
    [FACT_NODE_STATE] = change_node_state,
    [FACT_NODE_EDITED] = apply_node_edited,
    [FACT_TASK_SUBMITTED] = apply_task_submitted,
    [FACT_SUBMIT_KEY] = apply_submit_key,
    [FACT_TASK_QUEUED] = apply_task_queued,
    [FACT_TASK_PAUSED] = apply_task_paused,
    [FACT_TASK_EDITED] = apply_task_edit,
    [FACT_TASK_IDLE] = apply_task_idle,
    [FACT_TASK_KILL_ASKED] = apply_task_kill_asked,
    [FACT_PASS] = apply_pool_pass,
    [FACT_ALLOCATED] = apply_attempt_allocated,
    [FACT_HEAD_BLOCKED] = apply_pool_blocked,
    [FACT_RESERVED] = apply_pool_reserved,
    [FACT_ATTEMPT_STARTED] = apply_attempt_started,
    [FACT_ATTEMPT_HEALTH] = apply_attempt_health,
    [FACT_ATTEMPT_STOPPING] = apply_attempt_stopping,
    [FACT_ATTEMPT_ENDED] = apply_attempt_ended,
    [FACT_TASK_ENDED] = apply_task_ended,
    [FACT_TASK_ARCHIVED] = apply_task_archived,
    [FACT_SUBMIT_KEYS_EXPIRED] = apply_keys_expired,
    [FACT_CLAIMED] = apply_claim_made,
    [FACT_CLAIM_DROPPED] = apply_claim_dropped,
    [FACT_EVICTED] = apply_claim_evicted,
    [FACT_POOL_WAKE] = apply_pool_wake,
    [FACT_HISTORY_TICKED] = apply_history_ticked,
    [FACT_ATTEMPT_CHECKPOINT] = apply_checkpoint,
    [FACT_DEFAULTS_SET] = change_pool_defaults,
    [FACT_LAUNCH_ASKED] = change_launch_asked,
    [FACT_LAUNCH_CHANGED] = change_launch_changed,
    [FACT_LAUNCH_ENDED] = change_launch_ended,
    [FACT_BUDGETS] = apply_pool_budgets,
    [FACT_CREDIT] = apply_pool_credit,
    [FACT_RELEASED] = apply_pool_released,
    [FACT_TASK_MOVED] = apply_task_edit_moved,
    [FACT_DEPENDENTS_RELEASED] = apply_task_released,
    [FACT_HOLD_ENDED] = apply_task_hold_ended,
    [FACT_ACCOUNT_SET] = apply_account_set,
    [FACT_ACCOUNT_DELETED] = apply_account_deleted,
    [FACT_QUOTA_SET] = apply_account_quota,
    [FACT_POOL_STATE] = apply_life_state,
    [FACT_POOL_CLOSING] = apply_life_closing,
    [FACT_POOL_PENDING_DELETE] = apply_life_pending,
    [FACT_POOL_RESTORED] = apply_life_restored,
    [FACT_POOL_OPENED] = apply_fallback_opened,
    [FACT_FLAVOR_SET] = change_flavor_set,
    [FACT_FLAVOR_DELETED] = change_flavor_delete,
    [FACT_NETWORK_SET] = change_network_set,
    [FACT_NETWORK_DELETED] = change_network_delete,
    [FACT_ROLLOUT] = change_rollout_set,
    [FACT_INSTANCES_HELD] = change_rollout_hold,
    [FACT_FLAVOR_WAITS] = apply_pool_waits,
    [FACT_NODE_MOVED] = membership_moved,
    [FACT_NODE_LEAVING] = apply_leave_node,
    [FACT_NODE_SPARE] = apply_leave_spare,
    [FACT_NODE_LOCKED] = apply_leave_locked,
    [FACT_POOL_REPLACING] = apply_leave_replacing,
    [FACT_NODE_FORGOTTEN] = apply_leave_forgotten,
};

void apply(struct core *core, const struct fact *fact)
{
    must(fact_type_known((uint64_t)fact->type));
    must(fact->time_ms >= core->time_ms);
    core->seq++;
    if (fact->type == FACT_SERVER_STARTED) {
        budgets_stand(core, fact->time_ms - core->time_ms);
    }
    core->time_ms = fact->time_ms;
    appliers[fact->type](core, fact);
}
