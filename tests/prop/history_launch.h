/* history_launch.h - nodes that a provider is asked for. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

/* Now and then a launch is asked for, ended, or answered: rightly, twice, late, or about none. */
void launch_roll(struct world *world);
