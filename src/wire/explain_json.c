/* explain_json.c - why a task waits, the nodes that come closest, and what would help.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/explain_json.h"

#include "wire/eviction_json.h"
#include "wire/part_json.h"
#include "wire/reason_help.h"
#include "wire/reason_text.h"

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
    uint32_t count = reason_help_suggestions(core, task->id, &why, arena, suggestions);
    part_json_texts(j, "suggestions", suggestions, count);
    json_out_end(j);
}
