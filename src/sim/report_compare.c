/* report_compare.c - the page of a comparison: every figure of every scenario as a bar, the course
 * of the runs over time, and a table of all differences.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/report.h"
#include "sim/report_internal.h"

#include <inttypes.h>

enum { NOTE_MAX = 256 };

/* Returns the last part of a path. */
static const char *file_name(const struct compare *compare, uint32_t file)
{
    const char *path = compare->options->files[file];
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static char letter_of(uint32_t file)
{
    return (char)('A' + (char)file);
}

static void title(const struct compare *compare, struct buf *out)
{
    struct buf text;
    buf_init(&text, SIM_FILES_MAX * NOTE_MAX);
    for (uint32_t i = 0; i < compare->files; i++) {
        const char *between = i == 0 ? "" : (i + 1 < compare->files ? ", " : " and ");
        buf_addf(&text, "%s%.100s", between, file_name(compare, i));
    }
    report_page_begin(out, buf_text(&text));
    buf_add_str(out, "<h1>");
    chart_html_text(out, buf_text(&text));
    buf_done(&text);
    buf_addf(out,
             "</h1><p>%u scenarios with %u seed%s from %" PRIu64
             ". Figures are means over the seeds; differences are to A, taken seed by seed.",
             compare->files, compare->seeds, compare->seeds == 1 ? "" : "s",
             compare->options->seed_first);
    buf_add_str(out, compare->seeds > 1
                         ? " Figures in bold differ from A in the same direction "
                           "with every seed; other differences may be chance. A thin "
                           "line reaches from the least to the largest seed.</p>"
                         : " One seed says little: --seeds 42-51 shows how much is "
                           "chance.</p>");
}

/* Writes the colour of every scenario. */
static void legend(const struct compare *compare, struct buf *out)
{
    buf_add_str(out, "<div class=\"legend\">");
    for (uint32_t i = 0; i < compare->files; i++) {
        char key[SIM_TEXT_MAX];
        char text[NOTE_MAX];
        (void)snprintf(key, sizeof key, "k%u", i);
        (void)snprintf(text, sizeof text, "%c: %.200s", letter_of(i), compare->options->files[i]);
        report_key(out, key, text);
    }
    buf_add_str(out, "</div>");
}

/* ---- figures as bars ---- */

/* The range of a figure over all scenarios and seeds. */
struct figure_range {
    int64_t most;
    bool any; /* a value is not 0 */
};

static struct figure_range range_of(const struct compare *compare, size_t figure)
{
    struct figure_range range = {0, false};
    for (uint32_t file = 0; file < compare->files; file++) {
        for (uint32_t seed = 0; seed < compare->seeds; seed++) {
            const int64_t value = compare_cell(compare, file, seed)[figure];
            range.most = value > range.most ? value : range.most;
            range.any |= value != 0;
        }
    }
    return range;
}

/* Draws a line from the least to the largest value of all seeds. */
static void seeds_line(const struct compare *compare, uint32_t file, size_t figure, int64_t most,
                       struct buf *out)
{
    int64_t low = INT64_MAX;
    int64_t high = INT64_MIN;
    char text[2][SIM_TEXT_MAX];
    for (uint32_t seed = 0; seed < compare->seeds; seed++) {
        const int64_t value = compare_cell(compare, file, seed)[figure];
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    if (low < high) {
        buf_addf(out, "<i class=\"seeds\" title=\"all seeds\" style=\"left:%s%%;width:%s%%\"></i>",
                 sim_text_percent(low, most, text[0]), sim_text_percent(high - low, most, text[1]));
    }
}

static void figure_row(const struct compare *compare, uint32_t file, size_t figure, int64_t most,
                       struct buf *out)
{
    const enum compare_kind kind = compare_figures[figure].kind;
    const int64_t mean = compare_mean(compare, file, figure);
    const int64_t base = compare_mean(compare, 0, figure);
    const struct compare_difference by = compare_difference_of(compare, file, figure);
    char text[SIM_TEXT_MAX];
    buf_addf(out,
             "<div class=\"use\"><span>%c</span><div class=\"track\"><i class=\"k%u\" "
             "style=\"width:%s%%\"></i>",
             letter_of(file), file, sim_text_percent(mean, most, text));
    seeds_line(compare, file, figure, most, out);
    buf_addf(out, "</div><span class=\"%s\">%s", by.clear ? "own" : "plain",
             compare_text(kind, mean, text));
    if (file > 0 && (by.low != 0 || by.high != 0) && base != 0) {
        buf_addf(out, " (%s%s %%)", by.mean > 0 ? "+" : "", sim_text_percent(by.mean, base, text));
    } else if (file > 0 && by.low == 0 && by.high == 0) {
        buf_add_str(out, " (the same)");
    }
    buf_add_str(out, "</span></div>");
}

static void group_section(const struct compare *compare, enum compare_group group, struct buf *out)
{
    static const char *const titles[COMPARE_GROUP_COUNT][2] = {
        [COMPARE_WAITS] = {"Waits", "All the time in which tasks waited, also after an eviction."},
        [COMPARE_COMPLETION] = {"Completion", "From submission to the end, and this time divided "
                                              "by the length of the task (slowdown)."},
        [COMPARE_SLOTS] = {"Slots",
                           "How much of the slots was in use, how much of that was useful, "
                           "and how many tasks waited."},
        [COMPARE_TASKS] = {"Tasks and lost work", "Tasks that completed, and what evictions and "
                                                  "lost nodes cost."},
        [COMPARE_GUARANTEES] = {"Guarantees", "Of the account that is worst off: slots lacking of "
                                              "its guarantee, and how long a place was owed."},
    };
    bool any = false;
    for (size_t i = 0; i < COMPARE_FIGURE_COUNT; i++) {
        any |= compare_figures[i].group == group && range_of(compare, i).any;
    }
    if (!any) {
        return;
    }
    report_section(out, titles[group][0], titles[group][1]);
    buf_add_str(out, "<div class=\"figures\">");
    for (size_t i = 0; i < COMPARE_FIGURE_COUNT; i++) {
        const int64_t most = range_of(compare, i).most;
        if (compare_figures[i].group == group) {
            buf_add_str(out, "<div><h3>");
            chart_html_text(out, compare_figures[i].name);
            buf_add_str(out, "</h3>");
            for (uint32_t file = 0; file < compare->files; file++) {
                figure_row(compare, file, i, most, out);
            }
            buf_add_str(out, "</div>");
        }
    }
    buf_add_str(out, "</div></section>");
}

/* ---- over time ---- */

/* Returns a value of a run at a moment; 0: the run has ended. */
static int64_t value_at(const struct compare_run *run, const int64_t *values, int64_t at_ms)
{
    const int64_t index = at_ms / run->step_ms;
    return at_ms > run->span_ms || index >= (int64_t)run->count ? 0 : values[index];
}

static const int64_t *values_of(const struct compare_run *run, bool slots)
{
    return slots ? run->allocated_milli : run->pending;
}

/* Draws a line for each scenario. Runs may have different steps: all are shown with the longest. */
static void time_chart(const struct compare *compare, bool slots, struct buf *out)
{
    struct chart_axes axes = {.label =
                                  slots ? "Slots in use over time" : "Tasks that wait over time",
                              .unit = slots ? "slots" : "tasks",
                              .y_unit = slots ? SLOT_MILLI : 1,
                              .begins_ms = compare->runs[0].begins_ms};
    struct chart_point points[SERIES_SAMPLES_MAX];
    struct chart chart;
    for (uint32_t file = 0; file < compare->files; file++) {
        const struct compare_run *run = &compare->runs[file];
        axes.x_max = run->span_ms > axes.x_max ? run->span_ms : axes.x_max;
        axes.step_ms = run->step_ms > axes.step_ms ? run->step_ms : axes.step_ms;
        axes.begins_ms = run->begins_ms == axes.begins_ms ? axes.begins_ms : 0;
        for (size_t i = 0; i < run->count; i++) {
            const int64_t value = values_of(run, slots)[i];
            axes.y_max = value > axes.y_max ? value : axes.y_max;
        }
    }
    const size_t wanted = (size_t)(axes.x_max / axes.step_ms) + 1;
    const size_t count = wanted < SERIES_SAMPLES_MAX ? wanted : SERIES_SAMPLES_MAX;
    chart_begin_time(&chart, out, &axes);
    for (uint32_t file = 0; file < compare->files; file++) {
        const struct compare_run *run = &compare->runs[file];
        char class_name[SIM_TEXT_MAX];
        char key[SIM_TEXT_MAX];
        const char name[] = {letter_of(file), '\0'};
        for (size_t i = 0; i < count; i++) {
            const int64_t at_ms = (int64_t)i * axes.step_ms;
            points[i] = (struct chart_point){at_ms, 0, value_at(run, values_of(run, slots), at_ms)};
        }
        (void)snprintf(class_name, sizeof class_name, "c%u", file);
        (void)snprintf(key, sizeof key, "k%u", file);
        chart_line(&chart, &(struct chart_series){points, count, class_name, key, name});
    }
    chart_end(&chart);
}

static void time_section(const struct compare *compare, struct buf *out)
{
    report_section(out, "Over time", "The runs with the first seed.");
    legend(compare, out);
    buf_add_str(out, "<h3>Slots in use</h3>");
    time_chart(compare, true, out);
    buf_add_str(out, "<h3>Tasks waiting</h3>");
    time_chart(compare, false, out);
    buf_add_str(out, "</section>");
}

/* ---- the table ---- */

static void difference_cells(const struct compare *compare, uint32_t file, size_t figure,
                             struct buf *out)
{
    const enum compare_kind kind = compare_figures[figure].kind;
    const struct compare_difference by = compare_difference_of(compare, file, figure);
    char text[2][SIM_TEXT_MAX];
    const char *class_name = by.clear ? "own" : "plain";
    buf_addf(out, "<td>%s</td>", compare_text(kind, compare_mean(compare, file, figure), text[0]));
    if (by.low == 0 && by.high == 0) {
        buf_add_str(out, "<td class=\"plain\">the same</td><td></td>");
        return;
    }
    buf_addf(out, "<td class=\"%s\">%s</td>", class_name, compare_text(kind, by.mean, text[0]));
    buf_addf(out, "<td class=\"plain\">%s to %s</td>", compare_text(kind, by.low, text[0]),
             compare_text(kind, by.high, text[1]));
}

static void all_table(const struct compare *compare, struct buf *out)
{
    char text[SIM_TEXT_MAX];
    report_section(out, "All figures", "Differences in bold are less, or more, with every seed.");
    buf_add_str(out, "<div class=\"scroll\"><table><tr><th></th><th>A</th>");
    for (uint32_t file = 1; file < compare->files; file++) {
        buf_addf(out, "<th>%c</th><th>%c − A</th><th>with each seed</th>", letter_of(file),
                 letter_of(file));
    }
    buf_add_str(out, "</tr>");
    for (size_t i = 0; i < COMPARE_FIGURE_COUNT; i++) {
        buf_add_str(out, "<tr><td>");
        chart_html_text(out, compare_figures[i].name);
        buf_addf(out, "</td><td>%s</td>",
                 compare_text(compare_figures[i].kind, compare_mean(compare, 0, i), text));
        for (uint32_t file = 1; file < compare->files; file++) {
            difference_cells(compare, file, i, out);
        }
        buf_add_str(out, "</tr>");
    }
    buf_add_str(out, "</table></div></section>");
}

void report_compare(const struct compare *compare, struct buf *out)
{
    title(compare, out);
    legend(compare, out);
    for (int group = COMPARE_WAITS; group < COMPARE_GROUP_COUNT; group++) {
        group_section(compare, (enum compare_group)group, out);
    }
    time_section(compare, out);
    all_table(compare, out);
    report_page_end(out, NULL);
}
