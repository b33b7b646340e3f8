/* summary.c - the summary of a run for people.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/play_fixed.h"
#include "sim/summary.h"

#include "sim/summary_internal.h"
#include "sim/sim_text.h"

#include <inttypes.h>

/* A line has 80 columns, unless a name is longer than the first column. */
enum { LABEL_WIDTH_MIN = 15, LABEL_WIDTH_MAX = 22, CELL_WIDTH = SUMMARY_CELL_WIDTH };

static void count_part(struct buf *out, uint64_t count, const char *what)
{
    char text[SIM_TEXT_MAX];
    if (count > 0) {
        buf_addf(out, ", %s %s", sim_text_count(count, text), what);
    }
}

static void tasks_line(const struct result *result, struct buf *out)
{
    char text[SIM_TEXT_MAX];
    buf_addf(out, "tasks       %s submitted", sim_text_count(result->submitted, text));
    count_part(out, result->completed, "completed");
    count_part(out, result->failed, "failed");
    count_part(out, result->killed, "killed");
    count_part(out, result->unknown, "unknown");
    count_part(out, result->running, "still running");
    count_part(out, result->waiting, "still waiting");
    count_part(out, result->refused, "refused");
    buf_add_char(out, '\n');
}

/* Lists the first refused tasks, with reasons. */
static void refused_lines(const struct result *result, struct buf *out)
{
    char text[SIM_TEXT_MAX];
    for (uint64_t i = 0; i < result->refused && i < REFUSALS_TOLD_MAX; i++) {
        const char *name = result->refusals[i].name;
        buf_addf(out, "%-11s %s: %s\n", i == 0 ? "refused" : "", name[0] != '\0' ? name : "no name",
                 result->refusals[i].text);
    }
    if (result->refused > REFUSALS_TOLD_MAX) {
        buf_addf(out, "            and %s more; --events shows all\n",
                 sim_text_count(result->refused - REFUSALS_TOLD_MAX, text));
    }
}

/* Lists tasks that have not started, because the longest waits may be among them. */
static void not_started_line(const struct result *result, struct buf *out)
{
    char count[SIM_TEXT_MAX];
    char mean[SIM_TEXT_MAX];
    char most[SIM_TEXT_MAX];
    const struct spread *spread = &result->not_started;
    if (spread->count > 0) {
        buf_addf(
            out,
            "not started %s of them, after %s on average, %s at most: not in the waits below\n",
            sim_text_count(spread->count, count), sim_text_span(spread->mean_ms, mean),
            sim_text_span(spread->max_ms, most));
    }
}

static void slots_lines(const struct result *result, struct buf *out)
{
    char slots[SIM_TEXT_MAX];
    char nodes[SIM_TEXT_MAX];
    char part[SIM_TEXT_MAX];
    buf_addf(out, "slots       %s on %s node%s, %s %% allocated",
             sim_text_milli(result->capacity_milli, slots), sim_text_count(result->nodes, nodes),
             result->nodes == 1 ? "" : "s",
             sim_text_percent(result->allocated_milli, result->capacity_milli, part));
    buf_addf(out, ", %s %% idle in pieces too small\n",
             sim_text_percent(result->fragmented_milli, result->capacity_milli, part));
    if (result->work_lost_slot_ms > 0) {
        buf_addf(out, "useful      %s %% of the slots: allocated, and the work was not lost\n",
                 sim_text_percent(result->useful_milli, result->capacity_milli, part));
    }
    buf_addf(out, "queue       %s tasks on average, %s at most\n",
             sim_text_milli((int64_t)result->queue_mean_milli, slots),
             sim_text_count(result->queue_max, nodes));
}

static void losses_line(const struct result *result, struct buf *out)
{
    char count[SIM_TEXT_MAX];
    char hours[SIM_TEXT_MAX];
    char percent[SIM_TEXT_MAX];
    const int64_t lost_milli = result->work_lost_slot_ms / 3600;
    buf_addf(out, "evictions   %s", sim_text_count(result->evictions, count));
    if (result->submitted > 0) {
        const uint64_t per_million = result->evictions * 1000000 / result->submitted;
        buf_addf(out, " (%s per 1,000 tasks)", sim_text_milli((int64_t)per_million, count));
    }
    buf_addf(out, "\nlost        %s slot-hours of work, %s %% of what was done\n",
             sim_text_milli(lost_milli, hours),
             sim_text_percent(result->work_lost_slot_ms, result->allocated_slot_ms, percent));
    if (result->losses > 0 || result->failures > 0) {
        buf_addf(out, "attempts    %s lost with their node", sim_text_count(result->losses, count));
        buf_addf(out, ", %s failed\n", sim_text_count(result->failures, count));
    }
}

/* How much longer than its length a completed task took. */
static void slowdown_line(const struct spread *slowdown, struct buf *out)
{
    char text[4][SIM_TEXT_MAX];
    if (slowdown->count > 0) {
        buf_addf(
            out, "slowdown    %s on average; p50 %s, p99 %s, max %s\n",
            sim_text_milli(slowdown->mean_ms, text[0]), sim_text_milli(slowdown->p50_ms, text[1]),
            sim_text_milli(slowdown->p99_ms, text[2]), sim_text_milli(slowdown->max_ms, text[3]));
    }
}

/* Only where places were kept, or where the loss budget paid. */
static void budgets_lines(const struct paid_sums *paid, struct buf *out)
{
    enum { MS_PER_HOUR = 3600 * 1000 };
    char count[SIM_TEXT_MAX];
    char hours[SIM_TEXT_MAX];
    if (paid->holders > 0) {
        buf_addf(out, "holders     %s", sim_text_count(paid->holders, count));
        buf_addf(out, " (%s released); the idle budget paid %s slot-hours\n",
                 sim_text_count(paid->released, count),
                 sim_text_milli(paid->idle / MS_PER_HOUR, hours));
    }
    if (paid->decisions > 0) {
        buf_addf(out, "shares      the loss budget paid %s slot-hours, in %s decision%s\n",
                 sim_text_milli(paid->loss / MS_PER_HOUR, hours),
                 sim_text_count(paid->decisions, count), paid->decisions == 1 ? "" : "s");
    }
}

enum { MS_PER_HOUR_MILLI = 3600 };

/* Writes ", 51.7 EUR", where nodes have a price. */
static void cost_add(int64_t cost_milli, const char *currency, struct buf *out)
{
    char text[SIM_TEXT_MAX];
    if (cost_milli > 0) {
        buf_addf(out, ", %s%s%s", sim_text_milli(cost_milli, text),
                 currency[0] != '\0' ? " " : " in price", currency);
    }
}

/* Only where providers brought nodes up. */
static void fleet_lines(const struct result *result, const struct scenario *scenario,
                        struct buf *out)
{
    const struct fleet *fleet = &result->fleet;
    const char *currency = play_fixed_currency(scenario);
    char count[SIM_TEXT_MAX];
    char text[SIM_TEXT_MAX];
    char wait[SIM_TEXT_MAX];
    if (fleet->launched == 0) {
        return;
    }
    buf_addf(out, "launched    %s node%s", sim_text_count(fleet->launched, count),
             fleet->launched == 1 ? "" : "s");
    if (fleet->refused > 0) {
        buf_addf(out, " (%s refused)", sim_text_count(fleet->refused, count));
    }
    buf_addf(out, ", at most %s at once, %s node-hours", sim_text_count(fleet->most, count),
             sim_text_milli(fleet->node_ms / MS_PER_HOUR_MILLI, text));
    cost_add(fleet_cost_milli(fleet), currency, out);
    buf_add_char(out, '\n');
    if (result->fixed.played) {
        buf_addf(out, "fixed       %s node%s always up: %s node-hours",
                 sim_text_count(result->fixed.nodes, count), result->fixed.nodes == 1 ? "" : "s",
                 sim_text_milli(result->fixed.node_ms / MS_PER_HOUR_MILLI, text));
        cost_add(result->fixed.cost_milli, currency, out);
        buf_addf(out, ", mean wait %s instead of %s\n",
                 sim_text_span(result->fixed.wait_mean_ms, text),
                 sim_text_span(result->wait.mean_ms, wait));
    }
}

static void spread_row(int width, const char *label, const struct spread *spread, struct buf *out)
{
    const int64_t times[] = {spread->mean_ms, spread->p50_ms, spread->p90_ms, spread->p99_ms,
                             spread->max_ms};
    char text[SIM_TEXT_MAX];
    if (spread->count == 0) {
        return;
    }
    buf_addf(out, "  %-*.*s %*s", width, width, label, CELL_WIDTH,
             sim_text_count(spread->count, text));
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        buf_addf(out, " %*s", CELL_WIDTH, sim_text_span(times[i], text));
    }
    buf_add_char(out, '\n');
}

static void spread_head(int width, const char *title, struct buf *out)
{
    buf_addf(out, "\n%-*s %*s %*s %*s %*s %*s %*s\n", width + 2, title, CELL_WIDTH, "tasks",
             CELL_WIDTH, "mean", CELL_WIDTH, "p50", CELL_WIDTH, "p90", CELL_WIDTH, "p99",
             CELL_WIDTH, "max");
}

/* Returns the width of the first column. */
static int label_width(const struct result *result)
{
    size_t width = LABEL_WIDTH_MIN;
    for (uint32_t i = 0; i < result->account_count; i++) {
        const size_t len = strlen(result->accounts[i].name);
        width = len > width ? len : width;
    }
    for (uint32_t i = 0; i < result->pool_count; i++) {
        const size_t len = strlen(result->pools[i].name);
        width = len > width ? len : width;
    }
    return width > LABEL_WIDTH_MAX ? LABEL_WIDTH_MAX : (int)width;
}

static void waits(const struct result *result, struct buf *out)
{
    const int width = label_width(result);
    spread_head(width, "wait", out);
    spread_row(width, "all", &result->wait, out);
    for (uint32_t i = 0; i < SIZE_CLASS_COUNT; i++) {
        spread_row(width, spread_class_name(i), &result->wait_by_size[i], out);
    }
    for (uint32_t i = 0; result->account_count > 1 && i < result->account_count; i++) {
        spread_row(width, result->accounts[i].name, &result->accounts[i].wait, out);
    }
    spread_head(width, "completion", out);
    spread_row(width, "all", &result->completion, out);
    for (uint32_t i = 0; i < SIZE_CLASS_COUNT; i++) {
        spread_row(width, spread_class_name(i), &result->completion_by_size[i], out);
    }
    for (uint32_t i = 0; result->account_count > 1 && i < result->account_count; i++) {
        spread_row(width, result->accounts[i].name, &result->accounts[i].completion, out);
    }
}

/* Writes the head of a table: what the first column is, and the names of the other columns. */
static void table_head(const struct result *result, const char *first, const char *const *heads,
                       size_t count, struct buf *out)
{
    buf_addf(out, "\n%-*s", label_width(result) + 2, first);
    for (size_t i = 0; i < count; i++) {
        buf_addf(out, " %*s", CELL_WIDTH, heads[i]);
    }
    buf_add_char(out, '\n');
}

static void account_row(const struct result *result, const struct account_result *account,
                        struct buf *out)
{
    char text[SIM_TEXT_MAX];
    const int width = label_width(result);
    buf_addf(out, "  %-*.*s", width, width, account->name);
    buf_addf(out, " %*s", CELL_WIDTH, sim_text_milli(account->held_mean_milli, text));
    buf_addf(out, " %*s", CELL_WIDTH,
             sim_text_percent(account->held_mean_milli, result->capacity_milli, text));
    buf_addf(out, " %*s", CELL_WIDTH,
             account->guaranteed_milli < 0 ? "no bound"
                                           : sim_text_milli(account->guaranteed_milli, text));
    buf_addf(out, " %*s", CELL_WIDTH, sim_text_milli(account->shortfall_milli, text));
    buf_addf(out, " %*s", CELL_WIDTH, sim_text_span(account->below_longest_ms, text));
    buf_addf(out, " %*s", CELL_WIDTH, sim_text_count(account->evictions, text));
    buf_addf(out, " %*s\n", CELL_WIDTH, sim_text_milli(account->work_lost_slot_ms / 3600, text));
}

/* Writes for each account what it used and was guaranteed. `short`: the most slots lacking of
 * that. `below`: the longest time that a place was owed and none promised. */
static void shares(const struct result *result, struct buf *out)
{
    static const char *const heads[] = {"slots", "percent", "promised", "short",
                                        "below", "evicted", "lost, h"};
    if (result->account_count < 2) {
        return;
    }
    table_head(result, "account", heads, sizeof heads / sizeof heads[0], out);
    for (uint32_t i = 0; i < result->account_count; i++) {
        account_row(result, &result->accounts[i], out);
    }
}

static void pool_row(const struct result *result, const struct pool_result *pool, struct buf *out)
{
    const int64_t times[] = {pool->wait.mean_ms, pool->wait.p99_ms, pool->wait.max_ms};
    const int width = label_width(result);
    char text[SIM_TEXT_MAX];
    buf_addf(out, "  %-*.*s", width, width, pool->name);
    buf_addf(out, " %*s", CELL_WIDTH, sim_text_milli(pool->capacity_milli, text));
    buf_addf(out, " %*s", CELL_WIDTH,
             sim_text_percent(pool->allocated_milli, pool->capacity_milli, text));
    buf_addf(out, " %*s", CELL_WIDTH,
             pool->fragmented_milli < 0
                 ? "-"
                 : sim_text_percent(pool->fragmented_milli, pool->capacity_milli, text));
    buf_addf(out, " %*s", CELL_WIDTH, sim_text_count(pool->wait.count, text));
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        buf_addf(out, " %*s", CELL_WIDTH, sim_text_span(times[i], text));
    }
    buf_add_char(out, '\n');
}

/* Writes a line for each of several pools, because their sum says little: slots of different
 * pools are different things. */
static void pools(const struct result *result, struct buf *out)
{
    static const char *const heads[] = {"slots", "alloc, %", "pieces,%", "tasks",
                                        "wait",  "p99",      "max"};
    if (result->pool_count < 2) {
        return;
    }
    table_head(result, "pool", heads, sizeof heads / sizeof heads[0], out);
    for (uint32_t i = 0; i < result->pool_count; i++) {
        pool_row(result, &result->pools[i], out);
    }
}

void summary_text(const struct result *result, const struct scenario *scenario,
                  const struct series *series, struct buf *out)
{
    char text[SIM_TEXT_MAX];
    if (scenario->name[0] != '\0') {
        buf_addf(out, "scenario    %s\n", scenario->name);
    }
    buf_addf(out, "time        %s, seed %" PRIu64 "\n", sim_text_span(result->span_ms, text),
             scenario->seed);
    if (scenario->begins_ms > 0) {
        char from[SIM_TEXT_MAX];
        buf_addf(out, "dates       %s to %s UTC\n", sim_text_date(scenario->begins_ms, from),
                 sim_text_date(scenario->begins_ms + result->span_ms, text));
    }
    if (result->stopped) {
        buf_add_str(out, "stopped     before the end: all figures are as of that moment\n");
    }
    if (scenario->rows_bad > 0) {
        buf_addf(out, "rows        %s left out; the first: %s\n",
                 sim_text_count(scenario->rows_bad, text), scenario->row_bad_first);
    }
    if (scenario->names_changed > 0) {
        buf_addf(out, "names       %s changed; the first: %s\n",
                 sim_text_count(scenario->names_changed, text), scenario->name_changed_first);
    }
    tasks_line(result, out);
    not_started_line(result, out);
    refused_lines(result, out);
    slots_lines(result, out);
    slowdown_line(&result->slowdown, out);
    losses_line(result, out);
    fleet_lines(result, scenario, out);
    budgets_lines(&result->paid, out);
    pools(result, out);
    summary_time(result, series, label_width(result), out);
    waits(result, out);
    shares(result, out);
}
