/* qarnot_pool.c - a pool of Weir in the SDK's words. SPDX-License-Identifier: Apache-2.0 */
#include "compat/qarnot/qarnot_internal.h"

static uint64_t number_of(const struct doc *map, const char *key, uint64_t otherwise)
{
    uint64_t value = otherwise;
    (void)doc_u64(doc_get(map, key), &value);
    return value;
}

const char *qarnot_pool_state(const struct pool *pool)
{
    static const char *const names[POOL_STATE_COUNT] = {
        [POOL_SUBMITTED] = "Submitted",
        [POOL_PARTIALLY_DISPATCHED] = "PartiallyDispatched",
        [POOL_FULLY_DISPATCHED] = "FullyDispatched",
        [POOL_PARTIALLY_EXECUTING] = "PartiallyExecuting",
        [POOL_FULLY_EXECUTING] = "FullyExecuting",
        [POOL_CLOSING] = "Closing",
        [POOL_CLOSED] = "Closed",
        [POOL_PENDING_DELETE] = "PendingDelete",
        [POOL_FAILURE] = "Failure",
    };
    return names[pool->life.state < POOL_STATE_COUNT ? pool->life.state : POOL_FAILURE];
}

/* No version of the SDK reads a status without the two lists; versions up to 2.16 want each key. */
static void status_write(struct json_out *j, uint64_t instances)
{
    static const char *const zeros[] = {
        "downloadProgress",   "executionProgress", "uploadProgress", "downloadTimeSec",
        "environmentTimeSec", "executionTimeSec",  "uploadTimeSec",  "wallTimeSec"};
    static const char *const times[] = {"downloadTime", "environmentTime", "executionTime",
                                        "uploadTime", "wallTime"};
    json_out_put(j, "status:{instanceCount:%lu", instances);
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++) {
        json_out_kv_u64(j, zeros[i], 0);
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        json_out_kv_text(j, times[i], "00:00:00");
    }
    json_out_put(j, "succeededRange:%s,executedRange:%s,failedRange:%s,lastUpdateTimestamp:%s", "",
                 "", "", "0001-01-01T00:00:00Z");
    json_out_put(j, "executionTimeByCpuModel:[],executionTimeGhzByCpuModel:[]");
    json_out_kv_text(j, "runningInstancesInfo", NULL);
    json_out_end(j);
}

static void errors_write(struct json_out *j, const struct pool *pool)
{
    const char *words = query_pool_refusal(pool);
    json_out_put(j, "errors:[");
    if (*words != '\0') {
        json_out_put(j, "{code:%s,message:%s,debug:%s}", "ProviderFailure", words, "");
    }
    json_out_end(j);
}

static uint64_t node_slots_of(const struct pool_spec *spec)
{
    return spec->node_slots > 0 ? spec->node_slots : 1;
}

uint64_t qarnot_pool_slots_most(const struct pool *pool, const struct pool_spec *spec)
{
    const uint64_t most = spec->provider == POOL_STATIC ? (uint64_t)pool->slots_milli / SLOT_MILLI
                                                        : node_slots_of(spec) * spec->nodes_max;
    const uint64_t cap = (uint64_t)spec->user_slots_max / SLOT_MILLI;
    return cap > 0 && cap < most ? cap : most;
}

/* The counts: a pool instance is a slot. */
static void counts_write(struct json_out *j, const struct core *core, const struct pool *pool,
                         const struct pool_spec *spec)
{
    struct pool_figures figures;
    query_pool_figures(core, pool->id, &figures);
    const uint64_t most = qarnot_pool_slots_most(pool, spec);
    const uint64_t there = (uint64_t)pool->slots_milli / SLOT_MILLI;
    const uint64_t slots = there < most ? there : most;
    const uint64_t tasks = (uint64_t)pool->pending_count + pool->running_count;
    json_out_kv_u64(j, "runningInstanceCount", slots);
    json_out_kv_u64(j, "runningCoreCount", slots);
    json_out_kv_u64(j, "totalSlotCapacity", most);
    json_out_kv_u64(j, "queuedOrRunningTaskInstancesCount", tasks);
    json_out_kv_milli(j, "poolUsage",
                      most > 0 ? (int64_t)((uint64_t)figures.slots_used / most) : 0);
    status_write(j, slots);
}

void qarnot_pool_write(struct json_out *j, const struct core *core, const struct pool *pool,
                       struct arena *arena)
{
    static const char *const computed[] = {"uuid",
                                           "name",
                                           "shortname",
                                           "profile",
                                           "instanceCount",
                                           "state",
                                           "creationDate",
                                           "errors",
                                           "status",
                                           "runningInstanceCount",
                                           "runningCoreCount",
                                           "totalSlotCapacity",
                                           "queuedOrRunningTaskInstancesCount",
                                           "poolUsage",
                                           NULL};
    struct pool_spec spec;
    char uuid[QARNOT_UUID_MAX];
    const char *shortname = uuid;
    const char *profile = QARNOT_PROFILE;
    const char *name;
    query_pool_spec(core, pool->id, arena, &spec);
    const struct doc *kept = qarnot_fields_kept(arena, spec.annotation);
    qarnot_uuid(core, QARNOT_POOL, pool->id.v, uuid);
    (void)doc_text(doc_get(kept, "shortname"), &shortname);
    (void)doc_text(doc_get(kept, "profile"), &profile);
    if (*spec.title != '\0' || !doc_text(doc_get(kept, "name"), &name)) {
        name = *spec.title != '\0' ? spec.title : spec.name;
    }
    json_out_object(j);
    json_out_put(j, "uuid:%s,name:%s,shortname:%s,profile:%s,state:%s,creationDate:%td", uuid, name,
                 shortname, profile, qarnot_pool_state(pool), pool->created_ms);
    json_out_kv_u64(j, "instanceCount",
                    number_of(kept, "instanceCount",
                              spec.provider == POOL_STATIC ? pool->node_count
                                                           : qarnot_pool_slots_most(pool, &spec)));
    counts_write(j, core, pool, &spec);
    errors_write(j, pool);
    qarnot_fields_echo(j, kept, computed);
    if (doc_get(kept, "tags") == NULL || doc_get(kept, "tags")->kind == DOC_NULL) {
        json_out_put(j, "tags:[]");
    }
    json_out_end(j);
}
