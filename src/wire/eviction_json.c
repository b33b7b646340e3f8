/* eviction_json.c - writes evictions for events, tasks and explanations.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/eviction_json.h"

#include "wire/reason_text.h"

enum { TEXT_MAX = 1024, MS_PER_SECOND = 1000 };

static void bound_json(struct json_out *j, const char *key, resource_id resource, int64_t amount)
{
    json_out_key(j, key);
    if (amount == QUOTA_UNLIMITED) {
        json_out_null(j);
    } else {
        reason_text_amount_json(j, resource, amount);
    }
}

static void side_json(struct json_out *j, const struct core *core, const char *name,
                      resource_id resource, const struct eviction_side *side)
{
    const struct account *account = query_account(core, side->account);
    json_out_key(j, name);
    json_out_object(j);
    if (account != NULL) {
        json_out_kv_text(j, names_account_kind(account->kind),
                         query_account_name(core, side->account));
    }
    bound_json(j, "allocated", resource, side->allocated);
    bound_json(j, "guaranteed", resource, side->guaranteed);
    bound_json(j, "share", resource, side->share);
    json_out_end(j);
}

void eviction_json(struct json_out *j, const struct core *core, const struct eviction *why)
{
    json_out_kv_text(j, "rule", names_eviction_rule(why->rule));
    if (why->claimant.v == 0) {
        return;
    }
    json_out_kv_u64(j, "claimant", why->claimant.v);
    json_out_kv_text(j, "resource", query_resource_name(core, why->resource));
    side_json(j, core, "victim", why->resource, &why->victim);
    side_json(j, core, "taker", why->resource, &why->taker);
}

static void bound_text(resource_id resource, int64_t amount, struct buf *out)
{
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
    buf_add_str(out, " (guaranteed ");
    bound_text(why->resource, side->guaranteed, out);
    buf_add_str(out, ", share ");
    bound_text(why->resource, side->share, out);
    buf_add_char(out, ')');
}

void eviction_json_text(const struct core *core, const struct eviction *why, struct buf *out)
{
    switch (why->rule) {
    case EVICT_SHARE:
        buf_add_str(out, "its account was above its share");
        break;
    case EVICT_GUARANTEE:
        buf_add_str(out,
                    "its account was above its guarantee, the other account within its guarantee");
        break;
    case EVICT_PRIORITY:
        buf_add_str(out, "its priority was lower");
        break;
    case EVICT_CONSOLIDATE:
        buf_add_str(out, "moved to another place to make room for a larger task");
        break;
    case EVICT_STALE:
        buf_add_str(out, "its gang was below its minimum for too long");
        return;
    }
    buf_addf(out, ": for task %llu; ", (unsigned long long)why->claimant.v);
    side_text(core, why, &why->victim, out);
    if (why->victim.account.v != why->taker.account.v) {
        buf_add_str(out, "; ");
        side_text(core, why, &why->taker, out);
    }
}

void eviction_json_evicted(struct json_out *j, const struct core *core, const struct task *task)
{
    const struct eviction_note *note = query_task_eviction(core, task->id);
    json_out_key(j, "evicted");
    if (note == NULL) {
        json_out_null(j);
        return;
    }
    struct buf text;
    buf_init(&text, TEXT_MAX);
    eviction_json_text(core, &note->why, &text);
    json_out_object(j);
    json_out_kv_time(j, "at", note->at_ms);
    json_out_kv_u64(j, "index", note->index);
    eviction_json(j, core, &note->why);
    json_out_kv_text(j, "message", buf_text(&text));
    json_out_key(j, "work_lost");
    json_out_object(j);
    json_out_kv_milli(j, "slot_seconds", note->slots_lost / MS_PER_SECOND);
    json_out_kv_milli(j, "cpu_seconds", note->cpu_lost / MS_PER_SECOND);
    json_out_end(j);
    json_out_end(j);
    buf_done(&text);
}
