/* record.c - see record.h. SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include "base/hash.h"
#include "core/model/names.h"
#include "core/sched/explain/explain.h"
#include "core/sched/explain/owed.h"
#include "core/sched/order/shares.h"
#include "core/state/history.h"
#include "core/state/state.h"
#include "law.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void record_note(struct record *record, const char *word, const int64_t *numbers, size_t count)
{
    static int asked = -1;
    asked = asked < 0 ? getenv("WEIR_TELL") != NULL : asked;
    const bool told = asked != 0;
    record->hash = hash_u64(record->hash ^ hash_bytes(word, strlen(word)));
    if (told) {
        printf("%s", word);
    }
    for (size_t i = 0; i < count; i++) {
        record->hash = hash_u64(record->hash + (uint64_t)numbers[i] + i);
        if (told) {
            printf(" %" PRId64, numbers[i]);
        }
    }
    if (told) {
        printf("\n");
    }
}
#define NOTE RECORD_NOTE

static void reason_note(struct record *record, const struct reason *reason)
{
    NOTE(record, names_reason(reason->code), reason->resource.v, reason->pool.v, reason->node.v,
         (int64_t)reason->task.v, reason->account.v, reason->have, reason->need, reason->wanted,
         reason->available, reason->smallest, reason->until_ms, reason->running, reason->all);
    NOTE(record, reason->text, 0);
    NOTE(record, reason->group, 0);
}

void record_verdict(struct record *record, enum verdict verdict, const struct facts *facts)
{
    record->visited += facts->visited;
    NOTE(record, "verdict", verdict);
    if (verdict != VERDICT_OK && verdict != VERDICT_REPEATED) {
        reason_note(record, &facts->refusal);
    }
}

/* ---- facts ---- */

static void side_note(struct record *record, const struct eviction_side *side)
{
    NOTE(record, "side", side->account.v, side->allocated, side->guaranteed, side->share);
}

static void place_note(struct record *record, const struct fact *fact)
{
    const struct attempt_key *key = &fact->allocated.key;
    if (fact->type == FACT_ALLOCATED || fact->type == FACT_CLAIMED) {
        NOTE(record, "at", (int64_t)key->task.v, key->index, key->attempt, fact->allocated.node.v,
             (int64_t)fact->allocated.devices, fact->allocated.slots_milli,
             fact->allocated.cpu_milli, fact->allocated.memory_bytes);
    } else if (fact->type == FACT_CLAIM_DROPPED) {
        NOTE(record, "of", (int64_t)fact->claim_dropped.task.v, fact->claim_dropped.index);
    } else if (fact->type == FACT_EVICTED) {
        const struct eviction *why = &fact->evicted.why;
        NOTE(record, "out", (int64_t)fact->evicted.key.task.v, fact->evicted.key.index,
             fact->evicted.deadline_ms, why->rule, (int64_t)why->claimant.v, why->resource.v);
        side_note(record, &why->victim);
        side_note(record, &why->taker);
    } else if (fact->type == FACT_PASS) {
        NOTE(record, "pool", fact->pass.pool.v, fact->pass.placed, fact->pass.complete,
             (int64_t)fact->pass.work);
    } else if (fact->type == FACT_HEAD_BLOCKED) {
        NOTE(record, "head", fact->head.pool.v, (int64_t)fact->head.task.v);
    } else if (fact->type == FACT_POOL_WAKE) {
        NOTE(record, "wake", fact->pool_wake.pool.v, fact->pool_wake.at_ms);
    }
    for (uint32_t i = 0; fact->type == FACT_RESERVED && i < fact->reserved.count; i++) {
        NOTE(record, "kept", (int64_t)fact->reserved.at[i].task.v, fact->reserved.at[i].until_ms);
    }
}

static void life_note(struct record *record, const struct fact *fact)
{
    if (fact->type == FACT_ATTEMPT_STOPPING) {
        NOTE(record, "stop", (int64_t)fact->attempt_stopping.key.task.v,
             fact->attempt_stopping.key.index, fact->attempt_stopping.cause,
             fact->attempt_stopping.deadline_ms);
    } else if (fact->type == FACT_ATTEMPT_ENDED) {
        NOTE(record, "end", (int64_t)fact->attempt_ended.report.key.task.v,
             fact->attempt_ended.report.key.index, fact->attempt_ended.cause,
             fact->attempt_ended.again);
    } else if (fact->type == FACT_TASK_ENDED) {
        NOTE(record, "ended", (int64_t)fact->task_ended.task.v, fact->task_ended.state,
             fact->task_ended.cause, fact->task_ended.exit_code, fact->task_ended.released);
    } else if (fact->type == FACT_NODE_STATE) {
        NOTE(record, "node", fact->node_state.node.v, fact->node_state.state);
    } else if (fact->type == FACT_TASK_SUBMITTED) {
        const struct request *request = fact->task_submitted.request;
        NOTE(record, "asks", (int64_t)fact->task_submitted.task.v, fact->task_submitted.pool.v,
             fact->task_submitted.account.v, request->slots_milli, request->cpu_milli,
             request->memory_bytes, request->gpu_memory_bytes, request->share_devices,
             request->named_count, request->avoid_count);
    }
    for (uint32_t i = 0; fact->type == FACT_TASK_MOVED && i < fact->task_moved.rank_count; i++) {
        NOTE(record, "rank", (int64_t)fact->task_moved.ranks[i].task.v,
             fact->task_moved.ranks[i].rank);
    }
}

void record_fact(struct record *record, const struct core *core, const struct fact *fact)
{
    struct effects effects = {0};
    if (fact->type == FACT_POOL_STATE) {
        return; /* decides nothing: the fact says what the counts of the state are */
    }
    NOTE(record, fact_type_name(fact->type), fact->time_ms);
    place_note(record, fact);
    life_note(record, fact);
    core_react(core, fact, &effects);
    for (size_t i = 0; i < effects.count; i++) {
        const struct effect *effect = &effects.at[i];
        NOTE(record, "effect", effect->type, effect->node.v, effect->incarnation,
             (int64_t)effect->key.task.v, effect->key.index, effect->key.attempt, effect->grace_ms,
             effect->cause);
    }
    effect_done(&effects);
}

/* ---- the state ---- */

static void wait_note(struct record *record, const struct core *core, const struct task *task)
{
    struct explanation why;
    explain_task(core, task->id, &why);
    NOTE(record, "task", (int64_t)task->id.v, task->state,
         query_queue_position(core, task->id, UINT32_MAX), why.expect_ms, why.expect_from,
         why.reserved_until_ms, why.nodes_total, why.resume.v, why.near_count, why.blocker_count);
    reason_note(record, &why.reason);
    for (uint32_t i = 0; i < why.near_count; i++) {
        NOTE(record, "near", why.near[i].node.v, why.near[i].code, why.near[i].resource.v,
             why.near[i].wanted, why.near[i].available, why.near[i].score.over,
             why.near[i].score.under);
    }
    for (uint32_t i = 0; i < why.blocker_count; i++) {
        NOTE(record, "behind", (int64_t)why.blockers[i].v);
    }
    struct explain_group with;
    if (explain_group(core, task, &with)) {
        NOTE(record, "with", with.shape.v, with.account.v, with.user.v, with.priority, with.ahead,
             with.preemptible);
    }
    if (explain_time_for_room(why.reason.code)) {
        NOTE(record, "with priority", explain_time_priority(core, task->id));
    }
    if (why.account.id.v != 0) {
        NOTE(record, "account", why.account.id.v, why.account.resource.v, why.account.guaranteed,
             why.account.share, why.account.allocated, why.account.limit, why.account.held);
    }
}

/* Everything that the row of a task says and that no other line does. */
static void task_note(struct record *record, const struct task *task)
{
    NOTE(record, "times", task->submitted_ms, task->queued_ms, task->started_ms, task->ended_ms,
         task->running_ms, task->ran_ms, task->evicted_ms, task->stale_ms, task->rank,
         task->expect_ms, task->expect_from, task->cpu_ms, task->memory_peak_bytes);
    NOTE(record, "counts", task->waiting_count, task->waiting_from, task->claimed_count,
         task->moving_count, task->active_count, task->starting_count, task->stopping_count,
         task->ended_count, task->failed_count, task->unknown_count, task->retries,
         task->lost_count, task->preempted_count, task->depends_left, (int64_t)task->depends_met);
    NOTE(record, "is", task->pool_next.v, task->account.v, task->priority, task->exit_code,
         task->cause, task->queued, task->pause_asked, task->kill_asked, task->reserved,
         task->by_length, task->lacks);
}

static void instances_note(struct record *record, const struct core *core, const struct task *task)
{
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *at = query_instance(core, task->id, i);
        const struct claim *claim = query_instance_claim(core, task->id, i);
        NOTE(record, "instance", i, at->state, at->cause, at->node.v, at->attempt, at->retries,
             at->exit_code, at->allocated_ms, at->started_ms, at->ended_ms, at->stop_deadline_ms,
             at->checkpoint_ms, (int64_t)at->devices, at->slots_milli, at->cpu_milli,
             at->memory_bytes);
        if (claim != NULL) {
            NOTE(record, "claim", claim->node.v, (int64_t)claim->devices, claim->slots_milli,
                 claim->cpu_milli, claim->memory_bytes);
        }
    }
    const struct eviction_note *last = query_task_eviction(core, task->id);
    if (last != NULL) {
        NOTE(record, "evicted", last->at_ms, last->index, last->slots_lost, last->cpu_lost,
             last->why.rule, (int64_t)last->why.claimant.v, last->why.resource.v);
        side_note(record, &last->why.victim);
        side_note(record, &last->why.taker);
    }
}

static void account_note(struct record *record, const struct core *core, account_id account,
                         pool_id pool)
{
    struct quota quota;
    struct usage usage;
    query_quota(core, account, pool, &quota);
    query_usage(core, account, pool, &usage);
    for (uint32_t dim = 0; dim < query_dim_count(core); dim++) {
        NOTE(record, "account", account.v, pool.v, dim, quota.guaranteed.at[dim],
             quota.limit.at[dim], quota.weight[dim], quota.rules.rank, usage.allocated.at[dim],
             usage.leaving.at[dim], usage.fixed.at[dim], usage.wanted.at[dim],
             shares_of(core, account, pool, dim), history_used(core, account, pool, dim),
             quota_borrowed(&quota, &usage, dim), quota_overhang(&quota, &usage, dim),
             quota_demand(&usage, dim),
             query_quota_computed(core, account, pool, query_dim_resource(core, dim)));
    }
    NOTE(record, "tasks", usage.pending_count, usage.running_count, usage.gpu_memory_wanted,
         query_usage_slots_wanted(core, pool, &usage), quota.rules.preempt_min_runtime_ms,
         quota.rules.reclaim_min_runtime_ms);
}

/* Who is owed a place: after a complete pass nobody, in the middle of one perhaps somebody. */
static void owed_note(struct record *record, const struct core *core, pool_id pool)
{
    struct arena arena;
    const struct owed *owed;
    arena_init(&arena);
    const size_t count = owed_find(core, pool, query_time_ms(core), &arena, &owed);
    for (size_t i = 0; i < count; i++) {
        NOTE(record, "owed", owed[i].account.v, (int64_t)owed[i].task.v, owed[i].count);
    }
    arena_done(&arena);
}

static void pool_note(struct record *record, const struct core *core, const struct pool *pool)
{
    struct pool_figures figures;
    query_pool_figures(core, pool->id, &figures);
    NOTE(record, "pool", pool->id.v, figures.nodes_total, figures.nodes_up, figures.nodes_draining,
         figures.nodes_lost, figures.slots_used, (int64_t)figures.aux_total,
         (int64_t)figures.aux_used, (int64_t)figures.aux_free, figures.slot_type, pool->idle.level,
         pool->slots_free, pool->wake_ms);
    for (task_id task = query_queue_next(core, pool->id, (task_id){0}); task.v != 0;
         task = query_queue_next(core, pool->id, task)) {
        NOTE(record, "queued", (int64_t)task.v, query_queue_position(core, task, 5));
    }
    for (const struct node *node = query_pool_node_next(core, pool->id, (node_id){0}); node != NULL;
         node = query_pool_node_next(core, pool->id, node->id)) {
        struct effects orders = {0};
        core_orders_for(core, node->id, &orders);
        NOTE(record, "node", node->id.v, node->state, node->slots_free, node->cpu_free,
             node->memory_free, node->aux_used, (int64_t)orders.count);
        effect_done(&orders);
    }
}

/* The next deadline, without changes of pools' states: they are due at once, and decide nothing. */
static int64_t deadline(const struct core *core)
{
    const uint64_t row = table_next(&core->keys, 0);
    int64_t earliest = INT64_MAX;
    struct okey key;
    if (row != 0) {
        const struct submit_key *first = table_get(&core->keys, row);
        earliest = first->time_ms + SUBMIT_KEY_MS;
    }
    if (oindex_from(&core->orders[ORDER_DEADLINE], (struct okey){{1, 0, 0, 0}}, &key) &&
        (int64_t)key.at[0] < earliest) {
        earliest = (int64_t)key.at[0];
    }
    return earliest;
}

void record_state(struct record *record, const struct core *core)
{
    account_id owner = {0};
    pool_id of = {0};
    while (query_quota_next(core, &owner, &of)) {
        NOTE(record, "quota", owner.v, of.v);
    }
    NOTE(record, "due", deadline(core));
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        wait_note(record, core, task);
        task_note(record, task);
        instances_note(record, core, task);
    }
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        pool_note(record, core, pool);
        owed_note(record, core, pool->id);
        for (const struct account *account = query_account_next(core, (account_id){0});
             account != NULL; account = query_account_next(core, account->id)) {
            account_note(record, core, account->id, pool->id);
        }
    }
}

/* ---- the record ---- */

uint32_t record_number(const struct record *record)
{
    const uint64_t mixed = hash_u64(record->hash);
    return (uint32_t)(mixed & 0xffff) << 8 | (uint32_t)(hash_u64(record->visited) & 0xff);
}

bool record_known(const char *path, const char *program, uint64_t seed, uint32_t *ret)
{
    FILE *file = fopen(path, "r");
    law(file != NULL, "the record can be read");
    char line[512];
    const size_t name_len = strlen(program);
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, program, name_len) != 0 || line[name_len] != ' ') {
            continue;
        }
        char *at = line + name_len;
        const uint64_t first = strtoull(at, &at, 10);
        for (uint64_t i = first; i <= seed && seed - first < sizeof line && *at == ' '; i++) {
            *ret = (uint32_t)strtoul(at, &at, 16);
            found = i == seed;
        }
    }
    (void)fclose(file);
    return found;
}

void record_end(const struct record *record, const char *program, uint64_t seed)
{
    const char *path = getenv("WEIR_DECIDED");
    const uint32_t number = record_number(record);
    if (getenv("WEIR_DECIDED_TELL") != NULL) {
        printf("decided %s %" PRIu64 " %06" PRIx32 "\n", program, seed, number);
        return;
    }
    uint32_t before;
    if (path == NULL || !record_known(path, program, seed, &before)) {
        return;
    }
    law(before >> 8 == number >> 8,
        "this history is decided as decided.txt says (record.h says what to do)");
    law(before == number, "as many nodes are looked at as decided.txt says");
}
