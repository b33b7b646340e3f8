/* mem.c - allocation that aborts: what a user can make grow is bounded before memory runs out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>

void *mem_calloc(size_t count, size_t size)
{
    void *p = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
    must(p != NULL);
    return p;
}

void *mem_malloc(size_t size)
{
    void *p = malloc(size > 0 ? size : 1);
    must(p != NULL);
    return p;
}

void *mem_realloc(void *p, size_t count, size_t size)
{
    void *q = reallocarray(p, count > 0 ? count : 1, size > 0 ? size : 1);
    must(q != NULL);
    return q;
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
