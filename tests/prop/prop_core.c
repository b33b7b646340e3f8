/* prop_core.c - random histories of the core, each with caches on, with caches off and with a
 * restart after each fact; the laws of design.md section 2 are checked all along.
 *
 * Prints its seed; WEIR_SEED repeats a run, WEIR_HISTORIES scales it: history i has seed WEIR_SEED
 * + i, so a failing one is repeated alone with the seed it names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { HISTORIES_DEFAULT = 400, FACTS_PER_HISTORY = 200, STEPS_MAX = 4000 };

static char seed_line[80];
static size_t seed_len;

/* A broken law or must() aborts: say how to see it again. */
static void on_abort(int signal_number)
{
    (void)signal_number;
    (void)!write(STDERR_FILENO, seed_line, seed_len);
}

static uint64_t history_run(uint64_t seed)
{
    struct world world;
    const int len = snprintf(seed_line, sizeof seed_line,
                             "repeat with WEIR_SEED=%" PRIu64 " WEIR_HISTORIES=1\n", seed);
    seed_len = len > 0 ? (size_t)len : 0;
    world_init(&world, seed, true);
    world.calm = dice_once_in(&world.dice, 2);
    (void)world_step(&world, (struct input){.type = INPUT_SERVER_START});
    for (uint32_t i = 0; i < STEPS_MAX && world.fact_count < FACTS_PER_HISTORY; i++) {
        history_step(&world);
    }
    const uint64_t facts = world.fact_count;
    world_done(&world);
    return facts;
}

int main(void)
{
    (void)signal(SIGABRT, on_abort);
    const uint64_t seed = world_number("WEIR_SEED", (uint64_t)time(NULL) * 1000);
    const uint64_t histories = world_number("WEIR_HISTORIES", HISTORIES_DEFAULT);
    printf("WEIR_SEED=%" PRIu64 " WEIR_HISTORIES=%" PRIu64 "\n", seed, histories);
    (void)fflush(stdout);
    uint64_t facts = 0;
    for (uint64_t i = 0; i < histories; i++) {
        facts += history_run(seed + i);
    }
    printf("%" PRIu64 " facts, all laws held\n", facts);
    return 0;
}
