/* prop_run.c - arguments, environment, and a message on abort.
 * SPDX-License-Identifier: Apache-2.0 */
#include "prop_run.h"

#include "base/str.h"
#include "tape.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char seed_line[512];
static size_t seed_len;

/* Prints how to repeat the history. A broken law or must() aborts. */
static void on_abort(int signal_number)
{
    (void)signal_number;
    (void)!write(STDERR_FILENO, seed_line, seed_len);
    tape_keep();
}

static uint64_t number(const char *name, const char *text)
{
    uint64_t value = 0;
    if (!str_to_u64(str_of(text), &value)) {
        fprintf(stderr, "%s must be a number, not '%s'\n", name, text);
        exit(2);
    }
    return value;
}

/* Makes a new seed from the time in seconds, with room for a thousand histories in each second. */
static uint64_t seed_of(const char *text)
{
    return strcmp(text, "random") == 0 ? (uint64_t)time(NULL) * 1000 : number("WEIR_SEED", text);
}

void prop_watch(void)
{
    (void)signal(SIGABRT, on_abort);
}

struct prop_run prop_begin(int argc, char **argv, uint64_t histories)
{
    struct prop_run run = {.seed = 1, .histories = histories};
    if (argc == 3) {
        run.seed = number("SEED", argv[1]);
        run.histories = number("HISTORIES", argv[2]);
    } else if (argc != 1) {
        fprintf(stderr, "usage: %s [SEED HISTORIES]\n", argv[0]);
        exit(2);
    }
    const char *seed = getenv("WEIR_SEED");
    const char *count = getenv("WEIR_HISTORIES");
    run.seed = seed != NULL ? seed_of(seed) : run.seed;
    run.histories = count != NULL ? number("WEIR_HISTORIES", count) : run.histories;
    const char *most = getenv("WEIR_HISTORIES_MAX");
    const uint64_t histories_max = most != NULL ? number("WEIR_HISTORIES_MAX", most) : UINT64_MAX;
    run.histories = run.histories > histories_max ? histories_max : run.histories;
    prop_watch();
    printf("WEIR_SEED=%" PRIu64 " WEIR_HISTORIES=%" PRIu64 "\n", run.seed, run.histories);
    (void)fflush(stdout);
    return run;
}

void prop_history(uint64_t seed)
{
    const int len = snprintf(seed_line, sizeof seed_line,
                             "repeat with WEIR_SEED=%" PRIu64 " WEIR_HISTORIES=1\n", seed);
    seed_len = len > 0 ? (size_t)len : 0;
}

void prop_place(const char *path, uint64_t line)
{
    const int len = snprintf(seed_line, sizeof seed_line, "in %s, line %" PRIu64 "\n", path, line);
    seed_len = len <= 0 ? 0 : (size_t)len < sizeof seed_line ? (size_t)len : sizeof seed_line - 1;
}
