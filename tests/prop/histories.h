/* histories.h - whole random histories, one after the other.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "prop_run.h"

#include <stdbool.h>

/* Runs as many histories as the run asks for, and prints a line about them. With `elastic` many
 * gangs have groups that run with fewer than all instances. */
void histories_run(const struct prop_run *run, bool elastic);
