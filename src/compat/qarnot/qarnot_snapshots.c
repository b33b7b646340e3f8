/* qarnot_snapshots.c - snapshots: files of a running task that go to a bucket before the task ends. The task's annotation says
 * what was asked for; the nodes look there. SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "api/history.h"
#include "compat/qarnot/qarnot_handlers.h"
#include "compat/qarnot/qarnot_internal.h"

#include <inttypes.h>

/* What a snapshot of a running task needs. False: the call was answered. */
static bool config_read(struct call *call, task_id id, const struct doc **ret_config,
                        struct qarnot_extra *ret_extra)
{
    struct task_spec spec;
    struct error e;
    if (query_task(call_core(call), id) == NULL) {
        call_failf(call, ERR_DENIED, "", "the task is not running: it has ended");
        return false;
    }
    if (!body_read(call, ret_config)) {
        return false;
    }
    query_task_spec(call_core(call), id, call_arena(call), &spec);
    const struct doc *kept = qarnot_fields_kept(call_arena(call), spec.annotation);
    const char *bucket = qarnot_buckets_text(*ret_config, "bucket");
    if (!qarnot_buckets_on(call) || !qarnot_buckets_out(kept)) {
        call_failf(call, ERR_DENIED, "",
                   "Weir takes snapshots of tasks that have a result bucket; this one has none");
        return false;
    }
    if ((*bucket != '\0' && !qarnot_buckets_name_ok(bucket)) ||
        strlen(qarnot_buckets_text(*ret_config, "bucketPrefix")) > TEXT_LEN_MAX) {
        call_failf(call, ERR_INVALID, "bucket", "'%.80s' is no bucket's name", bucket);
        return false;
    }
    if (qarnot_buckets_pattern_check(*ret_config, "whitelist", &e) != ERR_OK ||
        qarnot_buckets_pattern_check(*ret_config, "blacklist", &e) != ERR_OK) {
        call_fail(call, &e);
        return false;
    }
    qarnot_extra_read(kept, ret_extra);
    return true;
}

void qarnot_snapshots_periodic(struct call *call)
{
    task_id id;
    struct qarnot_extra extra;
    const struct doc *config;
    uint64_t interval = 0;
    if (!qarnot_tasks_of(call, &id) || !config_read(call, id, &config, &extra)) {
        return;
    }
    if (!doc_u64(doc_get(config, "interval"), &interval) || interval < 1 || interval > UINT32_MAX) {
        call_failf(call, ERR_INVALID, "interval", "it must be 1 s or more");
        return;
    }
    extra.periodic = config;
    if (qarnot_extra_put(call, id, &extra)) {
        buf_clear(&call->out);
        call_answer(call, 200, NULL);
    }
}

/* The indexes of the instances that run now: "0-3,7". */
static const char *running_indexes(const struct call *call, const struct task *task)
{
    struct buf out;
    buf_init(&out, QARNOT_BODY_MAX);
    struct qarnot_range_writer writer = {.out = &out};
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance = query_instance(call_core(call), task->id, i);
        if (instance != NULL && instance->state == INSTANCE_RUNNING) {
            qarnot_ranges_add(&writer, i);
        }
    }
    qarnot_ranges_end(&writer);
    const char *text = arena_str(call_arena(call), buf_text(&out));
    buf_done(&out);
    return text;
}

void qarnot_snapshots_take(struct call *call)
{
    task_id id;
    struct qarnot_extra extra;
    const struct doc *config;
    struct json_out j;
    if (!qarnot_tasks_of(call, &id) || !config_read(call, id, &config, &extra)) {
        return;
    }
    const char *waits = running_indexes(call, query_task(call_core(call), id));
    if (*waits == '\0') {
        call_failf(call, ERR_DENIED, "", "no instance of the task is running");
        return;
    }
    if (extra.snapshot_count == QARNOT_SNAPSHOTS_MAX) {
        memmove(extra.snapshots, extra.snapshots + 1,
                (QARNOT_SNAPSHOTS_MAX - 1) * sizeof extra.snapshots[0]);
        extra.snapshot_count--;
    }
    const int64_t now_ms = call_now_ms(call);
    extra.snapshots[extra.snapshot_count++] = (struct qarnot_snapshot){.id = ++extra.snapshot_last,
                                                                       .asked_ms = now_ms,
                                                                       .seen_ms = now_ms,
                                                                       .config = config,
                                                                       .waits = waits,
                                                                       .words = ""};
    if (qarnot_extra_put(call, id, &extra)) {
        call_json(call, &j);
        json_out_put(&j, "{id:%s}", arena_fmt(call_arena(call), "%" PRIu64, extra.snapshot_last));
        call_answer_json(call, 200);
    }
}

/* ---- what became of one ---- */

/* Does an instance still run that has not reported? One that has ended has sent its results. */
static bool is_awaited(const struct call *call, task_id task, const char *waits)
{
    struct qarnot_ranges ranges;
    struct error e;
    if (*waits == '\0' || qarnot_ranges_read(waits, &ranges, &e) != ERR_OK) {
        return false;
    }
    for (uint32_t i = 0; i < ranges.count; i++) {
        const uint32_t index = qarnot_ranges_at(waits, i);
        const struct instance *instance = query_task(call_core(call), task) == NULL
                                              ? NULL
                                              : query_instance(call_core(call), task, index);
        if (instance != NULL && instance->state == INSTANCE_RUNNING) {
            return true;
        }
    }
    return false;
}

static void snapshot_show(struct call *call, task_id task, const char *annotation)
{
    struct qarnot_extra extra;
    uint64_t id = 0;
    struct json_out j;
    qarnot_extra_read(qarnot_fields_kept(call_arena(call), annotation), &extra);
    const struct qarnot_snapshot *s = NULL;
    for (uint32_t i = 0; i < extra.snapshot_count; i++) {
        if (str_to_u64(str_of(call->params[1]), &id) && extra.snapshots[i].id == id) {
            s = &extra.snapshots[i];
        }
    }
    if (s == NULL) {
        call_failf(call, ERR_NOT_FOUND, "", "the task has no snapshot %.20s", call->params[1]);
        return;
    }
    const bool awaited = is_awaited(call, task, s->waits);
    const char *state = *s->words != '\0'          ? "Failure"
                        : !awaited                 ? "Success"
                        : s->seen_ms > s->asked_ms ? "InProgress"
                                                   : "Triggered";
    call_json(call, &j);
    json_out_put(&j,
                 "{id:%s,taskUuid:%s,triggerDate:%td,lastUpdateDate:%td,status:%s,"
                 "transferredSize:%lu,snapshotConfig:",
                 call->params[1], call->params[0], s->asked_ms, s->seen_ms, state, s->bytes);
    json_out_put(
        &j, "{whitelist:%s,blacklist:%s,bucket:%s,bucketPrefix:%s}}",
        qarnot_buckets_text(s->config, "whitelist"), qarnot_buckets_text(s->config, "blacklist"),
        qarnot_buckets_text(s->config, "bucket"), qarnot_buckets_text(s->config, "bucketPrefix"));
    call_answer_json(call, 200);
}

static void ended_show(struct call *call, task_id id, struct str json)
{
    struct doc *task;
    struct error e;
    must(doc_json_parse(call_arena(call), json, &task, &e) == ERR_OK); /* Weir wrote it */
    snapshot_show(call, id, qarnot_buckets_text(task, "annotation"));
}

void qarnot_snapshots_show(struct call *call)
{
    task_id id;
    struct task_spec spec;
    if (!qarnot_tasks_of(call, &id)) {
        return;
    }
    if (query_task(call_core(call), id) == NULL) {
        history_read(call, id, ended_show);
        return;
    }
    query_task_spec(call_core(call), id, call_arena(call), &spec);
    snapshot_show(call, id, spec.annotation);
}
