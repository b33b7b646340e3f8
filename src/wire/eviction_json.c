/* eviction_json.c - writes evictions for events, tasks and explanations.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/eviction_json.h"

#include "wire/part_json.h"
#include "wire/reason_text.h"

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

void eviction_json(struct json_out *j, const struct core *core, const struct eviction *why)
{
    json_out_kv_text(j, "rule", names_eviction_rule(why->rule));
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

/* Appends the eviction as a sentence, without a full stop. */
static void eviction_text(const struct core *core, const struct eviction *why, struct buf *out)
{
    static const char *const sentences[EVICTION_RULE_COUNT] = {
        [EVICT_SHARE] = "its account was above its share",
        [EVICT_GUARANTEE] =
            "its account was above its guarantee, the other account within its guarantee",
        [EVICT_PRIORITY] = "its priority was lower",
        [EVICT_CONSOLIDATE] = "moved to another place to make room for a larger task",
        [EVICT_STALE] = "its gang was below its minimum for too long",
    };
    buf_add_str(out, sentences[why->rule]);
    if (why->rule == EVICT_STALE) {
        return; /* no task takes the place */
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
    if (note == NULL) {
        json_out_kv_text(j, "evicted", NULL);
        return;
    }
    struct buf text;
    buf_init(&text, REASON_TEXT_MAX);
    eviction_text(core, &note->why, &text);
    json_out_put(j, "evicted:{at:%td,index:%u", note->at_ms, note->index);
    eviction_json(j, core, &note->why);
    json_out_put(j, "message:%s,work_lost:{slot_seconds:%.3ld,cpu_seconds:%.3ld}}", buf_text(&text),
                 note->slots_lost / MS_PER_SECOND, note->cpu_lost / MS_PER_SECOND);
    buf_done(&text);
}
