/* typical.h - learning the typical requests of a pool (model/typical.h).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

#include <stdint.h>

struct core;
struct request;

/* Counts a submission of `instances` instances with this request to the pool. */
void typical_learn(struct core *core, pool_id id, const struct request *request,
                   uint32_t instances);
