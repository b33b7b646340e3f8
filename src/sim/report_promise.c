/* report_promise.c - guarantees over time: when an account lacked some of its guarantee, and
 * when it was owed a place. Of the time between two samples only the affected part is known. The
 * part is drawn in four shades.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/report_internal.h"

#include "sim/sim_text.h"

#include <inttypes.h>

enum { SHADES = 4, TICKS = 4 };

bool report_promise_any(const struct result *result)
{
    for (uint32_t i = 0; result->account_count > 1 && i < result->account_count; i++) {
        if (result->accounts[i].guaranteed_milli > 0) {
            return true;
        }
    }
    return false;
}

/* ---- strips ---- */

/* Returns the shade for the time behind sample `i`: 0 for none of it, SHADES for all of it. */
static uint32_t shade_of(const struct series *series, size_t i, int64_t span_ms, const int64_t *now,
                         const int64_t *next)
{
    const int64_t from_ms = series->at[i].at_ms;
    const int64_t to_ms = i + 1 < series->count ? series->at[i + 1].at_ms : span_ms;
    const int64_t for_ms = *next - *now;
    if (for_ms <= 0 || to_ms <= from_ms) {
        return 0;
    }
    const int64_t shade = (for_ms * SHADES + (to_ms - from_ms) - 1) / (to_ms - from_ms);
    return shade > SHADES ? SHADES : (uint32_t)shade;
}

static void segment(struct buf *out, const char *class_name, uint32_t shade, int64_t from_ms,
                    int64_t to_ms, int64_t span_ms)
{
    char left[SIM_TEXT_MAX];
    char width[SIM_TEXT_MAX];
    buf_addf(out, "<i class=\"%s s%u\" style=\"left:%s%%;width:%s%%\"></i>", class_name, shade,
             sim_text_percent(from_ms, span_ms, left),
             sim_text_percent(to_ms - from_ms, span_ms, width));
}

/* Draws a strip. `field` is the offset of this account's sums in a sample. */
static void strip(const struct series *series, int64_t span_ms, size_t field,
                  const char *class_name, struct buf *out)
{
    uint32_t shade = 0;
    int64_t from_ms = 0;
    for (size_t i = 0; i <= series->count; i++) {
        uint32_t next = 0;
        if (i + 1 < series->count) {
            const char *now = (const char *)&series->at[i];
            const char *then = (const char *)&series->at[i + 1];
            next = shade_of(series, i, span_ms, (const int64_t *)(const void *)(now + field),
                            (const int64_t *)(const void *)(then + field));
        }
        const int64_t at_ms = i < series->count ? series->at[i].at_ms : span_ms;
        if (next == shade) {
            continue;
        }
        if (shade > 0) {
            segment(out, class_name, shade, from_ms, at_ms, span_ms);
        }
        shade = next;
        from_ms = at_ms;
    }
}

static void strip_row(const struct engine *engine, const struct account_result *account,
                      const struct series *series, int64_t span_ms, struct buf *out)
{
    char text[SIM_TEXT_MAX];
    uint32_t at = 0;
    while (at < SERIES_ACCOUNTS_MAX && engine_records_account_name(engine, at) != NULL &&
           strcmp(engine_records_account_name(engine, at), account->name) != 0) {
        at++;
    }
    const bool sampled =
        at < SERIES_ACCOUNTS_MAX && engine_records_account_name(engine, at) != NULL;
    buf_add_str(out, "<div class=\"use\"><span>");
    chart_html_text(out, account->name);
    buf_add_str(out, "</span><div class=\"track\">");
    if (sampled) {
        strip(series, span_ms, offsetof(struct sample, short_ms) + at * sizeof(int64_t), "short",
              out);
        strip(series, span_ms, offsetof(struct sample, below_ms) + at * sizeof(int64_t), "below",
              out);
    }
    buf_add_str(out, "</div><span>");
    if (account->below_ms > 0) {
        buf_addf(out, "owed for %s", sim_text_span(account->below_ms, text));
    } else {
        buf_add_str(out, account->shortfall_ms > 0 ? "never owed" : "always had it");
    }
    buf_add_str(out, "</span></div>");
}

/* Writes the times below the strips, from the beginning to the end. */
static void ticks(const struct report_page *report)
{
    const int64_t span_ms = report->result->span_ms;
    const int64_t begins_ms = engine_scenario(report->engine)->begins_ms;
    struct buf *out = report->out;
    char text[SIM_TEXT_MAX];
    buf_add_str(out, "<div class=\"use ticks\"><span></span><div>");
    for (int64_t i = 0; i <= TICKS; i++) {
        const int64_t at_ms = span_ms / TICKS * i;
        buf_addf(out, "<em>%.10s</em>",
                 begins_ms > 0 ? sim_text_date(begins_ms + at_ms, text)
                               : chart_time_text(at_ms, text, sizeof text));
    }
    buf_add_str(out, "</div><span></span></div>");
}

/* ---- figures ---- */

static void cell_span(struct buf *out, int64_t ms)
{
    char text[SIM_TEXT_MAX];
    buf_addf(out, "<td>%s</td>", ms == 0 ? "&ndash;" : sim_text_span(ms, text));
}

static void cell_milli(struct buf *out, int64_t milli)
{
    char text[SIM_TEXT_MAX];
    buf_addf(out, "<td>%s</td>", milli == 0 ? "&ndash;" : sim_text_milli(milli, text));
}

static void figures(const struct account_result *account, struct buf *out)
{
    char text[SIM_TEXT_MAX];
    buf_add_str(out, "<tr><td>");
    chart_html_text(out, account->name);
    buf_add_str(out, "</td>");
    cell_milli(out, account->guaranteed_milli);
    cell_milli(out, account->shortfall_milli);
    cell_span(out, account->shortfall_ms);
    cell_span(out, account->shortfall_longest_ms);
    cell_span(out, account->below_ms);
    cell_span(out, account->below_longest_ms);
    cell_span(out, account->promised_longest_ms);
    buf_addf(out, "<td>%s</td></tr>", sim_text_count(account->evictions, text));
}

void report_promise_table(const struct report_page *report)
{
    const struct result *result = report->result;
    struct buf *out = report->out;
    if (!report_promise_any(result)) {
        return;
    }
    report_section(
        out, "Guarantees",
        "When an account wanted more and had less than its guarantee, and when it was owed a "
        "place. An account is owed a place when it has a waiting task that stays within the "
        "guarantee and would fit if other accounts gave back what they borrow.");
    buf_add_str(out, "<div class=\"legend\">");
    report_key(out, "short", "less than guaranteed");
    report_key(out, "below", "owed a place, promised none");
    buf_add_str(out, "</div>");
    for (uint32_t i = 0; i < result->account_count; i++) {
        if (result->accounts[i].guaranteed_milli > 0) {
            strip_row(report->engine, &result->accounts[i], report->series, result->span_ms, out);
        }
    }
    ticks(report);
    buf_add_str(
        out, "<div class=\"scroll\"><table><tr><th></th><th>guaranteed</th><th>short, at most</th>"
             "<th>short for</th><th>longest</th><th>owed for</th><th>longest</th>"
             "<th>promise to start</th><th>evicted</th></tr>");
    for (uint32_t i = 0; i < result->account_count; i++) {
        if (result->accounts[i].guaranteed_milli > 0) {
            figures(&result->accounts[i], out);
        }
    }
    buf_add_str(out, "</table></div></section>");
}
