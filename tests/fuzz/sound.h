/* sound.h - what holds for every scenario that a reader of the simulator accepted, whatever it was made from.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/scenario.h"

/* So many jobs and nodes a target lets its reader make: enough to meet the limit, soon. */
enum { SOUND_JOBS_MAX = 1000, SOUND_NODES_MAX = 200 };

/* A scenario with these limits. */
void sound_init(struct scenario *scenario);

/* Aborts where a text is missing, an amount or a time is out of its bounds, or the scenario's first moment, played, breaks a law of the
 * core. The scenario is sorted. */
void sound_check(struct scenario *scenario);
