/* utf8.h - checks UTF-8. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the well-formed sequence at p (1..4); 0: none. Overlong forms and surrogates are not
 * well-formed. */
size_t utf8_step(const char *p, size_t left);

bool utf8_valid(const char *p, size_t len);

/* The code point of a well-formed sequence of `len` bytes. */
uint32_t utf8_point(const char *p, size_t len);
