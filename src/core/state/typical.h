/* typical.h - learning what is usually asked of a pool (model/typical.h).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

#include <stdint.h>

struct core;
struct request;

/* Something like this was submitted to the pool. */
void typical_learn(struct core *core, pool_id id, const struct request *request,
                   uint32_t instances);
