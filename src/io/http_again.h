/* http_again.h - what a client reads in the head of an answer: when to try the call again, and the
 * tag of what it got. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads "Retry-After: 7", the line of a header, at most an hour; false: another line, and *ret_ms is
 * untouched. */
bool http_again_after(struct str line, int64_t *ret_ms);

/* Reads the line "ETag: TAG" of a header into `ret`, which has HTTP_ETAG_MAX bytes. Another line, or a longer tag,
 * leaves it as it is. */
enum { HTTP_ETAG_MAX = 128 };
void http_again_etag(struct str line, char *ret);

/* Half of the wait is fixed and half is random, so that many clients do not come back at once. */
int64_t http_again_jitter(int64_t ms);
