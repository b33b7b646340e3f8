/* event_json.c - facts as events.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/event_json.h"

#include "wire/eviction_json.h"

#include "wire/attempt_key.h"
#include "wire/part_json.h"
#include "wire/reason_text.h"
#include "wire/time_text.h"

static task_id task_of(const struct fact *fact)
{
    switch (fact->type) {
    case FACT_TASK_SUBMITTED:
        return fact->task_submitted.task;
    case FACT_TASK_QUEUED:
    case FACT_TASK_PAUSED:
    case FACT_TASK_KILL_ASKED:
    case FACT_TASK_ARCHIVED:
        return fact->task.task;
    case FACT_TASK_EDITED:
        return fact->task_edited.task;
    case FACT_TASK_MOVED:
        return fact->task_moved.task;
    case FACT_DEPENDENTS_RELEASED:
        return fact->released.task;
    case FACT_ALLOCATED:
    case FACT_CLAIMED:
        return fact->allocated.key.task;
    case FACT_CLAIM_DROPPED:
        return fact->claim_dropped.task;
    case FACT_EVICTED:
        return fact->evicted.key.task;
    case FACT_HEAD_BLOCKED:
        return fact->head.task;
    case FACT_RESERVED: /* the one that came last */
        return fact->reserved.count > 0 ? fact->reserved.at[fact->reserved.count - 1].task
                                        : (task_id){0};
    case FACT_ATTEMPT_STARTED:
        return fact->attempt_started.key.task;
    case FACT_ATTEMPT_CHECKPOINT:
        return fact->attempt_checkpoint.key.task;
    case FACT_ATTEMPT_STOPPING:
        return fact->attempt_stopping.key.task;
    case FACT_ATTEMPT_ENDED:
        return fact->attempt_ended.report.key.task;
    case FACT_TASK_ENDED:
        return fact->task_ended.task;
    case FACT_SERVER_STARTED:
    case FACT_RESOURCE_DEFINED:
    case FACT_POOL_SET:
    case FACT_POOL_DELETED:
    case FACT_NODE_SET:
    case FACT_NODE_STATE:
    case FACT_NODE_EDITED:
    case FACT_SUBMIT_KEY:
    case FACT_PASS:
    case FACT_SUBMIT_KEYS_EXPIRED:
    case FACT_ACCOUNT_SET:
    case FACT_ACCOUNT_DELETED:
    case FACT_QUOTA_SET:
    case FACT_POOL_WAKE:
    case FACT_HISTORY_TICKED:
        break;
    }
    return (task_id){0};
}

static node_id node_of(const struct fact *fact)
{
    if (fact->type == FACT_NODE_SET) {
        return fact->node_set.node;
    }
    if (fact->type == FACT_NODE_STATE) {
        return fact->node_state.node;
    }
    if (fact->type == FACT_NODE_EDITED) {
        return fact->node_edited.node;
    }
    bool placed = fact->type == FACT_ALLOCATED || fact->type == FACT_CLAIMED;
    return placed ? fact->allocated.node : (node_id){0};
}

/* The pool that the fact itself names. */
static pool_id pool_named(const struct fact *fact)
{
    if (fact->type == FACT_POOL_SET) {
        return fact->pool_set.pool;
    }
    if (fact->type == FACT_POOL_DELETED) {
        return fact->pool_deleted.pool;
    }
    if (fact->type == FACT_NODE_SET) {
        return fact->node_set.pool;
    }
    if (fact->type == FACT_TASK_SUBMITTED) {
        return fact->task_submitted.pool;
    }
    if (fact->type == FACT_TASK_EDITED) {
        return fact->task_edited.pool;
    }
    if (fact->type == FACT_POOL_WAKE) {
        return fact->pool_wake.pool;
    }
    if (fact->type == FACT_HISTORY_TICKED) {
        return fact->history_ticked.pool;
    }
    if (fact->type == FACT_PASS) {
        return fact->pass.pool;
    }
    if (fact->type == FACT_QUOTA_SET) {
        return fact->quota_set.pool;
    }
    if (fact->type == FACT_RESERVED) {
        return fact->reserved.pool;
    }
    return fact->type == FACT_HEAD_BLOCKED ? fact->head.pool : (pool_id){0};
}

struct event_json_subject event_json_subject(const struct core *core, const struct fact *fact)
{
    struct event_json_subject subject = {
        .task = task_of(fact),
        .pool = pool_named(fact),
        .node = node_of(fact),
    };
    const struct task *task = subject.task.v != 0 ? query_task(core, subject.task) : NULL;
    const struct node *node = subject.node.v != 0 ? query_node(core, subject.node) : NULL;
    if (subject.pool.v == 0 && task != NULL) {
        subject.pool = task->pool;
    } else if (subject.pool.v == 0 && node != NULL) {
        subject.pool = node->pool;
    }
    return subject;
}

static void key_json(struct json_out *j, struct attempt_key key)
{
    char text[ATTEMPT_KEY_TEXT_MAX];
    (void)attempt_key_text(key, text);
    json_out_kv_text(j, "key", text);
}

static void submitted_json(struct json_out *j, const struct core *core, const struct fact *fact)
{
    const struct task_spec *spec = fact->task_submitted.spec;
    json_out_kv_text(j, "name", spec->name);
    json_out_kv_text(j, "user", spec->user);
    json_out_kv_text(j, "project", spec->project);
    json_out_kv_text(j, "kind", names_task_kind(spec->kind));
    json_out_kv_u64(j, "priority", spec->priority);
    json_out_kv_u64(j, "instances", spec->instances);
    json_out_key(j, "resources");
    part_json_request(j, core, fact->task_submitted.request);
}

static void allocated_json(struct json_out *j, const struct fact *fact)
{
    key_json(j, fact->allocated.key);
    json_out_kv_u64(j, "incarnation", fact->allocated.incarnation);
    part_json_devices(j, "devices", fact->allocated.devices);
    json_out_kv_milli(j, "slots", fact->allocated.slots_milli);
    json_out_kv_milli(j, "cpu", fact->allocated.cpu_milli);
    json_out_kv_i64(j, "memory", fact->allocated.memory_bytes);
}

static void attempt_ended_json(struct json_out *j, const struct fact *fact)
{
    const struct report *report = &fact->attempt_ended.report;
    key_json(j, report->key);
    json_out_kv_text(j, "end", names_end_cause(fact->attempt_ended.cause));
    json_out_kv_i64(j, "exit_code", report->exit_code);
    json_out_kv_bool(j, "again", fact->attempt_ended.again);
    json_out_kv_i64(j, "cpu_ms", report->cpu_ms);
    json_out_kv_i64(j, "memory_peak", report->memory_peak_bytes);
}

static void task_ended_json(struct json_out *j, const struct fact *fact)
{
    json_out_kv_text(j, "state", names_task_state(fact->task_ended.state));
    json_out_kv_text(j, "end", names_end_cause(fact->task_ended.cause));
    json_out_kv_i64(j, "exit_code", fact->task_ended.exit_code);
}

static void pass_json(struct json_out *j, const struct fact *fact)
{
    json_out_kv_u64(j, "work", fact->pass.work);
    json_out_kv_u64(j, "placed", fact->pass.placed);
    json_out_kv_bool(j, "complete", fact->pass.complete);
}

static void account_json(struct json_out *j, const struct core *core, account_id id)
{
    const struct account *account = query_account(core, id);
    if (account != NULL) {
        json_out_kv_text(j, names_account_kind(account->kind), query_account_name(core, id));
    }
}

/* Who had to go, for whom, by which rule, and how both sides stood. */
static void eviction_details_json(struct json_out *j, const struct core *core,
                                  const struct fact *fact)
{
    key_json(j, fact->evicted.key);
    eviction_json(j, core, &fact->evicted.why);
}

static void attempt_details_json(struct json_out *j, const struct fact *fact)
{
    if (fact->type == FACT_ATTEMPT_STARTED) {
        key_json(j, fact->attempt_started.key);
        json_out_kv_bool(j, "workdir_used", !fact->attempt_started.workdir_missed);
    } else if (fact->type == FACT_ATTEMPT_CHECKPOINT) {
        key_json(j, fact->attempt_checkpoint.key);
        time_text_json(j, "at", fact->attempt_checkpoint.at_ms);
    } else if (fact->type == FACT_ATTEMPT_STOPPING) {
        key_json(j, fact->attempt_stopping.key);
        json_out_kv_text(j, "end", names_end_cause(fact->attempt_stopping.cause));
    } else {
        attempt_ended_json(j, fact);
    }
}

static void account_details_json(struct json_out *j, const struct core *core,
                                 const struct fact *fact)
{
    if (fact->type == FACT_ACCOUNT_SET) {
        json_out_kv_text(j, names_account_kind(fact->account_set.spec->kind),
                         fact->account_set.spec->name);
    } else if (fact->type == FACT_ACCOUNT_DELETED) {
        account_json(j, core, fact->account_deleted.account);
    } else {
        account_json(j, core, fact->quota_set.account);
    }
}

/* When a pool is looked at again, or its reservations start. */
static void pool_times_json(struct json_out *j, const struct fact *fact)
{
    if (fact->type == FACT_POOL_WAKE) {
        time_text_json(j, "at", fact->pool_wake.at_ms);
        return;
    }
    json_out_key(j, "reservations");
    json_out_array(j);
    for (uint32_t i = 0; i < fact->reserved.count; i++) {
        json_out_object(j);
        json_out_kv_u64(j, "task", fact->reserved.at[i].task.v);
        time_text_json(j, "until", fact->reserved.at[i].until_ms);
        json_out_end(j);
    }
    json_out_end(j);
}

/* What the type adds. */
static void details_json(struct json_out *j, const struct core *core, const struct fact *fact)
{
    switch (fact->type) {
    case FACT_SERVER_STARTED:
        json_out_kv_u64(j, "epoch", fact->server_started.epoch);
        break;
    case FACT_RESOURCE_DEFINED:
        json_out_kv_text(j, "resource", fact->resource_defined.name);
        break;
    case FACT_NODE_SET:
        json_out_kv_u64(j, "incarnation", fact->node_set.incarnation);
        break;
    case FACT_NODE_STATE:
        json_out_kv_text(j, "state", names_node_state(fact->node_state.state));
        break;
    case FACT_TASK_SUBMITTED:
        submitted_json(j, core, fact);
        break;
    case FACT_PASS:
        pass_json(j, fact);
        break;
    case FACT_ALLOCATED:
    case FACT_CLAIMED:
        allocated_json(j, fact);
        break;
    case FACT_EVICTED:
        eviction_details_json(j, core, fact);
        break;
    case FACT_ATTEMPT_STARTED:
    case FACT_ATTEMPT_CHECKPOINT:
    case FACT_ATTEMPT_STOPPING:
    case FACT_ATTEMPT_ENDED:
        attempt_details_json(j, fact);
        break;
    case FACT_TASK_MOVED:
        json_out_kv_u64(j, fact->task_moved.behind ? "behind" : "ahead_of",
                        fact->task_moved.other.v);
        break;
    case FACT_DEPENDENTS_RELEASED:
        json_out_kv_u64(j, "count", fact->released.count);
        break;
    case FACT_TASK_ENDED:
        task_ended_json(j, fact);
        break;
    case FACT_SUBMIT_KEY:
        json_out_kv_u64(j, "first", fact->submit_key.first.v);
        json_out_kv_u64(j, "count", fact->submit_key.count);
        break;
    case FACT_ACCOUNT_SET:
    case FACT_ACCOUNT_DELETED:
    case FACT_QUOTA_SET:
        account_details_json(j, core, fact);
        break;
    case FACT_POOL_WAKE:
    case FACT_RESERVED:
        pool_times_json(j, fact);
        break;
    case FACT_HISTORY_TICKED:
    case FACT_POOL_SET:
    case FACT_POOL_DELETED:
    case FACT_NODE_EDITED:
    case FACT_TASK_QUEUED:
    case FACT_TASK_PAUSED:
    case FACT_TASK_EDITED:
    case FACT_TASK_KILL_ASKED:
    case FACT_HEAD_BLOCKED:
    case FACT_TASK_ARCHIVED:
    case FACT_SUBMIT_KEYS_EXPIRED:
    case FACT_CLAIM_DROPPED:
        break;
    }
}

/* Facts that create an object bring its name; the state may not have it yet. */
static const char *pool_name(const struct core *core, const struct fact *fact, pool_id pool)
{
    return fact->type == FACT_POOL_SET ? fact->pool_set.spec->name : query_pool_name(core, pool);
}

static const char *node_name(const struct core *core, const struct fact *fact, node_id node)
{
    return fact->type == FACT_NODE_SET ? fact->node_set.spec->name : query_node_name(core, node);
}

void event_json(struct json_out *j, const struct core *core, uint64_t seq, const struct fact *fact)
{
    struct event_json_subject subject = event_json_subject(core, fact);
    json_out_object(j);
    json_out_kv_u64(j, "seq", seq);
    time_text_json(j, "time", fact->time_ms);
    json_out_kv_text(j, "type", fact_type_name(fact->type));
    json_out_kv_text(j, "actor", fact->actor);
    json_out_kv_text(j, "cause", fact->cause);
    if (subject.task.v != 0) {
        json_out_kv_u64(j, "task", subject.task.v);
    }
    if (subject.pool.v != 0) {
        json_out_kv_text(j, "pool", pool_name(core, fact, subject.pool));
    }
    if (subject.node.v != 0) {
        json_out_kv_text(j, "node", node_name(core, fact, subject.node));
    }
    details_json(j, core, fact);
    json_out_end(j);
}
