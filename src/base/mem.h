/* mem.h - memory that is there or ends the program, and the two helpers of ownership: auto_free and
 * steal.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Zeroed memory; aborts when there is none. Freed with free(). */
void *mem_calloc(size_t count, size_t size);
static inline void *xcalloc(size_t count, size_t size)
{
    return mem_calloc(count, size);
}

/* Uninitialised memory; aborts when there is none. */
void *mem_malloc(size_t size);
static inline void *xmalloc(size_t size)
{
    return mem_malloc(size);
}

/* realloc() of count * size bytes, overflow checked; aborts when there is none. */
void *mem_realloc(void *p, size_t count, size_t size);
static inline void *xrealloc(void *p, size_t count, size_t size)
{
    return mem_realloc(p, count, size);
}

/* A copy of a string; aborts when there is no memory. */
char *mem_strdup(const char *text);
static inline char *xstrdup(const char *text)
{
    return mem_strdup(text);
}

/* A copy of `size` bytes; aborts when there is no memory. */
void *mem_dup(const void *p, size_t size);
static inline void *xmemdup(const void *p, size_t size)
{
    return mem_dup(p, size);
}

/* cleanup function for `auto_free(freep) char *x`. */
void mem_freep(void *pointer_to_pointer);
static inline void freep(void *pointer_to_pointer)
{
    mem_freep(pointer_to_pointer);
}

/* auto_free(thing_freep) struct thing *x = …; frees x when it goes out of scope, unless steal(x)
 * took it. */
#define auto_free(function) __attribute__((cleanup(function)))

/* The pointer's value, the variable becoming NULL: ownership passes on. */
#define steal(pointer)                                                                             \
    ({                                                                                             \
        __typeof__(pointer) stolen_ = (pointer);                                                   \
        (pointer) = NULL;                                                                          \
        stolen_;                                                                                   \
    })
