/* task_kill.c - POST /tasks/kill: ends many tasks in one call. SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "api/handlers.h"
#include "api/preview.h"
#include "api/task_state.h"

enum { KILL_IDS_MAX = 1000 };

/* Reads {"ids":[…]}. False: the call was answered. */
static bool kill_ids(struct call *call, const struct doc **ret)
{
    static const char *const fields[] = {"ids", NULL};
    const struct doc *body;
    if (!body_object(call, fields, &body)) {
        return false;
    }
    const struct doc *ids = doc_get(body, "ids");
    bool well =
        ids != NULL && ids->kind == DOC_LIST && ids->count > 0 && ids->count <= KILL_IDS_MAX;
    for (const struct doc *d = well ? ids->first : NULL; d != NULL && well; d = d->next) {
        uint64_t id;
        well = d->kind == DOC_NUMBER && doc_u64(d, &id) && id <= INT64_MAX;
    }
    if (!well) {
        call_failf(call, ERR_INVALID, "ids", "'ids' must be a list of 1 to %d task ids",
                   KILL_IDS_MAX);
    }
    *ret = ids;
    return well;
}

/* Answers a dry run of a kill of many tasks. False: the call wants them killed. */
static bool kill_previewed(struct call *call, const struct doc *ids)
{
    struct input *inputs = arena_new(call_arena(call), struct input, ids->count);
    uint32_t count = 0;
    for (const struct doc *d = ids->first; d != NULL; d = d->next) {
        inputs[count] = (struct input){.type = INPUT_TASK_KILL};
        must(doc_u64(d, &inputs[count++].task.task.v));
    }
    return preview_answered_many(call, inputs, count);
}

/* Kills one task of many. Writes whether the task was there, and its state now. */
static void kill_one(struct call *call, struct json_out *j, task_id id)
{
    const struct api_host *host = call->api->o.host;
    struct input in = {
        .type = INPUT_TASK_KILL, .actor = call->actor, .cause = call->cause, .task = {.task = id}};
    struct facts facts;
    fact_list_init(&facts, call_arena(call));
    enum verdict verdict = host->input(host->ctx, &in, &facts);
    json_out_object(j);
    json_out_kv_u64(j, "id", id.v);
    json_out_kv_bool(j, "killed", verdict == VERDICT_OK);
    json_out_kv_text(j, "state",
                     verdict == VERDICT_NOT_FOUND
                         ? NULL
                         : names_task_state(task_state_now(call_core(call), id)));
    json_out_end(j);
}

void task_kill_many(struct call *call)
{
    const struct doc *ids;
    if (!kill_ids(call, &ids) || kill_previewed(call, ids)) {
        return;
    }
    struct json_out j;
    call_json(call, &j);
    json_out_object(&j);
    json_out_key(&j, "tasks");
    json_out_array(&j);
    for (const struct doc *d = ids->first; d != NULL; d = d->next) {
        task_id id = {0};
        must(doc_u64(d, &id.v));
        kill_one(call, &j, id);
    }
    json_out_end(&j);
    json_out_end(&j);
    call_answer_json(call, 200);
}
