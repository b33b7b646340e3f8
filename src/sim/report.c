/* report.c - see report.h. Writes the page: its head, the figures on top, and the sections in
 * order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/play_fixed.h"
#include "sim/report.h"

#include "sim/report_internal.h"
#include "sim/report_page.h"
#include "sim/sim_text.h"

#include <inttypes.h>

enum { NOTE_MAX = 256, POOLS_TOLD_MAX = 3 };

static void colours(struct buf *out)
{
    for (int i = 0; i < CHART_COLOURS; i++) {
        buf_addf(out, ".line.c%d{stroke:var(--c%d)}.area.c%d,.bar.c%d{fill:var(--c%d)}", i, i, i, i,
                 i);
        buf_addf(out, ".k%d{background:var(--c%d)}", i, i);
    }
}

void report_section(struct buf *out, const char *title, const char *text)
{
    buf_add_str(out, "<section><h2>");
    chart_html_text(out, title);
    buf_add_str(out, "</h2><p>");
    chart_html_text(out, text);
    buf_add_str(out, "</p>");
}

void report_key(struct buf *out, const char *class_name, const char *text)
{
    buf_addf(out, "<span><i class=\"%s\"></i>", class_name);
    chart_html_text(out, text);
    buf_add_str(out, "</span>");
}

/* ---- the figures on top ---- */

void report_card(struct buf *out, const char *value, const char *label, const char *note)
{
    buf_add_str(out, "<div class=\"card\"><b>");
    chart_html_text(out, value);
    buf_add_str(out, "</b><span>");
    chart_html_text(out, label);
    buf_add_str(out, "</span><small>");
    chart_html_text(out, note);
    buf_add_str(out, "</small></div>");
}

static void allocated_card(const struct report_page *report)
{
    const struct result *result = report->result;
    char text[SIM_TEXT_MAX];
    char value[SIM_TEXT_MAX + 4];
    struct buf note;
    buf_init(&note, NOTE_MAX);
    (void)snprintf(value, sizeof value, "%s %%",
                   sim_text_percent(result->allocated_milli, result->capacity_milli, text));
    if (result->pool_count > 1) {
        for (uint32_t i = 0; i < result->pool_count && i < POOLS_TOLD_MAX; i++) {
            const struct pool_result *pool = &result->pools[i];
            buf_addf(&note, "%s%s %s %%", i > 0 ? ", " : "", pool->name,
                     sim_text_percent(pool->allocated_milli, pool->capacity_milli, text));
        }
        buf_add_str(&note, result->pool_count > POOLS_TOLD_MAX ? ", …" : "");
    } else {
        buf_addf(&note, "%s %% idle in pieces too small",
                 sim_text_percent(result->fragmented_milli, result->capacity_milli, text));
    }
    report_card(report->out, value, "of the slots allocated", buf_text(&note));
    buf_done(&note);
}

static void useful_card(const struct report_page *report)
{
    const struct result *result = report->result;
    char text[SIM_TEXT_MAX];
    char value[SIM_TEXT_MAX + 4];
    char note[NOTE_MAX];
    (void)snprintf(value, sizeof value, "%s %%",
                   sim_text_percent(result->useful_milli, result->capacity_milli, text));
    (void)snprintf(note, sizeof note, "%s %% of the work was lost, to be done again",
                   sim_text_percent(result->work_lost_slot_ms, result->allocated_slot_ms, text));
    report_card(report->out, value, "of the slots did useful work",
                result->work_lost_slot_ms > 0 ? note : "no work was lost");
}

static void slowdown_card(const struct report_page *report)
{
    const struct spread *slowdown = &report->result->slowdown;
    char value[SIM_TEXT_MAX + 8];
    char text[2][SIM_TEXT_MAX];
    char note[NOTE_MAX];
    if (slowdown->count == 0) {
        return;
    }
    (void)snprintf(value, sizeof value, "%s \u00d7", sim_text_milli(slowdown->p50_ms, text[0]));
    (void)snprintf(
        note, sizeof note, "99 %% of the tasks took at most %s times their length; mean %s",
        sim_text_milli(slowdown->p99_ms, text[0]), sim_text_milli(slowdown->mean_ms, text[1]));
    report_card(report->out, value, "median slowdown", note);
}

static void wait_cards(const struct report_page *report)
{
    const struct result *result = report->result;
    const bool waits_on = result->not_started.max_ms > result->wait.max_ms;
    char value[SIM_TEXT_MAX];
    char text[SIM_TEXT_MAX];
    char note[NOTE_MAX];
    (void)snprintf(note, sizeof note, "half of them at most %s",
                   sim_text_span(result->wait.p50_ms, text));
    report_card(report->out, sim_text_span(result->wait.mean_ms, value), "mean wait", note);
    (void)snprintf(note, sizeof note, "99 %% of those that started: at most %s",
                   sim_text_span(result->wait.p99_ms, text));
    report_card(report->out,
                sim_text_span(waits_on ? result->not_started.max_ms : result->wait.max_ms, value),
                waits_on ? "longest wait, not over yet" : "longest wait", note);
}

static void part(struct buf *note, uint64_t count, const char *what)
{
    char text[SIM_TEXT_MAX];
    if (count > 0) {
        buf_addf(note, "%s%s %s", note->len > 0 ? ", " : "", sim_text_count(count, text), what);
    }
}

static void tasks_cards(const struct report_page *report)
{
    const struct result *result = report->result;
    char value[SIM_TEXT_MAX];
    char text[SIM_TEXT_MAX];
    char label[SIM_TEXT_MAX * 2];
    struct buf note;
    buf_init(&note, NOTE_MAX);
    part(&note, result->failed, "failed");
    part(&note, result->killed, "killed");
    part(&note, result->unknown, "unknown");
    part(&note, result->running, "still running");
    part(&note, result->waiting, "still waiting");
    part(&note, result->refused, "refused");
    (void)snprintf(label, sizeof label, "of %s tasks completed",
                   sim_text_count(result->submitted, text));
    report_card(report->out, sim_text_count(result->completed, value), label,
                note.len > 0 ? buf_text(&note) : "none left over");
    buf_clear(&note);
    buf_addf(&note, "%s at most", sim_text_count(result->queue_max, text));
    report_card(report->out, sim_text_milli((int64_t)result->queue_mean_milli, value),
                "tasks waiting, on average", buf_text(&note));
    buf_clear(&note);
    buf_addf(&note, "%s slot-hours of work lost",
             sim_text_milli(result->work_lost_slot_ms / 3600, text));
    part(&note, result->losses, "attempts lost with their node");
    report_card(report->out, sim_text_count(result->evictions, value), "evictions",
                buf_text(&note));
    buf_done(&note);
}

/* Only where providers brought nodes up. */
static void fleet_cards(const struct report_page *report)
{
    enum { MS_PER_HOUR_MILLI = 3600 };
    const struct result *result = report->result;
    const struct fleet_fixed *fixed = &result->fixed;
    const char *currency = play_fixed_currency(engine_scenario(report->engine));
    const int64_t cost_milli = fleet_cost_milli(&result->fleet);
    char value[SIM_TEXT_MAX * 2];
    char text[2][SIM_TEXT_MAX];
    char note[NOTE_MAX];
    if (result->fleet.launched == 0) {
        return;
    }
    (void)snprintf(note, sizeof note, "%s with %s nodes always up, and a mean wait of %s",
                   sim_text_milli(fixed->node_ms / MS_PER_HOUR_MILLI, value),
                   sim_text_count(fixed->nodes, text[0]),
                   sim_text_span(fixed->wait_mean_ms, text[1]));
    report_card(report->out, sim_text_milli(result->fleet.node_ms / MS_PER_HOUR_MILLI, value),
                "node-hours of providers", fixed->played ? note : "");
    if (cost_milli > 0) {
        (void)snprintf(value, sizeof value, "%s %s", sim_text_milli(cost_milli, text[0]), currency);
        (void)snprintf(note, sizeof note, "%s with all nodes always up",
                       sim_text_milli(fixed->cost_milli, text[1]));
        report_card(report->out, value, "price of these nodes", fixed->played ? note : "");
    }
}

static void promise_card(const struct report_page *report)
{
    const struct account_result *worst = NULL;
    char value[SIM_TEXT_MAX];
    char note[NOTE_MAX];
    if (!report_promise_any(report->result)) {
        return;
    }
    for (uint32_t i = 0; i < report->result->account_count; i++) {
        const struct account_result *account = &report->result->accounts[i];
        const int64_t below_ms = account->below_longest_ms;
        worst = below_ms > (worst == NULL ? 0 : worst->below_longest_ms) ? account : worst;
    }
    if (worst == NULL) {
        report_card(report->out, "kept", "guarantees",
                    "no account was owed a place for longer than a pass");
        return;
    }
    (void)snprintf(note, sizeof note, "%s, within its guarantee", worst->name);
    report_card(report->out, sim_text_span(worst->below_longest_ms, value),
                "longest time that a place was owed", note);
}

/* ---- the page ---- */

void report_page_begin(struct buf *out, const char *title)
{
    /* The content security policy forbids the page to load anything. */
    buf_add_str(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">"
                     "<meta name=\"viewport\" content=\"width=device-width\">"
                     "<meta name=\"color-scheme\" content=\"light dark\"><title>");
    chart_html_text(out, title);
    buf_add_str(out, " &middot; weir sim</title><style>\n");
    buf_add(out, (const char *)report_css, report_css_len);
    colours(out);
    buf_add_str(out, "</style></head>\n<body><main>");
}

static void title(const struct report_page *report, const char *name)
{
    const struct result *result = report->result;
    const struct scenario *scenario = engine_scenario(report->engine);
    char span[SIM_TEXT_MAX];
    char slots[SIM_TEXT_MAX];
    char tasks[SIM_TEXT_MAX];
    buf_add_str(report->out, "<h1>");
    chart_html_text(report->out, name);
    buf_addf(report->out,
             "</h1><p>%s task%s in %s of virtual time, on %" PRIu64 " node%s with %s slot%s",
             sim_text_count(result->submitted, tasks), result->submitted == 1 ? "" : "s",
             sim_text_span(result->span_ms, span), result->nodes, result->nodes == 1 ? "" : "s",
             sim_text_milli(result->capacity_milli, slots),
             result->capacity_milli == SLOT_MILLI ? "" : "s");
    if (result->pool_count > 1) {
        buf_addf(report->out, " in %u pools", result->pool_count);
    }
    if (scenario->begins_ms > 0) {
        buf_addf(report->out, "; %s to %s UTC", sim_text_date(scenario->begins_ms, span),
                 sim_text_date(scenario->begins_ms + result->span_ms, slots));
    }
    buf_addf(report->out, "; seed %" PRIu64, scenario->seed);
    buf_add_str(report->out, result->stopped ? "; stopped before the end" : "");
    if (scenario->rows_bad > 0) {
        buf_addf(report->out, "; %s row%s of the trace left out",
                 sim_text_count(scenario->rows_bad, tasks), scenario->rows_bad == 1 ? "" : "s");
    }
    if (scenario->names_changed > 0) {
        buf_addf(report->out, "; names changed: %s, the first: ",
                 sim_text_count(scenario->names_changed, tasks));
        chart_html_text(report->out, scenario->name_changed_first);
    }
    buf_add_str(report->out, "</p>");
}

void report_page_end(struct buf *out, const char *about)
{
    buf_add_str(out, "<footer>weir sim " WEIR_VERSION);
    if (about != NULL) {
        buf_add_str(out, ", ");
        chart_html_text(out, about);
    }
    buf_add_str(out, ". A slot is a GPU, or what a node without GPUs counts. Point at a "
                     "chart for its values.</footer></main>\n<script type=\"module\">\n");
    buf_add(out, (const char *)report_js, report_js_len);
    buf_add_str(out, "</script></body></html>\n");
}

struct chart_axes report_axes(const struct report_page *report, const char *label, const char *unit)
{
    return (struct chart_axes){.label = label,
                               .unit = unit,
                               .x_max = report->result->span_ms,
                               .y_unit = SLOT_MILLI,
                               .step_ms = report->series->step_ms,
                               .begins_ms = engine_scenario(report->engine)->begins_ms};
}

void report_html(const struct result *result, const struct engine *engine,
                 const struct series *series, struct buf *out)
{
    const struct report_page report = {result, engine, series, out};
    const struct scenario *scenario = engine_scenario(engine);
    const char *name = scenario->name[0] != '\0' ? scenario->name : "A run of weir sim";
    report_page_begin(out, name);
    title(&report, name);
    buf_add_str(out, "<div class=\"cards\">");
    allocated_card(&report);
    useful_card(&report);
    wait_cards(&report);
    slowdown_card(&report);
    tasks_cards(&report);
    fleet_cards(&report);
    promise_card(&report);
    buf_add_str(out, "</div>");
    report_charts_allocation(&report);
    report_charts_queue(&report);
    report_time(&report);
    report_charts_waits(&report);
    report_share(&report);
    report_promise_table(&report);
    report_tables(&report);
    report_settings(&report);
    report_page_end(out, scenario->file[0] != '\0' ? scenario->file : NULL);
}
