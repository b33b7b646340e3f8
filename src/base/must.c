/* must.c - ends the program when an assumption is broken. SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void must_failed(const char *cond, const char *file, int line)
{
    (void)fprintf(stderr, "weir: bug: %s:%d: must(%s)\n", file, line, cond);
    abort();
}
