/* width.c - see width.h. The widths come from a short table of our own: wcwidth(3) depends on the
 * locale, and setting a locale costs more than a whole `weir submit`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/width.h"

#include "base/utf8.h"

struct range {
    uint32_t first;
    uint32_t last;
};

/* Combining marks, joiners and variation selectors, which take no column. Sorted. */
static const struct range zero_width[] = {
    {0x0300, 0x036f},   {0x0483, 0x0489},   {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
    {0x06d6, 0x06dc},   {0x0900, 0x0902},   {0x093a, 0x093a}, {0x0941, 0x0948}, {0x0e31, 0x0e31},
    {0x0e34, 0x0e3a},   {0x0e47, 0x0e4e},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200d},
    {0x20d0, 0x20ff},   {0x302a, 0x302d},   {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
    {0x1f3fb, 0x1f3ff}, {0xe0100, 0xe01ef},
};

/* East Asian wide and full-width forms, and emoji. Sorted. */
static const struct range double_width[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},
    {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},   {0x26a1, 0x26a1},
    {0x26bd, 0x26be},   {0x26d4, 0x26d4},   {0x2705, 0x2705},   {0x270a, 0x270b},
    {0x2728, 0x2728},   {0x274c, 0x274c},   {0x2753, 0x2755},   {0x2795, 0x2797},
    {0x2b50, 0x2b50},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
    {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},
    {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
    {0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff}, {0x1f18e, 0x1f19a}, {0x1f200, 0x1f3fa},
    {0x1f400, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1faff},
    {0x20000, 0x3fffd},
};

static bool in_ranges(const struct range *ranges, size_t count, uint32_t point)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (point > ranges[mid].last) {
            low = mid + 1;
        } else if (point < ranges[mid].first) {
            high = mid;
        } else {
            return true;
        }
    }
    return false;
}

#define IN(ranges, point) in_ranges((ranges), sizeof(ranges) / sizeof *(ranges), (point))

/* Makes one step through the text. Returns the bytes of the step, and the columns they take. */
static size_t step(struct str text, size_t at, size_t *ret_columns)
{
    size_t len = utf8_step(text.p + at, text.len - at);
    *ret_columns = 1;
    if (len < 2) {
        return 1;
    }
    uint32_t point = utf8_point(text.p + at, len);
    if (IN(zero_width, point)) {
        *ret_columns = 0;
    } else if (IN(double_width, point)) {
        *ret_columns = 2;
    }
    return len;
}

size_t width_of(struct str text)
{
    size_t width = 0;
    size_t at = 0;
    while (at < text.len) {
        size_t columns;
        at += step(text, at, &columns);
        width += columns;
    }
    return width;
}

size_t width_fit(struct str text, size_t columns)
{
    size_t width = 0;
    size_t at = 0;
    while (at < text.len) {
        size_t more;
        size_t len = step(text, at, &more);
        if (width + more > columns) {
            break;
        }
        width += more;
        at += len;
    }
    return at;
}
