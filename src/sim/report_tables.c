/* report_tables.c - tables of a report: pools, waits and completion times, refused tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/report_internal.h"

#include "sim/sim_text.h"

/* ---- times ---- */

/* Writes a value of a spread as a cell: a time, or a plain number in thousandths. */
typedef const char *(*value_fn)(int64_t value, char *out);

static void times_row(const char *label, const struct spread *spread, value_fn text_of,
                      struct buf *out)
{
    const int64_t times[] = {spread->mean_ms, spread->p50_ms, spread->p90_ms, spread->p99_ms,
                             spread->max_ms};
    char text[SIM_TEXT_MAX];
    if (spread->count == 0) {
        return;
    }
    buf_add_str(out, "<tr><td>");
    chart_html_text(out, label);
    buf_addf(out, "</td><td>%s</td>", sim_text_count(spread->count, text));
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        buf_addf(out, "<td>%s</td>", text_of(times[i], text));
    }
    buf_add_str(out, "</tr>");
}

static void part_row(const char *text, struct buf *out)
{
    buf_addf(out, "<tr class=\"part\"><td colspan=\"7\">%s</td></tr>", text);
}

/* A table of waits, of completion times or of slowdowns. */
struct report_times {
    const char *title;
    const char *text;
    const struct spread *all;
    const struct spread *by_size;
    size_t in_account; /* offset of the spread in an account */
    value_fn text_of;
};

static void times_table(const struct report_page *report, const struct report_times *times)
{
    const struct result *result = report->result;
    struct buf *out = report->out;
    report_section(out, times->title, times->text);
    buf_add_str(out, "<div class=\"scroll\"><table><tr><th></th><th>tasks</th><th>mean</th>"
                     "<th>p50</th><th>p90</th><th>p99</th><th>max</th></tr>");
    times_row("all", times->all, times->text_of, out);
    part_row("by size", out);
    for (uint32_t i = 0; i < SIZE_CLASS_COUNT; i++) {
        times_row(spread_class_name(i), &times->by_size[i], times->text_of, out);
    }
    if (result->account_count > 1) {
        part_row("by account", out);
    }
    for (uint32_t i = 0; result->account_count > 1 && i < result->account_count; i++) {
        const char *account = (const char *)&result->accounts[i];
        times_row(result->accounts[i].name,
                  (const struct spread *)(const void *)(account + times->in_account),
                  times->text_of, out);
    }
    buf_add_str(out, "</table></div></section>");
}

/* ---- pools ---- */

static void pool_row(const struct pool_result *pool, struct buf *out)
{
    char text[SIM_TEXT_MAX];
    buf_add_str(out, "<tr><td>");
    chart_html_text(out, pool->name);
    buf_addf(out, "</td><td>%s</td>", sim_text_milli(pool->capacity_milli, text));
    buf_addf(out, "<td>%s</td>",
             sim_text_percent(pool->allocated_milli, pool->capacity_milli, text));
    buf_addf(out, "<td>%s</td>",
             pool->fragmented_milli < 0
                 ? "&ndash;"
                 : sim_text_percent(pool->fragmented_milli, pool->capacity_milli, text));
    buf_addf(out, "<td>%s</td>", sim_text_count(pool->wait.count, text));
    buf_addf(out, "<td>%s</td>", sim_text_span(pool->wait.mean_ms, text));
    buf_addf(out, "<td>%s</td>", sim_text_span(pool->wait.p99_ms, text));
    buf_addf(out, "<td>%s</td></tr>", sim_text_span(pool->wait.max_ms, text));
}

static void pools_table(const struct report_page *report)
{
    const struct result *result = report->result;
    if (result->pool_count < 2) {
        return;
    }
    report_section(report->out, "Pools", "Means over the whole run, and the waits in each.");
    buf_add_str(
        report->out,
        "<div class=\"scroll\"><table><tr><th></th><th>slots</th><th>allocated, %</th>"
        "<th>in pieces, %</th><th>tasks</th><th>mean wait</th><th>p99</th><th>max</th></tr>");
    for (uint32_t i = 0; i < result->pool_count; i++) {
        pool_row(&result->pools[i], report->out);
    }
    buf_add_str(report->out, "</table></div></section>");
}

/* ---- refused tasks ---- */

static void refusals_table(const struct report_page *report)
{
    const struct result *result = report->result;
    struct buf *out = report->out;
    if (result->refused == 0) {
        return;
    }
    report_section(out, "Refused", "Tasks that can never run here: the first of them, and why.");
    buf_add_str(out, "<div class=\"scroll\"><table class=\"texts\">");
    for (uint64_t i = 0; i < result->refused && i < REFUSALS_TOLD_MAX; i++) {
        buf_add_str(out, "<tr><td>");
        chart_html_text(out, result->refusals[i].name);
        buf_add_str(out, "</td><td>");
        chart_html_text(out, result->refusals[i].text);
        buf_add_str(out, "</td></tr>");
    }
    buf_add_str(out, "</table></div></section>");
}

void report_tables(const struct report_page *report)
{
    const struct result *result = report->result;
    pools_table(report);
    const struct report_times all[] = {
        {"Waits by size and account",
         "All the time in which a task waited, also after an eviction.", &result->wait,
         result->wait_by_size, offsetof(struct account_result, wait), sim_text_span},
        {"Completion times", "From submission to the end, of tasks that completed.",
         &result->completion, result->completion_by_size,
         offsetof(struct account_result, completion), sim_text_span},
        {"Slowdown",
         "The time from submission to the end, divided by the length of the task: 1.0 is no wait "
         "at all. Tasks of less than 10 s count as 10 s long.",
         &result->slowdown, result->slowdown_by_size, offsetof(struct account_result, slowdown),
         sim_text_milli},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        times_table(report, &all[i]);
    }
    refusals_table(report);
}
