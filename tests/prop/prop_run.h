/* prop_run.h - what the programs of the property tests share: seeds, counts, and the message
 * that says how to repeat a failure.
 *
 *   prop_core [SEED HISTORIES]   history i has seed SEED + i; without arguments the same few
 *   everywhere
 *   WEIR_SEED=n|random WEIR_HISTORIES=n   override the arguments
 *   WEIR_HISTORIES_MAX=n                  at most so many, for whatever reason more are asked for
 *   WEIR_TAPE=DIR                         a history that breaks a law is recorded there (tape.h)
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct prop_run {
    uint64_t seed;
    uint64_t histories;
};

/* Reads and prints the seed and the count of this run; `histories` is the default count. A value
 * that is no number ends the program. */
struct prop_run prop_begin(int argc, char **argv, uint64_t histories);

/* Notes the history that begins, so that an abort prints the seed that repeats it. */
void prop_history(uint64_t seed);

/* For programs without seeds: an abort prints the place that was noted last. */
void prop_watch(void);
void prop_place(const char *path, uint64_t line);
