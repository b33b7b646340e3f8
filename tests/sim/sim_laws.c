/* sim_laws.c - plays scenarios and checks the laws of the design after every step.
 *
 *   sim_laws [--rows N] SCENARIO.yaml …   N: rows that a step may look at; without N, all of
 *   them
 * SPDX-License-Identifier: Apache-2.0 */
#include "laws.h"
#include "sim/scenario_load.h"

#include <stdio.h>
#include <string.h>

static must_use enum err play(const char *file, uint64_t rows, struct error *e)
{
    struct sim_options options = {0};
    struct scenario scenario;
    scenario_init(&scenario);
    enum err r = scenario_load(&options, file, NULL, &scenario, e);
    if (r == ERR_OK) {
        struct laws laws;
        laws_init(&laws, rows);
        struct engine_options how = {.watcher_count = 1};
        how.watchers[0] = laws_watcher(&laws);
        struct engine *engine = engine_new(&scenario, &how);
        r = engine_run(engine, e);
        if (r == ERR_OK) {
            laws_say(&laws);
        }
        engine_free(engine);
        laws_done(&laws);
    }
    scenario_done(&scenario);
    return r;
}

int main(int argc, char **argv)
{
    uint64_t rows = 0;
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--rows") == 0 && str_to_u64(str_of(argv[2]), &rows)) {
        first = 3;
    }
    if (first >= argc || argv[first][0] == '-') {
        (void)fprintf(stderr, "usage: %s [--rows N] SCENARIO.yaml …\n", argv[0]);
        return 2;
    }
    for (int i = first; i < argc; i++) {
        struct error e;
        if (play(argv[i], rows, &e) != ERR_OK) {
            (void)fprintf(stderr, "%s: %s\n", argv[i], e.text);
            return 1;
        }
    }
    return 0;
}
