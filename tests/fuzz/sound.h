/* sound.h - checks that hold for every scenario that a reader of the simulator has accepted.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/scenario.h"

/* The most jobs and nodes of a scenario: low, so that inputs reach the limits soon. */
enum { SOUND_JOBS_MAX = 1000, SOUND_NODES_MAX = 200 };

/* Initialises a scenario with these limits. */
void sound_init(struct scenario *scenario);

/* Sorts the scenario and plays its first moment. Aborts if a text is missing, an amount or a
 * time is out of its bounds, or the core breaks a law. */
void sound_check(struct scenario *scenario);
