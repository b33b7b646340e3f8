/* mem.h - allocation that succeeds or ends the program, and the two helpers of ownership: auto_free
 * and steal. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Whether the address sanitizer watches this build. The sanitizer reserves terabytes at the start of a program, and the
 * kernel counts them as data of the program. */
#ifdef __SANITIZE_ADDRESS__
#define MEM_SANITIZED 1
#else
#define MEM_SANITIZED 0
#endif

/* Zeroed memory; aborts when memory runs out. Free with free(). */
void *mem_calloc(size_t count, size_t size);
static inline void *xcalloc(size_t count, size_t size)
{
    return mem_calloc(count, size);
}

/* Uninitialised memory; aborts when memory runs out. */
void *mem_malloc(size_t size);
static inline void *xmalloc(size_t size)
{
    return mem_malloc(size);
}

/* realloc() of count * size bytes, with a check for overflow; aborts when memory runs out. */
void *mem_realloc(void *p, size_t count, size_t size);
static inline void *xrealloc(void *p, size_t count, size_t size)
{
    return mem_realloc(p, count, size);
}

/* A copy of a string; aborts when memory runs out. */
char *mem_strdup(const char *text);
static inline char *xstrdup(const char *text)
{
    return mem_strdup(text);
}

/* A copy of `size` bytes; aborts when memory runs out. */
void *mem_dup(const void *p, size_t size);
static inline void *xmemdup(const void *p, size_t size)
{
    return mem_dup(p, size);
}

/* The cleanup function of `auto_free(freep) char *x`. */
void mem_freep(void *pointer_to_pointer);
static inline void freep(void *pointer_to_pointer)
{
    mem_freep(pointer_to_pointer);
}

/* auto_free(thing_freep) struct thing *x = …; frees x when x goes out of scope, unless steal(x)
 * took the pointer. */
#define auto_free(function) __attribute__((cleanup(function)))

/* Returns the pointer and sets the variable to NULL: ownership passes on. */
#define steal(pointer)                                                                             \
    ({                                                                                             \
        __typeof__(pointer) stolen_ = (pointer);                                                   \
        (pointer) = NULL;                                                                          \
        stolen_;                                                                                   \
    })
