/* histories.h - whole random histories, one after the other.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "prop_run.h"

/* What is frequent in the histories. */
enum histories_of {
    HISTORIES_PLAIN,
    HISTORIES_GROUPS, /* gangs with groups that run with fewer than all instances */
    HISTORIES_LISTS,  /* tasks that name several pools */
    HISTORIES_LIVES,  /* pools are closed, deleted and restored */
};

/* Runs as many histories as the run asks for, and prints a line about them. */
void histories_run(const struct prop_run *run, enum histories_of of);
