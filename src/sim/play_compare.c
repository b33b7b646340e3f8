/* play_compare.c - several scenarios over the same seeds, side by side. Differences are taken
 * seed by seed. Both sides draw the same random numbers, so the differences come from the
 * policies and not from the workload.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/play.h"

#include "base/json_out.h"
#include "sim/sim_file.h"
#include "sim/scenario_load.h"
#include "sim/metrics.h"
#include "sim/progress.h"
#include "sim/sim_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000 };
enum { OUTPUT_BYTES_MAX = 1 << 24, LABEL_WIDTH = 21, CELL_WIDTH = 8 };

enum figure_kind { FIGURE_TIME, FIGURE_PERCENT, FIGURE_COUNT, FIGURE_MILLI };

struct figure {
    const char *name;
    const char *key; /* name in JSON */
    enum figure_kind kind;
    int64_t (*of)(const struct result *result);
};

static int64_t wait_mean(const struct result *r)
{
    return r->wait.mean_ms;
}
static int64_t wait_p50(const struct result *r)
{
    return r->wait.p50_ms;
}
static int64_t wait_p90(const struct result *r)
{
    return r->wait.p90_ms;
}
static int64_t wait_p99(const struct result *r)
{
    return r->wait.p99_ms;
}
static int64_t wait_max(const struct result *r)
{
    return r->wait.max_ms;
}
static int64_t completion_mean(const struct result *r)
{
    return r->completion.mean_ms;
}
static int64_t completion_p99(const struct result *r)
{
    return r->completion.p99_ms;
}
static int64_t span(const struct result *r)
{
    return r->span_ms;
}
/* Returns percent in thousandths. */
static int64_t allocated(const struct result *r)
{
    return sim_text_part_milli(r->allocated_milli, r->capacity_milli);
}
static int64_t useful(const struct result *r)
{
    return sim_text_part_milli(r->useful_milli, r->capacity_milli);
}
static int64_t slowdown_mean(const struct result *r)
{
    return r->slowdown.mean_ms;
}
static int64_t slowdown_p99(const struct result *r)
{
    return r->slowdown.p99_ms;
}
static int64_t lost_part(const struct result *r)
{
    return sim_text_part_milli(r->work_lost_slot_ms, r->allocated_slot_ms);
}
static int64_t fragmented(const struct result *r)
{
    return sim_text_part_milli(r->fragmented_milli, r->capacity_milli);
}
static int64_t queue_mean(const struct result *r)
{
    return (int64_t)r->queue_mean_milli;
}
static int64_t completed(const struct result *r)
{
    return (int64_t)r->completed;
}
static int64_t evictions(const struct result *r)
{
    return (int64_t)r->evictions;
}
static int64_t work_lost(const struct result *r)
{
    return r->work_lost_slot_ms / 3600;
}

/* Returns the most slots of its guarantee that any account lacked. */
static int64_t shortfall(const struct result *r)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < r->account_count; i++) {
        most = r->accounts[i].shortfall_milli > most ? r->accounts[i].shortfall_milli : most;
    }
    return most;
}

/* Returns the longest time that any account was owed a place. */
static int64_t owed(const struct result *r)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < r->account_count; i++) {
        most = r->accounts[i].below_longest_ms > most ? r->accounts[i].below_longest_ms : most;
    }
    return most;
}

static const struct figure figures[] = {
    {"wait, mean", "wait_mean", FIGURE_TIME, wait_mean},
    {"wait, p50", "wait_p50", FIGURE_TIME, wait_p50},
    {"wait, p90", "wait_p90", FIGURE_TIME, wait_p90},
    {"wait, p99", "wait_p99", FIGURE_TIME, wait_p99},
    {"wait, max", "wait_max", FIGURE_TIME, wait_max},
    {"completion, mean", "completion_mean", FIGURE_TIME, completion_mean},
    {"completion, p99", "completion_p99", FIGURE_TIME, completion_p99},
    {"slowdown, mean", "slowdown_mean", FIGURE_MILLI, slowdown_mean},
    {"slowdown, p99", "slowdown_p99", FIGURE_MILLI, slowdown_p99},
    {"whole run", "span", FIGURE_TIME, span},
    {"allocated, %", "allocated_percent", FIGURE_PERCENT, allocated},
    {"useful, %", "useful_percent", FIGURE_PERCENT, useful},
    {"in pieces, %", "fragmented_percent", FIGURE_PERCENT, fragmented},
    {"queue, mean", "queue_mean", FIGURE_MILLI, queue_mean},
    {"completed", "completed", FIGURE_COUNT, completed},
    {"evictions", "evictions", FIGURE_COUNT, evictions},
    {"work lost, slot-hours", "work_lost_slot_hours", FIGURE_MILLI, work_lost},
    {"work lost, %", "work_lost_percent", FIGURE_PERCENT, lost_part},
    {"short, slots", "shortfall_max", FIGURE_MILLI, shortfall},
    {"owed, longest", "below_longest", FIGURE_TIME, owed},
};
enum { FIGURE_COUNT_ALL = sizeof figures / sizeof figures[0] };

/* Every figure of every run: at[(file * seeds + seed) * FIGURE_COUNT_ALL + figure]. */
struct table_of {
    uint32_t files;
    uint32_t seeds;
    int64_t *at;
    int64_t began_ns; /* when the first run began */
};

static int64_t *cell(const struct table_of *table, uint32_t file, uint32_t seed)
{
    return &table->at[((size_t)file * table->seeds + seed) * FIGURE_COUNT_ALL];
}

/* ---- running ---- */

static must_use enum err run_one(const struct sim_options *options, const char *file, uint64_t seed,
                                 int64_t *ret_figures, struct error *e)
{
    struct scenario scenario;
    scenario_init(&scenario);
    enum err r = scenario_load(options, file, &seed, &scenario, e);
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
        for (size_t i = 0; i < FIGURE_COUNT_ALL; i++) {
            ret_figures[i] = figures[i].of(&result);
        }
        arena_done(&arena);
        engine_free(engine);
        metrics_free(metrics);
    }
    scenario_done(&scenario);
    return r;
}

/* Shows on a terminal which run goes on, in a line that the next one overwrites. */
static void run_tell(const struct sim_options *options, const struct table_of *table, uint32_t file,
                     uint32_t seed)
{
    const uint32_t done = file * table->seeds + seed;
    const uint32_t all = table->files * table->seeds;
    char left[SIM_TEXT_MAX];
    if (options->quiet || isatty(STDERR_FILENO) == 0) {
        return;
    }
    (void)fprintf(stderr, "\r%u of %u: %.40s, seed %" PRIu64, done + 1, all, options->files[file],
                  options->seed_first + seed);
    if (done > 0) {
        const int64_t passed_ms = (progress_wall_ns() - table->began_ns) / NS_PER_MS;
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

static must_use enum err run_all(const struct sim_options *options, struct table_of *table,
                                 struct error *e)
{
    table->began_ns = progress_wall_ns();
    for (uint32_t file = 0; file < table->files; file++) {
        for (uint32_t seed = 0; seed < table->seeds; seed++) {
            run_tell(options, table, file, seed);
            enum err r = run_one(options, options->files[file], options->seed_first + seed,
                                 cell(table, file, seed), e);
            if (r != ERR_OK) {
                return r;
            }
        }
    }
    return ERR_OK;
}

/* ---- printing ---- */

static const char *figure_text(enum figure_kind kind, int64_t value, char *out)
{
    const bool negative = value < 0;
    const int64_t size = negative ? -value : value;
    char text[SIM_TEXT_MAX];
    switch (kind) {
    case FIGURE_TIME:
        (void)sim_text_span(size, text);
        break;
    case FIGURE_PERCENT:
        (void)sim_text_percent(size, 100000, text);
        break;
    case FIGURE_COUNT:
        (void)sim_text_count((uint64_t)size, text);
        break;
    case FIGURE_MILLI:
        (void)sim_text_milli(size, text);
        break;
    }
    (void)snprintf(out, SIM_TEXT_MAX, "%s%.40s", negative ? "-" : "", text);
    return out;
}

static int64_t mean_of(const struct table_of *table, uint32_t file, size_t figure)
{
    __int128 sum = 0;
    for (uint32_t seed = 0; seed < table->seeds; seed++) {
        sum += cell(table, file, seed)[figure];
    }
    return (int64_t)(sum / table->seeds);
}

struct difference {
    int64_t mean;
    int64_t low;
    int64_t high;
};

/* Compares `file` with the first file, seed by seed. */
static struct difference difference_of(const struct table_of *table, uint32_t file, size_t figure)
{
    struct difference difference = {0, INT64_MAX, INT64_MIN};
    __int128 sum = 0;
    for (uint32_t seed = 0; seed < table->seeds; seed++) {
        const int64_t by = cell(table, file, seed)[figure] - cell(table, 0, seed)[figure];
        sum += by;
        difference.low = by < difference.low ? by : difference.low;
        difference.high = by > difference.high ? by : difference.high;
    }
    difference.mean = (int64_t)(sum / table->seeds);
    return difference;
}

static void row_text(const struct table_of *table, uint32_t file, size_t figure, struct buf *out)
{
    const enum figure_kind kind = figures[figure].kind;
    const int64_t base = mean_of(table, 0, figure);
    const struct difference by = difference_of(table, file, figure);
    char text[4][SIM_TEXT_MAX];
    buf_addf(out, " %-*s %*s %*s %*s", LABEL_WIDTH, figures[figure].name, CELL_WIDTH,
             figure_text(kind, base, text[0]), CELL_WIDTH,
             figure_text(kind, mean_of(table, file, figure), text[1]), CELL_WIDTH,
             figure_text(kind, by.mean, text[2]));
    if (base != 0) {
        buf_addf(out, " %7s %%", sim_text_percent(by.mean, base, text[0]));
    } else {
        buf_addf(out, " %9s", "");
    }
    if (by.low == 0 && by.high == 0) {
        buf_add_str(out, "  the same\n");
        return;
    }
    /* A difference is clear only if all seeds agree on its sign. */
    const bool clear = table->seeds > 1 && (by.low > 0 || by.high < 0);
    buf_addf(out, "%s %s to %s\n", clear ? " *" : "  ", figure_text(kind, by.low, text[0]),
             figure_text(kind, by.high, text[1]));
}

static void table_text(const struct sim_options *options, const struct table_of *table,
                       struct buf *out)
{
    buf_addf(out, "%u scenarios, %u seed%s from %" PRIu64 ": means, and differences seed by seed\n",
             table->files, table->seeds, table->seeds == 1 ? "" : "s", options->seed_first);
    for (uint32_t file = 1; file < table->files; file++) {
        buf_addf(out, "\n A: %s\n B: %s\n", options->files[0], options->files[file]);
        buf_addf(out, " %-*s %*s %*s %*s %9s   %s\n", LABEL_WIDTH, "", CELL_WIDTH, "A", CELL_WIDTH,
                 "B", CELL_WIDTH, "B - A", "", "spread");
        for (size_t figure = 0; figure < FIGURE_COUNT_ALL; figure++) {
            row_text(table, file, figure, out);
        }
    }
    buf_add_str(out,
                table->seeds > 1
                    ? "\n *: less with every seed, or more with every seed; others may be chance\n"
                    : "\n one seed says little: --seeds 42-51 shows how much is chance\n");
}

static void table_json(const struct sim_options *options, const struct table_of *table,
                       struct buf *out)
{
    struct json_out j;
    json_out_init(&j, out);
    json_out_array(&j);
    for (uint32_t file = 0; file < table->files; file++) {
        json_out_object(&j);
        json_out_kv_text(&j, "scenario", options->files[file]);
        json_out_key(&j, "seeds");
        json_out_array(&j);
        for (uint32_t seed = 0; seed < table->seeds; seed++) {
            json_out_u64(&j, options->seed_first + seed);
        }
        json_out_end(&j);
        for (size_t figure = 0; figure < FIGURE_COUNT_ALL; figure++) {
            json_out_key(&j, figures[figure].key);
            json_out_array(&j);
            for (uint32_t seed = 0; seed < table->seeds; seed++) {
                const int64_t value = cell(table, file, seed)[figure];
                if (figures[figure].kind == FIGURE_COUNT) {
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

enum err play_compare(const struct sim_options *options, struct error *e)
{
    struct table_of table = {
        .files = options->file_count,
        .seeds = (uint32_t)(options->seed_last - options->seed_first + 1),
    };
    auto_free(freep) int64_t *cells =
        xcalloc((size_t)table.files * table.seeds * FIGURE_COUNT_ALL, sizeof *cells);
    table.at = cells;
    enum err r = files_check(options, e);
    r = r == ERR_OK ? run_all(options, &table, e) : r;
    if (!options->quiet && isatty(STDERR_FILENO) != 0) {
        (void)fputs("\r\x1b[K", stderr);
    }
    if (r != ERR_OK) {
        return r;
    }
    struct buf out;
    buf_init(&out, OUTPUT_BYTES_MAX);
    if (options->json) {
        table_json(options, &table, &out);
    } else {
        table_text(options, &table, &out);
    }
    r = sim_file_write("-", &out, e);
    buf_done(&out);
    return r;
}
