/* law.h - what must hold, and what happens if it does not.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A law of the design is broken: say which, and end. */
#define law(cond, text) ((cond) ? (void)0 : law_broken(text, #cond, __FILE__, __LINE__))
_Noreturn void law_broken(const char *text, const char *cond, const char *file, int line);
