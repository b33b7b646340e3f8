/* buf.c - the growing byte buffer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "base/mem.h"
#include "base/must.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUF_ROOM_MIN = 64 };

void buf_init(struct buf *buf, size_t max)
{
    *buf = (struct buf){.max = max};
}

void buf_done(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){.max = buf->max};
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
    buf->full = false;
    if (buf->data != NULL) {
        buf->data[0] = '\0';
    }
}

/* Makes room for `len` more bytes and the NUL. False: no room, and the buffer is marked full. */
__attribute__((noinline)) static bool room_make(struct buf *buf, size_t len)
{
    if (buf->full || len > buf->max || buf->len > buf->max - len) {
        buf->full = true;
        return false;
    }
    size_t need = buf->len + len + 1;
    if (need > buf->room) {
        size_t room = buf->room < BUF_ROOM_MIN ? BUF_ROOM_MIN : buf->room * 2;
        if (room < need) {
            room = need;
        }
        buf->data = xrealloc(buf->data, room, 1);
        buf->room = room;
    }
    return true;
}

void buf_add(struct buf *buf, const void *data, size_t len)
{
    if (!buf_has_room(buf, len) && !room_make(buf, len)) {
        return;
    }
    if (len > 0) {
        memcpy(buf->data + buf->len, data, len);
    }
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void buf_add_str(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

void buf_add_csv(struct buf *buf, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        buf_add_str(buf, text);
        return;
    }
    buf_add_char(buf, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            buf_add_char(buf, '"');
        }
        buf_add_char(buf, *text);
    }
    buf_add_char(buf, '"');
}

void buf_add_char_more(struct buf *buf, char c)
{
    buf_add(buf, &c, 1);
}

void buf_addf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    must(len >= 0);
    if (!room_make(buf, (size_t)len)) {
        return;
    }
    va_start(args, format);
    (void)vsnprintf(buf->data + buf->len, (size_t)len + 1, format, args);
    va_end(args);
    buf->len += (size_t)len;
}

void buf_drop(struct buf *buf, size_t len)
{
    must(len <= buf->len);
    buf->len -= len;
    if (buf->data != NULL) {
        memmove(buf->data, buf->data + len, buf->len);
        buf->data[buf->len] = '\0';
    }
}

const char *buf_text(const struct buf *buf)
{
    return buf->data != NULL ? buf->data : "";
}

char *buf_steal(struct buf *buf, size_t *ret_len)
{
    if (buf->data == NULL) {
        buf_add(buf, "", 0);
    }
    if (ret_len != NULL) {
        *ret_len = buf->len;
    }
    char *data = steal(buf->data);
    *buf = (struct buf){.max = buf->max};
    return data;
}
