/* text.c - see text.h. The widths come from a short table of our own: wcwidth(3) depends on the
 * locale, and setting a locale costs more than a whole `weir submit`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/text.h"

#include "base/inert.h"
#include "base/amount.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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

size_t text_width(struct str text)
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

size_t text_fit(struct str text, size_t columns)
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

static bool all_blank(const char *p, size_t len)
{
    size_t i = 0;
    while (i < len && p[i] == ' ') {
        i++;
    }
    return i == len;
}

void text_wrap(struct buf *out, struct str text, size_t columns, size_t indent)
{
    size_t room = columns;
    while (text_width(text) > room) {
        size_t end = text_fit(text, room);
        while (end > 0 && text.p[end] != ' ') {
            end--;
        }
        if (all_blank(text.p, end)) { /* no place to break: go up to the next one */
            const char *blank = memchr(text.p + end + 1, ' ', text.len - end - 1);
            end = blank == NULL ? text.len : (size_t)(blank - text.p);
        }
        buf_add(out, text.p, end);
        text.p += end;
        text.len -= end;
        while (text.len > 0 && text.p[0] == ' ') {
            text.p++;
            text.len--;
        }
        if (text.len == 0) {
            return;
        }
        buf_addf(out, "\n%*s", (int)indent, "");
        room = columns > indent ? columns - indent : 1;
    }
    buf_add(out, text.p, text.len);
}

void text_escape(struct buf *out, struct str text)
{
    inert_add(out, text);
}

static void span_short(struct buf *out, int64_t ms)
{
    int64_t s = ms / 1000;
    if (s < 60) {
        buf_addf(out, "%llds", (long long)s);
    } else if (s < 3600) {
        buf_addf(out, "%lldm", (long long)(s / 60));
    } else if (s < 48 * 3600) {
        buf_addf(out, "%lldh", (long long)(s / 3600));
    } else {
        buf_addf(out, "%lldd", (long long)(s / 86400));
    }
}

void text_ago(struct buf *out, int64_t then_ms, int64_t now_ms)
{
    int64_t age_ms = now_ms - then_ms;
    if (age_ms >= 1000) {
        span_short(out, age_ms);
        buf_add_str(out, " ago");
    } else if (age_ms > -1000) {
        buf_add_str(out, "just now");
    } else {
        buf_add_str(out, "in ");
        span_short(out, -age_ms);
    }
}

void text_thousands(struct buf *out, uint64_t number)
{
    enum { GROUP = 1000 };
    uint64_t unit = 1;
    while (number / unit >= GROUP) {
        unit *= GROUP;
    }
    buf_addf(out, "%llu", (unsigned long long)(number / unit));
    for (unit /= GROUP; unit > 0; unit /= GROUP) {
        buf_addf(out, ",%03llu", (unsigned long long)(number / unit % GROUP));
    }
}

void text_span(struct buf *out, int64_t ms)
{
    long long s = ms < 0 ? 0 : (long long)(ms / 1000);
    if (s < 10) {
        buf_addf(out, "%lld.%llds", s, ms < 0 ? 0LL : (long long)(ms % 1000 / 100));
    } else if (s < 60) {
        buf_addf(out, "%llds", s);
    } else if (s < 3600) {
        buf_addf(out, "%lldm%02llds", s / 60, s % 60);
    } else if (s < 48 * 3600) {
        buf_addf(out, "%lldh%02lldm", s / 3600, s % 3600 / 60);
    } else {
        buf_addf(out, "%lldd%02lldh", s / 86400, s % 86400 / 3600);
    }
}

bool text_time_parse(struct str text, int64_t *ret_ms)
{
    struct tm tm = {0};
    char copy[TEXT_TIME_MAX];
    if (text.len < 20 || text.len >= sizeof copy) {
        return false;
    }
    memcpy(copy, text.p, text.len);
    copy[text.len] = '\0';
    const char *end = strptime(copy, "%Y-%m-%dT%H:%M:%S", &tm);
    int64_t ms = 0;
    if (end != NULL && *end == '.') {
        int64_t unit = 100;
        for (end++; *end >= '0' && *end <= '9'; end++) {
            ms += (*end - '0') * unit;
            unit /= 10;
        }
    }
    if (end == NULL || strcmp(end, "Z") != 0) {
        return false;
    }
    *ret_ms = (int64_t)timegm(&tm) * 1000 + ms;
    return true;
}

bool text_moment(struct str text, int64_t now_ms, int64_t *ret_ms)
{
    int64_t back_ms;
    if (text_time_parse(text, ret_ms)) {
        return true;
    }
    if (amount_duration(text, &back_ms, NULL) != ERR_OK) {
        return false;
    }
    *ret_ms = now_ms - back_ms;
    return true;
}

void text_time(int64_t ms, char *out)
{
    time_t s = (time_t)(ms / 1000);
    struct tm tm;
    (void)gmtime_r(&s, &tm);
    size_t len = strftime(out, TEXT_TIME_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(out + len, TEXT_TIME_MAX - len, ".%03dZ", (int)(ms % 1000));
}

int64_t text_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
