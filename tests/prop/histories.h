/* histories.h - whole random histories, one after the other.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "prop_run.h"

#include <stdbool.h>

/* As many as the run asks for, and a line about them. `elastic`: many gangs have groups of which not all is needed. */
void histories_run(const struct prop_run *run, bool elastic);
