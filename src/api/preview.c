/* preview.c - `?dry_run=true` of a change: what the change would do, and nothing is changed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/preview.h"

#include "api/api_internal.h"
#include "base/mem.h"
#include "core/preview.h"

static void stop_json(struct json_out *j, const struct core *core, const struct preview_stop *stop,
                      struct arena *arena)
{
    struct task_spec spec;
    query_task_spec(core, stop->task, arena, &spec);
    json_out_put(j, "{task:%lu,name:%s,user:%s,project:%s,instances:%u,lost_ms:%ld}", stop->task.v,
                 spec.name, spec.user, spec.project, stop->instances, stop->lost_ms);
}

void preview_members(struct json_out *j, const struct core *core, const struct preview *preview,
                     struct arena *arena)
{
    json_out_put(j, "stops_total:%u,stops:[", preview->stop_total);
    for (uint32_t i = 0; i < preview->stop_count; i++) {
        stop_json(j, core, &preview->stops[i], arena);
    }
    json_out_end(j);
    json_out_put(j, "starts:[");
    for (uint32_t i = 0; i < preview->start_count; i++) {
        json_out_u64(j, preview->starts[i].v);
    }
    json_out_end(j);
}

static void preview_answer(struct call *call, const struct preview *preview)
{
    struct json_out j;
    call_json(call, &j);
    json_out_object(&j);
    preview_members(&j, call_core(call), preview, call_arena(call));
    json_out_end(&j);
    call_answer_json(call, 200);
}

bool preview_answered(struct call *call, struct input *in)
{
    bool dry = false;
    if (!call_query_bool(call, "dry_run", &dry)) {
        return true;
    }
    if (!dry) {
        return false;
    }
    struct facts facts;
    struct preview *preview = xcalloc(1, sizeof *preview);
    in->actor = call->actor;
    in->cause = call->cause;
    in->now_ms = call_now_ms(call);
    fact_list_init(&facts, call_arena(call));
    enum verdict verdict = preview_run(call_core(call), in, &facts, preview);
    if (verdict == VERDICT_OK) {
        preview_answer(call, preview);
    } else {
        call_refuse(call, verdict, &facts, false);
    }
    free(preview);
    return true;
}
