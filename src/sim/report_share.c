/* report_share.c - what each account used, beside its fair share and its guarantee.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/report_internal.h"

#include "sim/sim_text.h"

/* The accounts that get a colour of their own. If there are more accounts than colours, the
 * accounts that used most get one, and all others share the last colour. */
struct shown {
    uint32_t place[CHART_COLOURS]; /* index in the samples */
    const struct account_result *account[CHART_COLOURS];
    uint32_t count; /* accounts with a colour of their own */
    bool others;
};

/* Returns the index of an account in the samples; SERIES_ACCOUNTS_MAX: it has none of its own. */
static uint32_t place_of(const struct engine *engine, const char *name)
{
    const bool rest = engine_records_account_name(engine, SERIES_ACCOUNTS_MAX) != NULL;
    const uint32_t own = rest ? SERIES_ACCOUNTS_MAX - 1 : SERIES_ACCOUNTS_MAX;
    for (uint32_t i = 0; i < own && engine_records_account_name(engine, i) != NULL; i++) {
        if (strcmp(engine_records_account_name(engine, i), name) == 0) {
            return i;
        }
    }
    return SERIES_ACCOUNTS_MAX;
}

static bool is_shown(const struct shown *shown, const struct account_result *account)
{
    uint32_t i = 0;
    while (i < shown->count && shown->account[i] != account) {
        i++;
    }
    return i < shown->count;
}

static struct shown shown_choose(const struct report_page *report)
{
    const struct result *result = report->result;
    struct shown shown = {.others = result->account_count > CHART_COLOURS};
    const uint32_t room = shown.others ? CHART_COLOURS - 1 : CHART_COLOURS;
    for (bool more = true; more && shown.count < room;) {
        const struct account_result *most = NULL;
        for (uint32_t i = 0; i < result->account_count; i++) {
            const struct account_result *account = &result->accounts[i];
            if (!is_shown(&shown, account) &&
                place_of(report->engine, account->name) < SERIES_ACCOUNTS_MAX &&
                (most == NULL || account->held_mean_milli > most->held_mean_milli)) {
                most = account;
            }
        }
        more = most != NULL;
        if (more) {
            shown.place[shown.count] = place_of(report->engine, most->name);
            shown.account[shown.count++] = most;
        }
    }
    return shown;
}

/* Returns the number of colours in use, the shared one included. */
static uint32_t shown_count(const struct shown *shown)
{
    return shown->count + (shown->others ? 1 : 0);
}

static const char *shown_name(const struct shown *shown, uint32_t index)
{
    return index < shown->count ? shown->account[index]->name : "the others";
}

/* Returns the value of one colour in an array by account. */
static int64_t shown_value(const struct shown *shown, const int64_t *values, uint32_t index)
{
    if (index < shown->count) {
        return values[shown->place[index]];
    }
    int64_t sum = 0;
    for (uint32_t i = 0; i < SERIES_ACCOUNTS_MAX; i++) {
        sum += values[i];
    }
    for (uint32_t i = 0; i < shown->count; i++) {
        sum -= values[shown->place[i]];
    }
    return sum;
}

/* Returns the guaranteed slots; 0: none, or without a bound. */
static int64_t shown_guaranteed(const struct shown *shown, uint32_t index)
{
    const int64_t milli = index < shown->count ? shown->account[index]->guaranteed_milli : 0;
    return milli > 0 ? milli : 0;
}

/* ---- on average ---- */

static void use_row(struct buf *out, const struct shown *shown,
                    const struct account_result *account, int64_t most_milli)
{
    uint32_t colour = 0;
    char use[SIM_TEXT_MAX];
    char part[SIM_TEXT_MAX];
    while (colour < shown->count && shown->account[colour] != account) {
        colour++;
    }
    buf_add_str(out, "<div class=\"use\"><span>");
    chart_html_text(out, account->name);
    buf_addf(out, "</span><div class=\"track\"><i class=\"k%u\" style=\"width:%s%%\"></i>", colour,
             sim_text_percent(account->held_mean_milli, most_milli, part));
    if (account->guaranteed_milli > 0) {
        buf_addf(out, "<b title=\"guaranteed\" style=\"left:%s%%\"></b>",
                 sim_text_percent(account->guaranteed_milli, most_milli, part));
    }
    buf_addf(out, "</div><span>%s slots", sim_text_milli(account->held_mean_milli, use));
    if (account->guaranteed_milli > 0) {
        buf_addf(out, ", %s guaranteed", sim_text_milli(account->guaranteed_milli, part));
    }
    buf_add_str(out, "</span></div>");
}

/* ---- over time ---- */

static void stacked(const struct report_page *report, const struct shown *shown)
{
    struct chart_point points[SERIES_SAMPLES_MAX];
    const struct series *series = report->series;
    const uint32_t places = shown_count(shown);
    struct chart chart;
    struct chart_axes axes = report_axes(report, "Slots in use by account, over time", "slots");
    buf_add_str(report->out, "<h3>Together</h3><div class=\"legend\">");
    for (uint32_t i = 0; i < places; i++) {
        char key[SIM_TEXT_MAX];
        (void)snprintf(key, sizeof key, "k%u", i);
        report_key(report->out, key, shown_name(shown, i));
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
            points[i].y += shown_value(shown, series->at[i].held_milli, place);
        }
        (void)snprintf(class_name, sizeof class_name, "c%u", place);
        (void)snprintf(key, sizeof key, "k%u", place);
        chart_area(&chart, &(struct chart_series){points, series->count, class_name, key,
                                                  shown_name(shown, place)});
    }
    chart_end(&chart);
}

static void one_chart(const struct report_page *report, const struct shown *shown, uint32_t place,
                      int64_t y_max)
{
    struct chart_point points[SERIES_SAMPLES_MAX];
    const struct series *series = report->series;
    const int64_t guaranteed = shown_guaranteed(shown, place);
    const char *name = shown_name(shown, place);
    char class_name[SIM_TEXT_MAX];
    char key[SIM_TEXT_MAX];
    struct chart chart;
    struct chart_axes axes = report_axes(report, name, "slots");
    axes.size = CHART_SMALL;
    axes.y_max = y_max;
    (void)snprintf(class_name, sizeof class_name, "c%u", place);
    (void)snprintf(key, sizeof key, "k%u", place);
    for (size_t i = 0; i < series->count; i++) {
        points[i] = (struct chart_point){series->at[i].at_ms, 0,
                                         shown_value(shown, series->at[i].held_milli, place)};
    }
    buf_add_str(report->out, "<div><h3>");
    chart_html_text(report->out, name);
    buf_add_str(report->out, "</h3>");
    chart_begin_time(&chart, report->out, &axes);
    chart_area(&chart, &(struct chart_series){points, series->count, class_name, key, "used"});
    for (size_t i = 0; i < series->count; i++) {
        points[i].y = shown_value(shown, series->at[i].share_milli, place);
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

/* Draws one chart for each account, side by side on the same scale. */
static void side_by_side(const struct report_page *report, const struct shown *shown)
{
    const uint32_t places = shown_count(shown);
    int64_t most = 0;
    for (uint32_t place = 0; place < places; place++) {
        const int64_t guaranteed = shown_guaranteed(shown, place);
        most = guaranteed > most ? guaranteed : most;
        for (size_t i = 0; i < report->series->count; i++) {
            const struct sample *sample = &report->series->at[i];
            const int64_t held = shown_value(shown, sample->held_milli, place);
            const int64_t share = shown_value(shown, sample->share_milli, place);
            most = held > most ? held : most;
            most = share > most ? share : most;
        }
    }
    buf_add_str(report->out, "<h3>Each by itself, on one scale</h3><div class=\"legend\">");
    report_key(report->out, "k0", "used");
    report_key(report->out, "stroke", "fair share of what there is and is wanted");
    report_key(report->out, "dashes", "guaranteed, at the end");
    buf_add_str(report->out, "</div><div class=\"small\">");
    for (uint32_t place = 0; place < places; place++) {
        one_chart(report, shown, place, most);
    }
    buf_add_str(report->out, "</div>");
}

void report_share(const struct report_page *report)
{
    const struct result *result = report->result;
    int64_t most = 1;
    if (result->account_count < 2) {
        return;
    }
    const struct shown shown = shown_choose(report);
    for (uint32_t i = 0; i < result->account_count; i++) {
        const struct account_result *account = &result->accounts[i];
        most = account->held_mean_milli > most ? account->held_mean_milli : most;
        most = account->guaranteed_milli > most ? account->guaranteed_milli : most;
    }
    report_section(report->out, "Fair share and use",
                   "Mean slots used by each account; the mark is what it is guaranteed.");
    for (uint32_t i = 0; i < result->account_count; i++) {
        use_row(report->out, &shown, &result->accounts[i], most);
    }
    stacked(report, &shown);
    side_by_side(report, &shown);
    buf_add_str(report->out, "</section>");
}
