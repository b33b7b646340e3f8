/* prop_run.h - what the programs of the property tests share: seeds, counts, and how to see a failure again.
 *
 *   prop_core [SEED HISTORIES]     history i has seed SEED + i; without arguments the same few on every machine
 *   WEIR_SEED=n|random WEIR_HISTORIES=n     go before the arguments
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct prop_run {
    uint64_t seed;
    uint64_t histories;
};

/* Seed and count of this run, printed; `histories` where nobody says otherwise. What is no number ends the program. */
struct prop_run prop_begin(int argc, char **argv, uint64_t histories);

/* The history that begins: if it aborts, the seed with which to repeat it is printed. */
void prop_history(uint64_t seed);
