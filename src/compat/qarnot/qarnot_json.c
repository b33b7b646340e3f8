/* qarnot_json.c - Weir's task, as the API and the history have it, in the SDK's words. Live and ended tasks are read from
 * the same JSON, so both look alike. SPDX-License-Identifier: Apache-2.0 */
#include "base/time_text.h"
#include "compat/qarnot/qarnot_internal.h"

#include <inttypes.h>

enum { RANGES_MAX = 256 * 1024 };

/* What the attempts of a task say together. */
struct instance_tally {
    struct buf succeeded;
    struct buf failed;
    struct buf executed;
    struct qarnot_range_writer succeeded_range;
    struct qarnot_range_writer failed_range;
    struct qarnot_range_writer executed_range;
    uint64_t running;
};

static uint64_t number_of(const struct doc *map, const char *key)
{
    uint64_t value = 0;
    (void)doc_u64(doc_get(map, key), &value);
    return value;
}

static const char *text_of(const struct doc *map, const char *key)
{
    const char *text = "";
    (void)doc_text(doc_get(map, key), &text);
    return text;
}

static int64_t time_of(const struct doc *map, const char *key)
{
    int64_t ms = 0;
    (void)time_text_parse(str_of(text_of(map, key)), &ms);
    return ms;
}

static uint64_t count_of(const struct doc *task, const char *key)
{
    const struct doc *counts = doc_get(task, "counts");
    return counts != NULL ? number_of(counts, key) : 0;
}

/* ---- state ---- */

/* A misspelt state would end the client's wait, so each name is one of the reference's. */
static const char *state_of(const struct doc *task)
{
    const uint64_t waiting = count_of(task, "waiting");
    enum task_state state;
    if (!names_task_state_parse(text_of(task, "state"), &state)) {
        return "Failure";
    }
    switch (state) {
    case TASK_STAGED:
    case TASK_PAUSED:
        return "Submitted";
    case TASK_PENDING:
        return count_of(task, "ended") > 0 || count_of(task, "active") > 0 ? "PartiallyExecuting"
                                                                           : "Submitted";
    case TASK_STARTING:
        return waiting > 0 ? "PartiallyDispatched" : "FullyDispatched";
    case TASK_RUNNING:
        return waiting > 0 ? "PartiallyExecuting" : "FullyExecuting";
    case TASK_STOPPING:
        /* A task that was stopped for others waits again; a killed one ends. */
        return strcmp(text_of(task, "cause"), "killed") == 0 ? "PendingCancel"
                                                             : "PartiallyExecuting";
    case TASK_COMPLETED:
        return "Success";
    case TASK_KILLED:
        return "Cancelled";
    case TASK_FAILED:
    case TASK_UNAVAILABLE:
    case TASK_UNKNOWN:
        return "Failure";
    }
    return "Failure";
}

/* ---- instances ---- */

/* Is this the newest attempt of its instance? Attempts of one instance follow each other. */
static bool is_newest(const struct doc *attempt)
{
    return attempt->next == NULL ||
           number_of(attempt->next, "index") != number_of(attempt, "index");
}

static uint32_t number_at(const char *ranges, const struct doc *attempt)
{
    const uint32_t index = (uint32_t)number_of(attempt, "index");
    return ranges != NULL ? qarnot_ranges_at(ranges, index)
                          : (uint32_t)number_of(attempt, "instance");
}

static bool has_ended(const struct doc *attempt)
{
    bool again = false;
    (void)doc_bool(doc_get(attempt, "again"), &again);
    return strcmp(text_of(attempt, "state"), "ended") == 0 && !again;
}

static bool has_succeeded(const struct doc *attempt)
{
    return strcmp(text_of(attempt, "cause"), "exit") == 0 && number_of(attempt, "exit_code") == 0;
}

static int64_t ran_ms(const struct doc *attempt)
{
    const int64_t from = time_of(attempt, "started_at");
    const int64_t to = time_of(attempt, "ended_at");
    return from > 0 && to > from ? to - from : 0;
}

/* What became of an attempt, as a sentence. */
static const char *end_words(const struct doc *attempt, struct arena *arena)
{
    const char *message = text_of(attempt, "message");
    const char *cause = text_of(attempt, "cause");
    if (*message != '\0') {
        return message;
    }
    return strcmp(cause, "exit") == 0
               ? arena_fmt(arena, "the command ended with exit code %" PRIu64,
                           number_of(attempt, "exit_code"))
               : arena_fmt(arena, "the instance ended: %s", cause);
}

static void completed_write(struct json_out *j, const struct doc *attempt, uint32_t number,
                            struct arena *arena)
{
    const bool well = has_succeeded(attempt);
    json_out_put(j, "{instanceId:%u,state:%s", number, well ? "success" : "failure");
    json_out_kv_milli(j, "wallTimeSec", ran_ms(attempt));
    json_out_kv_milli(j, "execTimeSec", (int64_t)number_of(attempt, "cpu_ms"));
    json_out_put(j, "execTimeSecGHz:%u,averageGHz:%u,results:[],executionAttemptCount:%lu", 0, 0,
                 number_of(attempt, "attempt"));
    json_out_kv_u64(j, "peakMemoryMB", number_of(attempt, "memory_peak") >> 20);
    json_out_kv_text(j, "cpuModel", text_of(attempt, "node"));
    if (!well) {
        json_out_put(j, "error:{code:%s,message:%s,debug:%s}", text_of(attempt, "cause"),
                     end_words(attempt, arena), "");
    }
    json_out_end(j);
}

static void instances_write(struct json_out *j, const struct doc *task, const char *ranges,
                            struct instance_tally *tally, struct arena *arena)
{
    const struct doc *attempts = doc_get(task, "attempts");
    json_out_put(j, "completedInstances:[");
    for (const struct doc *d = attempts == NULL ? NULL : attempts->first; d != NULL; d = d->next) {
        if (!is_newest(d)) {
            continue;
        }
        const uint32_t number = number_at(ranges, d);
        tally->running += strcmp(text_of(d, "state"), "running") == 0;
        if (has_ended(d)) {
            completed_write(j, d, number, arena);
            qarnot_ranges_add(&tally->executed_range, number);
            qarnot_ranges_add(has_succeeded(d) ? &tally->succeeded_range : &tally->failed_range,
                              number);
        }
    }
    json_out_end(j);
    qarnot_ranges_end(&tally->executed_range);
    qarnot_ranges_end(&tally->succeeded_range);
    qarnot_ranges_end(&tally->failed_range);
}

/* ---- status ---- */

static void zeros_write(struct json_out *j, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        json_out_kv_u64(j, names[i], 0);
    }
}

static void running_write(struct json_out *j, const struct doc *task, const char *ranges)
{
    static const char *const averages[] = {
        "averageFrequencyGHz",    "maxFrequencyGHz",      "minFrequencyGHz",
        "averageMaxFrequencyGHz", "averageCpuUsage",      "clusterPowerIndicator",
        "averageMemoryUsage",     "averageNetworkInKbps", "averageNetworkOutKbps",
        "totalNetworkInKbps",     "totalNetworkOutKbps"};
    static const char *const figures[] = {"maxFrequencyGHz",  "currentFrequencyGHz", "cpuUsage",
                                          "maxMemoryMB",      "currentMemoryMB",     "memoryUsage",
                                          "networkInKbps",    "networkOutKbps",      "progress",
                                          "executionTimeSec", "executionTimeGHz"};
    const struct doc *attempts = doc_get(task, "attempts");
    json_out_put(j, "runningInstancesInfo:{perRunningInstanceInfo:[");
    for (const struct doc *d = attempts == NULL ? NULL : attempts->first; d != NULL; d = d->next) {
        if (is_newest(d) && strcmp(text_of(d, "state"), "running") == 0) {
            json_out_put(j,
                         "{phase:%s,instanceId:%u,cpuModel:%s,activeForwards:[],vpnConnections:[]",
                         "execution", number_at(ranges, d), text_of(d, "node"));
            json_out_kv_u64(j, "coreCount", 1);
            json_out_kv_u64(j, "executionAttemptCount", number_of(d, "attempt"));
            zeros_write(j, figures, sizeof figures / sizeof figures[0]);
            json_out_end(j);
        }
    }
    json_out_put(j, "],timestamp:%s,snapshotResults:[],runningCoreCountByCpuModel:[]",
                 "0001-01-01T00:00:00Z");
    zeros_write(j, averages, sizeof averages / sizeof averages[0]);
    json_out_end(j);
}

static void status_write(struct json_out *j, const struct doc *task, const char *ranges,
                         const struct instance_tally *tally, uint64_t progress)
{
    static const char *const zeros[] = {"downloadTimeSec", "environmentTimeSec", "uploadTimeSec"};
    static const char *const spans[] = {"downloadTime", "environmentTime", "uploadTime"};
    char cpu[QARNOT_TIMESPAN_MAX];
    char wall[QARNOT_TIMESPAN_MAX];
    const int64_t ran = (int64_t)number_of(task, "ran_ms");
    const int64_t used = (int64_t)number_of(task, "cpu_ms");
    qarnot_fields_timespan(used, cpu);
    qarnot_fields_timespan(ran, wall);
    json_out_put(j, "status:{downloadProgress:%u,executionProgress:%lu,uploadProgress:%u", 100,
                 progress, 0);
    json_out_kv_u64(j, "instanceCount", number_of(task, "instances"));
    zeros_write(j, zeros, sizeof zeros / sizeof zeros[0]);
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        json_out_kv_text(j, spans[i], "00:00:00");
    }
    json_out_put(j, "executionTime:%s,wallTime:%s", cpu, wall);
    json_out_kv_milli(j, "executionTimeSec", used);
    json_out_kv_milli(j, "wallTimeSec", ran);
    json_out_put(j, "succeededRange:%s,executedRange:%s,failedRange:%s,lastUpdateTimestamp:%s",
                 buf_text(&tally->succeeded), buf_text(&tally->executed), buf_text(&tally->failed),
                 text_of(task, "submitted_at"));
    json_out_put(j, "executionTimeByCpuModel:[],executionTimeGhzByCpuModel:[]");
    running_write(j, task, ranges);
    json_out_end(j);
}

/* ---- errors ---- */

/* The first failed instance, or why the task itself failed. */
static void errors_write(struct json_out *j, const struct doc *task, const char *ranges,
                         const struct qarnot_extra *extra, struct arena *arena)
{
    const struct doc *attempts = doc_get(task, "attempts");
    bool any = false;
    json_out_put(j, "errors:[");
    if (strcmp(state_of(task), "Failure") != 0) {
        json_out_end(j);
        return;
    }
    if (*extra->words != '\0') {
        json_out_put(j, "{code:%s,message:%s,debug:%s}", "BucketFailure", extra->words, "");
        any = true;
    }
    for (const struct doc *d = attempts == NULL ? NULL : attempts->first; d != NULL && !any;
         d = d->next) {
        if (is_newest(d) && has_ended(d) && !has_succeeded(d)) {
            json_out_put(j, "{code:%s,message:%s,debug:%s}", text_of(d, "cause"),
                         arena_fmt(arena, "instance %" PRIu32 ": %s", number_at(ranges, d),
                                   end_words(d, arena)),
                         text_of(d, "why"));
            any = true;
        }
    }
    if (!any) {
        const char *cause = text_of(task, "cause");
        json_out_put(
            j, "{code:%s,message:%s,debug:%s}", cause,
            strcmp(cause, names_end_cause(END_DEPENDENCY)) == 0
                ? "a task that this one depends on did not succeed"
                : arena_fmt(arena, "the task ended as %s: %s", text_of(task, "state"), cause),
            "");
    }
    json_out_end(j);
}

/* ---- dependencies ---- */

/* Does a task that this one depends on still live? */
static bool any_waits(const struct core *core, const struct doc *list)
{
    for (const struct doc *d = list == NULL ? NULL : list->first; d != NULL; d = d->next) {
        const char *uuid = "";
        uint64_t id;
        (void)doc_text(d->kind == DOC_MAP ? doc_get(d, "taskUuid") : d, &uuid);
        if (qarnot_uuid_parse(core, QARNOT_TASK, uuid, &id) &&
            query_task(core, (task_id){id}) != NULL) {
            return true;
        }
    }
    return false;
}

/* The lists as the SDK sent them, and how far they are. */
static void dependencies_write(struct json_out *j, const struct core *core, const struct doc *task,
                               const struct doc *kept)
{
    static const char *const computed[] = {"state", NULL};
    const struct doc *sent = doc_get(kept, "dependencies");
    const struct doc *plain = doc_get(sent, "dependsOn");
    const struct doc *advanced = doc_get(sent, "advancedDependsOn");
    if ((plain == NULL || plain->count == 0) && (advanced == NULL || advanced->count == 0)) {
        return;
    }
    const bool began = count_of(task, "active") + count_of(task, "ended") > 0;
    const bool failed = strcmp(text_of(task, "cause"), names_end_cause(END_DEPENDENCY)) == 0;
    const bool waits = !began && (any_waits(core, plain) || any_waits(core, advanced));
    json_out_key(j, "dependencies");
    json_out_object(j);
    json_out_kv_text(j, "state",
                     failed  ? "dependencyConditionsNotFulfilled"
                     : waits ? "waiting"
                             : "dependencyConditionsFulfilled");
    qarnot_fields_echo(j, sent, computed);
    json_out_end(j);
}

/* ---- the whole ---- */

static void tally_init(struct instance_tally *tally)
{
    *tally = (struct instance_tally){0};
    buf_init(&tally->succeeded, RANGES_MAX);
    buf_init(&tally->failed, RANGES_MAX);
    buf_init(&tally->executed, RANGES_MAX);
    tally->succeeded_range.out = &tally->succeeded;
    tally->failed_range.out = &tally->failed;
    tally->executed_range.out = &tally->executed;
}

static void tally_done(struct instance_tally *tally)
{
    buf_done(&tally->succeeded);
    buf_done(&tally->failed);
    buf_done(&tally->executed);
}

/* Times and counts. The pool's UUID of a task made elsewhere follows from the pool's name. */
static void figures_write(struct json_out *j, const struct doc *task,
                          const struct instance_tally *tally, uint64_t progress)
{
    char span[QARNOT_TIMESPAN_MAX];
    json_out_kv_u64(j, "progress", progress);
    json_out_kv_u64(j, "runningInstanceCount", tally->running);
    json_out_kv_u64(j, "runningCoreCount", tally->running);
    qarnot_fields_timespan((int64_t)number_of(task, "cpu_ms"), span);
    json_out_kv_text(j, "executionTime", span);
    qarnot_fields_timespan((int64_t)number_of(task, "ran_ms"), span);
    json_out_kv_text(j, "wallTime", span);
    json_out_kv_time(j, "endDate", time_of(task, "ended_at"));
}

/* Without a result the count must be missing: 0 lets old versions of the SDK look for a bucket. */
static void files_write(struct json_out *j, const struct qarnot_extra *extra)
{
    if (extra->results > 0) {
        json_out_kv_u64(j, "resultsCount", extra->results);
    }
    if (extra->periodic != NULL) {
        uint64_t interval = 0;
        (void)doc_u64(doc_get(extra->periodic, "interval"), &interval);
        json_out_kv_u64(j, "snapshotInterval", interval);
    }
}

static void names_write(struct json_out *j, const struct core *core, const struct doc *task,
                        const struct doc *kept)
{
    char uuid[QARNOT_UUID_MAX];
    char pool_uuid[QARNOT_UUID_MAX];
    const char *shortname = uuid;
    const char *profile = NULL;
    const char *pool = NULL;
    const char *job = NULL;
    qarnot_uuid(core, QARNOT_TASK, number_of(task, "id"), uuid);
    (void)doc_text(doc_get(kept, "shortname"), &shortname);
    (void)doc_text(doc_get(kept, "profile"), &profile);
    (void)doc_text(doc_get(kept, "poolUuid"), &pool);
    (void)doc_text(doc_get(kept, "jobUuid"), &job);
    if (kept->count == 0) {
        const struct pool *row = query_pool_named(core, text_of(task, "pool"));
        if (row != NULL) {
            qarnot_uuid(core, QARNOT_POOL, row->id.v, pool_uuid);
            pool = pool_uuid;
        }
    }
    json_out_put(j, "uuid:%s,shortname:%s,name:%s,state:%s", uuid, shortname, text_of(task, "name"),
                 state_of(task));
    json_out_kv_text(j, "profile", profile);
    json_out_kv_text(j, "poolUuid", pool);
    json_out_kv_text(j, "jobUuid", job);
    json_out_kv_time(j, "creationDate", time_of(task, "submitted_at"));
}

void qarnot_json_task(struct json_out *j, const struct core *core, const struct doc *task,
                      struct arena *arena)
{
    static const char *const computed[] = {"uuid",
                                           "shortname",
                                           "name",
                                           "state",
                                           "profile",
                                           "poolUuid",
                                           "jobUuid",
                                           "creationDate",
                                           "progress",
                                           "runningInstanceCount",
                                           "runningCoreCount",
                                           "executionTime",
                                           "wallTime",
                                           "endDate",
                                           "completedInstances",
                                           "errors",
                                           "status",
                                           "resultsCount",
                                           "snapshotInterval",
                                           "dependencies",
                                           NULL};
    const struct doc *kept = qarnot_fields_kept(arena, text_of(task, "annotation"));
    const char *ranges = NULL;
    struct instance_tally tally;
    (void)doc_text(doc_get(kept, "advancedRanges"), &ranges);
    const uint64_t count = number_of(task, "instances");
    const uint64_t progress = count > 0 ? 100 * count_of(task, "ended") / count : 0;
    struct qarnot_extra extra;
    qarnot_extra_read(kept, &extra);
    tally_init(&tally);
    json_out_object(j);
    names_write(j, core, task, kept);
    instances_write(j, task, ranges, &tally, arena);
    errors_write(j, task, ranges, &extra, arena);
    files_write(j, &extra);
    dependencies_write(j, core, task, kept);
    figures_write(j, task, &tally, progress);
    status_write(j, task, ranges, &tally, progress);
    qarnot_fields_echo(j, kept, computed);
    if (kept->count == 0) {
        json_out_put(j, "constants:[],tags:[]");
        json_out_kv_u64(j, "instanceCount", count);
    }
    json_out_end(j);
    tally_done(&tally);
}
