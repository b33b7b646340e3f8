/* history_account.h - random departments, projects, quotas and users.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

void account_set(struct world *world);

/* Makes projects in two departments. Each has guaranteed slots and may borrow, so that projects
 * reclaim from each other. */
void organisation_make(struct world *world);
void account_delete(struct world *world);
void quota_set(struct world *world);

/* Return a project, rarely one that does not exist, and a user. */
const char *pick_project(struct world *world);
const char *pick_user(struct world *world);
