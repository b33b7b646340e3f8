/* explain_json.c - why a task waits, the nodes that come closest, and what would help.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/explain_json.h"

#include "wire/eviction_json.h"
#include "wire/part_json.h"
#include "wire/reason_text.h"

#include <inttypes.h>

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
    if (near->code != REASON_NODES_AWAY) {
        const struct reason reason = {
            .resource = near->resource, .wanted = near->wanted, .available = near->available};
        const char *sentence = lacks[near->code];
        reason_text_fill(core, &reason, sentence != NULL ? sentence : "has room", out);
    } else if (node != NULL && node->state == NODE_UP && node->draining) {
        buf_add_str(out, "is draining");
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
static void account_figures_json(struct json_out *j, const struct core *core,
                                 const struct explain_account *account)
{
    const struct account *row = query_account(core, account->id);
    if (row == NULL) {
        json_out_kv_text(j, "account", NULL);
        return;
    }
    json_out_put(j, "account:{kind:%s,name:%s,resource:%s", names_account_kind(row->kind),
                 query_account_name(core, account->id),
                 query_resource_name(core, account->resource));
    part_json_bound(j, "guaranteed", account->resource, account->guaranteed);
    part_json_bound(j, "share", account->resource, account->share);
    part_json_bound(j, "allocated", account->resource, account->allocated);
    part_json_bound(j, "limit", account->resource, account->limit);
    json_out_end(j);
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

/* Suggests a smaller request and a higher priority. Each of the two alone lets the task start. */
static uint32_t room_suggestions(const struct core *core, task_id id, const struct explanation *why,
                                 struct arena *arena, const char **ret)
{
    uint32_t count = 0;
    if (why->reason.smallest > 0 && reason_text_has_amount(why->reason.code)) {
        ret[count++] = filled(core, &why->reason, smaller, arena);
    }
    const uint32_t priority =
        explain_time_for_room(why->reason.code) ? explain_time_priority(core, id) : 0;
    if (priority != 0) {
        ret[count++] = arena_fmt(arena, "weir task edit %" PRIu64 " --priority %u", id.v, priority);
    }
    return count;
}

/* Suggests a move ahead of the holder, whose kept places the task may then use. This works only
 * if there is one holder, and if the holder waits in the same queue. */
static const char *ahead(const struct core *core, task_id id, const struct reason *reason,
                         struct arena *arena)
{
    const struct task *task = query_task(core, id);
    const struct task *holder = query_task(core, reason->task);
    const struct pool *pool = query_pool(core, reason->pool);
    if (task == NULL || holder == NULL || pool == NULL || pool->reserved_count > 1 ||
        pool->policy == POLICY_FIFO || pool->order == QUEUE_SHORT_FIRST ||
        task->account.v != holder->account.v || task->priority != holder->priority) {
        return NULL;
    }
    return arena_fmt(arena, "weir task move %" PRIu64 " --ahead-of %" PRIu64, id.v, holder->id.v);
}

/* Returns the one command that helps with this code; NULL: there is none. */
static const char *command(const struct core *core, task_id id, const struct explanation *why,
                           struct arena *arena)
{
    static const char *const commands[REASON_COUNT] = {
        [REASON_STAGED] = "weir task start {task}",
        [REASON_PAUSED] = "weir task activate {task}",
        [REASON_POOL_PAUSED] = "weir pool resume {pool}",
        [REASON_POOL_EMPTY] = "weir agent --server URL --pool {pool} --join-token TOKEN",
        [REASON_NODES_AWAY] = "weir node resume {node}",
    };
    const enum reason_code code = why->reason.code;
    if (code == REASON_RESERVED) {
        return ahead(core, id, &why->reason, arena);
    }
    if (commands[code] == NULL || (code == REASON_NODES_AWAY && why->resume.v == 0)) {
        return NULL;
    }
    const struct reason about = {.task = id, .pool = why->reason.pool, .node = why->resume};
    return filled(core, &about, commands[code], arena);
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
    return command;
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

uint32_t explain_json_suggestions(const struct core *core, task_id id,
                                  const struct explanation *why, struct arena *arena,
                                  const char *ret[SUGGESTIONS_MAX])
{
    const enum reason_code code = why->reason.code;
    if (code == REASON_OVER_LIMIT || code == REASON_OVER_GUARANTEE || code == REASON_USER_CAP ||
        code == REASON_OVER_SHARE) {
        return bound_suggestions(core, why, arena, ret);
    }
    ret[0] = command(core, id, why, arena);
    return ret[0] != NULL ? 1 : room_suggestions(core, id, why, arena, ret);
}

void explain_json(struct json_out *j, const struct core *core, const struct task *task,
                  struct arena *arena)
{
    struct explanation why;
    const char *suggestions[SUGGESTIONS_MAX];
    explain_task(core, task->id, &why);
    const bool further = why.position > EXPLAIN_POSITION_MAX;
    json_out_put(j, "{task:%lu,state:%s,position:%zu,further:%i,pool:%s,reason:", task->id.v,
                 names_task_state((enum task_state)task->state),
                 (uint64_t)(further ? EXPLAIN_POSITION_MAX : why.position), further,
                 query_pool_name(core, task->pool));
    reason_text_json(j, core, &why.reason);
    json_out_put(j, "expected:{ms:%zu,from:%s},reserved_until:%td", (uint64_t)why.expect_ms,
                 names_length_source(why.expect_from), why.reserved_until_ms);
    account_figures_json(j, core, &why.account);
    eviction_json_evicted(j, core, task);
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
