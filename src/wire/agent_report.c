/* agent_report.c - what an agent says became of its attempts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/agent.h"

#include "base/base64.h"
#include "base/must.h"
#include "wire/attempt_key.h"
#include "wire/msg_internal.h"
#include "core/model/limits.h"

#include <string.h>

enum { EXIT_CODE_MAX = 255, ERRNO_MAX = 4095, STREAM_MAX = 2 };

static const char *const report_names[] = {
    [AGENT_OUTPUT] = "output",
    [AGENT_STARTED] = "started",
    [AGENT_ENDED] = "ended",
    [AGENT_SPAWN_FAILED] = "spawn_failed",
    [AGENT_LOST] = "lost",
    [AGENT_REFUSED] = "refused",
    [AGENT_CHECKPOINT] = "checkpoint",
};
enum { REPORT_NAME_COUNT = sizeof report_names / sizeof report_names[0] };

void agent_report_batch_begin(struct json_out *j, struct buf *out, const struct agent_batch *batch)
{
    json_out_init(j, out);
    json_out_object(j);
    json_out_kv_u64(j, "epoch", batch->epoch);
    json_out_kv_u64(j, "incarnation", batch->incarnation);
    json_out_kv_u64(j, "batch", batch->batch);
    json_out_key(j, "reports");
    json_out_array(j);
}

static void output_encode(struct json_out *j, const struct agent_report *report)
{
    json_out_kv_u64(j, "stream", report->stream);
    json_out_kv_u64(j, "offset", report->offset);
    json_out_key(j, "data");
    json_out_raw(j, (struct str){"\"", 1}); /* base64 needs no escapes: straight into the buffer */
    base64_add(j->out, report->data);
    buf_add_char(j->out, '"');
}

static void ended_encode(struct json_out *j, const struct agent_report *report)
{
    json_out_kv_i64(j, "at_ms", report->at_ms);
    json_out_kv_i64(j, "exit_code", report->exit_code);
    json_out_kv_u64(j, "out_bytes", report->out_bytes);
    json_out_kv_u64(j, "err_bytes", report->err_bytes);
    json_out_kv_i64(j, "cpu_ms", report->cpu_ms);
    json_out_kv_i64(j, "memory_peak", report->memory_peak_bytes);
}

void agent_report_batch_add(struct json_out *j, const struct agent_report *report)
{
    must(report->type != AGENT_REPORT_OTHER);
    json_out_object(j);
    json_out_kv_text(j, "type", report_names[report->type]);
    if (report->key.task.v != 0) {
        char text[ATTEMPT_KEY_TEXT_MAX];
        (void)attempt_key_text(report->key, text);
        json_out_kv_text(j, "key", text);
    }
    switch (report->type) {
    case AGENT_OUTPUT:
        output_encode(j, report);
        break;
    case AGENT_STARTED:
        json_out_kv_i64(j, "at_ms", report->at_ms);
        json_out_kv_u64(j, "pid", report->pid);
        if (report->workdir_missed) {
            json_out_kv_bool(j, "workdir_used", false);
        }
        break;
    case AGENT_CHECKPOINT:
        json_out_kv_i64(j, "at_ms", report->at_ms);
        break;
    case AGENT_ENDED:
        ended_encode(j, report);
        break;
    case AGENT_SPAWN_FAILED:
        json_out_kv_i64(j, "errno", report->exit_code);
        json_out_kv_text(j, "message", report->text != NULL ? report->text : "");
        break;
    case AGENT_REFUSED:
        json_out_kv_text(j, "why", report->text != NULL ? report->text : "");
        break;
    case AGENT_LOST:
    case AGENT_REPORT_OTHER:
        break;
    }
    json_out_end(j);
}

void agent_report_batch_end(struct json_out *j)
{
    json_out_end(j);
    json_out_end(j);
}

static enum agent_report_type type_parse(const char *name)
{
    for (size_t i = 0; i < REPORT_NAME_COUNT; i++) {
        if (strcmp(name, report_names[i]) == 0) {
            return (enum agent_report_type)i;
        }
    }
    return AGENT_REPORT_OTHER;
}

static void output_decode(struct msg *msg, const struct doc *doc, struct agent_report *ret)
{
    const struct doc *data = doc_get(doc, "data");
    ret->stream = (uint32_t)msg_u64(msg, doc, "stream", STREAM_MAX, 0);
    ret->offset = msg_u64(msg, doc, "offset", INT64_MAX, 0);
    if (ret->stream == 0) {
        msg_bad(msg, "stream", "1 or 2");
    }
    if (data == NULL || data->kind != DOC_STRING ||
        !base64_decode(msg->arena, data->text, &ret->data)) {
        msg_bad(msg, "data", "base64");
    }
}

static void report_decode(struct msg *msg, const struct doc *doc, struct agent_report *ret)
{
    const char *type = msg_text(msg, doc, "type", NAME_LEN_MAX, NULL);
    *ret = (struct agent_report){.type = type_parse(type), .text = "", .data = {"", 0}};
    if (ret->type == AGENT_REPORT_OTHER) {
        return;
    }
    if (ret->type != AGENT_REFUSED || doc_get(doc, "key") != NULL) {
        ret->key = msg_key(msg, doc);
    }
    ret->at_ms = msg_i64(msg, doc, "at_ms", INT64_MAX, 0);
    switch (ret->type) {
    case AGENT_OUTPUT:
        output_decode(msg, doc, ret);
        break;
    case AGENT_STARTED:
        ret->pid = (uint32_t)msg_u64(msg, doc, "pid", UINT32_MAX, 0);
        ret->workdir_missed = !msg_bool(msg, doc, "workdir_used", true);
        break;
    case AGENT_ENDED:
        ret->exit_code = (int32_t)msg_u64(msg, doc, "exit_code", EXIT_CODE_MAX, EXIT_CODE_MAX);
        ret->out_bytes = msg_u64(msg, doc, "out_bytes", INT64_MAX, 0);
        ret->err_bytes = msg_u64(msg, doc, "err_bytes", INT64_MAX, 0);
        ret->cpu_ms = msg_i64(msg, doc, "cpu_ms", INT64_MAX, 0);
        ret->memory_peak_bytes = msg_i64(msg, doc, "memory_peak", INT64_MAX, 0);
        break;
    case AGENT_SPAWN_FAILED:
        ret->exit_code = (int32_t)msg_u64(msg, doc, "errno", ERRNO_MAX, 0);
        ret->text = msg_text(msg, doc, "message", AGENT_TEXT_MAX, "");
        break;
    case AGENT_REFUSED:
        ret->text = msg_text(msg, doc, "why", AGENT_TEXT_MAX, "");
        break;
    case AGENT_CHECKPOINT:
    case AGENT_LOST:
    case AGENT_REPORT_OTHER:
        break;
    }
}

enum err agent_report_batch_decode(struct str text, struct arena *arena, struct agent_batch *ret,
                                   struct error *e)
{
    struct msg msg;
    const struct doc *doc;
    enum err r = msg_parse(&msg, text, arena, &doc, e);
    if (r != ERR_OK) {
        return r;
    }
    struct agent_batch batch = {
        .epoch = msg_u64(&msg, doc, "epoch", UINT64_MAX, 0),
        .incarnation = (uint32_t)msg_u64(&msg, doc, "incarnation", UINT32_MAX, 0),
        .batch = msg_u64(&msg, doc, "batch", UINT64_MAX, 0),
    };
    const struct doc *list = msg_list(&msg, doc, "reports", AGENT_REPORTS_MAX);
    if (list != NULL) {
        struct agent_report *reports = arena_new(arena, struct agent_report, list->count);
        for (const struct doc *item = list->first; item != NULL && !msg.bad; item = item->next) {
            report_decode(&msg, item, &reports[batch.count++]);
        }
        batch.reports = reports;
    }
    r = msg_result(&msg);
    if (r != ERR_OK) {
        return batch.count > 0 ? fail_in(e, "reports[%u]", batch.count - 1) : r;
    }
    *ret = batch;
    return ERR_OK;
}

bool agent_report_input(const struct agent_report *report, uint32_t incarnation, struct report *ret)
{
    static const enum report_type types[] = {
        [AGENT_STARTED] = REPORT_STARTED,           [AGENT_ENDED] = REPORT_ENDED,
        [AGENT_SPAWN_FAILED] = REPORT_SPAWN_FAILED, [AGENT_LOST] = REPORT_LOST,
        [AGENT_CHECKPOINT] = REPORT_CHECKPOINT,
    };
    if (report->type == AGENT_OUTPUT || report->type == AGENT_REFUSED ||
        report->type == AGENT_REPORT_OTHER) {
        return false;
    }
    *ret = (struct report){
        .type = types[report->type],
        .key = report->key,
        .incarnation = incarnation,
        .at_ms = report->at_ms,
        .workdir_missed = report->workdir_missed,
        .exit_code = report->exit_code,
        .out_bytes = report->out_bytes,
        .err_bytes = report->err_bytes,
        .cpu_ms = report->cpu_ms,
        .memory_peak_bytes = report->memory_peak_bytes,
    };
    return true;
}
