/* buf.h - a growing byte buffer with a maximum given at the start. Adding past the maximum marks
 * the buffer `full` and adds nothing more. So the caller tests `full` once, at the end.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* ends in NUL once anything was added */
    size_t len;
    size_t room;
    size_t max;
    bool full;
};

/* Makes an empty buffer that will hold at most `max` bytes. */
void buf_init(struct buf *buf, size_t max);

void buf_done(struct buf *buf);

/* Empties the buffer and keeps its memory. */
void buf_clear(struct buf *buf);

void buf_add(struct buf *buf, const void *data, size_t len);
void buf_add_str(struct buf *buf, const char *text);

/* Adds a field of CSV, in quotes where the text needs them. */
void buf_add_csv(struct buf *buf, const char *text);

/* Is there memory for `len` more bytes and the NUL already? So it is for nearly every addition. */
static inline bool buf_has_room(const struct buf *buf, size_t len)
{
    return len < buf->room - buf->len && len <= buf->max - buf->len && !buf->full;
}

/* buf_add_char() where there is no memory yet. The character comes as a value: its address would give every caller a stack protector. */
void buf_add_char_more(struct buf *buf, char c);

/* Here, so that it costs no call: facts and JSON are made of single bytes. */
static inline void buf_add_char(struct buf *buf, char c)
{
    if (!buf_has_room(buf, 1)) {
        buf_add_char_more(buf, c);
        return;
    }
    buf->data[buf->len++] = c;
    buf->data[buf->len] = '\0';
}

void buf_addf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Drops the first `len` bytes. */
void buf_drop(struct buf *buf, size_t len);

/* The text, never NULL. */
const char *buf_text(const struct buf *buf);

/* Returns the memory, which the caller now frees, and empties the buffer. */
char *buf_steal(struct buf *buf, size_t *ret_len);
