/* law.c - see law.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "law.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void law_broken(const char *text, const char *cond, const char *file, int line)
{
    fprintf(stderr, "%s:%d: broken: %s (%s)\n", file, line, text, cond);
    abort();
}
