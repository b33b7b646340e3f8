/* bytes.c - varints and byte strings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

#include <string.h>

enum { VARINT_BYTES_MAX = 10 };

/* A function of its own, so that small numbers do without its stack. */
__attribute__((noinline)) static void put_long(struct buf *out, uint64_t value)
{
    unsigned char text[VARINT_BYTES_MAX];
    size_t len = 0;
    while (value >= 0x80) {
        text[len++] = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    text[len++] = (unsigned char)value;
    buf_add(out, text, len);
}

void bytes_put_u64(struct buf *out, uint64_t value)
{
    if (value < 0x80) { /* most numbers are this small */
        buf_add_char(out, (char)value);
    } else {
        put_long(out, value);
    }
}

void bytes_put_i64(struct buf *out, int64_t value)
{
    bytes_put_u64(out, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

void bytes_put_str(struct buf *out, struct str text)
{
    bytes_put_u64(out, text.len);
    buf_add(out, text.p, text.len);
}

void bytes_put_text(struct buf *out, const char *text)
{
    bytes_put_str(out, str_of(text));
}

void bytes_reader_init(struct bytes_reader *reader, const void *data, size_t len)
{
    *reader = (struct bytes_reader){.p = data, .left = len};
}

uint64_t bytes_get_u64(struct bytes_reader *reader)
{
    const unsigned char *p = reader->p;
    const unsigned char *end = p + reader->left;
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
        const unsigned char byte = *p++;
        if (shift == 63 && byte > 1) {
            break; /* more than 64 bits */
        }
        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            if (byte == 0 && shift > 0) {
                break; /* not the shortest form: each value has exactly one encoding */
            }
            reader->p = p;
            reader->left = (size_t)(end - p);
            return reader->bad ? 0 : value;
        }
    }
    reader->bad = true;
    reader->left = 0;
    return 0;
}

int64_t bytes_get_i64(struct bytes_reader *reader)
{
    uint64_t value = bytes_get_u64(reader);
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

uint64_t bytes_get_max(struct bytes_reader *reader, uint64_t max)
{
    uint64_t value = bytes_get_u64(reader);
    if (value > max) {
        reader->bad = true;
        reader->left = 0;
        return 0;
    }
    return value;
}

struct str bytes_get_str(struct bytes_reader *reader, size_t max)
{
    uint64_t len = bytes_get_max(reader, max);
    if (len > reader->left) {
        reader->bad = true;
        reader->left = 0;
        return (struct str){"", 0};
    }
    struct str text = {(const char *)reader->p, (size_t)len};
    reader->p += len;
    reader->left -= (size_t)len;
    return text;
}

char *bytes_get_text(struct bytes_reader *reader, struct arena *arena, size_t max)
{
    struct str text = bytes_get_str(reader, max);
    if (text.len > 0 && memchr(text.p, '\0', text.len) != NULL) {
        reader->bad = true;
        reader->left = 0;
        text.len = 0;
    }
    return arena_strn(arena, text.p, text.len);
}

bool bytes_reader_ok(const struct bytes_reader *reader)
{
    return !reader->bad && reader->left == 0;
}
