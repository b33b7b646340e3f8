/* bytes.h - the one binary coding: varints, byte strings, nothing else. The writer appends to a
 * struct buf; the reader is bounds-checked, remembers its first failure and then yields zeroes, so
 * that a decoder looks once, at the end.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void bytes_put_u64(struct buf *out, uint64_t value);
void bytes_put_i64(struct buf *out, int64_t value); /* zigzag */
void bytes_put_str(struct buf *out, struct str text);
void bytes_put_text(struct buf *out, const char *text); /* NULL is written as the empty string */

struct bytes_reader {
    const unsigned char *p;
    size_t left;
    bool bad; /* something was missing, too long or out of range */
    bool
        plain; /* written when objects had no later fields: a matter of the codecs, kept for them */
};

void bytes_reader_init(struct bytes_reader *reader, const void *data, size_t len);

uint64_t bytes_get_u64(struct bytes_reader *reader);
int64_t bytes_get_i64(struct bytes_reader *reader);

/* A number at most `max`; anything larger is bad. */
uint64_t bytes_get_max(struct bytes_reader *reader, uint64_t max);

/* A byte string of at most `max` bytes, borrowed from the input. */
struct str bytes_get_str(struct bytes_reader *reader, size_t max);

/* The same, copied into the arena with a NUL; a NUL inside is bad. Never NULL. */
char *bytes_get_text(struct bytes_reader *reader, struct arena *arena, size_t max);

/* All was well and nothing is left over. */
bool bytes_reader_ok(const struct bytes_reader *reader);
