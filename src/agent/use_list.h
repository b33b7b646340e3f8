/* use_list.h - the newest figures of what attempts use, until a batch takes them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "wire/agent.h"

struct use_list {
    VEC(struct agent_report) at;
};

/* A later figure of an attempt replaces the earlier one. Figures above ATTEMPTS_MAX are dropped. */
void use_list_take(struct use_list *list, const struct agent_report *use);

void use_list_done(struct use_list *list);
