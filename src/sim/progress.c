/* progress.c - see progress.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/progress.h"

#include "base/bar.h"
#include "sim/sim_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { CALLS_PER_LOOK = 256, LINE_MAX = 256 };
#define NS_PER_S 1000000000LL
#define SHOW_EVERY_NS (NS_PER_S / 5)

int64_t progress_clock_ns(void)
{
    struct timespec now;
    /* Processor time and not wall time, so that rates do not depend on other programs. */
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t progress_wall_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

void progress_init(struct progress *progress, const struct scenario *scenario, bool quiet)
{
    *progress = (struct progress){
        .jobs_total = scenario->jobs.count,
        .began_ns = progress_clock_ns(),
        .wall_ns = progress_wall_ns(),
        .quiet = quiet,
        .bar = !quiet && isatty(STDERR_FILENO),
    };
    progress->shown_ns = progress->began_ns;
}

/* Returns the part of the run that is done, by arrived and by ended jobs, because both cost
 * work. */
static double part_done(const struct progress *progress, const struct engine *engine)
{
    const struct core *core = engine_core(engine);
    const uint64_t ended =
        query_task_count(core, TASK_COMPLETED) + query_task_count(core, TASK_FAILED) +
        query_task_count(core, TASK_KILLED) + query_task_count(core, TASK_UNKNOWN);
    const double steps = (double)(engine_counts(engine).jobs_arrived + ended);
    return progress->jobs_total == 0 ? 1 : steps / (2 * (double)progress->jobs_total);
}

static void show(struct progress *progress, const struct engine *engine, int64_t now_ns)
{
    const double part = part_done(progress, engine);
    const double seconds = (double)(now_ns - progress->began_ns) / NS_PER_S;
    const double passed = (double)(progress_wall_ns() - progress->wall_ns) / NS_PER_S;
    const double left = part > 0 ? passed * (1 - part) / part : 0;
    char at[SIM_TEXT_MAX];
    char remaining[SIM_TEXT_MAX];
    char rate[SIM_TEXT_MAX];
    char text[LINE_MAX];
    (void)snprintf(text, sizeof text, "%3d %%  %s simulated, %s events/s, %s left",
                   (int)(part * 100), sim_text_span(engine_now_ms(engine), at),
                   sim_text_count((uint64_t)((double)engine_counts(engine).events / seconds), rate),
                   sim_text_span((int64_t)(left * 1000), remaining));
    bar_draw((uint32_t)(part * 1000), text);
    progress->shown_ns = now_ns;
}

static void instant_seen(void *ctx, const struct engine *engine, int64_t next_ms)
{
    (void)next_ms;
    struct progress *progress = ctx;
    if (!progress->bar || ++progress->calls < CALLS_PER_LOOK) {
        return;
    }
    progress->calls = 0;
    const int64_t now_ns = progress_clock_ns();
    if (now_ns - progress->shown_ns >= SHOW_EVERY_NS) {
        show(progress, engine, now_ns);
    }
}

struct watcher progress_watcher(struct progress *progress)
{
    return (struct watcher){.ctx = progress, .instant = instant_seen};
}

void progress_end(struct progress *progress, const struct engine *engine)
{
    if (progress->bar) {
        bar_clear();
    }
    if (progress->quiet) {
        return;
    }
    const double seconds = (double)(progress_clock_ns() - progress->began_ns) / NS_PER_S;
    const struct engine_counts counts = engine_counts(engine);
    char text[4][SIM_TEXT_MAX];
    char rate[SIM_TEXT_MAX];
    (void)fprintf(
        stderr, "%s events, %s facts, %s passes, %s nodes visited in %.2f s: %s events/s\n",
        sim_text_count(counts.events, text[0]), sim_text_count(counts.facts, text[1]),
        sim_text_count(counts.passes, text[2]), sim_text_count(counts.visits, text[3]), seconds,
        sim_text_count((uint64_t)((double)counts.events / (seconds > 0 ? seconds : 1)), rate));
}
