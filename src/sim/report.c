/* report.c - see report.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/report.h"

#include "sim/chart.h"
#include "sim/report_internal.h"
#include "sim/text.h"

#include <inttypes.h>

static const char style[] =
    ":root{--bg:#fbfbf9;--card:#fff;--fg:#1d2430;--muted:#667085;--grid:#e4e7ec;--c0:#2f6fb0;"
    "--c1:#e08a2e;--c2:#3a9a6b;--c3:#b8475d;--c4:#7a5bb5;--c5:#4aa3b8;--c6:#a08a2f;--c7:#8a8f98}"
    "@media(prefers-color-scheme:dark){:root{--bg:#14171c;--card:#1c2128;--fg:#e6e9ee;"
    "--muted:#98a2b3;--grid:#2d343e;--c0:#6aa9e6;--c1:#f0ab5c;--c2:#6cc79a;--c3:#e57f92;"
    "--c4:#ab92e0;--c5:#7fcbdc;--c6:#cdb75e;--c7:#a4aab4}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);"
    "font:15px/1.5 system-ui,sans-serif}main{max-width:940px;margin:0 auto;padding:32px 20px 64px}"
    "h1{font-size:26px;margin:0 0 4px;line-height:1.2}h2{font-size:17px;margin:0 0 2px}"
    "p{margin:0 0 12px;color:var(--muted)}.cards{display:grid;gap:12px;margin:24px 0;"
    "grid-template-columns:repeat(auto-fit,minmax(165px,1fr))}.card,section{background:var(--card);"
    "border:1px solid var(--grid);border-radius:10px;padding:14px 16px}section{margin:0 0 18px}"
    ".card b{display:block;font-size:22px;font-weight:600;line-height:1.3}.card span{"
    "color:var(--muted);font-size:13px}svg{width:100%;height:auto;display:block}"
    ".grid{stroke:var(--grid);stroke-width:1}.tick{fill:var(--muted);font-size:11px}"
    ".line{fill:none;stroke-width:1.6}.area{stroke:none;opacity:.75}"
    ".legend{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:13px;color:var(--muted);"
    "margin:0 0 6px}.legend i{display:inline-block;width:11px;height:11px;border-radius:3px;"
    "margin-right:6px}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}"
    "th,td{text-align:right;padding:4px 8px;border-bottom:1px solid var(--grid);font-size:14px}"
    "th:first-child,td:first-child{text-align:left}th{color:var(--muted);font-weight:500}"
    ".scroll{overflow-x:auto}.use{display:flex;align-items:center;gap:10px;margin:6px 0}"
    ".use span:first-child{width:150px;overflow:hidden;text-overflow:ellipsis}.track{flex:1;"
    "height:14px;background:var(--grid);border-radius:4px;position:relative}.track i{position:"
    "absolute;left:0;top:0;bottom:0;border-radius:4px}.track b{position:absolute;top:-3px;bottom:"
    "-3px;width:2px;background:var(--fg)}.use span:last-child{width:180px;font-size:13px;"
    "color:var(--muted);text-align:right}.short{background:var(--c1)}.below{background:var(--c3)}"
    ".track .short,.track .below{border-radius:0}.s1{opacity:.35}.s2{opacity:.55}.s3{opacity:.8}"
    ".ticks{margin-top:-2px}.ticks div{flex:1;display:flex;justify-content:space-between;"
    "color:var(--muted);font-size:11px}.ticks em{font-style:normal}section>.scroll{margin-top:12px}"
    "@media(max-width:640px){main{padding:20px 12px 40px}.tick{font-size:24px}.tick.odd{display:"
    "none}.line{stroke-width:3}.use{flex-wrap:wrap;gap:2px 10px}.use span:first-child{width:auto;"
    "flex:1}.use span:last-child{width:auto}.track,.ticks div{order:3;flex:1 0 100%}}";

static void colours(struct buf *out)
{
    for (int i = 0; i < CHART_COLOURS; i++) {
        buf_addf(out,
                 ".line.c%d{stroke:var(--c%d)}.area.c%d,.bar.c%d{fill:var(--c%d)}.k%d{"
                 "background:var(--c%d)}",
                 i, i, i, i, i, i, i);
    }
    buf_add_str(out, ".line.limit{stroke:var(--muted);stroke-dasharray:5 4}.limit-key{background:"
                     "var(--muted)}");
}

static void card(struct buf *out, const char *value, const char *label)
{
    buf_add_str(out, "<div class=\"card\"><b>");
    html_text(out, value);
    buf_add_str(out, "</b><span>");
    html_text(out, label);
    buf_add_str(out, "</span></div>");
}

static void cards(const struct result *result, struct buf *out)
{
    char text[SIM_TEXT_MAX];
    char percent[SIM_TEXT_MAX + 4];
    buf_add_str(out, "<div class=\"cards\">");
    card(out, sim_count_text(result->submitted, text), "tasks submitted");
    card(out, sim_count_text(result->completed, text), "completed");
    card(out, sim_span_text(result->wait.mean_ms, text), "mean wait");
    card(out, sim_span_text(result->wait.p99_ms, text), "99 % waited at most");
    (void)snprintf(percent, sizeof percent, "%s %%",
                   sim_percent_text(result->allocated_milli, result->capacity_milli, text));
    card(out, percent, "of the slots allocated");
    card(out, sim_count_text(result->queue_max, text), "tasks waiting at most");
    card(out, sim_count_text(result->evictions, text), "evictions");
    card(out, sim_milli_text(result->work_lost_slot_ms / 3600, text), "slot-hours lost");
    if (report_promised(result)) {
        int64_t longest_ms = 0;
        for (uint32_t i = 0; i < result->account_count; i++) {
            const int64_t below_ms = result->accounts[i].below_longest_ms;
            longest_ms = below_ms > longest_ms ? below_ms : longest_ms;
        }
        card(out, sim_span_text(longest_ms, text), "owed at a stretch");
    }
    buf_add_str(out, "</div>");
}

void report_section(struct buf *out, const char *title, const char *text)
{
    buf_add_str(out, "<section><h2>");
    html_text(out, title);
    buf_add_str(out, "</h2><p>");
    html_text(out, text);
    buf_add_str(out, "</p>");
}

void report_key(struct buf *out, const char *class_name, const char *text)
{
    buf_addf(out, "<span><i class=\"%s\"></i>", class_name);
    html_text(out, text);
    buf_add_str(out, "</span>");
}

/* ---- charts over time ---- */

static void allocation(const struct series *series, int64_t span_ms, struct buf *out)
{
    struct chart_point points[SERIES_SAMPLES_MAX];
    struct chart chart;
    int64_t most = 0;
    for (size_t i = 0; i < series->count; i++) {
        most = series->at[i].capacity_milli > most ? series->at[i].capacity_milli : most;
        most = series->at[i].allocated_milli > most ? series->at[i].allocated_milli : most;
    }
    report_section(out, "Allocation",
                   "Slots in use, and idle slots in pieces too small for the tasks of "
                   "this workload.");
    buf_add_str(out, "<div class=\"legend\">");
    report_key(out, "k0", "allocated");
    report_key(out, "k1", "idle, too small");
    report_key(out, "limit-key", "slots there");
    buf_add_str(out, "</div>");
    chart_begin_time(&chart, out, span_ms, most, 1000);
    for (size_t i = 0; i < series->count; i++) {
        points[i] = (struct chart_point){series->at[i].at_ms, 0, series->at[i].allocated_milli};
    }
    chart_area(&chart, points, series->count, "c0");
    for (size_t i = 0; i < series->count; i++) {
        const int64_t low = series->at[i].allocated_milli;
        points[i] =
            (struct chart_point){series->at[i].at_ms, low, low + series->at[i].fragmented_milli};
    }
    chart_area(&chart, points, series->count, "c1");
    for (size_t i = 0; i < series->count; i++) {
        points[i] = (struct chart_point){series->at[i].at_ms, 0, series->at[i].capacity_milli};
    }
    chart_line(&chart, points, series->count, "limit");
    chart_end(&chart);
    buf_add_str(out, "</section>");
}

static void queue(const struct series *series, int64_t span_ms, struct buf *out)
{
    struct chart_point points[SERIES_SAMPLES_MAX];
    struct chart chart;
    int64_t most = 0;
    for (size_t i = 0; i < series->count; i++) {
        points[i] = (struct chart_point){series->at[i].at_ms, 0, (int64_t)series->at[i].pending};
        most = points[i].y > most ? points[i].y : most;
    }
    report_section(out, "Queue", "Tasks that wait for a place.");
    chart_begin_time(&chart, out, span_ms, most, 1);
    chart_area(&chart, points, series->count, "c4");
    chart_line(&chart, points, series->count, "c4");
    chart_end(&chart);
    buf_add_str(out, "</section>");
}

static void account_areas(const struct engine *engine, const struct series *series, int64_t span_ms,
                          struct buf *out)
{
    struct chart_point points[SERIES_SAMPLES_MAX];
    struct chart chart;
    int64_t most = 0;
    for (size_t i = 0; i < series->count; i++) {
        most = series->at[i].allocated_milli > most ? series->at[i].allocated_milli : most;
        points[i] = (struct chart_point){.x = series->at[i].at_ms};
    }
    chart_begin_time(&chart, out, span_ms, most, 1000);
    for (uint32_t account = 0; account < SERIES_ACCOUNTS_MAX; account++) {
        char class_name[SIM_TEXT_MAX];
        if (engine_account_name(engine, account) == NULL) {
            break;
        }
        for (size_t i = 0; i < series->count; i++) {
            points[i].low = points[i].y;
            points[i].y += series->at[i].held_milli[account];
        }
        (void)snprintf(class_name, sizeof class_name, "c%u", account);
        chart_area(&chart, points, series->count, class_name);
    }
    chart_end(&chart);
}

/* ---- waits ---- */

static const struct {
    int64_t below_ms;
    const char *label;
} wait_bins[] = {
    {1000, "<1s"},     {10000, "10s"},      {30000, "30s"},      {60000, "1m"},
    {120000, "2m"},    {300000, "5m"},      {600000, "10m"},     {1800000, "30m"},
    {3600000, "1h"},   {7200000, "2h"},     {14400000, "4h"},    {28800000, "8h"},
    {57600000, "16h"}, {86400000, "1d"},    {172800000, "2d"},   {345600000, "4d"},
    {691200000, "8d"}, {1382400000, "16d"}, {INT64_MAX, "more"},
};
enum { WAIT_BINS = sizeof wait_bins / sizeof wait_bins[0] };

static void waits(const struct engine *engine, struct buf *out)
{
    const char *labels[WAIT_BINS];
    int64_t counts[WAIT_BINS] = {0};
    int64_t started = 0;
    int64_t most = 0;
    size_t count;
    const struct job_record *records = engine_records(engine, &count);
    for (size_t i = 0; i < count; i++) {
        if (records[i].started_ms < 0) {
            continue;
        }
        const int64_t wait_ms = records[i].started_ms - records[i].submitted_ms;
        size_t bin = 0;
        while (wait_ms >= wait_bins[bin].below_ms) {
            bin++;
        }
        counts[bin]++;
        started++;
    }
    for (size_t i = 0; i < WAIT_BINS; i++) {
        labels[i] = wait_bins[i].label;
        counts[i] = started == 0 ? 0 : counts[i] * 100000 / started;
        most = counts[i] > most ? counts[i] : most;
    }
    struct chart chart;
    report_section(out, "Waits",
                   "Percent of the tasks by how long they waited for their first start: "
                   "each bar up to the time below it.");
    chart_begin_bars(&chart, out, labels, WAIT_BINS, most, 1000);
    for (size_t i = 0; i < WAIT_BINS; i++) {
        char title[SIM_TEXT_MAX * 2];
        char percent[SIM_TEXT_MAX];
        (void)snprintf(title, sizeof title, "up to %s: %s %%", labels[i],
                       sim_percent_text(counts[i], 100000, percent));
        chart_bar(&chart, i, WAIT_BINS, counts[i], "c2", title);
    }
    chart_end(&chart);
    buf_add_str(out, "</section>");
}

static void wait_row(const char *label, const struct spread *spread, struct buf *out)
{
    const int64_t times[] = {spread->mean_ms, spread->p50_ms, spread->p90_ms, spread->p99_ms,
                             spread->max_ms};
    char text[SIM_TEXT_MAX];
    if (spread->count == 0) {
        return;
    }
    buf_add_str(out, "<tr><td>");
    html_text(out, label);
    buf_addf(out, "</td><td>%s</td>", sim_count_text(spread->count, text));
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        buf_addf(out, "<td>%s</td>", sim_span_text(times[i], text));
    }
    buf_add_str(out, "</tr>");
}

static void wait_table(const struct result *result, struct buf *out)
{
    report_section(out, "Waits by size and account", "From submission to the first start.");
    buf_add_str(out, "<div class=\"scroll\"><table><tr><th></th><th>tasks</th><th>mean</th>"
                     "<th>p50</th><th>p90</th><th>p99</th><th>max</th></tr>");
    wait_row("all", &result->wait, out);
    for (uint32_t i = 0; i < SIZE_CLASS_COUNT; i++) {
        wait_row(size_class_name(i), &result->wait_by_size[i], out);
    }
    for (uint32_t i = 0; result->account_count > 1 && i < result->account_count; i++) {
        wait_row(result->accounts[i].name, &result->accounts[i].wait, out);
    }
    buf_add_str(out, "</table></div></section>");
}

/* ---- accounts ---- */

/* The colour of an account: its place in the order of the samples. */
static uint32_t colour_of(const struct engine *engine, const char *name)
{
    uint32_t account = 0;
    while (account < SERIES_ACCOUNTS_MAX - 1 && engine_account_name(engine, account + 1) != NULL &&
           strcmp(engine_account_name(engine, account), name) != 0) {
        account++;
    }
    return account;
}

static void use_row(const struct engine *engine, const struct account_result *account,
                    int64_t most_milli, struct buf *out)
{
    char use[SIM_TEXT_MAX];
    char part[SIM_TEXT_MAX];
    buf_add_str(out, "<div class=\"use\"><span>");
    html_text(out, account->name);
    buf_addf(out, "</span><div class=\"track\"><i class=\"k%u\" style=\"width:%s%%\"></i>",
             colour_of(engine, account->name),
             sim_percent_text(account->held_mean_milli, most_milli, part));
    if (account->guaranteed_milli > 0) {
        buf_addf(out, "<b title=\"guaranteed\" style=\"left:%s%%\"></b>",
                 sim_percent_text(account->guaranteed_milli, most_milli, part));
    }
    buf_addf(out, "</div><span>%s", sim_milli_text(account->held_mean_milli, use));
    if (account->guaranteed_milli > 0) {
        buf_addf(out, " of %s guaranteed", sim_milli_text(account->guaranteed_milli, part));
    } else {
        buf_add_str(out, " slots");
    }
    buf_add_str(out, "</span></div>");
}

static void shares(const struct result *result, const struct engine *engine,
                   const struct series *series, struct buf *out)
{
    int64_t most = 1;
    for (uint32_t i = 0; i < result->account_count; i++) {
        const struct account_result *account = &result->accounts[i];
        most = account->held_mean_milli > most ? account->held_mean_milli : most;
        most = account->guaranteed_milli > most ? account->guaranteed_milli : most;
    }
    report_section(out, "Share against use",
                   "Mean slots used by each account; the mark is what it is "
                   "guaranteed. Below, the same over time.");
    for (uint32_t i = 0; i < result->account_count; i++) {
        use_row(engine, &result->accounts[i], most, out);
    }
    account_areas(engine, series, result->span_ms, out);
    buf_add_str(out, "</section>");
}

void report_html(const struct result *result, const struct engine *engine,
                 const struct series *series, struct buf *out)
{
    const struct scenario *scenario = engine_scenario(engine);
    const char *name = scenario->name[0] != '\0' ? scenario->name : "A run of weir sim";
    char span[SIM_TEXT_MAX];
    buf_add_str(out, "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
                     "name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\""
                     " content=\"light dark\"><title>");
    html_text(out, name);
    buf_add_str(out, "</title><style>");
    buf_add_str(out, style);
    colours(out);
    buf_add_str(out, "</style></head><body><main><h1>");
    html_text(out, name);
    buf_addf(out, "</h1><p>%s of virtual time on %" PRIu64 " nodes, seed %" PRIu64 "</p>",
             sim_span_text(result->span_ms, span), result->nodes, scenario->seed);
    cards(result, out);
    allocation(series, result->span_ms, out);
    queue(series, result->span_ms, out);
    waits(engine, out);
    wait_table(result, out);
    shares(result, engine, series, out);
    report_promises(result, engine, series, out);
    buf_add_str(out, "</main></body></html>\n");
}
