/* explain_json.c - why an instance was evicted; why a task waits, the nodes that come closest, and
 * what would help.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/explain_json.h"

#include "core/sched/explain/explain_keep.h"
#include "core/sched/order/shares.h"
#include "core/state/elastic.h"
#include "wire/elsewhere.h"
#include "wire/fallback_json.h"
#include "wire/part_json.h"
#include "wire/quota_warn.h"
#include "wire/price.h"
#include "wire/reason_text.h"

#include <inttypes.h>

/* ---- evictions ---- */

enum { MS_PER_SECOND = 1000 };

static void side_json(struct json_out *j, const struct core *core, const char *name,
                      resource_id resource, const struct eviction_side *side)
{
    json_out_key(j, name);
    json_out_object(j);
    part_json_account(j, core, side->account);
    part_json_bound(j, "allocated", resource, side->allocated);
    part_json_bound(j, "guaranteed", resource, side->guaranteed);
    part_json_bound(j, "share", resource, side->share);
    json_out_end(j);
}

void explain_json_eviction(struct json_out *j, const struct core *core, const struct eviction *why)
{
    json_out_kv_text(j, "rule", names_eviction_rule(claim_eviction_told(why)));
    if (why->claimant.v == 0) {
        return;
    }
    json_out_put(j, "claimant:%lu,resource:%s", why->claimant.v,
                 query_resource_name(core, why->resource));
    side_json(j, core, "victim", why->resource, &why->victim);
    side_json(j, core, "taker", why->resource, &why->taker);
}

static void bound_text(const char *before, resource_id resource, int64_t amount, struct buf *out)
{
    buf_add_str(out, before);
    if (amount == QUOTA_UNLIMITED) {
        buf_add_str(out, "unlimited");
    } else {
        reason_text_amount_bare(resource, amount, out);
    }
}

static void side_text(const struct core *core, const struct eviction *why,
                      const struct eviction_side *side, struct buf *out)
{
    const struct account *account = query_account(core, side->account);
    if (account == NULL) {
        buf_add_str(out, "an account that is gone");
    } else {
        buf_addf(out, "%s '%s'", names_account_kind(account->kind),
                 query_account_name(core, side->account));
    }
    buf_add_str(out, " held ");
    reason_text_amount(core, why->resource, side->allocated, out);
    bound_text(" (guaranteed ", why->resource, side->guaranteed, out);
    bound_text(", share ", why->resource, side->share, out);
    buf_add_char(out, ')');
}

void explain_json_eviction_text(const struct core *core, const struct eviction *why,
                                struct buf *out)
{
    static const char *const claimant[EVICTION_RULE_COUNT] = {
        [EVICT_SHARE] = "whose account was below its share",
        [EVICT_GUARANTEE] = "which took back the guarantee of its account",
        [EVICT_PRIORITY] = "which has a higher priority",
        [EVICT_CONSOLIDATE] = "which needs more room in one place",
        [EVICT_STALE] = "", /* no task takes the place */
    };
    const enum eviction_rule told = claim_eviction_told(why);
    if (why->rule == EVICT_STALE) {
        buf_add_str(out, "its gang was below its minimum for too long");
        return;
    }
    buf_addf(out, "%s for task %llu, %s; ",
             told == EVICT_CONSOLIDATE ? "moved to make room" : "stopped",
             (unsigned long long)why->claimant.v, claimant[told]);
    side_text(core, why, &why->victim, out);
    if (why->victim.account.v != why->taker.account.v) {
        buf_add_str(out, "; ");
        side_text(core, why, &why->taker, out);
    }
}

void explain_json_evicted(struct json_out *j, const struct core *core, const struct task *task)
{
    const struct eviction_note *note = query_task_eviction(core, task->id);
    if (note == NULL) {
        json_out_kv_text(j, "evicted", NULL);
        return;
    }
    struct buf text;
    buf_init(&text, REASON_TEXT_MAX);
    explain_json_eviction_text(core, &note->why, &text);
    json_out_put(j, "evicted:{at:%td,index:%u", note->at_ms, note->index);
    explain_json_eviction(j, core, &note->why);
    json_out_put(j, "message:%s,work_lost:{slot_seconds:%.3ld,cpu_seconds:%.3ld}}", buf_text(&text),
                 note->slots_lost / MS_PER_SECOND, note->cpu_lost / MS_PER_SECOND);
    buf_done(&text);
}

/* ---- why a task waits ---- */

/* What a node lacks. */
static const char *const lacks[REASON_COUNT] = {
    [REASON_TOO_LARGE] = "is smaller than {wanted}",
    [REASON_NO_ROOM] = "{free} free of the {wanted} that the task needs",
    [REASON_RESERVED] = "{free} not kept of the {wanted} that the task needs",
    [REASON_PROMISED] = "{free} not promised of the {wanted} that the task needs",
    [REASON_NO_DEVICES] = "does not have the requested devices",
    [REASON_OTHER_LABELS] = "does not have the requested labels",
    [REASON_AVOIDED] = "is avoided by the task",
    [REASON_DEVICES_BUSY] = "the devices are in use",
    [REASON_AUX_FULL] = "already runs its maximum number of tasks without slots",
};

/* Says in words what this node lacks. */
static void near_text(const struct core *core, const struct explain_node *near, struct buf *out)
{
    const struct node *node = query_node(core, near->node);
    if (near->code == REASON_TOO_LARGE && near->available > near->wanted) {
        /* A part of a wide task may want a node of exactly its size: `uneven: off`. */
        buf_add_str(out, "is not a node of just ");
        reason_text_amount(core, near->resource, near->wanted, out);
    } else if (near->code != REASON_NODES_AWAY) {
        const struct reason reason = {
            .resource = near->resource, .wanted = near->wanted, .available = near->available};
        const char *sentence = lacks[near->code];
        reason_text_fill(core, &reason, sentence != NULL ? sentence : "has room", out);
    } else if (node != NULL && node->state == NODE_UP && node->draining) {
        buf_add_str(out, "is draining");
    } else if (node != NULL && node->state == NODE_UP && node->pool_next.v != 0) {
        buf_addf(out, "goes to pool '%s'", query_pool_name(core, node->pool_next));
    } else {
        buf_addf(out, "is %s",
                 node != NULL ? names_node_state((enum node_state)node->state) : "gone");
    }
}

static void near_json(struct json_out *j, const struct core *core, const struct explain_node *near)
{
    struct buf message;
    bool amount = near->code == REASON_NO_ROOM || near->code == REASON_TOO_LARGE ||
                  near->code == REASON_RESERVED || near->code == REASON_PROMISED;
    buf_init(&message, REASON_TEXT_MAX);
    near_text(core, near, &message);
    json_out_put(j, "{node:%s,code:%s", query_node_name(core, near->node),
                 names_reason(near->code));
    json_out_kv_text(j, "resource", amount ? query_resource_name(core, near->resource) : NULL);
    part_json_amount(j, "wanted", near->resource, amount ? near->wanted : 0);
    part_json_amount(j, "available", near->resource, amount ? near->available : 0);
    json_out_put(j, "message:%s}", buf_text(&message));
    buf_done(&message);
}

/* Writes what the account that holds the task back has and may have. */
static void account_figures_json(struct json_out *j, const struct core *core, pool_id pool,
                                 const struct explain_account *account, struct arena *arena)
{
    const char *warnings[QUOTA_WARN_MAX];
    const bool owed =
        account->guaranteed != QUOTA_UNLIMITED && account->allocated < account->guaranteed;
    const struct account *row = query_account(core, account->id);
    uint32_t dim;
    if (row == NULL) {
        json_out_kv_text(j, "account", NULL);
        return;
    }
    json_out_put(j, "account:{kind:%s,name:%s,resource:%s", names_account_kind(row->kind),
                 query_account_name(core, account->id),
                 query_resource_name(core, account->resource));
    part_json_bound(j, "guaranteed", account->resource, account->guaranteed);
    part_json_bound(j, "share", account->resource,
                    query_dim_of(core, account->resource, &dim)
                        ? shares_shown(core, account->id, pool, dim)
                        : account->share);
    part_json_bound(j, "allocated", account->resource, account->allocated);
    part_json_bound(j, "limit", account->resource, account->limit);
    /* Where the pool guarantees more than it has, the account may not get its own guarantee. */
    part_json_texts(j, "warnings", warnings,
                    owed ? quota_warn(core, account->id, pool, arena, warnings) : 0);
    json_out_end(j);
}

/* ---- kept places ---- */

/* Writes slot-hours. Amounts above one slot-hour are rounded down to tenths. */
static void slot_hours_text(int64_t amount, struct buf *out)
{
    const int64_t milli = part_json_slot_hours(amount);
    reason_text_amount_bare((resource_id){RESOURCE_SLOTS},
                            milli >= SLOT_MILLI ? milli - milli % 100 : milli, out);
}

static void keeping_text(const struct core *core, const struct explain_keep *keep, struct buf *out)
{
    static const char *const sentences[EXPLAIN_KEEPING_COUNT] = {
        [KEEPING_HOLDS] = "places are kept for the task as they become free",
        [KEEPING_PATIENCE] = "places are kept for the task once the patience of the pool is over",
        [KEEPING_CREDIT] = "the task needs a turn, and {account} has used more than its share; the "
                           "turn comes when this is earned back",
        [KEEPING_NO_SHARE] =
            "the task needs a turn, and {account} has a share of 0, which earns no turn",
        [KEEPING_NO_TURN] = "the task needs a turn, and what other accounts are guaranteed and ask "
                            "for leaves too little",
    };
    const struct reason about = {.account = keep->account};
    if (keep->code != KEEPING_BUDGET) {
        reason_text_fill(core, &about, sentences[keep->code], out);
        return;
    }
    buf_add_str(out, "the idle budget has ");
    slot_hours_text(keep->level, out);
    buf_add_str(out, " of the ");
    slot_hours_text(keep->cost, out);
    buf_add_str(out, " slot-hours that keeping places for the task would cost");
}

/* Writes "keeping":{…}: are places kept for the task, or why not yet? null: nothing is to be said. */
static void keeping_json(struct json_out *j, const struct core *core, task_id id,
                         const struct explanation *why)
{
    static const char *const names[EXPLAIN_KEEPING_COUNT] = {
        [KEEPING_HOLDS] = "holds",   [KEEPING_PATIENCE] = "patience", [KEEPING_BUDGET] = "budget",
        [KEEPING_CREDIT] = "credit", [KEEPING_NO_SHARE] = "no-share", [KEEPING_NO_TURN] = "no-turn",
    };
    struct explain_keep keep;
    struct buf message;
    explain_keep(core, id, why, &keep);
    if (keep.code == KEEPING_NONE) {
        json_out_kv_text(j, "keeping", NULL);
        return;
    }
    buf_init(&message, REASON_TEXT_MAX);
    keeping_text(core, &keep, &message);
    json_out_put(j, "keeping:{code:%s,message:%s,until:%td", names[keep.code], buf_text(&message),
                 keep.until_ms);
    json_out_kv_milli(j, "level", part_json_slot_hours(keep.level));
    json_out_kv_milli(j, "cost", part_json_slot_hours(keep.cost));
    json_out_end(j);
    buf_done(&message);
}

/* ---- what would help ---- */

/* Returns the sentence with its {words} filled in. */
static const char *filled(const struct core *core, const struct reason *reason,
                          const char *sentence, struct arena *arena)
{
    struct buf text;
    buf_init(&text, REASON_TEXT_MAX);
    reason_text_fill(core, reason, sentence, &text);
    const char *copy = arena_str(arena, buf_text(&text));
    buf_done(&text);
    return copy;
}

static const char smaller[] = "request {smallest} or less, and the task can start now";

/* The command that lets a pool or a node take tasks again, with its price: the task that waits may stop others there. */
static const char *resume(const struct core *core, const char *command,
                          const struct explanation *why, struct arena *arena)
{
    struct pool_spec spec;
    const struct node_edit edit = {.fields = NODE_EDIT_DRAIN, .drain = false};
    struct input in = {.type = INPUT_NODE_EDIT,
                       .now_ms = why->asked_ms,
                       .node = {.node = why->resume, .edit = &edit}};
    if (why->reason.code == REASON_POOL_PAUSED) {
        query_pool_spec(core, why->reason.pool, arena, &spec);
        spec.paused = false;
        in = (struct input){.type = INPUT_POOL_EDIT,
                            .now_ms = why->asked_ms,
                            .pool = {.pool = why->reason.pool, .spec = &spec}};
    }
    return price_tag(core, command, &in, arena);
}

/* Suggests a smaller request and a higher priority. Each of the two alone lets the task start. */
static uint32_t room_suggestions(const struct core *core, task_id id, const struct explanation *why,
                                 struct arena *arena, const char **ret)
{
    uint32_t count = 0;
    if (why->reason.smallest > 0 && reason_text_has_amount(why->reason.code)) {
        ret[count++] = filled(core, &why->reason, smaller, arena);
    }
    if (why->reason.away.v != 0 && why->reason.away.v == why->resume.v) {
        const char *text =
            filled(core, &(struct reason){.node = why->resume}, "weir node resume {node}", arena);
        ret[count++] = resume(core, text, why, arena);
    }
    const uint32_t priority =
        explain_time_for_room(why->reason.code) ? explain_time_priority(core, id) : 0;
    if (priority != 0) {
        const struct task_spec raised = {.priority = priority};
        const struct task_edit edit = {.fields = TASK_EDIT_priority, .spec = &raised};
        struct input in = {
            .type = INPUT_TASK_EDIT, .now_ms = why->asked_ms, .task = {.task = id, .edit = &edit}};
        const char *text = price_tag_start(
            core, arena_fmt(arena, "weir task edit %" PRIu64 " --priority %u", id.v, priority), &in,
            arena);
        if (text != NULL) {
            ret[count++] = text;
        }
    }
    return count;
}

/* Suggests a move ahead of the holder, whose kept places the task may then use. This works only
 * if there is one holder, and if the holder waits in the same queue. */
static const char *ahead(const struct core *core, task_id id, const struct explanation *why,
                         struct arena *arena)
{
    const struct reason *reason = &why->reason;
    const struct task *task = query_task(core, id);
    const struct task *holder = query_task(core, reason->task);
    const struct pool *pool = query_pool(core, reason->pool);
    if (task == NULL || holder == NULL || pool == NULL || pool->reserved_count > 1 ||
        pool->policy == POLICY_FIFO || pool->order == QUEUE_SHORT_FIRST ||
        task->account.v != holder->account.v || task->priority != holder->priority) {
        return NULL;
    }
    struct input in = {.type = INPUT_TASK_MOVE,
                       .now_ms = why->asked_ms,
                       .task = {.task = id, .move = {.other = holder->id, .behind = false}}};
    return price_tag(
        core,
        arena_fmt(arena, "weir task move %" PRIu64 " --ahead-of %" PRIu64, id.v, holder->id.v), &in,
        arena);
}

/* Returns the one command that helps with this code; NULL: there is none. */
static const char *command(const struct core *core, task_id id, const struct explanation *why,
                           struct arena *arena)
{
    static const char *const commands[REASON_COUNT] = {
        [REASON_STAGED] = "weir task start {task}",
        [REASON_PAUSED] = "weir task activate {task}",
        [REASON_PAUSED_IDLE] = "weir task activate {task}",
        [REASON_POOL_PAUSED] = "weir pool resume {pool}",
        [REASON_POOL_EMPTY] = "weir agent --server URL --pool {pool} --join-token TOKEN",
        [REASON_NODES_AWAY] = "weir node resume {node}",
    };
    const enum reason_code code = why->reason.code;
    if (code == REASON_RESERVED) {
        return ahead(core, id, why, arena);
    }
    const struct pool *pool = query_pool(core, why->reason.pool);
    if (code == REASON_POOL_EMPTY && pool != NULL && elastic_pool(pool)) {
        /* The provider brings nodes up by itself. Only a pool that is set to 0 nodes needs a
         * command. */
        static const char scale[] = "weir pool scale {pool} --nodes N";
        return pool->nodes_max > 0 ? NULL : filled(core, &why->reason, scale, arena);
    }
    if (commands[code] == NULL || (code == REASON_NODES_AWAY && why->resume.v == 0)) {
        return NULL;
    }
    const struct reason about = {.task = id, .pool = why->reason.pool, .node = why->resume};
    const char *text = filled(core, &about, commands[code], arena);
    const bool resumes = code == REASON_POOL_PAUSED || code == REASON_NODES_AWAY;
    return resumes ? resume(core, text, why, arena) : text;
}

/* Writes the command that sets a quota large enough for the task: the amount already held, which
 * may be above the bound, and the amount of the task. */
static const char *quota(const struct core *core, const struct explanation *why, bool limit,
                         struct arena *arena)
{
    const struct explain_account *account = &why->account;
    struct buf text;
    buf_init(&text, 256);
    reason_text_amount_bare(account->resource, account->held + why->reason.wanted, &text);
    const char *name = account->resource.v == RESOURCE_SLOTS
                           ? "gpu"
                           : query_resource_name(core, account->resource);
    const struct account *row = query_account(core, account->id);
    const bool department = row != NULL && row->kind == ACCOUNT_DEPARTMENT;
    const char *command =
        arena_fmt(arena, "weir quota set %s%s --pool %s %s%s=%s", department ? "--department " : "",
                  query_account_name(core, account->id), query_pool_name(core, why->reason.pool),
                  limit ? "--limit " : "", name, buf_text(&text));
    buf_done(&text);
    return price_tag_quota(core, command, why, limit, account->held + why->reason.wanted, arena);
}

/* Suggests what helps a task that a bound of its accounts or its user holds back. */
static uint32_t bound_suggestions(const struct core *core, const struct explanation *why,
                                  struct arena *arena, const char **ret)
{
    uint32_t count = 0;
    if (why->reason.code == REASON_OVER_GUARANTEE) {
        ret[count++] = "submit the task with --preemptible";
        ret[count++] = quota(core, why, false, arena);
    } else if (why->reason.code == REASON_OVER_SHARE) {
        ret[count++] = quota(core, why, false, arena);
    } else if (why->reason.code == REASON_OVER_LIMIT) {
        ret[count++] = quota(core, why, true, arena);
    }
    if (why->reason.smallest > 0) {
        ret[count++] = filled(core, &why->reason, smaller, arena);
    }
    return count;
}

/* Suggests what helps in the task's own pool. */
static uint32_t own_suggestions(const struct core *core, task_id id, const struct explanation *why,
                                struct arena *arena, const char **ret)
{
    const enum reason_code code = why->reason.code;
    if (code == REASON_OVER_LIMIT || code == REASON_OVER_GUARANTEE || code == REASON_USER_CAP ||
        code == REASON_OVER_SHARE) {
        return bound_suggestions(core, why, arena, ret);
    }
    ret[0] = command(core, id, why, arena);
    return ret[0] != NULL ? 1 : room_suggestions(core, id, why, arena, ret);
}

uint32_t explain_json_suggestions(const struct core *core, task_id id,
                                  const struct explanation *why, struct arena *arena,
                                  const char *ret[SUGGESTIONS_MAX])
{
    uint32_t count = own_suggestions(core, id, why, arena, ret);
    const char *other = elsewhere_command(core, id, why, arena);
    if (other != NULL && count < SUGGESTIONS_MAX) {
        ret[count++] = other;
    }
    return count;
}

/* Writes how many running instances of a service are healthy, unhealthy and unknown; null for a
 * task without a health check. */
static void health_json(struct json_out *j, const struct core *core, const struct task *task)
{
    uint32_t counts[SERVICE_HEALTH_COUNT] = {0};
    json_out_key(j, "health");
    if (!task->checked) {
        json_out_null(j);
        return;
    }
    for (uint32_t i = 0; i < task->instance_count && task->active_count > 0; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        if (instance->state == INSTANCE_RUNNING) {
            counts[instance->health]++;
        }
    }
    json_out_put(j, "{healthy:%u,unhealthy:%u,unknown:%u}", counts[SERVICE_HEALTHY],
                 counts[SERVICE_UNHEALTHY], counts[SERVICE_UNKNOWN]);
}

void explain_json(struct json_out *j, const struct core *core, const struct task *task,
                  int64_t now_ms, struct arena *arena)
{
    struct explanation why;
    const char *suggestions[SUGGESTIONS_MAX];
    explain_task(core, task->id, &why);
    why.asked_ms = now_ms;
    const uint32_t position = query_queue_position(core, task->id, POSITION_MAX + 1);
    const bool further = position > POSITION_MAX;
    json_out_put(j, "{task:%lu,state:%s,position:%zu,further:%i,pool:%s,reason:", task->id.v,
                 names_task_state((enum task_state)task->state),
                 (uint64_t)(further ? POSITION_MAX : position), further,
                 query_pool_name(core, task->pool));
    reason_text_json(j, core, &why.reason);
    json_out_put(j, "expected:{ms:%zu,from:%s},reserved_until:%td", (uint64_t)why.expect_ms,
                 names_length_source(why.expect_from), why.reserved_until_ms);
    health_json(j, core, task);
    fallback_json(j, core, task, true);
    keeping_json(j, core, task->id, &why);
    account_figures_json(j, core, task->pool, &why.account, arena);
    explain_json_evicted(j, core, task);
    json_out_put(j, "nodes_total:%u,nearest:[", why.nodes_total);
    for (uint32_t i = 0; i < why.near_count; i++) {
        near_json(j, core, &why.near[i]);
    }
    json_out_put(j, "],blockers:[");
    for (uint32_t i = 0; i < why.blocker_count; i++) {
        json_out_u64(j, why.blockers[i].v);
    }
    json_out_end(j);
    uint32_t count = explain_json_suggestions(core, task->id, &why, arena, suggestions);
    part_json_texts(j, "suggestions", suggestions, count);
    json_out_end(j);
}
