/* sim_text.c - see sim_text.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_text.h"

#include "base/must.h"
#include "base/time_text.h"

#include <inttypes.h>

enum { TENTH = 100, SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR };

static int64_t rounded(int64_t ms, int64_t unit)
{
    return (ms + unit / 2) / unit;
}

const char *sim_text_span(int64_t ms, char *out)
{
    must(ms >= 0);
    if (ms < SECOND) {
        (void)snprintf(out, SIM_TEXT_MAX, ms == 0 ? "0s" : "%" PRId64 "ms", ms);
    } else if (ms < MINUTE - TENTH / 2) {
        const int64_t tenths = rounded(ms, TENTH);
        (void)snprintf(out, SIM_TEXT_MAX, "%" PRId64 ".%" PRId64 "s", tenths / 10, tenths % 10);
    } else if (ms < HOUR - SECOND / 2) {
        const int64_t seconds = rounded(ms, SECOND);
        (void)snprintf(out, SIM_TEXT_MAX, "%" PRId64 "m%02" PRId64 "s", seconds / 60, seconds % 60);
    } else if (ms < DAY - MINUTE / 2) {
        const int64_t minutes = rounded(ms, MINUTE);
        (void)snprintf(out, SIM_TEXT_MAX, "%" PRId64 "h%02" PRId64 "m", minutes / 60, minutes % 60);
    } else {
        const int64_t hours = rounded(ms, HOUR);
        (void)snprintf(out, SIM_TEXT_MAX, "%" PRId64 "d%02" PRId64 "h", hours / 24, hours % 24);
    }
    return out;
}

const char *sim_text_date(int64_t ms, char *out)
{
    enum { DAY_LEN = 10, MINUTE_LEN = 16 };
    char text[TIME_TEXT_MAX];
    time_text(ms, text);
    text[DAY_LEN] = ' ';
    (void)snprintf(out, SIM_TEXT_MAX, "%.*s", MINUTE_LEN, text);
    return out;
}

const char *sim_text_count(uint64_t count, char *out)
{
    char digits[SIM_TEXT_MAX];
    const int len = snprintf(digits, sizeof digits, "%" PRIu64, count);
    must(len > 0);
    size_t used = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            out[used++] = ',';
        }
        out[used++] = digits[i];
    }
    out[used] = '\0';
    return out;
}

const char *sim_text_percent(int64_t part, int64_t whole, char *out)
{
    const __int128 size = part < 0 ? -(__int128)part : part;
    const int64_t hundredths = whole == 0 ? 0 : (int64_t)((size * 10000 + whole / 2) / whole);
    (void)snprintf(out, SIM_TEXT_MAX, "%s%" PRId64 ".%02" PRId64,
                   part < 0 && hundredths > 0 ? "-" : "", hundredths / 100, hundredths % 100);
    return out;
}

const char *sim_text_milli(int64_t milli, char *out)
{
    const int64_t size = ((milli < 0 ? -milli : milli) + 50) / 100;
    (void)snprintf(out, SIM_TEXT_MAX, "%s%" PRId64 ".%" PRId64, milli < 0 ? "-" : "", size / 10,
                   size % 10);
    return out;
}

int64_t sim_text_part_milli(int64_t part, int64_t whole)
{
    enum { PERCENT_MILLI = 100 * 1000 };
    return whole == 0 ? 0 : (int64_t)((__int128)part * PERCENT_MILLI / whole);
}
