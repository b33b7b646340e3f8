/* summary.c - the page for people.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/summary.h"

#include "sim/text.h"

#include <inttypes.h>

enum { LABEL_WIDTH = 22, CELL_WIDTH = 9 };

static void count_part(struct buf *out, uint64_t count, const char *what)
{
    char text[SIM_TEXT_MAX];
    if (count > 0) {
        buf_addf(out, ", %s %s", sim_count_text(count, text), what);
    }
}

static void tasks_line(const struct result *result, struct buf *out)
{
    char text[SIM_TEXT_MAX];
    buf_addf(out, "tasks       %s submitted", sim_count_text(result->submitted, text));
    count_part(out, result->completed, "completed");
    count_part(out, result->failed, "failed");
    count_part(out, result->killed, "killed");
    count_part(out, result->unknown, "unknown");
    count_part(out, result->running, "still running");
    count_part(out, result->waiting, "still waiting");
    count_part(out, result->refused, "refused");
    buf_add_char(out, '\n');
}

static void slots_lines(const struct result *result, struct buf *out)
{
    char slots[SIM_TEXT_MAX];
    char nodes[SIM_TEXT_MAX];
    char part[SIM_TEXT_MAX];
    buf_addf(out, "slots       %s on %s nodes, %s %% allocated",
             sim_milli_text(result->capacity_milli, slots), sim_count_text(result->nodes, nodes),
             sim_percent_text(result->allocated_milli, result->capacity_milli, part));
    buf_addf(out, ", %s %% idle in pieces too small\n",
             sim_percent_text(result->fragmented_milli, result->capacity_milli, part));
    buf_addf(out, "queue       %s tasks on average, %s at most\n",
             sim_milli_text((int64_t)result->queue_mean_milli, slots),
             sim_count_text(result->queue_max, nodes));
}

static void losses_line(const struct result *result, struct buf *out)
{
    char count[SIM_TEXT_MAX];
    char hours[SIM_TEXT_MAX];
    const int64_t lost_milli = result->work_lost_slot_ms / 3600;
    buf_addf(out, "evictions   %s", sim_count_text(result->evictions, count));
    if (result->submitted > 0) {
        const uint64_t per_million = result->evictions * 1000000 / result->submitted;
        buf_addf(out, " (%s per 1,000 tasks)", sim_milli_text((int64_t)per_million, count));
    }
    buf_addf(out, ", %s attempts lost with their node", sim_count_text(result->losses, count));
    buf_addf(out, ", %s failed", sim_count_text(result->failures, count));
    buf_addf(out, "; %s slot-hours of work lost\n", sim_milli_text(lost_milli, hours));
}

static void spread_row(const char *label, const struct spread *spread, struct buf *out)
{
    const int64_t times[] = {spread->mean_ms, spread->p50_ms, spread->p90_ms, spread->p99_ms,
                             spread->max_ms};
    char text[SIM_TEXT_MAX];
    if (spread->count == 0) {
        return;
    }
    buf_addf(out, "  %-*.*s %*s", LABEL_WIDTH, LABEL_WIDTH, label, CELL_WIDTH,
             sim_count_text(spread->count, text));
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        buf_addf(out, " %*s", CELL_WIDTH, sim_span_text(times[i], text));
    }
    buf_add_char(out, '\n');
}

static void spread_head(const char *title, struct buf *out)
{
    buf_addf(out, "\n%-*s %*s %*s %*s %*s %*s %*s\n", LABEL_WIDTH + 2, title, CELL_WIDTH, "tasks",
             CELL_WIDTH, "mean", CELL_WIDTH, "p50", CELL_WIDTH, "p90", CELL_WIDTH, "p99",
             CELL_WIDTH, "max");
}

static void waits(const struct result *result, struct buf *out)
{
    spread_head("wait", out);
    spread_row("all", &result->wait, out);
    for (uint32_t i = 0; i < SIZE_CLASS_COUNT; i++) {
        spread_row(size_class_name(i), &result->wait_by_size[i], out);
    }
    for (uint32_t i = 0; result->account_count > 1 && i < result->account_count; i++) {
        spread_row(result->accounts[i].name, &result->accounts[i].wait, out);
    }
    spread_head("completion", out);
    spread_row("all", &result->completion, out);
    for (uint32_t i = 0; i < SIZE_CLASS_COUNT; i++) {
        spread_row(size_class_name(i), &result->completion_by_size[i], out);
    }
    for (uint32_t i = 0; result->account_count > 1 && i < result->account_count; i++) {
        spread_row(result->accounts[i].name, &result->accounts[i].completion, out);
    }
}

static void account_row(const struct result *result, const struct account_result *account,
                        struct buf *out)
{
    char text[SIM_TEXT_MAX];
    buf_addf(out, "  %-*.*s", LABEL_WIDTH, LABEL_WIDTH, account->name);
    buf_addf(out, " %*s", CELL_WIDTH, sim_milli_text(account->held_mean_milli, text));
    buf_addf(out, " %*s", CELL_WIDTH,
             sim_percent_text(account->held_mean_milli, result->capacity_milli, text));
    buf_addf(out, " %*s", CELL_WIDTH,
             account->guaranteed_milli < 0 ? "no bound"
                                           : sim_milli_text(account->guaranteed_milli, text));
    buf_addf(out, " %*s", CELL_WIDTH, sim_milli_text(account->shortfall_milli, text));
    buf_addf(out, " %*s", CELL_WIDTH, sim_span_text(account->below_longest_ms, text));
    buf_addf(out, " %*s", CELL_WIDTH, sim_count_text(account->evictions, text));
    buf_addf(out, " %*s\n", CELL_WIDTH, sim_milli_text(account->work_lost_slot_ms / 3600, text));
}

/* What each used and was promised; `short`: slots it lacked of that at worst; `below`: the longest time
 * that it was owed a place and promised none. */
static void shares(const struct result *result, struct buf *out)
{
    static const char *const heads[] = {"slots", "percent", "promised", "short",
                                        "below", "evicted", "lost, h"};
    if (result->account_count < 2) {
        return;
    }
    buf_addf(out, "\n%-*s", LABEL_WIDTH + 2, "account");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        buf_addf(out, " %*s", CELL_WIDTH, heads[i]);
    }
    buf_add_char(out, '\n');
    for (uint32_t i = 0; i < result->account_count; i++) {
        account_row(result, &result->accounts[i], out);
    }
}

void summary_text(const struct result *result, const struct scenario *scenario, struct buf *out)
{
    char text[SIM_TEXT_MAX];
    if (scenario->name[0] != '\0') {
        buf_addf(out, "scenario    %s\n", scenario->name);
    }
    buf_addf(out, "time        %s, seed %" PRIu64 "\n", sim_span_text(result->span_ms, text),
             scenario->seed);
    if (scenario->rows_bad > 0) {
        buf_addf(out, "rows        %s left out\n", sim_count_text(scenario->rows_bad, text));
    }
    tasks_line(result, out);
    slots_lines(result, out);
    losses_line(result, out);
    waits(result, out);
    shares(result, out);
}
