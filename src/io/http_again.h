/* http_again.h - when a client tries a call again. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads "Retry-After: 7", the line of a header, at most an hour; false: another line, and *ret_ms is
 * untouched. */
bool http_again_after(struct str line, int64_t *ret_ms);

/* Half of the wait is fixed and half is random, so that many clients do not come back at once. */
int64_t http_again_jitter(int64_t ms);
