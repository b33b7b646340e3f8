/* mem.c - allocation that aborts when memory runs out. Everything that a user can make grow has a
 * limit, which is reached before memory runs out. SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not a bug: the machine, or a limit of the process, has no more memory. */
static _Noreturn void *mem_failed(size_t size)
{
    (void)fprintf(stderr, "weir: out of memory: %zu bytes cannot be had\n", size);
    abort();
}

void *mem_calloc(size_t count, size_t size)
{
    void *p = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
    return p != NULL ? p : mem_failed(count * size);
}

void *mem_malloc(size_t size)
{
    void *p = malloc(size > 0 ? size : 1);
    return p != NULL ? p : mem_failed(size);
}

void *mem_realloc(void *p, size_t count, size_t size)
{
    void *q = reallocarray(p, count > 0 ? count : 1, size > 0 ? size : 1);
    return q != NULL ? q : mem_failed(count * size);
}

void *mem_dup(const void *p, size_t size)
{
    void *q = mem_malloc(size);
    if (size > 0) {
        memcpy(q, p, size);
    }
    return q;
}

char *mem_strdup(const char *text)
{
    must(text != NULL);
    return mem_dup(text, strlen(text) + 1);
}

void mem_freep(void *pointer_to_pointer)
{
    void **p = pointer_to_pointer;
    free(*p);
    *p = NULL;
}
