/* base64.c - three bytes to four characters and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <stdint.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum { PIECE_BYTES = 3 * 64 }; /* bytes encoded at a time, so that the buffer grows rarely */

static size_t piece_encode(const unsigned char *p, size_t len, char *out)
{
    char *start = out;
    for (; len >= 3; p += 3, len -= 3) {
        uint32_t v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
        *out++ = letters[v >> 18];
        *out++ = letters[(v >> 12) & 63];
        *out++ = letters[(v >> 6) & 63];
        *out++ = letters[v & 63];
    }
    if (len > 0) {
        uint32_t v = (uint32_t)p[0] << 16 | (len == 2 ? (uint32_t)p[1] << 8 : 0);
        *out++ = letters[v >> 18];
        *out++ = letters[(v >> 12) & 63];
        *out++ = len == 2 ? letters[(v >> 6) & 63] : '=';
        *out++ = '=';
    }
    return (size_t)(out - start);
}

void base64_add(struct buf *out, struct str data)
{
    const unsigned char *p = (const unsigned char *)data.p;
    char piece[PIECE_BYTES / 3 * 4];
    for (size_t left = data.len; left > 0;) {
        size_t take = left < PIECE_BYTES ? left : PIECE_BYTES;
        buf_add(out, piece, piece_encode(p, take, piece));
        p += take;
        left -= take;
    }
}

/* 0..63, or 64 for a character that base64 does not use. */
static uint32_t value_of(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (uint32_t)(c - 'A');
    }
    if (c >= 'a' && c <= 'z') {
        return (uint32_t)(c - 'a') + 26;
    }
    if (c >= '0' && c <= '9') {
        return (uint32_t)(c - '0') + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

/* Decodes the last group of four, which may be padded. Returns the number of bytes; 0:
 * malformed. */
static size_t last_decode(const char *p, unsigned char *out)
{
    uint32_t a = value_of(p[0]);
    uint32_t b = value_of(p[1]);
    size_t bytes = p[3] != '=' ? 3 : p[2] != '=' ? 2 : 1;
    uint32_t c = bytes > 1 ? value_of(p[2]) : 0;
    uint32_t d = bytes > 2 ? value_of(p[3]) : 0;
    if (a > 63 || b > 63 || c > 63 || d > 63) {
        return 0;
    }
    uint32_t v = a << 18 | b << 12 | c << 6 | d;
    /* Unused bits must be zero, so that each value has exactly one encoding. */
    if ((bytes == 1 && (v & 0xffff) != 0) || (bytes == 2 && (v & 0xff) != 0)) {
        return 0;
    }
    for (size_t i = 0; i < bytes; i++) {
        out[i] = (unsigned char)(v >> (16 - 8 * i));
    }
    return bytes;
}

bool base64_decode(struct arena *arena, struct str text, struct str *ret)
{
    if (text.len % 4 != 0) {
        return false;
    }
    unsigned char *bytes = arena_alloc(arena, text.len / 4 * 3 + 1);
    unsigned char *out = bytes;
    for (size_t at = 0; at < text.len; at += 4) {
        const char *p = text.p + at;
        bool last = at + 4 == text.len;
        uint32_t a = value_of(p[0]) | value_of(p[1]) | value_of(p[2]) | value_of(p[3]);
        if (a <= 63) {
            uint32_t v =
                value_of(p[0]) << 18 | value_of(p[1]) << 12 | value_of(p[2]) << 6 | value_of(p[3]);
            *out++ = (unsigned char)(v >> 16);
            *out++ = (unsigned char)(v >> 8);
            *out++ = (unsigned char)v;
            continue;
        }
        size_t took = last ? last_decode(p, out) : 0;
        if (took == 0) {
            return false;
        }
        out += took;
    }
    *ret = (struct str){(const char *)bytes, (size_t)(out - bytes)};
    return true;
}
