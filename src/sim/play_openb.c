/* play_openb.c - the placement experiment, from a command line to its table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "sim/openb.h"
#include "sim/play.h"
#include "sim/progress.h"
#include "sim/sim_file.h"

#include <inttypes.h>

enum { OUTPUT_BYTES_MAX = 1 << 20 };

static must_use enum err seeds_run(const struct sim_options *options,
                                   const struct scenario *scenario, struct openb_seed *seeds,
                                   struct error *e)
{
    const int64_t began_ns = progress_clock_ns();
    uint64_t decisions = 0;
    for (uint64_t seed = options->seed_first; seed <= options->seed_last; seed++) {
        struct openb_seed *result = &seeds[seed - options->seed_first];
        enum err r = openb_seed_run(options, scenario, seed, result, e);
        if (r != ERR_OK) {
            return r;
        }
        decisions += result->placed + result->dropped;
    }
    const double seconds = (double)(progress_clock_ns() - began_ns) / 1e9;
    if (!options->quiet) {
        (void)fprintf(stderr, "%" PRIu64 " decisions in %.2f s: %.1f us each\n", decisions, seconds,
                      seconds * 1e6 / (double)decisions);
    }
    return ERR_OK;
}

enum err play_openb(const struct sim_options *options, struct error *e)
{
    struct scenario scenario;
    struct str nodes;
    struct str tasks = {0};
    const uint32_t count = (uint32_t)(options->seed_last - options->seed_first + 1);
    auto_free(freep) struct openb_seed *seeds = xcalloc(count, sizeof *seeds);
    scenario_init(&scenario);
    enum err r = sim_file_read(options->nodes, &scenario.arena, &nodes, e);
    r = r == ERR_OK ? sim_file_read(options->tasks, &scenario.arena, &tasks, e) : r;
    r = r == ERR_OK ? openb_read(nodes, options->nodes, tasks, options->tasks, &scenario, e) : r;
    r = r == ERR_OK ? seeds_run(options, &scenario, seeds, e) : r;
    if (r == ERR_OK) {
        struct buf out;
        buf_init(&out, OUTPUT_BYTES_MAX);
        if (options->json) {
            openb_json(&scenario, seeds, count, options->seed_first, &out);
        } else {
            openb_text(&scenario, seeds, count, &out);
        }
        r = sim_file_write("-", &out, e);
        buf_done(&out);
    }
    scenario_done(&scenario);
    return r;
}
