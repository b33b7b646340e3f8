/* preview.c - `?dry_run=true` of a change: what the change would do, and nothing is changed.
 *
 * The change is tried by the worker in a copy of the state, because the look at what follows may take a tenth of a second on
 * a large server. The inputs must outlive the request then: their memory is the call's own (call_keep()), and what a
 * handler has on its stack is copied there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/preview.h"

#include "api/api_internal.h"
#include "api/call_work.h"
#include "api/http_status.h"
#include "base/mem.h"
#include "core/model/spec.h"
#include "core/preview.h"
#include "wire/error_json.h"
#include "wire/preview_json.h"

struct preview_work {
    struct call_work base;
    struct core *copy;
    struct arena *arena; /* of the inputs */
    struct input *inputs;
    uint32_t count;
    struct buf out;
    unsigned status;
};

static void preview_run_one(struct preview_work *own)
{
    struct facts facts;
    struct preview *preview = NULL;
    const struct preview_ask ask = {.inputs = own->inputs, .count = own->count};
    fact_list_init(&facts, own->arena);
    const enum verdict verdict = preview_run(own->copy, &ask, &facts, &preview);
    if (verdict == VERDICT_OK) {
        struct json_out j;
        json_out_init(&j, &own->out);
        preview_json(&j, preview, own->arena);
        own->status = 200;
    } else {
        const bool of_many =
            own->inputs[0].type == INPUT_TASK_SUBMIT && own->inputs[0].submit.count > 1;
        error_json_refusal(own->copy, &facts, of_many, own->arena, &own->out);
        own->status = http_status_of_refusal(verdict, &facts.refusal);
    }
    preview_free(preview);
}

static void work_run(struct work *work, struct store_reader *reader)
{
    struct preview_work *own = (struct preview_work *)work;
    (void)reader;
    preview_run_one(own);
    core_free(steal(own->copy));
}

static void work_answer(struct call_work *base)
{
    struct preview_work *own = (struct preview_work *)base;
    call_work_answer_json(base, &own->out, own->status);
}

static void work_free(struct call_work *base)
{
    struct preview_work *own = (struct preview_work *)base;
    core_free(own->copy);
    call_keep_free(own->arena);
    buf_done(&own->out);
    free(own);
}

static const struct call_work_kind work_kind = {
    .run = work_run,
    .answer = work_answer,
    .free = work_free,
    .busy = "too many computations are under way; try again",
};

/* Copies what the input points to on the handler's stack. Texts and lists are in the arena already. False: an input of a
 * type that is not known here. */
static bool input_keep(struct arena *arena, struct input *in)
{
    struct task_edit *edit;
    struct quota_spec *quota;
    if (in->type == INPUT_POOL_CREATE || in->type == INPUT_POOL_EDIT) {
        in->pool.spec = arena_dup(arena, in->pool.spec, sizeof *in->pool.spec);
    } else if (in->type == INPUT_POOL_SCALE) {
        in->scale.spec = arena_dup(arena, in->scale.spec, sizeof *in->scale.spec);
    } else if (in->type == INPUT_NODE_EDIT) {
        in->node.edit = arena_dup(arena, in->node.edit, sizeof *in->node.edit);
    } else if (in->type == INPUT_TASK_EDIT) {
        edit = arena_dup(arena, in->task.edit, sizeof *edit);
        edit->spec = arena_dup(arena, edit->spec, sizeof *edit->spec);
        in->task.edit = edit;
    } else if (in->type == INPUT_QUOTA_SET) {
        quota = arena_dup(arena, in->quota.spec, sizeof *quota);
        quota->amounts =
            arena_dup(arena, quota->amounts, sizeof *quota->amounts * quota->amount_count);
        in->quota.spec = quota;
    } else if (in->type == INPUT_ACCOUNT_SET) {
        in->account.spec = arena_dup(arena, in->account.spec, sizeof *in->account.spec);
    } else if (in->type == INPUT_FLAVOR_SET) {
        in->flavor.spec = arena_dup(arena, in->flavor.spec, sizeof *in->flavor.spec);
    } else {
        return in->type == INPUT_TASK_SUBMIT || in->type == INPUT_TASK_KILL ||
               in->type == INPUT_TASK_START || in->type == INPUT_TASK_PAUSE ||
               in->type == INPUT_TASK_ACTIVATE || in->type == INPUT_TASK_MOVE ||
               in->type == INPUT_POOL_DELETE || in->type == INPUT_POOL_CLOSE ||
               in->type == INPUT_POOL_RESTORE || in->type == INPUT_POOL_REPLACE ||
               in->type == INPUT_NODE_REMOVE || in->type == INPUT_ACCOUNT_DELETE ||
               in->type == INPUT_FLAVOR_DELETE;
    }
    return true;
}

/* Completes the inputs in the call's own memory. Returns how many of them the worker may have: all or not. */
static bool inputs_keep(struct call *call, struct input *inputs, uint32_t count)
{
    const int64_t now_ms = call_now_ms(call);
    bool kept = true;
    for (uint32_t i = 0; i < count; i++) {
        inputs[i].actor = call->actor;
        inputs[i].cause = call->cause;
        inputs[i].now_ms = now_ms;
        if (inputs[i].type == INPUT_TASK_SUBMIT) {
            inputs[i].submit.has_key = false; /* what the key was used for before does not matter */
        }
        kept &= input_keep(call_arena(call), &inputs[i]);
    }
    return kept;
}

bool preview_answered_many(struct call *call, struct input *inputs, uint32_t count)
{
    bool dry = false;
    if (!call_query_bool(call, "dry_run", &dry)) {
        return true;
    }
    if (!dry) {
        return false;
    }
    struct preview_work *own = xcalloc(1, sizeof *own);
    own->base.kind = &work_kind;
    own->inputs = arena_dup(call_arena(call), inputs, sizeof *inputs * count);
    own->count = count;
    own->copy = core_copy(call_core(call));
    buf_init(&own->out, ANSWER_BYTES_MAX);
    const bool kept = inputs_keep(call, own->inputs, count);
    own->arena = call_keep_take(call);
    if (kept) {
        call_work_send_stored(call, &own->base);
    } else {
        call_work_run(call, &own->base);
    }
    return true;
}

bool preview_answered(struct call *call, struct input *in)
{
    return preview_answered_many(call, in, 1);
}

bool preview_answered_alone(struct call *call)
{
    bool dry = false;
    struct json_out j;
    if (!call_query_bool(call, "dry_run", &dry)) {
        return true;
    }
    if (!dry) {
        return false;
    }
    struct preview *preview = xcalloc(1, sizeof *preview);
    preview->changes = true;
    call_json(call, &j);
    preview_json(&j, preview, call_arena(call)); /* names no task, so it asks no core */
    call_answer_json(call, 200);
    preview_free(preview);
    return true;
}
