/* price.c - see price.h. SPDX-License-Identifier: Apache-2.0 */
#include "wire/price.h"

#include "base/amount.h"
#include "base/buf.h"
#include "core/preview.h"

#include <string.h>

enum { PRICE_TEXT_MAX = 1024, PRICE_TASKS_SHOWN = 3, SECOND_MS = 1000, MINUTE_MS = 60000 };

/* Long times without their seconds: "2h10m". */
static void lost_text(int64_t ms, struct buf *out)
{
    char text[AMOUNT_TEXT_MAX];
    amount_duration_text(
        ms > 10 * MINUTE_MS ? ms / MINUTE_MS * MINUTE_MS : ms / SECOND_MS * SECOND_MS, text);
    buf_addf(out, ", losing %s", text);
}

static void price_text(const struct core *core, const struct preview *preview, struct arena *arena,
                       struct buf *out)
{
    int64_t most_ms = 0;
    buf_add_str(out, "  # would stop ");
    for (uint32_t i = 0; i < preview->stop_count; i++) {
        const struct preview_stop *stop = &preview->stops[i];
        struct task_spec spec;
        most_ms = stop->lost_ms > most_ms ? stop->lost_ms : most_ms;
        if (i < PRICE_TASKS_SHOWN) {
            query_task_spec(core, stop->task, arena, &spec);
            buf_addf(out, "%stask %llu of %s", i == 0 ? "" : " and ",
                     (unsigned long long)stop->task.v, spec.user);
        }
    }
    if (preview->stop_total > PRICE_TASKS_SHOWN) {
        buf_addf(out, " and %u more", preview->stop_total - PRICE_TASKS_SHOWN);
    }
    lost_text(most_ms, out);
}

/* `task` other than 0: NULL where the command gives the task no place. */
static const char *tag(const struct core *core, const char *command, struct input *in, task_id task,
                       struct arena *arena)
{
    struct facts facts;
    struct preview *preview = NULL;
    const struct preview_ask ask = {.inputs = in, .count = 1, .brief = true};
    const char *tagged = command;
    in->actor = "explain";
    in->cause = "";
    const int64_t state_ms = query_time_ms(core);
    in->now_ms = in->now_ms > state_ms ? in->now_ms : state_ms;
    fact_list_init(&facts, arena);
    const bool fine = preview_run(core, &ask, &facts, &preview) == VERDICT_OK;
    if (task.v != 0 && (!fine || !preview_starts(preview, task))) {
        tagged = NULL;
    } else if (fine && preview->stop_count > 0) {
        struct buf text;
        buf_init(&text, PRICE_TEXT_MAX);
        price_text(core, preview, arena, &text);
        tagged = arena_fmt(arena, "%s%s", command, buf_text(&text));
        buf_done(&text);
    }
    preview_free(preview);
    return tagged;
}

const char *price_tag(const struct core *core, const char *command, struct input *in,
                      struct arena *arena)
{
    return tag(core, command, in, (task_id){0}, arena);
}

const char *price_tag_start(const struct core *core, const char *command, struct input *in,
                            struct arena *arena)
{
    return tag(core, command, in, in->task.task, arena);
}

const char *price_tag_quota(const struct core *core, const char *command,
                            const struct explanation *why, bool limit, int64_t amount,
                            struct arena *arena)
{
    const char *name = query_resource_name(core, why->account.resource);
    struct quota_spec present;
    query_quota_spec(core, why->account.id, why->reason.pool, arena, &present);
    struct quota_amount *amounts = arena_new(arena, struct quota_amount, present.amount_count + 1);
    uint32_t at = present.amount_count;
    for (uint32_t i = 0; i < present.amount_count; i++) {
        amounts[i] = present.amounts[i];
        at = strcmp(amounts[i].resource, name) == 0 ? i : at;
    }
    if (at == present.amount_count) {
        amounts[at] = (struct quota_amount){
            .resource = name, .guaranteed = QUOTA_UNSET, .limit = QUOTA_UNLIMITED, .weight = 1};
        present.amount_count++;
    }
    if (limit) {
        amounts[at].limit = amount;
    } else {
        amounts[at].guaranteed = amount;
    }
    present.amounts = amounts;
    struct input in = {.type = INPUT_QUOTA_SET,
                       .now_ms = why->asked_ms,
                       .quota = {why->account.id, why->reason.pool, &present}};
    return price_tag(core, command, &in, arena);
}
