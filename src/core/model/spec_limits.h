/* spec_limits.h - the bounds of every spec, and the rules between its fields.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/account.h"
#include "core/model/flavor.h"
#include "core/model/network.h"
#include "core/model/spec.h"

#include <stdbool.h>
#include <stdint.h>

/* Is the spec within all limits, and does it keep the rules between its fields? Then decoding accepts what
 * encoding writes. False: `*ret_limit` names the broken limit and `*ret_max` is its value. */
bool spec_limits_task(const struct task_spec *spec, const char **ret_limit, int64_t *ret_max);
bool spec_limits_pool(const struct pool_spec *spec, const char **ret_limit, int64_t *ret_max);
bool spec_limits_levels_differ(const struct pool_spec *spec); /* each level named, none twice */
bool spec_limits_account(const struct account_spec *spec, const char **ret_limit, int64_t *ret_max);
/* Returns what is wrong with the account's rule for tasks that do nothing, and in `*ret_field` the field with
 * the fault; NULL: the rule is sound. */
const char *spec_limits_account_idle(const struct account_spec *spec, const char **ret_field);
bool spec_limits_flavor(const struct flavor_spec *spec, const char **ret_limit, int64_t *ret_max);
bool spec_limits_network(const struct network_spec *spec, const char **ret_limit, int64_t *ret_max);
bool spec_limits_node(const struct node_spec *spec, const char **ret_limit, int64_t *ret_max);
