/* play_compare.c - several scenarios over the same seeds, side by side.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/play.h"

#include "base/json_out.h"
#include "sim/sim_file.h"
#include "sim/scenario_load.h"
#include "sim/compare.h"
#include "sim/progress.h"
#include "sim/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000 };
enum { OUTPUT_BYTES_MAX = 1 << 24, LABEL_WIDTH = 21, CELL_WIDTH = 8 };

/* ---- running ---- */

static must_use enum err run_one(struct compare *compare, uint32_t file, uint32_t at,
                                 struct error *e)
{
    const struct sim_options *options = compare->options;
    const uint64_t seed = options->seed_first + at;
    struct scenario scenario;
    scenario_init(&scenario);
    enum err r = scenario_load(options, options->files[file], &seed, &scenario, e);
    if (r == ERR_OK) {
        struct metrics *metrics = metrics_new(&scenario);
        struct engine_options how = {.check = options->check, .watcher_count = 1};
        how.watchers[0] = metrics_watcher(metrics);
        struct engine *engine = engine_new(&scenario, &how);
        struct arena arena;
        struct result result;
        arena_init(&arena);
        r = engine_run(engine, e);
        metrics_result(metrics, engine, &arena, &result);
        compare_take(compare, file, at, &result);
        if (at == 0) {
            compare->runs[file].begins_ms = scenario.begins_ms;
            compare_take_run(compare, file, &result, metrics_series(metrics));
        }
        arena_done(&arena);
        engine_free(engine);
        metrics_free(metrics);
    }
    scenario_done(&scenario);
    return r;
}

/* Shows on a terminal which run goes on, in a line that the next one overwrites. */
static void run_tell(const struct compare *compare, int64_t began_ns, uint32_t file, uint32_t seed)
{
    const struct sim_options *options = compare->options;
    const uint32_t done = file * compare->seeds + seed;
    const uint32_t all = compare->files * compare->seeds;
    char left[SIM_TEXT_MAX];
    if (options->quiet || isatty(STDERR_FILENO) == 0) {
        return;
    }
    (void)fprintf(stderr, "\r%u of %u: %.40s, seed %" PRIu64, done + 1, all, options->files[file],
                  options->seed_first + seed);
    if (done > 0) {
        const int64_t passed_ms = (progress_wall_ns() - began_ns) / NS_PER_MS;
        (void)fprintf(stderr, ", %s left",
                      sim_text_span(passed_ms * (int64_t)(all - done) / (int64_t)done, left));
    }
    (void)fputs("\x1b[K", stderr);
}

/* Checks that all files can be read, before the first run. */
static must_use enum err files_check(const struct sim_options *options, struct error *e)
{
    enum err r = ERR_OK;
    for (uint32_t file = 0; r == ERR_OK && file < options->file_count; file++) {
        struct scenario scenario;
        scenario_init(&scenario);
        r = scenario_load(options, options->files[file], &options->seed_first, &scenario, e);
        scenario_done(&scenario);
    }
    return r;
}

static must_use enum err run_all(struct compare *compare, struct error *e)
{
    const int64_t began_ns = progress_wall_ns();
    for (uint32_t file = 0; file < compare->files; file++) {
        for (uint32_t seed = 0; seed < compare->seeds; seed++) {
            run_tell(compare, began_ns, file, seed);
            enum err r = run_one(compare, file, seed, e);
            if (r != ERR_OK) {
                return r;
            }
        }
    }
    return ERR_OK;
}

/* ---- printing ---- */

static void row_text(const struct compare *compare, uint32_t file, size_t figure, struct buf *out)
{
    const enum compare_kind kind = compare_figures[figure].kind;
    const int64_t base = compare_mean(compare, 0, figure);
    const struct compare_difference by = compare_difference_of(compare, file, figure);
    char text[4][SIM_TEXT_MAX];
    buf_addf(out, " %-*s %*s %*s %*s", LABEL_WIDTH, compare_figures[figure].name, CELL_WIDTH,
             compare_text(kind, base, text[0]), CELL_WIDTH,
             compare_text(kind, compare_mean(compare, file, figure), text[1]), CELL_WIDTH,
             compare_text(kind, by.mean, text[2]));
    if (base != 0) {
        buf_addf(out, " %7s %%", sim_text_percent(by.mean, base, text[0]));
    } else {
        buf_addf(out, " %9s", "");
    }
    if (by.low == 0 && by.high == 0) {
        buf_add_str(out, "  the same\n");
        return;
    }
    buf_addf(out, "%s %s to %s\n", by.clear ? " *" : "  ", compare_text(kind, by.low, text[0]),
             compare_text(kind, by.high, text[1]));
}

static void table_text(const struct compare *compare, struct buf *out)
{
    const struct sim_options *options = compare->options;
    buf_addf(out, "%u scenarios, %u seed%s from %" PRIu64 ": means, and differences seed by seed\n",
             compare->files, compare->seeds, compare->seeds == 1 ? "" : "s", options->seed_first);
    for (uint32_t file = 1; file < compare->files; file++) {
        buf_addf(out, "\n A: %s\n B: %s\n", options->files[0], options->files[file]);
        buf_addf(out, " %-*s %*s %*s %*s %9s   %s\n", LABEL_WIDTH, "", CELL_WIDTH, "A", CELL_WIDTH,
                 "B", CELL_WIDTH, "B - A", "", "spread");
        for (size_t figure = 0; figure < COMPARE_FIGURE_COUNT; figure++) {
            row_text(compare, file, figure, out);
        }
    }
    buf_add_str(out,
                compare->seeds > 1
                    ? "\n *: less with every seed, or more with every seed; others may be chance\n"
                    : "\n one seed says little: --seeds 42-51 shows how much is chance\n");
}

static void table_json(const struct compare *compare, struct buf *out)
{
    const struct sim_options *options = compare->options;
    struct json_out j;
    json_out_init(&j, out);
    json_out_array(&j);
    for (uint32_t file = 0; file < compare->files; file++) {
        json_out_object(&j);
        json_out_kv_text(&j, "scenario", options->files[file]);
        json_out_key(&j, "seeds");
        json_out_array(&j);
        for (uint32_t seed = 0; seed < compare->seeds; seed++) {
            json_out_u64(&j, options->seed_first + seed);
        }
        json_out_end(&j);
        for (size_t figure = 0; figure < COMPARE_FIGURE_COUNT; figure++) {
            json_out_key(&j, compare_figures[figure].key);
            json_out_array(&j);
            for (uint32_t seed = 0; seed < compare->seeds; seed++) {
                const int64_t value = compare_cell(compare, file, seed)[figure];
                if (compare_figures[figure].kind == COMPARE_COUNT) {
                    json_out_i64(&j, value);
                } else {
                    json_out_milli(&j, value);
                }
            }
            json_out_end(&j);
        }
        json_out_end(&j);
    }
    json_out_end(&j);
    buf_add_char(out, '\n');
}

static must_use enum err results_write(const struct compare *compare, struct error *e)
{
    const struct sim_options *options = compare->options;
    struct buf out;
    buf_init(&out, OUTPUT_BYTES_MAX);
    if (options->json) {
        table_json(compare, &out);
    } else {
        table_text(compare, &out);
    }
    enum err r = sim_file_write("-", &out, e);
    if (r == ERR_OK && options->report != NULL) {
        buf_clear(&out);
        report_compare(compare, &out);
        r = sim_file_write(options->report, &out, e);
    }
    buf_done(&out);
    return r;
}

enum err play_compare(const struct sim_options *options, struct error *e)
{
    struct compare compare;
    compare_init(&compare, options);
    enum err r = sim_file_writable(options->report, e);
    r = r == ERR_OK ? files_check(options, e) : r;
    r = r == ERR_OK ? run_all(&compare, e) : r;
    if (!options->quiet && isatty(STDERR_FILENO) != 0) {
        (void)fputs("\r\x1b[K", stderr);
    }
    r = r == ERR_OK ? results_write(&compare, e) : r;
    compare_done(&compare);
    return r;
}
