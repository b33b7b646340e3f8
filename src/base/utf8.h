/* utf8.h - is it UTF-8?
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Length of the well-formed sequence at p (1..4), or 0 when there is none (overlong forms and
 * surrogates are none). */
size_t utf8_step(const char *p, size_t left);

bool utf8_valid(const char *p, size_t len);
