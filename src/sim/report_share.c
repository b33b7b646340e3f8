/* report_share.c - what each account used, beside its fair share and its guarantee.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/report_internal.h"

#include "sim/chart.h"
#include "sim/text.h"

/* Its place in the samples, which is its colour, too; the last one of many stands for the rest. */
static uint32_t place_of(const struct engine *engine, const char *name)
{
    uint32_t account = 0;
    while (account < SERIES_ACCOUNTS_MAX - 1 && engine_account_name(engine, account + 1) != NULL &&
           strcmp(engine_account_name(engine, account), name) != 0) {
        account++;
    }
    return account;
}

static const char *place_name(const struct engine *engine, uint32_t place)
{
    const bool rest =
        place == SERIES_ACCOUNTS_MAX - 1 && engine_account_name(engine, place + 1) != NULL;
    return rest ? "the others" : engine_account_name(engine, place);
}

static uint32_t place_count(const struct engine *engine)
{
    uint32_t count = 0;
    while (count < SERIES_ACCOUNTS_MAX && engine_account_name(engine, count) != NULL) {
        count++;
    }
    return count;
}

/* ---- on average ---- */

static void use_row(const struct page *report, const struct account_result *account,
                    int64_t most_milli)
{
    struct buf *out = report->out;
    char use[SIM_TEXT_MAX];
    char part[SIM_TEXT_MAX];
    buf_add_str(out, "<div class=\"use\"><span>");
    html_text(out, account->name);
    buf_addf(out, "</span><div class=\"track\"><i class=\"k%u\" style=\"width:%s%%\"></i>",
             place_of(report->engine, account->name),
             sim_percent_text(account->held_mean_milli, most_milli, part));
    if (account->guaranteed_milli > 0) {
        buf_addf(out, "<b title=\"guaranteed\" style=\"left:%s%%\"></b>",
                 sim_percent_text(account->guaranteed_milli, most_milli, part));
    }
    buf_addf(out, "</div><span>%s slots", sim_milli_text(account->held_mean_milli, use));
    if (account->guaranteed_milli > 0) {
        buf_addf(out, ", %s guaranteed", sim_milli_text(account->guaranteed_milli, part));
    }
    buf_add_str(out, "</span></div>");
}

/* ---- over time ---- */

static void stacked(const struct page *report)
{
    struct chart_point points[SERIES_SAMPLES_MAX];
    const struct series *series = report->series;
    const uint32_t places = place_count(report->engine);
    struct chart chart;
    struct chart_axes axes = {.label = "Slots in use by account, over time",
                              .unit = "slots",
                              .x_max = report->result->span_ms,
                              .y_unit = SLOT_MILLI,
                              .step_ms = series->step_ms};
    buf_add_str(report->out, "<h3>Together</h3><div class=\"legend\">");
    for (uint32_t i = 0; i < places; i++) {
        char key[SIM_TEXT_MAX];
        (void)snprintf(key, sizeof key, "k%u", i);
        report_key(report->out, key, place_name(report->engine, i));
    }
    buf_add_str(report->out, "</div>");
    for (size_t i = 0; i < series->count; i++) {
        const int64_t allocated = series->at[i].allocated_milli;
        axes.y_max = allocated > axes.y_max ? allocated : axes.y_max;
        points[i] = (struct chart_point){.x = series->at[i].at_ms};
    }
    chart_begin_time(&chart, report->out, &axes);
    for (uint32_t place = 0; place < places; place++) {
        char class_name[SIM_TEXT_MAX];
        char key[SIM_TEXT_MAX];
        for (size_t i = 0; i < series->count; i++) {
            points[i].low = points[i].y;
            points[i].y += series->at[i].held_milli[place];
        }
        (void)snprintf(class_name, sizeof class_name, "c%u", place);
        (void)snprintf(key, sizeof key, "k%u", place);
        chart_area(&chart, &(struct chart_series){points, series->count, class_name, key,
                                                  place_name(report->engine, place)});
    }
    chart_end(&chart);
}

/* Slots that the account at this place is guaranteed; 0: none, or no bound. */
static int64_t guaranteed_at(const struct page *report, uint32_t place)
{
    const char *name = place_name(report->engine, place);
    for (uint32_t i = 0; i < report->result->account_count; i++) {
        const struct account_result *account = &report->result->accounts[i];
        if (strcmp(account->name, name) == 0) {
            return account->guaranteed_milli > 0 ? account->guaranteed_milli : 0;
        }
    }
    return 0;
}

static void one_chart(const struct page *report, uint32_t place, int64_t y_max)
{
    struct chart_point points[SERIES_SAMPLES_MAX];
    const struct series *series = report->series;
    const int64_t guaranteed = guaranteed_at(report, place);
    const char *name = place_name(report->engine, place);
    char class_name[SIM_TEXT_MAX];
    char key[SIM_TEXT_MAX];
    struct chart chart;
    const struct chart_axes axes = {.size = CHART_SMALL,
                                    .label = name,
                                    .unit = "slots",
                                    .x_max = report->result->span_ms,
                                    .y_max = y_max,
                                    .y_unit = SLOT_MILLI,
                                    .step_ms = series->step_ms};
    (void)snprintf(class_name, sizeof class_name, "c%u", place);
    (void)snprintf(key, sizeof key, "k%u", place);
    for (size_t i = 0; i < series->count; i++) {
        points[i] = (struct chart_point){series->at[i].at_ms, 0, series->at[i].held_milli[place]};
    }
    buf_add_str(report->out, "<div><h3>");
    html_text(report->out, name);
    buf_add_str(report->out, "</h3>");
    chart_begin_time(&chart, report->out, &axes);
    chart_area(&chart, &(struct chart_series){points, series->count, class_name, key, "used"});
    for (size_t i = 0; i < series->count; i++) {
        points[i].y = series->at[i].share_milli[place];
    }
    chart_line(&chart,
               &(struct chart_series){points, series->count, "share", "share", "fair share"});
    for (size_t i = 0; i < series->count; i++) {
        points[i].y = guaranteed;
    }
    if (guaranteed > 0) {
        chart_line(&chart,
                   &(struct chart_series){points, series->count, "limit", "limit", "guaranteed"});
    }
    chart_end(&chart);
    buf_add_str(report->out, "</div>");
}

/* One beside the other on the same scale, so that they can be compared. */
static void side_by_side(const struct page *report)
{
    const uint32_t places = place_count(report->engine);
    int64_t most = 0;
    for (uint32_t place = 0; place < places; place++) {
        const int64_t guaranteed = guaranteed_at(report, place);
        most = guaranteed > most ? guaranteed : most;
        for (size_t i = 0; i < report->series->count; i++) {
            const struct sample *sample = &report->series->at[i];
            most = sample->held_milli[place] > most ? sample->held_milli[place] : most;
            most = sample->share_milli[place] > most ? sample->share_milli[place] : most;
        }
    }
    buf_add_str(report->out, "<h3>Each by itself, on one scale</h3><div class=\"legend\">");
    report_key(report->out, "k0", "used");
    report_key(report->out, "stroke", "fair share of what there is and is wanted");
    report_key(report->out, "dashes", "guaranteed, at the end");
    buf_add_str(report->out, "</div><div class=\"small\">");
    for (uint32_t place = 0; place < places; place++) {
        one_chart(report, place, most);
    }
    buf_add_str(report->out, "</div>");
}

void report_shares(const struct page *report)
{
    const struct result *result = report->result;
    int64_t most = 1;
    if (result->account_count < 2) {
        return;
    }
    for (uint32_t i = 0; i < result->account_count; i++) {
        const struct account_result *account = &result->accounts[i];
        most = account->held_mean_milli > most ? account->held_mean_milli : most;
        most = account->guaranteed_milli > most ? account->guaranteed_milli : most;
    }
    report_section(report->out, "Fair share and use",
                   "Mean slots used by each account; the mark is what it is guaranteed.");
    for (uint32_t i = 0; i < result->account_count; i++) {
        use_row(report, &result->accounts[i], most);
    }
    stacked(report);
    side_by_side(report);
    buf_add_str(report->out, "</section>");
}
