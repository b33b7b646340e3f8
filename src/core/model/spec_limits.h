/* spec_limits.h - the bounds of every spec, and the rules between its fields.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/account.h"
#include "core/model/spec.h"

#include <stdbool.h>
#include <stdint.h>

/* Would decode take what encode writes? False: `*ret_limit` names the limit that is broken and
 * `*ret_max` is its value. Also the rules between fields that every spec must keep. */
bool spec_limits_task(const struct task_spec *spec, const char **ret_limit, int64_t *ret_max);
bool spec_limits_pool(const struct pool_spec *spec, const char **ret_limit, int64_t *ret_max);
bool spec_limits_account(const struct account_spec *spec, const char **ret_limit, int64_t *ret_max);
bool spec_limits_node(const struct node_spec *spec, const char **ret_limit, int64_t *ret_max);
