/* report_charts.c - charts of a report: slots of each pool, the queue, and the waits of tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/report_internal.h"

#include "sim/sim_text.h"

enum { POOL_CHARTS_MAX = 4 };

/* ---- allocation ---- */

/* Returns the slots of one pool of a sample; -1: of all pools together. */
static struct pool_sample slots_at(const struct sample *sample, int pool)
{
    return pool >= 0 ? sample->pools[pool]
                     : (struct pool_sample){sample->allocated_milli, sample->capacity_milli,
                                            sample->fragmented_milli, sample->kept_milli,
                                            sample->lost_milli};
}

/* The bands of the slots, from below. */
enum band { BAND_USEFUL, BAND_LOST, BAND_KEPT, BAND_PIECES };
enum { BAND_COUNT = BAND_PIECES + 1 };

static const struct {
    const char *class_name;
    const char *key;
    const char *name;   /* under the pointer */
    const char *legend; /* above the chart */
} bands[BAND_COUNT] = {
    [BAND_USEFUL] = {"c0", "k0", "in use", "in use"},
    [BAND_LOST] = {"c3", "k3", "in use, work lost later", "in use, and the work was lost later"},
    [BAND_KEPT] = {"c4", "k4", "kept for waiting tasks", "idle, kept for waiting tasks"},
    [BAND_PIECES] = {"c1", "k1", "idle, too small", "idle, in pieces too small"},
};

/* Returns the height of a band. Idle slots are counted once: kept slots may be in pieces too. */
static int64_t band_of(const struct pool_sample *slots, enum band band)
{
    const int64_t idle = slots->capacity_milli > slots->allocated_milli
                             ? slots->capacity_milli - slots->allocated_milli
                             : 0;
    const int64_t kept = slots->kept_milli < idle ? slots->kept_milli : idle;
    const int64_t pieces = slots->fragmented_milli;
    const int64_t lost =
        slots->lost_milli < slots->allocated_milli ? slots->lost_milli : slots->allocated_milli;
    switch (band) {
    case BAND_USEFUL:
        return slots->allocated_milli - lost;
    case BAND_LOST:
        return lost;
    case BAND_KEPT:
        return kept;
    case BAND_PIECES:
        return pieces < idle - kept ? pieces : idle - kept;
    }
    return 0;
}

static bool band_used(const struct series *series, enum band band)
{
    for (size_t i = 0; i < series->count; i++) {
        const struct pool_sample all = slots_at(&series->at[i], -1);
        if (band_of(&all, band) > 0) {
            return true;
        }
    }
    return band == BAND_USEFUL;
}

static void allocation_chart(const struct report_page *report, int pool, const char *label)
{
    struct chart_point points[SERIES_SAMPLES_MAX];
    const struct series *series = report->series;
    struct chart chart;
    struct chart_axes axes = report_axes(report, label, "slots");
    for (size_t i = 0; i < series->count; i++) {
        const struct pool_sample slots = slots_at(&series->at[i], pool);
        axes.y_max = slots.capacity_milli > axes.y_max ? slots.capacity_milli : axes.y_max;
        axes.y_max = slots.allocated_milli > axes.y_max ? slots.allocated_milli : axes.y_max;
        points[i] = (struct chart_point){series->at[i].at_ms, 0, 0};
    }
    chart_begin_time(&chart, report->out, &axes);
    for (enum band band = BAND_USEFUL; band <= BAND_PIECES; band++) {
        if (!band_used(series, band)) {
            continue;
        }
        for (size_t i = 0; i < series->count; i++) {
            const struct pool_sample slots = slots_at(&series->at[i], pool);
            points[i].low = points[i].y;
            points[i].y += band_of(&slots, band);
        }
        chart_area(&chart, &(struct chart_series){points, series->count, bands[band].class_name,
                                                  bands[band].key, bands[band].name});
    }
    for (size_t i = 0; i < series->count; i++) {
        points[i].y = slots_at(&series->at[i], pool).capacity_milli;
    }
    chart_line(&chart, &(struct chart_series){points, series->count, "limit", "limit", "there"});
    chart_end(&chart);
}

void report_charts_allocation(const struct report_page *report)
{
    const struct result *result = report->result;
    struct buf *out = report->out;
    report_section(
        out, "Allocation",
        "Slots in use. Of the idle slots: those that are kept for waiting tasks, and those "
        "in pieces too small for the tasks of this workload.");
    buf_add_str(out, "<div class=\"legend\">");
    for (enum band band = BAND_USEFUL; band <= BAND_PIECES; band++) {
        if (band_used(report->series, band)) {
            report_key(out, bands[band].key, bands[band].legend);
        }
    }
    report_key(out, "dashes", "slots of nodes that are up");
    buf_add_str(out, "</div>");
    if (result->pool_count < 2 || result->pool_count > POOL_CHARTS_MAX) {
        allocation_chart(report, -1, "Slots in use over time");
    }
    for (uint32_t i = 0;
         result->pool_count > 1 && result->pool_count <= POOL_CHARTS_MAX && i < result->pool_count;
         i++) {
        if (result->pools[i].sampled >= 0) {
            buf_add_str(out, "<h3>Pool ");
            chart_html_text(out, result->pools[i].name);
            buf_add_str(out, "</h3>");
            allocation_chart(report, result->pools[i].sampled, result->pools[i].name);
        }
    }
    buf_add_str(out, "</section>");
}

/* ---- the queue ---- */

void report_charts_queue(const struct report_page *report)
{
    struct chart_point points[SERIES_SAMPLES_MAX];
    const struct series *series = report->series;
    struct chart chart;
    struct chart_axes axes = report_axes(report, "Tasks that wait, over time", "tasks");
    axes.y_unit = 1;
    for (size_t i = 0; i < series->count; i++) {
        points[i] = (struct chart_point){series->at[i].at_ms, 0, (int64_t)series->at[i].pending};
        axes.y_max = points[i].y > axes.y_max ? points[i].y : axes.y_max;
    }
    report_section(report->out, "Queue", "Tasks that wait for a place.");
    chart_begin_time(&chart, report->out, &axes);
    chart_area(&chart, &(struct chart_series){points, series->count, "c0", "k0", "waiting"});
    chart_end(&chart);
    buf_add_str(report->out, "</section>");
}

/* ---- waits ---- */

static const struct {
    int64_t below_ms;
    const char *label;
    const char *range;
} wait_bins[] = {
    {1000, "<1s", "less than a second"},  {10000, "10s", "1s to 10s"},
    {30000, "30s", "10s to 30s"},         {60000, "1m", "30s to 1m"},
    {120000, "2m", "1m to 2m"},           {300000, "5m", "2m to 5m"},
    {600000, "10m", "5m to 10m"},         {1800000, "30m", "10m to 30m"},
    {3600000, "1h", "30m to 1h"},         {7200000, "2h", "1h to 2h"},
    {14400000, "4h", "2h to 4h"},         {28800000, "8h", "4h to 8h"},
    {57600000, "16h", "8h to 16h"},       {86400000, "1d", "16h to 1d"},
    {172800000, "2d", "1d to 2d"},        {345600000, "4d", "2d to 4d"},
    {691200000, "8d", "4d to 8d"},        {1382400000, "16d", "8d to 16d"},
    {INT64_MAX, "more", "more than 16d"},
};
enum { WAIT_BINS = sizeof wait_bins / sizeof wait_bins[0], PERCENT_MILLI = 100000 };

/* Counts tasks by the length of their wait. Returns how many have started. */
static int64_t waits_count(const struct engine *engine, int64_t counts[static WAIT_BINS])
{
    int64_t started = 0;
    size_t count;
    const struct job_record *records = engine_records(engine, &count);
    for (size_t i = 0; i < count; i++) {
        if (records[i].started_ms < 0) { /* has not started yet, or started before the run */
            continue;
        }
        const int64_t wait_ms = engine_records_waited(engine, &records[i]);
        size_t bin = 0;
        while (bin + 1 < WAIT_BINS && wait_ms >= wait_bins[bin].below_ms) {
            bin++;
        }
        counts[bin]++;
        started++;
    }
    return started;
}

static void wait_bar(struct chart *chart, size_t bin, int64_t count, int64_t started)
{
    char title[SIM_TEXT_MAX * 3];
    char percent[SIM_TEXT_MAX];
    char tasks[SIM_TEXT_MAX];
    char text[SIM_TEXT_MAX] = "";
    const int64_t milli = count * PERCENT_MILLI / started;
    (void)snprintf(title, sizeof title, "%s: %s tasks, %s %%", wait_bins[bin].range,
                   sim_text_count((uint64_t)count, tasks),
                   sim_text_percent(count, started, percent));
    if (count > 0) {
        (void)sim_text_milli(milli, text);
    }
    chart_bar(chart, bin, milli, text, title);
}

void report_charts_waits(const struct report_page *report)
{
    const char *labels[WAIT_BINS];
    int64_t counts[WAIT_BINS] = {0};
    const int64_t started = waits_count(report->engine, counts);
    size_t bins = 0;
    struct chart chart;
    struct chart_axes axes = {.label = "Waits: percent of the tasks by how long they waited",
                              .unit = "%",
                              .y_unit = 1000};
    if (started == 0) {
        return;
    }
    for (size_t i = 0; i < WAIT_BINS; i++) {
        const int64_t milli = counts[i] * PERCENT_MILLI / started;
        labels[i] = wait_bins[i].label;
        axes.y_max = milli > axes.y_max ? milli : axes.y_max;
        bins = counts[i] > 0 ? i + 1 : bins;
    }
    axes.x_max = (int64_t)(bins + 1 < WAIT_BINS ? bins + 1 : bins);
    report_section(report->out, "Waits",
                   "All the time in which a task waited, also after an eviction: percent of the "
                   "tasks that started, each bar up to the time below it.");
    chart_begin_bars(&chart, report->out, &axes, labels);
    for (size_t i = 0; i < (size_t)axes.x_max; i++) {
        wait_bar(&chart, i, counts[i], started);
    }
    chart_end(&chart);
    buf_add_str(report->out, "</section>");
}
