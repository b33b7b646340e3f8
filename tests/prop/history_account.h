/* history_account.h - random departments, projects, quotas and users.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

void account_set(struct world *world);

/* Projects in two departments, each with guaranteed slots and what it may borrow: they take from each other. */
void organisation_make(struct world *world);
void account_delete(struct world *world);
void quota_set(struct world *world);

/* A project, rarely one that does not exist; a user. */
const char *pick_project(struct world *world);
const char *pick_user(struct world *world);
