/* text.c - see text.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/text.h"

#include "base/inert.h"
#include "base/amount.h"
#include "base/width.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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
    while (width_of(text) > room) {
        size_t end = width_fit(text, room);
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
    static const char midnight[] = "2026-11-15T00:00:00Z";
    enum { DAY_LEN = sizeof "2026-11-15" - 1 };
    int64_t back_ms;
    if (text_time_parse(text, ret_ms)) {
        return true;
    }
    if (text.len == DAY_LEN) {
        char day[sizeof midnight];
        memcpy(day, midnight, sizeof day);
        memcpy(day, text.p, DAY_LEN);
        if (text_time_parse(str_of(day), ret_ms)) {
            return true;
        }
    }
    if (amount_duration(text, &back_ms, NULL) != ERR_OK) {
        return false;
    }
    *ret_ms = now_ms - back_ms;
    return true;
}

enum err text_moment_flag(const char *flag, const char *text, int64_t *ret_ms, struct error *e)
{
    return text_moment(str_of(text), text_now_ms(), ret_ms)
               ? ERR_OK
               : fail(e, ERR_USAGE,
                      "--%s is '%.60s'; 2h, 2026-11-15 or 2026-11-15T12:00:00Z would do", flag,
                      text);
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
