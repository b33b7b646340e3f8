/* report_settings.c - the settings of every pool, by the table of the fields of a pool. Settings
 * that differ from their default stand out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/report_internal.h"

#include "base/amount.h"
#include "core/model/object.h"
#include "sim/sim_text.h"

#include <inttypes.h>

enum { SETTING_POOLS_MAX = 8, SETTING_TEXT_MAX = 128 };

static bool is_setting(const struct object_field *row)
{
    const bool place =
        row->group == GROUP_TOP || row->group == GROUP_SCHEDULER || row->group == GROUP_HISTORY;
    const enum record_type type = (enum record_type)row->record.type;
    return place && (type == RECORD_UINT || type == RECORD_BOOL || type == RECORD_MILLI ||
                     type == RECORD_MS || type == RECORD_WORD);
}

static void milli_text(const struct object_field *row, int64_t value, char *out, size_t size)
{
    if (row->words != NULL && value == 0) {
        (void)snprintf(out, size, "%s", row->words);
        return;
    }
    const bool percent = row->what != NULL && strcmp(row->what, "%") == 0;
    (void)snprintf(out, size, "%" PRId64 ".%03" PRId64, value / 1000, value % 1000);
    size_t len = strlen(out);
    while (out[len - 1] == '0' || out[len - 1] == '.') {
        const bool point = out[len - 1] == '.';
        out[--len] = '\0';
        if (point) {
            break;
        }
    }
    if (percent) {
        (void)snprintf(out + len, size - len, " %%");
    }
}

/* Writes a setting as a file would have it. */
static const char *setting_text(const struct object_field *row, const struct pool_spec *spec,
                                char out[static SETTING_TEXT_MAX])
{
    const int64_t value = record_value(&row->record, spec);
    if (row->record.type == RECORD_WORD) {
        (void)snprintf(out, SETTING_TEXT_MAX, "%s", row->record.word((unsigned)value));
    } else if (row->record.type == RECORD_BOOL) {
        (void)snprintf(out, SETTING_TEXT_MAX, "%s", value != 0 ? "yes" : "no");
    } else if (row->record.type == RECORD_MILLI) {
        milli_text(row, value, out, SETTING_TEXT_MAX);
    } else if (row->record.type == RECORD_MS && value < 0) {
        const struct str word = object_word(row, value);
        (void)snprintf(out, SETTING_TEXT_MAX, "%.*s", (int)word.len, word.p);
    } else if (row->record.type == RECORD_MS) {
        amount_duration_text(value, out);
    } else {
        (void)snprintf(out, SETTING_TEXT_MAX, "%" PRId64, value);
    }
    return out;
}

static void setting_row(const struct object_field *row, const struct pool_spec *specs,
                        uint32_t count, struct buf *out)
{
    char text[SETTING_TEXT_MAX];
    buf_add_str(out, row->group == GROUP_HISTORY ? "<tr><td>history: " : "<tr><td>");
    chart_html_text(out, row->record.name);
    buf_add_str(out, "</td>");
    for (uint32_t i = 0; i < count; i++) {
        buf_addf(out, "<td class=\"%s\">", object_default(row, &specs[i]) ? "plain" : "own");
        chart_html_text(out, setting_text(row, &specs[i], text));
        buf_add_str(out, "</td>");
    }
    buf_add_str(out, "</tr>");
}

void report_settings(const struct report_page *report)
{
    const struct core *core = engine_core(report->engine);
    struct pool_spec specs[SETTING_POOLS_MAX];
    struct buf *out = report->out;
    struct arena arena;
    uint32_t count = 0;
    arena_init(&arena);
    for (const struct pool *pool = query_pool_next(core, (pool_id){0});
         pool != NULL && count < SETTING_POOLS_MAX; pool = query_pool_next(core, pool->id)) {
        query_pool_spec(core, pool->id, &arena, &specs[count++]);
    }
    report_section(out, "Settings of the pools",
                   "As they were at the end. Settings in bold differ from the default.");
    buf_add_str(out, "<div class=\"scroll\"><table><tr><th></th>");
    for (uint32_t i = 0; i < count; i++) {
        buf_add_str(out, "<th>");
        chart_html_text(out, specs[i].name);
        buf_add_str(out, "</th>");
    }
    buf_add_str(out, "</tr>");
    for (uint32_t i = 0; i < pool_object.count; i++) {
        if (is_setting(&pool_object.fields[i])) {
            setting_row(&pool_object.fields[i], specs, count, out);
        }
    }
    buf_add_str(out, "</table></div></section>");
    arena_done(&arena);
}
