/* http_status.h - the HTTP status of each failure and refusal. No other file chooses a status for
 * them. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "core/core.h"

unsigned http_status_of(enum err code);

/* The status of a refusal by the core. */
unsigned http_status_of_refusal(enum verdict verdict, const struct reason *reason);
