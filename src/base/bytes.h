/* bytes.h - the only binary encoding of Weir: varints and byte strings. The writer appends to a
 * struct buf. The reader checks bounds, remembers its first failure and then yields zeroes, so that
 * a decoder tests for failure once, at the end. SPDX-License-Identifier: Apache-2.0 */
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
    bool bad;   /* a value was missing, too long or out of range */
    bool plain; /* for decoders: the input is of a version without tagged fields */
};

void bytes_reader_init(struct bytes_reader *reader, const void *data, size_t len);

uint64_t bytes_get_u64(struct bytes_reader *reader);
int64_t bytes_get_i64(struct bytes_reader *reader);

/* Reads a number of at most `max`. A larger number is a failure. */
uint64_t bytes_get_max(struct bytes_reader *reader, uint64_t max);

/* Reads a byte string of at most `max` bytes, borrowed from the input. */
struct str bytes_get_str(struct bytes_reader *reader, size_t max);

/* Reads a byte string of at most `max` bytes and copies it into the arena, with a NUL behind it. A
 * NUL inside is a failure. Never returns NULL. */
char *bytes_get_text(struct bytes_reader *reader, struct arena *arena, size_t max);

/* True: nothing failed, and no byte is left over. */
bool bytes_reader_ok(const struct bytes_reader *reader);
