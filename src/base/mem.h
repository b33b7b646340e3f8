/* mem.h - memory that is there or ends the program, and the two helpers of ownership: auto_free and
 * steal.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Zeroed memory; aborts when there is none. Freed with free(). */
void *xcalloc(size_t count, size_t size);

/* Uninitialised memory; aborts when there is none. */
void *xmalloc(size_t size);

/* realloc() of count * size bytes, overflow checked; aborts when there is none. */
void *xrealloc(void *p, size_t count, size_t size);

/* A copy of a string; aborts when there is no memory. */
char *xstrdup(const char *text);

/* A copy of `size` bytes; aborts when there is no memory. */
void *xmemdup(const void *p, size_t size);

/* cleanup function for `auto_free(freep) char *x`. */
void freep(void *pointer_to_pointer);

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
