/* text.c - see text.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/text.h"

#include "base/must.h"

#include <inttypes.h>

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR };

const char *sim_span_text(int64_t ms, char *out)
{
    must(ms >= 0);
    if (ms < SECOND) {
        (void)snprintf(out, SIM_TEXT_MAX, ms == 0 ? "0s" : "%" PRId64 "ms", ms);
    } else if (ms < MINUTE) {
        (void)snprintf(out, SIM_TEXT_MAX, "%" PRId64 ".%" PRId64 "s", ms / SECOND,
                       ms % SECOND / 100);
    } else if (ms < HOUR) {
        (void)snprintf(out, SIM_TEXT_MAX, "%" PRId64 "m%02" PRId64 "s", ms / MINUTE,
                       ms % MINUTE / SECOND);
    } else if (ms < DAY) {
        (void)snprintf(out, SIM_TEXT_MAX, "%" PRId64 "h%02" PRId64 "m", ms / HOUR,
                       ms % HOUR / MINUTE);
    } else {
        (void)snprintf(out, SIM_TEXT_MAX, "%" PRId64 "d%02" PRId64 "h", ms / DAY, ms % DAY / HOUR);
    }
    return out;
}

const char *sim_count_text(uint64_t count, char *out)
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

const char *sim_percent_text(int64_t part, int64_t whole, char *out)
{
    const __int128 size = part < 0 ? -(__int128)part : part;
    const int64_t hundredths = whole == 0 ? 0 : (int64_t)((size * 10000 + whole / 2) / whole);
    (void)snprintf(out, SIM_TEXT_MAX, "%s%" PRId64 ".%02" PRId64,
                   part < 0 && hundredths > 0 ? "-" : "", hundredths / 100, hundredths % 100);
    return out;
}

const char *sim_milli_text(int64_t milli, char *out)
{
    const int64_t size = ((milli < 0 ? -milli : milli) + 50) / 100;
    (void)snprintf(out, SIM_TEXT_MAX, "%s%" PRId64 ".%" PRId64, milli < 0 ? "-" : "", size / 10,
                   size % 10);
    return out;
}
