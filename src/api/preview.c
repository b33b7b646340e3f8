/* preview.c - `?dry_run=true` of a change: what the change would do, and nothing is changed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/preview.h"

#include "api/api_internal.h"
#include "core/preview.h"
#include "wire/preview_json.h"

bool preview_answered_many(struct call *call, struct input *inputs, uint32_t count)
{
    bool dry = false;
    if (!call_query_bool(call, "dry_run", &dry)) {
        return true;
    }
    if (!dry) {
        return false;
    }
    const int64_t now_ms = call_now_ms(call);
    for (uint32_t i = 0; i < count; i++) {
        inputs[i].actor = call->actor;
        inputs[i].cause = call->cause;
        inputs[i].now_ms = now_ms;
        if (inputs[i].type == INPUT_TASK_SUBMIT) {
            inputs[i].submit.has_key = false; /* what the key was used for before does not matter */
        }
    }
    struct facts facts;
    struct preview *preview = NULL;
    fact_list_init(&facts, call_arena(call));
    const struct preview_ask ask = {.inputs = inputs, .count = count};
    enum verdict verdict = preview_run(call_core(call), &ask, &facts, &preview);
    if (verdict == VERDICT_OK) {
        struct json_out j;
        call_json(call, &j);
        preview_json(&j, preview, call_arena(call));
        call_answer_json(call, 200);
    } else {
        const bool of_many = inputs[0].type == INPUT_TASK_SUBMIT && inputs[0].submit.count > 1;
        call_refuse(call, verdict, &facts, of_many);
    }
    preview_free(preview);
    return true;
}

bool preview_answered(struct call *call, struct input *in)
{
    return preview_answered_many(call, in, 1);
}
