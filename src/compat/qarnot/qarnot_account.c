/* qarnot_account.c - what the SDK asks about the service and its user, and what Weir has no word for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "compat/qarnot/qarnot_handlers.h"
#include "compat/qarnot/qarnot_internal.h"

enum { HARDWARE_PAGE = 50 };

/* Without a store the key must be there with null: else the SDK sends its bucket calls to Qarnot's own store. */
void qarnot_account_settings(struct call *call)
{
    struct json_out j;
    call_json(call, &j);
    json_out_object(&j);
    const char *storage = call->api->o.qarnot.storage;
    json_out_kv_text(&j, "storage", storage != NULL && *storage != '\0' ? storage : NULL);
    json_out_end(&j);
    call_answer_json(call, 200);
}

void qarnot_account_info(struct call *call)
{
    const struct core *core = call_core(call);
    uint64_t pools = 0;
    uint64_t running_pools = 0;
    uint64_t instances = 0;
    for (const struct pool *p = query_pool_next(core, (pool_id){0}); p != NULL;
         p = query_pool_next(core, p->id)) {
        pools += !p->deleted;
        running_pools += !p->deleted && p->life.phase == PHASE_OPEN;
        instances += p->running_count;
    }
    const uint64_t running = query_task_count(core, TASK_RUNNING);
    struct json_out j;
    call_json(call, &j);
    /* Versions before 2.17 want each key. A number nobody limits is 0. */
    json_out_put(&j, "{email:%s", call->name);
    json_out_kv_u64(&j, "taskCount", query_task_last(core).v);
    json_out_kv_u64(&j, "runningTaskCount", running);
    json_out_kv_u64(&j, "poolCount", pools);
    json_out_kv_u64(&j, "runningPoolCount", running_pools);
    json_out_kv_u64(&j, "runningInstanceCount", instances);
    json_out_kv_u64(&j, "runningCoreCount", instances);
    static const char *const unlimited[] = {
        "maxBucket",    "bucketCount",          "quotaBytesBucket", "usedQuotaBytesBucket",
        "maxTask",      "maxRunningTask",       "maxInstances",     "maxFlexInstances",
        "maxFlexCores", "maxOnDemandInstances", "maxOnDemandCores", "maxRunningPool"};
    for (size_t i = 0; i < sizeof unlimited / sizeof unlimited[0]; i++) {
        json_out_kv_u64(&j, unlimited[i], 0);
    }
    json_out_kv_u64(&j, "maxPool", POOLS_MAX);
    json_out_end(&j);
    call_answer_json(call, 200);
}

void qarnot_account_versions(struct call *call)
{
    struct json_out j;
    call_json(call, &j);
    json_out_array(&j);
    json_out_end(&j);
    call_answer_json(call, 200);
}

/* ---- profiles: what a task's constants can say ---- */

void qarnot_account_profiles(struct call *call)
{
    struct json_out j;
    call_json(call, &j);
    json_out_array(&j);
    json_out_text(&j, QARNOT_PROFILE);
    json_out_end(&j);
    call_answer_json(call, 200);
}

void qarnot_account_profile(struct call *call)
{
    static const char *const constants[] = {"DOCKER_CMD", "DOCKER_REPO", "DOCKER_TAG"};
    if (strcmp(call->params[0], QARNOT_PROFILE) != 0) {
        call_failf(call, ERR_NOT_FOUND, "", "no profile '%.60s'; there is " QARNOT_PROFILE,
                   call->params[0]);
        return;
    }
    struct json_out j;
    call_json(call, &j);
    json_out_put(&j, "{name:%s,constants:[", QARNOT_PROFILE);
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        json_out_put(&j, "{name:%s,value:%s}", constants[i], "");
    }
    json_out_put(&j, "]}");
    call_answer_json(call, 200);
}

/* ---- what there is none of ---- */

void qarnot_account_hardware(struct call *call)
{
    struct json_out j;
    call_json(call, &j);
    json_out_put(&j, "{data:[],offset:%u,limit:%u,total:%u}", 0, HARDWARE_PAGE, 0);
    call_answer_json(call, 200);
}

void qarnot_account_nothing(struct call *call)
{
    qarnot_account_versions(call);
}

void qarnot_account_secret(struct call *call)
{
    call_failf(call, ERR_NOT_FOUND, "", "no secret '%.60s': Weir keeps no secrets for tasks",
               call->params[0]);
}

void qarnot_account_secret_put(struct call *call)
{
    call_failf(call, ERR_INVALID, "", "Weir keeps no secrets for tasks");
}

void qarnot_account_secrets(struct call *call)
{
    struct json_out j;
    call_json(call, &j);
    json_out_put(&j, "{keys:[]}");
    call_answer_json(call, 200);
}

void qarnot_account_credits(struct call *call)
{
    struct json_out j;
    call_json(call, &j);
    json_out_put(&j, "{credits:%u}", 0);
    call_answer_json(call, 200);
}

void qarnot_account_budgets(struct call *call)
{
    struct json_out j;
    call_json(call, &j);
    json_out_put(&j, "{budgets:[]}");
    call_answer_json(call, 200);
}

/* Figures that Weir does not have: the SDK reads each one as None. */
void qarnot_account_empty(struct call *call)
{
    struct json_out j;
    call_json(call, &j);
    json_out_object(&j);
    json_out_end(&j);
    call_answer_json(call, 200);
}

void qarnot_account_no_organization(struct call *call)
{
    call_failf(call, ERR_NOT_FOUND, "", "Weir has no organizations with computing quotas");
}
