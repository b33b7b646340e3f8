/* report_time.c - waits and slowdown over time: of the tasks that were submitted in each slice of
 * the run, half waited at most so long, and nine in ten at most so long.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/report_internal.h"

#include "sim/sim_text.h"

enum { TIME_SLICES = 64 };

/* The tasks of one slice: where their values begin in the sorted list, and how many there are. */
struct time_slice {
    size_t first;
    size_t count;
    struct spread spread;
};

struct time_slices {
    int64_t step_ms;
    size_t count;
    struct time_slice at[TIME_SLICES];
};

/* Returns the value of a task; -1: it has none. */
typedef int64_t (*task_value_fn)(const struct engine *engine, const struct job_record *record);

static int64_t wait_value(const struct engine *engine, const struct job_record *record)
{
    return record->started_ms < 0 ? -1 : engine_records_waited(engine, record);
}

static int64_t slowdown_value(const struct engine *engine, const struct job_record *record)
{
    (void)engine;
    return metrics_result_slowdown(record);
}

static size_t slice_of(const struct time_slices *slices, const struct job_record *record)
{
    const int64_t at_ms = record->submitted_ms > 0 ? record->submitted_ms : 0;
    const size_t slice = (size_t)(at_ms / slices->step_ms);
    return slice < slices->count ? slice : slices->count - 1;
}

/* Divides the run, and sorts the values of the tasks by slice. */
static void slices_fill(const struct report_page *report, task_value_fn value_of,
                        struct time_slices *ret)
{
    size_t count;
    const struct job_record *records = engine_records(report->engine, &count);
    int64_t *values = xcalloc(count + 1, sizeof *values);
    const int64_t span_ms = report->result->span_ms;
    *ret = (struct time_slices){.step_ms = span_ms / TIME_SLICES + 1};
    ret->count = (size_t)(span_ms / ret->step_ms) + 1;
    for (size_t i = 0; i < count; i++) {
        ret->at[slice_of(ret, &records[i])].count += value_of(report->engine, &records[i]) >= 0;
    }
    for (size_t i = 1; i < ret->count; i++) {
        ret->at[i].first = ret->at[i - 1].first + ret->at[i - 1].count;
        ret->at[i - 1].count = 0; /* counted again, while the values are written */
    }
    ret->at[ret->count - 1].count = 0;
    for (size_t i = 0; i < count; i++) {
        struct time_slice *slice = &ret->at[slice_of(ret, &records[i])];
        const int64_t value = value_of(report->engine, &records[i]);
        if (value >= 0) {
            values[slice->first + slice->count++] = value;
        }
    }
    for (size_t i = 0; i < ret->count; i++) {
        ret->at[i].spread = spread_of(values + ret->at[i].first, ret->at[i].count);
    }
    free(values);
}

/* Sets the unit in which the largest value is a small number. */
static void unit_set(struct chart_axes *axes)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"seconds", 1000}, {"minutes", 60000}, {"hours", 3600000}, {"days", 86400000}};
    size_t unit = 0;
    while (unit + 1 < sizeof units / sizeof units[0] && axes->y_max >= 2 * units[unit + 1].ms) {
        unit++;
    }
    axes->unit = units[unit].name;
    axes->y_unit = units[unit].ms;
}

static void time_chart(const struct report_page *report, const struct time_slices *slices,
                       struct chart_axes axes)
{
    struct chart_point half[TIME_SLICES];
    struct chart_point most[TIME_SLICES];
    struct chart_point tasks[TIME_SLICES];
    struct chart chart;
    for (size_t i = 0; i < slices->count; i++) {
        const struct spread *spread = &slices->at[i].spread;
        const int64_t at_ms = (int64_t)i * slices->step_ms;
        half[i] = (struct chart_point){at_ms, 0, spread->p50_ms};
        most[i] = (struct chart_point){at_ms, 0, spread->p90_ms};
        tasks[i] = (struct chart_point){at_ms, 0, (int64_t)spread->count * axes.y_unit};
    }
    axes.size = CHART_SMALL;
    axes.step_ms = slices->step_ms;
    chart_begin_time(&chart, report->out, &axes);
    chart_area(&chart,
               &(struct chart_series){most, slices->count, "c0", "k0", "90 % of them at most"});
    chart_line(&chart, &(struct chart_series){half, slices->count, "share", "share",
                                              "half of them at most"});
    chart_values(&chart, &(struct chart_series){tasks, slices->count, "", "", "tasks submitted"});
    chart_end(&chart);
}

static int64_t highest(const struct time_slices *slices)
{
    int64_t most = 0;
    for (size_t i = 0; i < slices->count; i++) {
        const int64_t p90 = slices->at[i].spread.p90_ms;
        most = p90 > most ? p90 : most;
    }
    return most;
}

void report_time(const struct report_page *report)
{
    struct time_slices slices;
    struct buf *out = report->out;
    if (report->result->wait.count == 0 || report->result->span_ms == 0) {
        return;
    }
    report_section(out, "Waits over time",
                   "By the time of submission: what tasks that were submitted then had to wait in "
                   "all, and how much longer than their length they took.");
    buf_add_str(out, "<div class=\"legend\">");
    report_key(out, "stroke", "half of the tasks at most");
    report_key(out, "k0", "nine in ten at most");
    buf_add_str(out, "</div><div class=\"small\"><div><h3>Wait</h3>");
    slices_fill(report, wait_value, &slices);
    struct chart_axes axes = report_axes(report, "Waits by the time of submission", "");
    axes.y_max = highest(&slices);
    unit_set(&axes);
    time_chart(report, &slices, axes);
    buf_add_str(out, "</div><div><h3>Slowdown</h3>");
    slices_fill(report, slowdown_value, &slices);
    axes = report_axes(report, "Slowdown by the time of submission", "times the length");
    axes.y_max = highest(&slices);
    time_chart(report, &slices, axes);
    buf_add_str(out, "</div></div></section>");
}
