/* sim.c - the role `weir sim`: one run, or an experiment of several runs. Standard output has
 * results only, the same bytes for the same seed. Rates, progress and errors go to standard
 * error.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim.h"

#include "base/inert.h"

#include "sim/sim_options.h"
#include "sim/play.h"

#include <stdio.h>

enum { EXIT_USAGE = 2, EXIT_NOT_FOUND = 3, EXIT_FAILED = 1, EXIT_SIGNAL = 128 };

/* Returns the exit status for an error, as everywhere in Weir (`weir help exit-codes`). */
static int exit_of(enum err code)
{
    if (code == ERR_USAGE || code == ERR_INVALID || code == ERR_LIMIT) {
        return EXIT_USAGE;
    }
    return code == ERR_NOT_FOUND ? EXIT_NOT_FOUND : EXIT_FAILED;
}

int sim_main(int argc, char **argv)
{
    struct sim_options options;
    struct error e;
    enum err r = sim_options_read(argc, argv, &options, &e);
    if (r == ERR_OK) {
        switch (options.command) {
        case SIM_RUN:
            r = play_run(&options, &e);
            break;
        case SIM_COMPARE:
            r = play_compare(&options, &e);
            break;
        case SIM_OPENB:
            r = play_openb(&options, &e);
            break;
        }
    }
    if (r != ERR_OK) {
        inert_print_error("sim", &e);
        return exit_of(r);
    }
    return play_stopped_by() > 0 ? EXIT_SIGNAL + play_stopped_by() : 0;
}
