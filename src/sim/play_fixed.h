/* play_fixed.h - plays a scenario once more with all nodes of its elastic pools always up, to compare.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/metrics.h"

#include <signal.h>

/* Nothing is played where no pool of the scenario grows. `stop` as in engine_options. */
void play_fixed(const struct scenario *scenario, const volatile sig_atomic_t *stop,
                struct fleet_fixed *ret);

/* The currency of all prices of the scenario; "": they have none, or several. */
const char *play_fixed_currency(const struct scenario *scenario);
