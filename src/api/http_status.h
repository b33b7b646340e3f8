/* http_status.h - failures and refusals as HTTP statuses: the one place that says which is which.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "core/core.h"

unsigned http_status_of(enum err code);

/* Of a "no" of the core. */
unsigned http_status_of_refusal(enum verdict verdict, const struct reason *reason);
