/* claims.h - starts of waiting instances on the places that their claims promise.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/place/trial.h"

#include <stdbool.h>
#include <stdint.h>

/* Starts the waiting instances whose claimed place in the trial's pool has become free. All claims of a gang start together. A claim
 * that the bounds of the accounts no longer allow is dropped. `*ret_given_up` says that a claim was dropped: other tasks may fit in the
 * place of a dropped claim. Returns the number of starts. */
uint32_t claims_start(struct trial *trial, bool *ret_given_up);
