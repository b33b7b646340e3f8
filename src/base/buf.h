/* buf.h - a growing byte buffer with a maximum given at the start. Adding past the maximum marks it
 * `full` and adds nothing more; the caller looks once, at the end.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* always NUL-terminated once anything was added */
    size_t len;
    size_t room;
    size_t max;
    bool full;
};

/* An empty buffer that will hold at most `max` bytes. */
void buf_init(struct buf *buf, size_t max);

void buf_done(struct buf *buf);

/* Empty again; keeps its memory. */
void buf_clear(struct buf *buf);

void buf_add(struct buf *buf, const void *data, size_t len);
void buf_add_str(struct buf *buf, const char *text);
void buf_add_char(struct buf *buf, char c);
void buf_addf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Drop the first `len` bytes. */
void buf_drop(struct buf *buf, size_t len);

/* The text, never NULL. */
const char *buf_text(const struct buf *buf);

/* The memory, which the caller now frees; the buffer is empty. */
char *buf_steal(struct buf *buf, size_t *ret_len);
