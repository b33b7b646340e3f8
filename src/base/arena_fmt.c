/* arena_fmt.c - formatted strings in an arena. The function is not in arena.c so that the core's
 * archive needs no stdio. SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"

#include <stdarg.h>
#include <stdio.h>

char *arena_fmt(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    must(len >= 0);
    char *text = arena_alloc(arena, (size_t)len + 1);
    va_start(args, format);
    (void)vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}
