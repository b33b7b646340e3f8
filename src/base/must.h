/* must.h - assertions that stay on in every build. A broken assumption in our own code aborts with
 * the place and the condition; the next start rebuilds the state by replay. must() is never for
 * anything that input, disk or network can cause. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#define must(cond) ((cond) ? (void)0 : must_failed(#cond, __FILE__, __LINE__))

#define must_use __attribute__((warn_unused_result))

/* Prints "file:line: must(cond)" to standard error and aborts. */
_Noreturn void must_failed(const char *cond, const char *file, int line);
