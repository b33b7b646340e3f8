/* play.c - one run of one scenario.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/play.h"

#include "sim/play_fixed.h"
#include "sim/sim_file.h"
#include "sim/scenario_load.h"
#include "sim/progress.h"
#include "sim/report.h"
#include "sim/event_log.h"
#include "sim/summary.h"

enum { OUTPUT_BYTES_MAX = 1 << 30 };

struct outputs {
    struct buf page;  /* text for standard output */
    struct buf tasks; /* this and the next: the files that were asked for */
    struct buf report;
};

/* Writes all outputs. A file that cannot be written does not keep the others from being written.
 * Returns the first error. */
static must_use enum err outputs_write(const struct sim_options *options, struct outputs *outputs,
                                       struct error *e)
{
    const struct {
        const char *path;
        const struct buf *text;
    } all[] = {{"-", &outputs->page},
               {options->tasks, &outputs->tasks},
               {options->report, &outputs->report}};
    enum err first = ERR_OK;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct error unsaid;
        const enum err r =
            all[i].path == NULL || (i == 0 && all[i].text->len == 0)
                ? ERR_OK
                : sim_file_write(all[i].path, all[i].text, first == ERR_OK ? e : &unsaid);
        first = first == ERR_OK ? r : first;
    }
    return first;
}

/* ---- Ctrl-C ---- */

static volatile sig_atomic_t interrupted;
static int stopped_by;

int play_stopped_by(void)
{
    return stopped_by;
}

static void interrupt_note(int number)
{
    interrupted = number;
}

/* The first Ctrl-C ends the run and shows its results so far. A second Ctrl-C ends the program. */
static void interrupts_catch(void)
{
    const struct sigaction act = {.sa_handler = interrupt_note, .sa_flags = (int)SA_RESETHAND};
    (void)sigaction(SIGINT, &act, NULL);
    (void)sigaction(SIGTERM, &act, NULL);
}

static void results_write(const struct sim_options *options, const struct engine *engine,
                          const struct metrics *metrics, struct outputs *outputs)
{
    struct arena arena;
    struct result result;
    arena_init(&arena);
    metrics_result(metrics, engine, &arena, &result);
    const bool told = options->json || !options->no_summary || options->report != NULL;
    if (result.fleet.launched > 0 && !result.stopped && told) {
        play_fixed(engine_scenario(engine), &interrupted, &result.fixed);
    }
    if (options->json) {
        summary_json(&result, engine, metrics_series(metrics), &outputs->page);
    } else if (!options->no_summary) {
        if (outputs->page.len > 0) {
            buf_add_char(&outputs->page, '\n');
        }
        summary_text(&result, engine_scenario(engine), metrics_series(metrics), &outputs->page);
    }
    if (options->tasks != NULL) {
        summary_json_tasks_csv(engine, &outputs->tasks);
    }
    if (options->report != NULL) {
        report_html(&result, engine, metrics_series(metrics), &outputs->report);
    }
    arena_done(&arena);
}

static must_use enum err scenario_play(const struct sim_options *options,
                                       const struct scenario *scenario, struct outputs *outputs,
                                       struct error *e)
{
    auto_free(metrics_freep) struct metrics *metrics = metrics_new(scenario);
    auto_free(event_log_freep) struct event_log *event_log =
        event_log_new(&outputs->page, options->why);
    struct progress progress;
    progress_init(&progress, scenario, options->quiet);
    struct engine_options how = {.check = options->check, .stop = &interrupted};
    interrupts_catch();
    how.watchers[how.watcher_count++] = metrics_watcher(metrics);
    how.watchers[how.watcher_count++] = progress_watcher(&progress);
    if (options->events && !options->json) {
        how.watchers[how.watcher_count++] = event_log_watcher(event_log);
    }
    struct engine *engine = engine_new(scenario, &how);
    enum err r = engine_run(engine, e);
    progress_end(&progress, engine);
    if (r == ERR_OK) {
        results_write(options, engine, metrics, outputs);
        r = outputs_write(options, outputs, e);
        stopped_by = engine_stopped(engine) ? (int)interrupted : 0;
    } else {
        struct error unsaid; /* dropped: the error that stopped the run is the one to report */
        const enum err written = sim_file_write("-", &outputs->page, &unsaid);
        (void)written;
    }
    engine_free(engine);
    return r;
}

enum err play_run(const struct sim_options *options, struct error *e)
{
    struct scenario scenario;
    struct outputs outputs;
    scenario_init(&scenario);
    buf_init(&outputs.page, OUTPUT_BYTES_MAX);
    buf_init(&outputs.tasks, OUTPUT_BYTES_MAX);
    buf_init(&outputs.report, OUTPUT_BYTES_MAX);
    const char *file = options->file_count > 0 ? options->files[0] : NULL;
    const uint64_t *seed = options->seed_given ? &options->seed_first : NULL;
    enum err r = sim_file_writable(options->tasks, e);
    r = r == ERR_OK ? sim_file_writable(options->report, e) : r;
    r = r == ERR_OK ? scenario_load(options, file, seed, &scenario, e) : r;
    if (r == ERR_OK) {
        r = scenario_play(options, &scenario, &outputs, e);
    }
    buf_done(&outputs.page);
    buf_done(&outputs.tasks);
    buf_done(&outputs.report);
    scenario_done(&scenario);
    return r;
}
