/* mem.c - allocation that aborts: what a user can make grow is bounded before memory runs out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>

void *xcalloc(size_t count, size_t size)
{
    void *p = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
    must(p != NULL);
    return p;
}

void *xmalloc(size_t size)
{
    void *p = malloc(size > 0 ? size : 1);
    must(p != NULL);
    return p;
}

void *xrealloc(void *p, size_t count, size_t size)
{
    void *q = reallocarray(p, count > 0 ? count : 1, size > 0 ? size : 1);
    must(q != NULL);
    return q;
}

void *xmemdup(const void *p, size_t size)
{
    void *q = xmalloc(size);
    if (size > 0) {
        memcpy(q, p, size);
    }
    return q;
}

char *xstrdup(const char *text)
{
    must(text != NULL);
    return xmemdup(text, strlen(text) + 1);
}

void freep(void *pointer_to_pointer)
{
    void **p = pointer_to_pointer;
    free(*p);
    *p = NULL;
}
