/* vec.h - a growing array of any type.
 *
 *   struct { uint64_t *at; size_t count, room; } ids = {0};     or a named struct with these fields
 *   vec_push(&ids, 7);   ids.at[0];   vec_done(&ids);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/mem.h"

#include <stdlib.h>

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count;                                                                              \
        size_t room;                                                                               \
    }

/* Makes room for `more` further elements. */
#define vec_reserve(vec, more)                                                                     \
    do {                                                                                           \
        if ((vec)->count + (more) > (vec)->room) {                                                 \
            size_t room_ = (vec)->room < 8 ? 8 : (vec)->room * 2;                                  \
            if (room_ < (vec)->count + (more)) {                                                   \
                room_ = (vec)->count + (more);                                                     \
            }                                                                                      \
            (vec)->at = xrealloc((vec)->at, room_, sizeof *(vec)->at);                             \
            (vec)->room = room_;                                                                   \
        }                                                                                          \
    } while (0)

#define vec_push(vec, value)                                                                       \
    do {                                                                                           \
        vec_reserve((vec), 1);                                                                     \
        (vec)->at[(vec)->count++] = (value);                                                       \
    } while (0)

#define vec_clear(vec) ((vec)->count = 0)

#define vec_done(vec)                                                                              \
    do {                                                                                           \
        free((vec)->at);                                                                           \
        (vec)->at = NULL;                                                                          \
        (vec)->count = 0;                                                                          \
        (vec)->room = 0;                                                                           \
    } while (0)
