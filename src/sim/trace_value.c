/* trace_value.c - see trace_value.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace_value.h"

#include "base/amount.h"
#include "base/time_text.h"

#include <ctype.h>

enum { TIME_LEN = 19, TIME_TEXT_ROOM = 32 };

bool trace_value_milli(struct str text, int64_t *ret)
{
    struct str places;
    const struct str whole = str_cut(text, '.', &places);
    uint64_t units;
    if (!str_to_u64(whole, &units) || units > (uint64_t)AMOUNT_MILLI_MAX / 1000) {
        return false;
    }
    int64_t milli = (int64_t)units * 1000;
    int64_t scale = 100;
    for (size_t i = 0; places.p != NULL && i < places.len; i++) {
        if (!isdigit((unsigned char)places.p[i])) {
            return false;
        }
        milli += (places.p[i] - '0') * scale;
        scale /= 10;
    }
    *ret = milli;
    return true;
}

enum err trace_value_factor(struct str text, int64_t *ret, struct error *e)
{
    struct str places;
    const struct str whole = str_cut(text, '.', &places);
    uint64_t units;
    bool fine = str_to_u64(whole, &units) && units <= TRACE_FACTOR_MAX;
    int64_t factor = fine ? (int64_t)units : 0;
    for (size_t i = 0; i < TRACE_FACTOR_PLACES; i++) {
        const char c = places.p != NULL && i < places.len ? places.p[i] : '0';
        fine = fine && isdigit((unsigned char)c) != 0;
        factor = factor * 10 + (c - '0');
    }
    fine = fine && (places.p == NULL || places.len <= TRACE_FACTOR_PLACES);
    if (!fine || factor == 0 || factor > (int64_t)TRACE_FACTOR_MAX * TRACE_FACTOR_ONE) {
        return fail(e, ERR_INVALID,
                    "a factor above 0 and at most %d with at most %d decimal places, like 0.5178, "
                    "is wanted, not '%.*s'",
                    TRACE_FACTOR_MAX, TRACE_FACTOR_PLACES, str_shown(text), text.p);
    }
    *ret = factor;
    return ERR_OK;
}

bool trace_value_bytes(struct str text, int64_t *ret)
{
    struct error e;
    return amount_bytes(text, ret, &e) == ERR_OK;
}

bool trace_value_time(struct str text, int64_t *ret_ms, enum trace_clock *ret_clock)
{
    char rfc[TIME_TEXT_ROOM];
    if (trace_value_milli(text, ret_ms)) {
        *ret_clock = CLOCK_SECONDS;
        return true;
    }
    *ret_clock = CLOCK_DATES;
    if (text.len != TIME_LEN || text.p[10] != ' ') {
        return time_text_parse(text, ret_ms);
    }
    memcpy(rfc, text.p, TIME_LEN);
    rfc[10] = 'T';
    rfc[TIME_LEN] = 'Z';
    return time_text_parse((struct str){rfc, TIME_LEN + 1}, ret_ms);
}
