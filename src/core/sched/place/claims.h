/* claims.h - starts of waiting instances on the places that their claims promise.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/place/trial.h"

#include <stdbool.h>
#include <stdint.h>

/* Starts every claimed instance of the pool whose place has become free. All claims of a gang start together. A claim that the bounds of
 * the accounts no longer allow is dropped, and `*ret_given_up` is true: other tasks may fit in its place. Returns the number of starts. */
uint32_t claims_start(struct trial *trial, bool *ret_given_up);
