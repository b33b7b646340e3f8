/* utf8.c - the table of RFC 3629, written as comparisons. SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

static bool tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

size_t utf8_step(const char *p, size_t left)
{
    const unsigned char *s = (const unsigned char *)p;
    if (left == 0) {
        return 0;
    }
    if (s[0] < 0x80) {
        return 1;
    }
    if (s[0] >= 0xc2 && s[0] <= 0xdf) {
        return left >= 2 && tail(s[1]) ? 2 : 0;
    }
    if (s[0] >= 0xe0 && s[0] <= 0xef) {
        if (left < 3 || !tail(s[1]) || !tail(s[2])) {
            return 0;
        }
        bool overlong = s[0] == 0xe0 && s[1] < 0xa0;
        bool surrogate = s[0] == 0xed && s[1] > 0x9f;
        return overlong || surrogate ? 0 : 3;
    }
    if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        if (left < 4 || !tail(s[1]) || !tail(s[2]) || !tail(s[3])) {
            return 0;
        }
        bool overlong = s[0] == 0xf0 && s[1] < 0x90;
        bool beyond = s[0] == 0xf4 && s[1] > 0x8f;
        return overlong || beyond ? 0 : 4;
    }
    return 0;
}

bool utf8_valid(const char *p, size_t len)
{
    while (len > 0) {
        size_t step = utf8_step(p, len);
        if (step == 0) {
            return false;
        }
        p += step;
        len -= step;
    }
    return true;
}

uint32_t utf8_point(const char *p, size_t len)
{
    const unsigned char *u = (const unsigned char *)p;
    switch (len) {
    case 2:
        return (uint32_t)(u[0] & 0x1f) << 6 | (u[1] & 0x3f);
    case 3:
        return (uint32_t)(u[0] & 0x0f) << 12 | (uint32_t)(u[1] & 0x3f) << 6 | (u[2] & 0x3f);
    case 4:
        return (uint32_t)(u[0] & 0x07) << 18 | (uint32_t)(u[1] & 0x3f) << 12 |
               (uint32_t)(u[2] & 0x3f) << 6 | (u[3] & 0x3f);
    default:
        return u[0];
    }
}
