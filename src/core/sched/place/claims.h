/* claims.h - places promised to waiting instances: who may start there now.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/place/trial.h"

#include <stdbool.h>
#include <stdint.h>

/* Every claim of the pool whose place has fallen free becomes a start, a gang's all together; one that its accounts' bounds no
 * longer allow is given up, and `*ret_given_up` says so: what did not fit beside it may fit now. Returns the number of starts. */
uint32_t claims_start(struct trial *trial, bool *ret_given_up);
