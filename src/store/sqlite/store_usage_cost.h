/* store_usage_cost.h - what use costs, for the statements of the accounting. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/sqlite/reader_internal.h"

/* Makes the SQL function weir_cost(used, pool), a sum over rows: what the use costs by the prices of `reader`, as
 * int64_t[STORE_USAGE_CURRENCIES_MAX]. */
must_use enum err store_usage_cost_init(struct store_reader *reader, struct error *e);
