/* fault_io.h - fails the n-th call that opens, writes, flushes, renames or makes something, in our
 * code and in SQLite's alike: the test program defines those calls itself, so that the dynamic
 * linker gives them to the library too. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct fault {
    int at;     /* which call fails, from 1; 0: none */
    int number; /* with this errno; a write leaves half of its bytes behind */
    bool stays; /* every further call that writes fails too, until cleared */
};

/* From now on; counting begins anew. */
void fault_set(const struct fault *fault);
void fault_clear(void);

/* Calls counted since fault_set(), and whether one failed. */
int fault_calls(void);
bool fault_hit(void);
