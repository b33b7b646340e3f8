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

/* Writes at most `max` figures and empties the list: the next figures come in seconds. Returns how many
 * it wrote. */
uint32_t use_list_give(struct use_list *list, struct json_out *j, size_t max);

void use_list_done(struct use_list *list);
