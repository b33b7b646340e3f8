/* law.h - checks a law of the design.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Prints the law that is broken and aborts. */
#define law(cond, text) ((cond) ? (void)0 : law_broken(text, #cond, __FILE__, __LINE__))
_Noreturn void law_broken(const char *text, const char *cond, const char *file, int line);
