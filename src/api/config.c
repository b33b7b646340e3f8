/* config.c - POST /config: makes the objects of a server file, or with dry_run says what that would change and
 * which tasks it would stop and start. All changes are made, or none.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call.h"
#include "api/config_plan.h"
#include "api/handlers.h"
#include "api/preview.h"
#include "core/preview.h"
#include "io/http_request.h"
#include "spec/problem.h"
#include "wire/preview_json.h"

static const char *const deeds[] = {
    [CONFIG_CREATE] = "create", [CONFIG_CHANGE] = "change", [CONFIG_DELETE] = "delete"};

static void text_or_null(struct json_out *j, const char *key, struct str json)
{
    json_out_key(j, key);
    if (json.len > 0) {
        json_out_raw(j, json);
    } else {
        json_out_null(j);
    }
}

static void change_json(struct json_out *j, const struct config_change *change)
{
    json_out_put(j, "{do:%s,kind:%s,name:%s", deeds[change->deed], change->kind, change->name);
    json_out_kv_text(j, "pool", change->pool);
    text_or_null(j, "before", change->before);
    text_or_null(j, "after", change->deed == CONFIG_DELETE ? (struct str){"", 0} : change->after);
    json_out_put(j, "tasks:%u", change->tasks);
    json_out_kv_text(j, "refusal", change->refusal);
    json_out_end(j);
}

/* What the changes would do to tasks; NULL: there is nothing to change. */
static struct preview *effects_find(const struct call *call, const struct config_plan *plan)
{
    struct input *inputs = arena_new(call_arena(call), struct input, plan->changes.count + 1);
    struct preview *preview = NULL;
    struct facts facts;
    uint32_t count = 0;
    for (size_t i = 0; i < plan->changes.count; i++) {
        if (plan->changes.at[i].refusal == NULL) {
            inputs[count++] = plan->changes.at[i].input;
        }
    }
    const struct preview_ask ask = {.inputs = inputs, .count = count};
    fact_list_init(&facts, call_arena(call));
    if (count > 0 && preview_run(call_core(call), &ask, &facts, &preview) != VERDICT_OK) {
        return NULL; /* passes that are due came first, and the changes are no longer possible */
    }
    return preview;
}

static void plan_answer(struct call *call, const struct config_plan *plan,
                        const struct preview *preview, bool applied)
{
    struct json_out j;
    call_json(call, &j);
    json_out_put(&j, "{applied:%i,changes:[", applied);
    for (size_t i = 0; i < plan->changes.count; i++) {
        change_json(&j, &plan->changes.at[i]);
    }
    json_out_put(&j, "],refused:%u,extras:[", plan->refused);
    for (size_t i = 0; i < plan->extras.count; i++) {
        const struct config_extra *extra = &plan->extras.at[i];
        json_out_put(&j, "{kind:%s,name:%s", extra->kind, extra->name);
        json_out_kv_text(&j, "pool", extra->pool);
        json_out_put(&j, "tasks:%u}", extra->tasks);
    }
    json_out_end(&j);
    json_out_key(&j, "effects");
    if (preview == NULL) {
        json_out_null(&j);
    } else {
        preview_json(&j, preview, call_arena(call));
    }
    json_out_end(&j);
    call_answer_json(call, 200);
}

/* False: the plan has refusals, nothing was changed, and the call was answered. */
static bool refusals_none(struct call *call, const struct config_plan *plan)
{
    for (size_t i = 0; i < plan->changes.count; i++) {
        const struct config_change *change = &plan->changes.at[i];
        if (change->refusal != NULL) {
            call_failf(call, ERR_CONFLICT, "",
                       "%s '%s' %s; nothing was changed (%u refused in all)", change->kind,
                       change->name, change->refusal, plan->refused);
            return false;
        }
    }
    return true;
}

/* False: the call was answered. */
static bool plan_apply(struct call *call, const struct config_plan *plan)
{
    if (!refusals_none(call, plan)) {
        return false;
    }
    for (size_t i = 0; i < plan->changes.count; i++) {
        struct facts facts;
        struct input in = plan->changes.at[i].input;
        if (!call_input(call, &in, &facts)) {
            return false;
        }
    }
    return true;
}

static bool file_read(struct call *call, struct server_file *ret)
{
    struct error e;
    struct problems *problems = arena_new(call_arena(call), struct problems, 1);
    if (server_file_read(http_request_body(call->request), "file", call_arena(call), ret, problems,
                         &e) == ERR_OK) {
        return true;
    }
    call_fail(call, &e);
    return false;
}

void config_apply(struct call *call)
{
    struct server_file file;
    struct config_plan plan;
    bool dry = false;
    bool prune = false;
    if (!call_query_bool(call, "dry_run", &dry) || !call_query_bool(call, "prune", &prune) ||
        !file_read(call, &file)) {
        return;
    }
    config_plan_make(call_core(call), &file, prune, call_now_ms(call), call_arena(call), &plan);
    struct preview *preview = dry ? effects_find(call, &plan) : NULL;
    if (dry || plan_apply(call, &plan)) {
        plan_answer(call, &plan, preview, !dry);
    }
    preview_free(preview);
    config_plan_done(&plan);
}
