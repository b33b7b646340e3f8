/* time_text.c - days to dates and back by arithmetic (proleptic Gregorian calendar). The
 * functions of libc lock and read time zones, which is too slow for lists with four times per
 * task.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/time_text.h"

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)
#define TIME_MS_MAX ((int64_t)253402300799999) /* 9999-12-31T23:59:59.999Z */

/* Days from 0000-03-01 to 1970-01-01; days of 400 years. */
enum { DAYS_TO_1970 = 719468, ERA_DAYS = 146097 };

struct date {
    int64_t year;
    int64_t month; /* 1..12 */
    int64_t day;   /* 1..31 */
};

/* Years are counted from 1 March, so that the leap day is the last day of a year. */
static struct date date_of(int64_t days)
{
    int64_t shifted = days + DAYS_TO_1970;
    int64_t era = shifted / ERA_DAYS;
    int64_t day_of_era = shifted % ERA_DAYS;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t from_march = (5 * day_of_year + 2) / 153;
    int64_t month = from_march < 10 ? from_march + 3 : from_march - 9;
    return (struct date){
        .year = year_of_era + era * 400 + (month <= 2),
        .month = month,
        .day = day_of_year - (153 * from_march + 2) / 5 + 1,
    };
}

static int64_t days_of(struct date date)
{
    int64_t year = date.year - (date.month <= 2);
    int64_t era = year / 400;
    int64_t year_of_era = year % 400;
    int64_t from_march = date.month > 2 ? date.month - 3 : date.month + 9;
    int64_t day_of_year = (153 * from_march + 2) / 5 + date.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * ERA_DAYS + day_of_era - DAYS_TO_1970;
}

/* Writes numbers as `pattern` says. A digit of the pattern stands for a number of so many digits,
 * any other letter for itself. */
static void numbers_put(char *out, const char *pattern, const int64_t *numbers)
{
    for (; *pattern != '\0'; pattern++) {
        if (*pattern < '1' || *pattern > '9') {
            *out++ = *pattern;
            continue;
        }
        const int count = *pattern - '0';
        uint32_t value = (uint32_t)*numbers++;
        for (int i = count - 1; i >= 0; i--) {
            out[i] = (char)('0' + value % 10);
            value /= 10;
        }
        out += count;
    }
    *out = '\0';
}

void time_text(int64_t ms, char *out)
{
    ms = ms < 0 ? 0 : ms > TIME_MS_MAX ? TIME_MS_MAX : ms;
    const struct date date = date_of(ms / DAY_MS);
    const int64_t numbers[] = {date.year,       date.month,     date.day, ms / 3600000 % 24,
                               ms / 60000 % 60, ms / 1000 % 60, ms % 1000};
    numbers_put(out, "4-2-2T2:2:2.3Z", numbers);
}

/* Cuts numbers off the front of a text that has the form of numbers_put(). False: the text has
 * another form; the beginning that fits may be cut off. */
static bool numbers_cut(struct str *text, const char *pattern, int64_t *ret)
{
    for (; *pattern != '\0'; pattern++) {
        const bool number = *pattern >= '1' && *pattern <= '9';
        const struct str part = {text->p, number ? (size_t)(*pattern - '0') : 1};
        uint64_t value = 0;
        if (text->len < part.len || !(number ? str_to_u64(part, &value) : *part.p == *pattern)) {
            return false;
        }
        if (number) {
            *ret++ = (int64_t)value;
        }
        text->p += part.len;
        text->len -= part.len;
    }
    return true;
}

/* Cuts ".123" off the front, in milliseconds. Further digits are dropped. */
static bool fraction_cut(struct str *text, int64_t *ret_ms)
{
    *ret_ms = 0;
    if (!numbers_cut(text, ".", NULL)) {
        return true;
    }
    int64_t digit;
    bool any = false;
    for (int64_t scale = 100; numbers_cut(text, "1", &digit); scale /= 10) {
        *ret_ms += digit * scale;
        any = true;
    }
    return any;
}

/* Cuts "Z" or "+01:00" off the front: how far the time is ahead of UTC. */
static bool offset_cut(struct str *text, int64_t *ret_ms)
{
    int64_t clock[2];
    *ret_ms = 0;
    if (numbers_cut(text, "Z", NULL) || numbers_cut(text, "z", NULL)) {
        return true;
    }
    const bool behind = text->len > 0 && text->p[0] == '-';
    if (!numbers_cut(text, behind ? "-2:2" : "+2:2", clock) || clock[0] > 23 || clock[1] > 59) {
        return false;
    }
    *ret_ms = (clock[0] * 60 + clock[1]) * (behind ? -60000 : 60000);
    return true;
}

bool time_text_parse(struct str text, int64_t *ret_ms)
{
    int64_t day[3];
    int64_t clock[3];
    int64_t fraction;
    int64_t offset;
    if (!numbers_cut(&text, "4-2-2", day) ||
        !(numbers_cut(&text, "T", NULL) || numbers_cut(&text, " ", NULL)) ||
        !numbers_cut(&text, "2:2:2", clock) || !fraction_cut(&text, &fraction) ||
        !offset_cut(&text, &offset) || text.len > 0) {
        return false;
    }
    const struct date date = {day[0], day[1], day[2]};
    const int64_t days = days_of(date);
    const struct date real = date_of(days); /* differs for a 30 February */
    if (date.year < 1970 || real.month != date.month || real.day != date.day || clock[0] > 23 ||
        clock[1] > 59 || clock[2] > 60) {
        return false;
    }
    const int64_t ms = days * DAY_MS + ((clock[0] * 60 + clock[1]) * 60 + clock[2]) * 1000;
    if (ms + fraction < offset) {
        return false;
    }
    *ret_ms = ms + fraction - offset;
    return true;
}
