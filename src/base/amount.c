/* amount.c - amounts, sizes and durations to and from text.
 *
 * Everything is integer arithmetic: a decimal part is kept as thousandths, so `0.1` is exact.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"

#include "base/must.h"

#include <inttypes.h>
#include <stdio.h>

enum { PLACES_MAX = 3 };

#define KIBI ((int64_t)1024)
#define KILO ((int64_t)1000)
#define SECOND_MS ((int64_t)1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)
#define WEEK_MS (7 * DAY_MS)

struct unit {
    const char *name;
    int64_t size;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes "12" or "12.345" off the front of `text` as thousandths. False: no number, or more than
 * three decimal places. A number above AMOUNT_BYTES_MAX stays above, and so above every limit
 * here, but may lose digits. */
static bool decimal_cut(struct str *text, __int128 *ret_milli)
{
    size_t at = 0;
    int64_t whole = 0;
    while (at < text->len && is_digit(text->p[at])) {
        if (whole <= AMOUNT_BYTES_MAX) { /* else the number is above every limit already */
            whole = whole * 10 + (text->p[at] - '0');
        }
        at++;
    }
    if (at == 0) {
        return false;
    }
    int64_t part = 0;
    if (at < text->len && text->p[at] == '.') {
        size_t places = 0;
        int64_t scale = 100;
        for (at++; at < text->len && is_digit(text->p[at]); at++) {
            part += (text->p[at] - '0') * scale;
            scale /= 10;
            places++;
        }
        if (places == 0 || places > PLACES_MAX) {
            return false;
        }
    }
    *ret_milli = (__int128)whole * KILO + part;
    text->p += at;
    text->len -= at;
    return true;
}

enum err amount_milli(struct str text, int64_t *ret_milli, struct error *e)
{
    struct str rest = text;
    __int128 milli = 0;
    if (!decimal_cut(&rest, &milli) || rest.len > 0) {
        return fail(e, ERR_INVALID,
                    "an amount is a number of 0 or more with at most three decimal places, like 2 "
                    "or 0.5, not '%.*s'",
                    str_shown(text), text.p);
    }
    if (milli > AMOUNT_MILLI_MAX) {
        return fail(e, ERR_INVALID, "an amount is at most %" PRId64 ", not '%.*s'",
                    AMOUNT_MILLI_MAX / KILO, str_shown(text), text.p);
    }
    *ret_milli = (int64_t)milli;
    return ERR_OK;
}

/* milli/1000 * size, rounded down; -1 when the result is above `max`. */
static int64_t scaled(__int128 milli, int64_t size, int64_t max)
{
    __int128 value = milli * size / KILO;
    return value > max ? -1 : (int64_t)value;
}

/* The size that a suffix means, or 0. A trailing B is allowed: 64GiB, 500MB. */
static int64_t bytes_suffix(struct str suffix)
{
    static const struct unit units[] = {
        {"", 1},
        {"k", KILO},
        {"K", KILO},
        {"M", KILO * KILO},
        {"G", KILO * KILO * KILO},
        {"T", KILO * KILO * KILO * KILO},
        {"P", KILO * KILO * KILO * KILO * KILO},
        {"Ki", KIBI},
        {"Mi", KIBI * KIBI},
        {"Gi", KIBI * KIBI * KIBI},
        {"Ti", KIBI * KIBI * KIBI * KIBI},
        {"Pi", KIBI * KIBI * KIBI * KIBI * KIBI},
    };
    if (suffix.len > 0 && suffix.p[suffix.len - 1] == 'B') {
        suffix.len--;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (str_is(suffix, units[i].name)) {
            return units[i].size;
        }
    }
    return 0;
}

enum err amount_bytes(struct str text, int64_t *ret_bytes, struct error *e)
{
    struct str rest = text;
    __int128 milli = 0;
    int64_t size = decimal_cut(&rest, &milli) ? bytes_suffix(rest) : 0;
    if (size == 0) {
        return fail(e, ERR_INVALID,
                    "a size is a number of bytes of 0 or more, perhaps with K, M, G, T, P or Ki, "
                    "Mi, Gi, Ti, Pi, like 64Gi, not '%.*s'",
                    str_shown(text), text.p);
    }
    int64_t bytes = scaled(milli, size, AMOUNT_BYTES_MAX);
    if (bytes < 0) {
        return fail(e, ERR_INVALID, "a size is at most 64Pi, not '%.*s'", str_shown(text), text.p);
    }
    *ret_bytes = bytes;
    return ERR_OK;
}

static const struct unit duration_units[] = {
    {"w", WEEK_MS}, {"d", DAY_MS}, {"h", HOUR_MS}, {"m", MINUTE_MS}, {"s", SECOND_MS}, {"ms", 1},
};
enum { DURATION_UNITS = sizeof duration_units / sizeof duration_units[0] };

/* Takes the letters off the front of `text` and finds them among the units after `*at`; -1: no such
 * unit. Units must come largest first, so that a slip such as `30m1h` is refused. */
static int64_t duration_unit_cut(struct str *text, size_t *at)
{
    size_t len = 0;
    while (len < text->len && !is_digit(text->p[len])) {
        len++;
    }
    struct str name = {text->p, len};
    for (size_t i = *at; i < DURATION_UNITS; i++) {
        if (str_is(name, duration_units[i].name)) {
            *at = i + 1;
            text->p += len;
            text->len -= len;
            return duration_units[i].size;
        }
    }
    return -1;
}

static enum err duration_bad(struct str text, struct error *e)
{
    return fail(e, ERR_INVALID,
                "a duration is like 2h, 1h30m, 90s or 250ms, or a number of seconds, not '%.*s'",
                str_shown(text), text.p);
}

enum err amount_duration(struct str text, int64_t *ret_ms, struct error *e)
{
    struct str rest = text;
    int64_t sum = 0;
    size_t unit_at = 0;
    bool first = true;
    do {
        __int128 milli = 0;
        if (!decimal_cut(&rest, &milli)) {
            return duration_bad(text, e);
        }
        bool bare = first && rest.len == 0;
        int64_t size = bare ? SECOND_MS : duration_unit_cut(&rest, &unit_at);
        if (size < 0) {
            return duration_bad(text, e);
        }
        int64_t part = scaled(milli, size, AMOUNT_MS_MAX);
        if (part < 0 || sum + part > AMOUNT_MS_MAX) {
            return fail(e, ERR_INVALID, "a duration is at most 100 years, not '%.*s'",
                        str_shown(text), text.p);
        }
        sum += part;
        first = false;
    } while (rest.len > 0);
    *ret_ms = sum;
    return ERR_OK;
}

void amount_milli_text(int64_t milli, char *out)
{
    const char *sign = milli < 0 ? "-" : "";
    uint64_t size = milli < 0 ? -(uint64_t)milli : (uint64_t)milli;
    int len =
        snprintf(out, AMOUNT_TEXT_MAX, "%s%" PRIu64 ".%03" PRIu64, sign, size / 1000, size % 1000);
    must(len > 0);
    while (out[len - 1] == '0') {
        len--;
    }
    if (out[len - 1] == '.') {
        len--;
    }
    out[len] = '\0';
}

void amount_bytes_text(int64_t bytes, char *out)
{
    static const struct unit units[] = {
        {"Pi", KIBI * KIBI * KIBI * KIBI * KIBI},
        {"Ti", KIBI * KIBI * KIBI * KIBI},
        {"Gi", KIBI * KIBI * KIBI},
        {"Mi", KIBI * KIBI},
        {"Ki", KIBI},
        {"", 1},
    };
    const char *sign = bytes < 0 ? "-" : "";
    uint64_t size = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;
    size_t at = 0;
    while (units[at].size > 1 && size < (uint64_t)units[at].size) {
        at++;
    }
    uint64_t unit = (uint64_t)units[at].size;
    if (size % unit == 0) {
        (void)snprintf(out, AMOUNT_TEXT_MAX, "%s%" PRIu64 "%s", sign, size / unit, units[at].name);
        return;
    }
    uint64_t tenths = (uint64_t)((unsigned __int128)(size % unit) * 10 / unit);
    (void)snprintf(out, AMOUNT_TEXT_MAX, "%s%" PRIu64 ".%" PRIu64 "%s", sign, size / unit, tenths,
                   units[at].name);
}

void amount_duration_text(int64_t ms, char *out)
{
    const char *sign = ms < 0 ? "-" : "";
    int64_t left = ms < 0 ? -(ms + (ms == INT64_MIN)) : ms;
    int len = snprintf(out, AMOUNT_TEXT_MAX, "%s", sign);
    must(len >= 0);
    size_t used = (size_t)len;
    unsigned parts = 0;
    /* Begins with days, because people write 14d and not 2w. Smaller parts are cut only where the
     * text would not fit, which no duration up to AMOUNT_MS_MAX reaches. */
    for (size_t i = 1; i < DURATION_UNITS && used < AMOUNT_TEXT_MAX; i++) {
        int64_t count = left / duration_units[i].size;
        if (count > 0) {
            len = snprintf(out + used, AMOUNT_TEXT_MAX - used, "%" PRId64 "%s", count,
                           duration_units[i].name);
            must(len > 0);
            used += (size_t)len;
            left %= duration_units[i].size;
            parts++;
        }
    }
    if (parts == 0) {
        (void)snprintf(out, AMOUNT_TEXT_MAX, "0s");
    }
}
