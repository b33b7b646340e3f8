/* agent_report.c - the reports of an agent about its attempts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/agent.h"

#include "base/base64.h"
#include "base/must.h"
#include "wire/record_json.h"
#include "core/model/limits.h"

static const char key_wanted[] = "an attempt like 12.0:1";

enum { EXIT_CODE_MAX = 255, ERRNO_MAX = 4095 };

static const char *type_word(unsigned type)
{
    static const char *const words[] = {
        [AGENT_OUTPUT] = "output",
        [AGENT_STARTED] = "started",
        [AGENT_ENDED] = "ended",
        [AGENT_SPAWN_FAILED] = "spawn_failed",
        [AGENT_LOST] = "lost",
        [AGENT_REFUSED] = "refused",
        [AGENT_CHECKPOINT] = "checkpoint",
    };
    return words[type];
}

static void data_put(struct json_out *j, const struct record_field *field, const void *object)
{
    json_out_key(j, field->name);
    json_out_raw(j, (struct str){"\"", 1}); /* base64 needs no escapes: straight into the buffer */
    base64_add(j->out, ((const struct agent_report *)object)->data);
    buf_add_char(j->out, '"');
}

static void data_get(struct record_json *in, const struct record_field *field,
                     const struct doc *value, void *object)
{
    if (value->kind != DOC_STRING || value->text.len > (size_t)field->high ||
        !base64_decode(in->arena, value->text, &((struct agent_report *)object)->data)) {
        record_json_bad(in, field->name, field->required);
    }
}

/* Begins the list and leaves it open, because the caller adds reports one by one. */
static void reports_put(struct json_out *j, const struct record_field *field, const void *object)
{
    (void)object;
    json_out_key(j, field->name);
    json_out_array(j);
}

static void reports_get(struct record_json *in, const struct record_field *field,
                        const struct doc *value, void *object);

/* clang-format off */
static const struct record_table report_table = RECORD_JSON_TABLE(agent_report,
    RECORD_JSON_ROW(agent_report, type, "type", WORD, 0, AGENT_CHECKPOINT, .word = type_word, .otherwise = AGENT_REPORT_OTHER,
               .required = "a text within its length"));
static const struct record_table batch_table = RECORD_JSON_TABLE(agent_batch,
    RECORD_JSON_ROW(agent_batch, epoch, "epoch", UINT, 0, RECORD_ANY),
    RECORD_JSON_ROW(agent_batch, incarnation, "incarnation", UINT, 0, RECORD_ANY),
    RECORD_JSON_ROW(agent_batch, batch, "batch", UINT, 0, RECORD_ANY),
    RECORD_JSON_ROW(agent_batch, reports, "reports", OWN, 0, AGENT_REPORTS_MAX, RECORD_JSON_COUNT(agent_batch, count),
               .json = RECORD_JSON_FORM(.put = reports_put, .get = reports_get)));

/* The fields of each type of report, beside `type`. */
static const struct record_table type_tables[] = {
    [AGENT_OUTPUT] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true, .required = key_wanted),
        RECORD_JSON_ROW(agent_report, stream, "stream", UINT, 1, 2, .required = "1 or 2"),
        RECORD_JSON_ROW(agent_report, offset, "offset", UINT, 0, INT64_MAX),
        RECORD_JSON_ROW(agent_report, data, "data", OWN, 0, AGENT_REPORT_BYTES_MAX, .required = "base64",
            .json = RECORD_JSON_FORM(.put = data_put, .get = data_get))),
    [AGENT_STARTED] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true, .required = key_wanted),
        RECORD_JSON_ROW(agent_report, at_ms, "at_ms", INT, 0, INT64_MAX),
        RECORD_JSON_ROW(agent_report, pid, "pid", UINT, 0, RECORD_ANY),
        RECORD_JSON_ROW(agent_report, workdir_missed, "workdir_used", BOOL, 0, 1, .sparse = true, .json = &record_json_not)),
    [AGENT_ENDED] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true, .required = key_wanted),
        RECORD_JSON_ROW(agent_report, at_ms, "at_ms", INT, 0, INT64_MAX),
        RECORD_JSON_ROW(agent_report, exit_code, "exit_code", INT, 0, EXIT_CODE_MAX, .otherwise = EXIT_CODE_MAX),
        RECORD_JSON_ROW(agent_report, out_bytes, "out_bytes", UINT, 0, INT64_MAX),
        RECORD_JSON_ROW(agent_report, err_bytes, "err_bytes", UINT, 0, INT64_MAX),
        RECORD_JSON_ROW(agent_report, cpu_ms, "cpu_ms", MS, 0, INT64_MAX),
        RECORD_JSON_ROW(agent_report, memory_peak_bytes, "memory_peak", MEMORY, 0, INT64_MAX)),
    [AGENT_SPAWN_FAILED] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true, .required = key_wanted),
        RECORD_JSON_ROW(agent_report, at_ms, "at_ms", INT, 0, INT64_MAX, .json = &record_json_unwritten),
        RECORD_JSON_ROW(agent_report, exit_code, "errno", INT, 0, ERRNO_MAX),
        RECORD_JSON_ROW(agent_report, text, "message", TEXT, 0, AGENT_TEXT_MAX)),
    [AGENT_LOST] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true, .required = key_wanted)),
    [AGENT_REFUSED] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true),
        RECORD_JSON_ROW(agent_report, text, "why", TEXT, 0, AGENT_TEXT_MAX)),
    [AGENT_CHECKPOINT] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true, .required = key_wanted),
        RECORD_JSON_ROW(agent_report, at_ms, "at_ms", INT, 0, INT64_MAX)),
    [AGENT_REPORT_OTHER] = {0},
};
/* clang-format on */

void agent_report_batch_begin(struct json_out *j, struct buf *out, const struct agent_batch *batch)
{
    json_out_init(j, out);
    json_out_object(j);
    record_json_put(j, &batch_table, batch);
}

void agent_report_batch_add(struct json_out *j, const struct agent_report *report)
{
    must(report->type != AGENT_REPORT_OTHER);
    json_out_object(j);
    record_json_put(j, &report_table, report);
    record_json_put(j, &type_tables[report->type], report);
    json_out_end(j);
}

void agent_report_batch_end(struct json_out *j)
{
    json_out_end(j);
    json_out_end(j);
}

/* Reads reports up to the first bad one. The bad report is the last one counted. */
static void reports_get(struct record_json *in, const struct record_field *field,
                        const struct doc *value, void *object)
{
    struct agent_batch *batch = object;
    const struct doc *list = record_json_list(in, field, value, field->high);
    const struct doc *item = list != NULL ? list->first : NULL;
    struct agent_report *reports =
        arena_new(in->arena, struct agent_report, list != NULL ? list->count : 0);
    for (; item != NULL && !in->bad; item = item->next) {
        struct agent_report *report = &reports[batch->count++];
        *report = (struct agent_report){.text = "", .data = {"", 0}};
        record_json_get(in, &report_table, item, report);
        record_json_get(in, &type_tables[report->type], item, report);
    }
    batch->reports = reports;
    if (in->bad && batch->count > 0) {
        (void)fail_in(in->error, "%s[%u]", field->name, batch->count - 1);
    }
}

enum err agent_report_batch_decode(struct str text, struct arena *arena, struct agent_batch *ret,
                                   struct error *e)
{
    return record_json_decode(&batch_table, text, arena, ret, e);
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
