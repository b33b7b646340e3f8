/* explain_json.c - why a task waits, the nodes that come closest, and what would help.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/explain_json.h"

#include "wire/eviction_json.h"
#include "wire/part_json.h"
#include "wire/reason_help.h"
#include "wire/reason_text.h"
#include "wire/time_text.h"
#include "wire/task_json.h"

enum { MESSAGE_MAX = 1024 };

/* Says in words what this node lacks. */
static void near_text(const struct core *core, const struct explain_node *near, struct buf *out)
{
    const struct node *node = query_node(core, near->node);
    if (near->code == REASON_TOO_LARGE) {
        /* A part of a wide task may want a node of exactly its size: `uneven: off`. */
        buf_add_str(out,
                    near->available > near->wanted ? "is not a node of just " : "is smaller than ");
        reason_text_amount(core, near->resource, near->wanted, out);
    } else if (near->code == REASON_NO_ROOM || near->code == REASON_RESERVED ||
               near->code == REASON_PROMISED) {
        reason_text_amount(core, near->resource, near->available, out);
        buf_add_str(out, near->code == REASON_NO_ROOM    ? " free of the "
                         : near->code == REASON_PROMISED ? " not promised of the "
                                                         : " not kept of the ");
        reason_text_amount(core, near->resource, near->wanted, out);
        buf_add_str(out, " that the task needs");
    } else if (near->code == REASON_NODES_AWAY) {
        bool draining = node != NULL && node->state == NODE_UP && node->draining;
        buf_addf(out, "is %s",
                 draining       ? "draining"
                 : node != NULL ? names_node_state((enum node_state)node->state)
                                : "gone");
    } else if (near->code == REASON_NO_DEVICES) {
        buf_add_str(out, "does not have the requested devices");
    } else if (near->code == REASON_OTHER_LABELS) {
        buf_add_str(out, "does not have the requested labels");
    } else if (near->code == REASON_AVOIDED) {
        buf_add_str(out, "is avoided by the task");
    } else if (near->code == REASON_DEVICES_BUSY) {
        buf_add_str(out, "the devices are in use");
    } else if (near->code == REASON_AUX_FULL) {
        buf_add_str(out, "already runs its maximum number of tasks without slots");
    } else {
        buf_add_str(out, "has room");
    }
}

static void near_json(struct json_out *j, const struct core *core, const struct explain_node *near)
{
    struct buf message;
    bool amount = near->code == REASON_NO_ROOM || near->code == REASON_TOO_LARGE ||
                  near->code == REASON_RESERVED || near->code == REASON_PROMISED;
    buf_init(&message, MESSAGE_MAX);
    near_text(core, near, &message);
    json_out_object(j);
    json_out_kv_text(j, "node", query_node_name(core, near->node));
    json_out_kv_text(j, "code", names_reason(near->code));
    json_out_kv_text(j, "resource", amount ? query_resource_name(core, near->resource) : NULL);
    json_out_key(j, "wanted");
    reason_text_amount_json(j, near->resource, amount ? near->wanted : 0);
    json_out_key(j, "available");
    reason_text_amount_json(j, near->resource, amount ? near->available : 0);
    json_out_kv_text(j, "message", buf_text(&message));
    json_out_end(j);
    buf_done(&message);
}

static void bound_json(struct json_out *j, const char *name, resource_id resource, int64_t bound)
{
    json_out_key(j, name);
    if (bound == QUOTA_UNLIMITED) {
        json_out_null(j);
    } else {
        reason_text_amount_json(j, resource, bound);
    }
}

/* Writes what the account that holds the task back has and may have. */
static void account_figures_json(struct json_out *j, const struct core *core,
                                 const struct explain_account *account)
{
    json_out_key(j, "account");
    const struct account *row = query_account(core, account->id);
    if (row == NULL) {
        json_out_null(j);
        return;
    }
    json_out_object(j);
    json_out_kv_text(j, "kind", names_account_kind(row->kind));
    json_out_kv_text(j, "name", query_account_name(core, account->id));
    json_out_kv_text(j, "resource", query_resource_name(core, account->resource));
    bound_json(j, "guaranteed", account->resource, account->guaranteed);
    bound_json(j, "share", account->resource, account->share);
    bound_json(j, "allocated", account->resource, account->allocated);
    bound_json(j, "limit", account->resource, account->limit);
    json_out_end(j);
}

void explain_json(struct json_out *j, const struct core *core, const struct task *task,
                  struct arena *arena)
{
    struct explanation why;
    const char *suggestions[SUGGESTIONS_MAX];
    explain_task(core, task->id, &why);
    json_out_object(j);
    json_out_kv_u64(j, "task", task->id.v);
    json_out_kv_text(j, "state", names_task_state((enum task_state)task->state));
    bool further = why.position > EXPLAIN_POSITION_MAX;
    part_json_u64_or_null(j, "position", further ? EXPLAIN_POSITION_MAX : why.position);
    json_out_kv_bool(j, "further", further);
    json_out_kv_text(j, "pool", query_pool_name(core, task->pool));
    json_out_key(j, "reason");
    reason_text_json(j, core, &why.reason);
    json_out_key(j, "expected");
    json_out_object(j);
    part_json_u64_or_null(j, "ms", (uint64_t)why.expect_ms);
    json_out_kv_text(j, "from", names_length_source(why.expect_from));
    json_out_end(j);
    time_text_json(j, "reserved_until", why.reserved_until_ms);
    account_figures_json(j, core, &why.account);
    eviction_json_evicted(j, core, task);
    json_out_kv_u64(j, "nodes_total", why.nodes_total);
    json_out_key(j, "nearest");
    json_out_array(j);
    for (uint32_t i = 0; i < why.near_count; i++) {
        near_json(j, core, &why.near[i]);
    }
    json_out_end(j);
    json_out_key(j, "blockers");
    json_out_array(j);
    for (uint32_t i = 0; i < why.blocker_count; i++) {
        json_out_u64(j, why.blockers[i].v);
    }
    json_out_end(j);
    uint32_t count = reason_help_suggestions(core, task->id, &why, arena, suggestions);
    part_json_texts(j, "suggestions", suggestions, count);
    json_out_end(j);
}
