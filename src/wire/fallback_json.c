/* fallback_json.c - see fallback_json.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/fallback_json.h"

#include "base/amount.h"
#include "core/model/names.h"
#include "core/sched/explain/explain.h"
#include "core/state/fallback.h"
#include "core/state/query.h"
#include "wire/reason_text.h"

static void on_json(struct json_out *j, uint32_t on)
{
    json_out_put(j, "on:[");
    if ((on & FALLBACK_ON_NO_CAPACITY) != 0) {
        json_out_text(j, "no-capacity");
    }
    if ((on & FALLBACK_ON_LOST) != 0) {
        json_out_text(j, "lost");
    }
    json_out_end(j);
}

void fallback_json_spec(struct json_out *j, const struct task_spec *spec)
{
    char text[AMOUNT_TEXT_MAX];
    if (spec->fallback_after_ms == 0 && spec->fallback_on == 0) {
        return;
    }
    json_out_key(j, "fallback");
    json_out_object(j);
    if (spec->fallback_after_ms > 0) {
        amount_duration_text(spec->fallback_after_ms, text);
        json_out_kv_text(j, "after", text);
    }
    if (spec->fallback_on != 0) {
        on_json(j, spec->fallback_on);
    }
    json_out_end(j);
}

static void open_json(struct json_out *j, const struct core *core, const struct task *task,
                      const struct fallback *list, bool reasons)
{
    json_out_put(j, "open:[");
    for (uint32_t i = 0; i < list->opened; i++) {
        json_out_put(j, "{pool:%s,why:%s,at:%td", query_pool_name(core, list->pools[i]),
                     names_fallback_why((enum fallback_why)list->why[i]), list->opened_ms[i]);
        if (reasons) {
            struct explanation why = {.reason = {.smallest = -1}};
            if (query_pool(core, list->pools[i]) != NULL) {
                explain_task_in(core, task->id, list->pools[i], &why);
            }
            json_out_key(j, "reason");
            reason_text_json(j, core, &why.reason);
        }
        json_out_end(j);
    }
    json_out_end(j);
}

void fallback_json(struct json_out *j, const struct core *core, const struct task *task,
                   bool reasons)
{
    const struct fallback *list = fallback_of(core, task);
    json_out_key(j, "fallback");
    if (list == NULL) {
        json_out_null(j);
        return;
    }
    const uint32_t next = fallback_next(core, list);
    json_out_put(j, "{after_ms:%zu", (uint64_t)list->after_ms);
    on_json(j, list->on);
    open_json(j, core, task, list, reasons && task->active_count == 0);
    json_out_key(j, "next");
    if (next < list->count) {
        json_out_put(j, "{pool:%s,at:%td}", query_pool_name(core, list->pools[next]),
                     list->deadline_ms);
    } else {
        json_out_null(j);
    }
    json_out_end(j);
}
